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
    path("", include("workspace.api_urls")),
    path("", RedirectView.as_view(pattern_name="api:docs"), name="root"),
    path("schema/", docs.Schema.as_view(), name="schema"),
    path("schema", docs.Schema.as_view()),
    path("docs/", docs.page, name="docs"),
    path("docs", docs.page),
    re_path(r"^", handlers.unknown_route, name="unknown"),
]
