"""Loops, their runs and their events in Django's admin, to look at: only the engine writes them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from loops.models import Loop, LoopEvent, Run
from loops.words import loop_words
from trinity.kernel.money import dollars_text
from trinity.read_only_admin import ReadOnlyAdmin, ReadOnlyInline


class RunInline(ReadOnlyInline):
    model = Run
    fields = ("run_number", "execution")


class EventInline(ReadOnlyInline):
    model = LoopEvent
    fields = ("sequence", "kind", "facts", "by", "at")


@admin.register(Loop)
class LoopAdmin(ReadOnlyAdmin):
    list_display = ("id", "agent", "words", "runs_completed", "max_runs", "failed_runs", "spent", "created_at")
    list_filter = ("status", "stop_reason")
    list_select_related = ("agent",)
    search_fields = ("id", "agent__name")
    exclude = ("last_fingerprint",)
    inlines = (RunInline, EventInline)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("message", "last_response", "error")

    @admin.display(description="status", ordering="status")
    def words(self, loop: Loop) -> str:
        words = loop_words(loop.status, loop.stop_reason)
        return f"{words.badge} · {words.reason}" if words.reason else words.badge

    @admin.display(description="spent", ordering="spent_nano")
    def spent(self, loop: Loop) -> str:
        return dollars_text(loop.spent_nano)
