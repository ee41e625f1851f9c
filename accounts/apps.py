"""The accounts app: who acts, and with which key."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
