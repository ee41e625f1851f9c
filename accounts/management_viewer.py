"""Who a management command acts as; it asks for no password, since whoever runs it owns the server."""

from accounts.models import User
from accounts.viewers import Viewer
from accounts.vocabulary import UserKind
from trinity.kernel.errors import refused_field


def operator(username: str | None = None) -> Viewer:
    """The named user, or the first admin. Refused when there is none."""
    users = User.objects.filter(is_active=True)
    if username is not None:
        user = users.filter(username=username).first()
        if user is None:
            raise refused_field("user", f"There is no user {username!r}.")
    else:
        user = users.filter(kind=UserKind.ADMIN).order_by("pk").first()
        if user is None:
            raise refused_field("user", "There is no admin yet; start script/server once, or run create_user.")
    return Viewer(user=user)
