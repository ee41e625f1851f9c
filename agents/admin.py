"""Agents in Django's admin: made, changed, started, stopped and archived through their services."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from accounts.pages import viewer_of_page
from agents import services
from agents.models import Agent, AgentPermission, AgentShare
from agents.parameters import check_runtime, check_workspace, read_changes, read_new_agent
from agents.probing import probe, probe_changes
from trinity.kernel.errors import Refused
from trinity.read_only_admin import ReadOnlyInline

CHANGEABLE = (
    "title",
    "runtime",
    "runtime_settings",
    "workspace",
    "place",
    "execution_timeout_seconds",
    "max_parallel_tasks",
    "model",
    "graders",
)


class AgentAdminForm(ModelForm):  # type: ignore[type-arg]
    """Checked by the same readers as the API, so that it refuses in the same words."""

    workspace = forms.CharField(required=False, help_text="A folder that exists. Blank: one of its own.")

    class Meta:
        model = Agent
        fields: ClassVar = ["name", *CHANGEABLE]

    def given(self) -> dict[str, Any]:
        """What was entered; a blank field of a new agent is one that was not given."""
        entered = {name: self.cleaned_data.get(name) for name in self.fields}
        if self.instance.pk is not None:
            entered.pop("name", None)
            return {name: entered[name] for name in self.changed_data if name in entered}
        return {name: value for name, value in entered.items() if value not in (None, "", {})}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                self._read()
            except Refused as refusal:
                self._refuse(refusal)
        return cleaned

    def _read(self) -> None:
        """What the service will refuse, while the form can still say it at its field."""
        if self.instance.pk is None:
            probe(read_new_agent(self.given()))
            return
        now = Agent.objects.get(pk=self.instance.pk)
        columns = read_changes(self.given(), by_admin=True)
        check_workspace(columns, place_now=now.place)
        check_runtime(columns, runtime_now=now.runtime, settings_now=now.runtime_settings)
        probe_changes(now, columns)

    def _refuse(self, refusal: Refused) -> None:
        for path, sentences in (refusal.errors or {"": [refusal.detail]}).items():
            name, _, below = path.partition(".")
            for sentence in sentences:
                self.add_error(name if name in self.fields else None, f"{below}: {sentence}" if below else sentence)


class ShareInline(ReadOnlyInline):
    model = AgentShare
    fields = ("user",)
    verbose_name_plural = "shared with (the agent's own page changes it)"


class PermissionInline(ReadOnlyInline):
    model = AgentPermission
    fk_name = "caller"
    fields = ("target",)
    verbose_name_plural = "may call"


@admin.register(Agent)
class AgentAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Whoever may set these runs code on the server; so only admins come here."""

    form = AgentAdminForm
    list_display = ("name", "title", "owner", "runtime", "place", "status", "max_parallel_tasks", "archived_at")
    list_filter = ("status", "runtime", "place")
    list_select_related = ("owner",)
    search_fields = ("name", "title")
    actions = ("start", "stop", "archive")
    inlines = (ShareInline, PermissionInline)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Without the transaction that Django's own opens around it: the services open theirs, and nothing else is
        written here but the admin's log."""
        return self._changeform_view(request, object_id, form_url, extra_context)  # type: ignore[attr-defined]

    def get_inlines(self, request: HttpRequest, obj: Agent | None) -> Any:
        return () if obj is None else self.inlines

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        return () if obj is None else ("name", "owner", "status", "archived_at", "created_at")

    def get_fields(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        return (
            ("name", *CHANGEABLE)
            if obj is None
            else ("name", "owner", "status", *CHANGEABLE, "archived_at", "created_at")
        )

    def has_delete_permission(self, request: HttpRequest, obj: Agent | None = None) -> bool:
        return False  # agents are archived: their history goes by their name

    def save_model(self, request: HttpRequest, obj: Agent, form: AgentAdminForm, change: bool) -> None:
        viewer = viewer_of_page(request)
        if change:
            saved = services.change_agent(viewer, Agent.objects.get(pk=obj.pk), form.given())
        else:
            saved = services.create_agent(viewer, form.given())
        obj.pk = saved.pk
        obj.refresh_from_db()

    @admin.action(description="Start")
    def start(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self._each(request, queryset, services.start_agent)

    @admin.action(description="Stop: nothing new is taken")
    def stop(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self._each(request, queryset, services.stop_agent)

    @admin.action(description="Archive for good; their loops are asked to stop")
    def archive(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self._each(request, queryset, services.archive_agent)

    def _each(self, request: HttpRequest, queryset: QuerySet[Agent], service: Any) -> None:
        for agent in queryset:
            try:
                service(viewer_of_page(request), agent)
            except Refused as refusal:
                self.message_user(request, refusal.detail, messages.ERROR)
