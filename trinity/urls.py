"""Joins the apps' addresses."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("trinity.page_urls")),
]

handler500 = "trinity.error_pages.server_error"
