"""Login, logout, password and API keys: thin doors over Django's own views and the account services."""

from typing import Any

from django.contrib.auth import views as django_views
from django.contrib.messages.views import SuccessMessageMixin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.form_tokens import FORM_TOKEN
from accounts.forms import NewKeyForm
from accounts.keys_by_form import new_key_of_form
from accounts.models import ApiKey, User
from accounts.pages import member_page
from accounts.services import revoke_key
from accounts.viewers import Viewer


class LogIn(django_views.LoginView):
    """Members begin at the dashboard, clients in the Workspace."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True

    def get_default_redirect_url(self) -> str:
        user = self.request.user
        return home_of(user) if isinstance(user, User) else reverse("dashboard")


class ChangePassword(SuccessMessageMixin, django_views.PasswordChangeView):  # type: ignore[type-arg]
    """Also for clients; other sessions of the user end."""

    template_name = "accounts/password_change.html"
    success_message = "Your password is changed."
    success_url = reverse_lazy("password_change")


def home_of(user: User) -> str:
    """Where a user begins."""
    if not user.is_client:
        return reverse("dashboard")
    try:
        return reverse("workspace")
    except NoReverseMatch:  # the Workspace is not part of this installation
        return reverse("password_change")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member_page
def api_keys(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The user's keys; a new one's secret stands in the answer to its making, once."""
    form = NewKeyForm(request.POST or None)
    context: dict[str, Any] = {"form": form}
    if request.method == "POST" and form.is_valid():
        made = new_key_of_form(viewer, form, request.POST.get(FORM_TOKEN, ""))
        context |= {"secret": made.secret, "form": NewKeyForm()}
    context["keys"] = list(ApiKey.objects.filter(user=viewer.user, revoked_at=None).order_by("-id"))
    refused = request.method == "POST" and "secret" not in context
    return render(request, "accounts/keys.html", context, status=400 if refused else 200)


@require_POST
@member_page
def revoke_api_key(request: HttpRequest, viewer: Viewer, prefix: str) -> HttpResponse:
    """End one of the user's own keys now."""
    key = ApiKey.objects.filter(user=viewer.user, prefix=prefix).first()
    if key is None:
        raise Http404
    revoke_key(key, by=viewer)
    return redirect("api-keys")
