"""Addresses of keys under /api/."""

from django.urls import path

from accounts.api import Keys, OneKey

urlpatterns = [
    path("keys", Keys.as_view(), name="keys"),
    path("keys/<str:prefix>", OneKey.as_view(), name="key"),
]
