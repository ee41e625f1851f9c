"""Executions in Django's admin, to look at: only the engine writes them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from executions.models import Execution, Verdict
from trinity.kernel.money import dollars_text
from trinity.read_only_admin import ReadOnlyAdmin, ReadOnlyInline


class VerdictInline(ReadOnlyInline):
    model = Verdict
    fields = ("type", "name", "passed", "error", "summary", "evidence", "at")


@admin.register(Execution)
class ExecutionAdmin(ReadOnlyAdmin):
    list_display = ("id", "agent", "trigger", "status", "loop_id", "run_number", "queued_at", "duration_ms", "cost")
    list_filter = ("status", "trigger")
    list_select_related = ("agent",)
    search_fields = ("id", "loop_id", "agent__name")
    exclude = ("claim_token",)
    inlines = (VerdictInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("prompt", "response", "error")

    @admin.display(description="cost", ordering="cost_nano")
    def cost(self, execution: Execution) -> str:
        return dollars_text(execution.cost_nano)
