"""Who opens a socket: the holder of a bearer key, or a logged-in person whose browser says that our page asks."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

from accounts.authentication import viewer_of_bearer
from accounts.models import User
from accounts.viewers import Viewer

LOCAL_HOSTS = [".localhost", "127.0.0.1", "[::1]"]  # what Django itself lets in while DEBUG is on


def viewer_of_scope(scope: Mapping[str, Any]) -> Viewer | None:
    """Who this socket speaks for now; None when nobody. Reads the session afresh, so a logout counts at once.

    A browser sends its cookies along wherever the page comes from, so a session counts only with an Origin of ours
    (section 2, "Live events"); a key is no cookie and needs none.
    """
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return viewer_of_bearer(secret.strip())
    if not _is_ours(headers.get("origin", ""), headers.get("host", "")):
        return None
    return _viewer_of_session(headers.get("cookie", ""))


def _is_ours(origin: str, host: str) -> bool:
    """The page's own address is the one that was asked, or one that the settings trust."""
    allowed = settings.ALLOWED_HOSTS or (LOCAL_HOSTS if settings.DEBUG else [])
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, allowed):
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https"):
        return False
    return parts.netloc == host or origin in settings.CSRF_TRUSTED_ORIGINS


def _viewer_of_session(cookies: str) -> Viewer | None:
    try:
        found = SimpleCookie(cookies).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return None
    if found is None:
        return None
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(found.value)
    user = get_user(request)
    return Viewer(user=user) if isinstance(user, User) else None
