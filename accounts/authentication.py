"""How a REST caller is known: a bearer key of a user, of an agent or of a running execution, or a session."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.models import User
from accounts.services import KEY_PREFIX, key_for_secret
from accounts.viewers import Viewer
from trinity.kernel.registry import Registry

# Apps above may know further kinds of bearer (an execution's own token): prefix → secret → Viewer or None.
bearer_kinds: Registry[Any] = Registry("bearer")


class Caller(AnonymousUser):
    """The `request.user` of an agent: it is let in, but is no user of Django's."""

    @property
    def is_authenticated(self) -> bool:  # type: ignore[override]
        return True


def nobody() -> AnonymousUser:
    return AnonymousUser()


class BearerKey(BaseAuthentication):
    """`Authorization: Bearer trk_…`: a user's key acts as that user, an agent's key as that agent."""

    def authenticate(self, request: Request) -> tuple[Any, Viewer] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        viewer = viewer_of_bearer(secret.strip())
        if viewer is None:
            raise AuthenticationFailed("The key is unknown, expired or revoked.")
        return viewer.user or Caller(), viewer

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="trinity"'


class Session(SessionAuthentication):
    """A logged-in person, for the pages' own calls and the documentation page; CSRF is enforced."""

    def authenticate(self, request: Request) -> tuple[Any, Viewer] | None:
        found = super().authenticate(request)
        return (found[0], Viewer(user=found[0])) if found else None


def viewer_of_bearer(secret: str) -> Viewer | None:
    """Who holds this secret; None when nobody does. Used by REST, sockets and MCP alike."""
    for prefix, read in bearer_kinds.entries():
        if secret.startswith(prefix):
            viewer: Viewer | None = read(secret)
            return viewer
    if not secret.startswith(f"{KEY_PREFIX}_"):
        return None
    key = key_for_secret(secret)
    if key is None:
        return None
    user: User | None = key.user
    return Viewer(user=user, agent_id=key.agent_id, key_id=key.pk)


def viewer_of(request: Request) -> Viewer:
    """The viewer of an authenticated REST request."""
    viewer = request.auth
    assert isinstance(viewer, Viewer)  # noqa: S101 — MayUseApi let nobody else through
    return viewer


class MayUseApi(BasePermission):
    """Logged in, active, and no client: to a client the API of agents and loops does not exist."""

    def has_permission(self, request: Request, view: Any) -> bool:
        viewer = request.auth
        if not isinstance(viewer, Viewer):
            return False
        if viewer.is_client and not getattr(view, "for_clients", False):
            raise Http404
        return True
