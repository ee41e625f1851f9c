"""Joins the apps' addresses, and says who answers what went wrong."""

from django.contrib import admin
from django.urls import include, path

from trinity import health

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", include("trinity.api_urls")),
    path("healthz", health.healthz, name="healthz"),
    path("metrics", health.Metrics.as_view(), name="metrics"),
    path("", include("trinity.page_urls")),
]
handler400 = "trinity.rest.handlers.bad_request"
handler403 = "trinity.rest.handlers.permission_denied"
handler404 = "trinity.rest.handlers.page_not_found"
handler500 = "trinity.error_pages.server_error"
