"""Makes the API key that a form asks for; one key, also when the form comes twice. What a key is, `services` knows."""

from django.db import transaction

from accounts.form_tokens import key_of_form
from accounts.forms import NewKeyForm
from accounts.models import ApiKey, User
from accounts.services import NewKey, create_key, revoke_key
from accounts.viewers import Viewer
from trinity.rest.idempotency import Answer

ROUTE = "form keys"


def new_key_of_form(viewer: Viewer, form: NewKeyForm, token: str) -> NewKey:
    """A new key of the viewer's own, as the valid form asks for it.

    The same form again gets another key in place of the first, which ends: its secret stood in an answer that the
    browser threw away for this one, and is kept nowhere.
    """
    assert viewer.user is not None  # noqa: S101 — a page's viewer is a person
    asked = {"name": form.cleaned_data["name"], "days": form.cleaned_data["days"]}
    remembered = key_of_form(viewer, ROUTE, token, asked)
    with transaction.atomic(durable=True):
        User.objects.select_for_update(no_key=True).get(pk=viewer.user.pk)  # twins that come at once wait here
        before = remembered.answer() if remembered is not None else None
        for key in ApiKey.objects.filter(user=viewer.user, prefix=before.body["prefix"] if before else ""):
            revoke_key(key, by=viewer)
        made = create_key(user=viewer.user, name=asked["name"], expires_at=form.expires_at(), by=viewer)
        if remembered is not None:
            remembered.forget()
            remembered.remember(Answer(200, {"prefix": made.key.prefix}))
    return made
