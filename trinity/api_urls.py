"""Joins the apps' REST addresses under /api/, with the schema and its page."""

from django.urls import include, path, re_path
from django.views.generic import RedirectView

from trinity.rest import docs, handlers

app_name = "api"
urlpatterns = [
    path("", include("accounts.api_urls")),
    path("", include("agents.api_urls")),
    path("", include("executions.api_urls")),
    path("", include("loops.api_urls")),
    path("", RedirectView.as_view(pattern_name="api:docs"), name="root"),
    re_path(r"^schema/?\Z", docs.Schema.as_view(), name="schema"),
    re_path(r"^docs/?\Z", docs.page, name="docs"),
    re_path(r"^(?s:.*)\Z", handlers.unknown_route, name="unknown"),
]
