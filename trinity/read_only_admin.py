"""The base of admin pages for rows that only the engine writes: to look at, never to change."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


class ReadOnly:
    """Nobody adds, changes or deletes here, whatever their rights."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg]
    """A table of such rows; it counts no more of them than it must."""

    show_full_result_count = False
    list_per_page = 50


class ReadOnlyInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    """Such rows below another."""

    extra = 0
    show_change_link = True
