"""Rooms in Django's admin: their limits and who takes part to look at, and one deed, to close them.

What people and agents said is not shown: whoever wants to read a room takes part in it, and the room says so.
"""

from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from accounts.pages import viewer_of_page
from trinity.kernel.money import dollars_text
from trinity.read_only_admin import ReadOnlyAdmin, ReadOnlyInline
from workspace.models import Participant, Room, Turn
from workspace.rooms import close_room
from workspace.vocabulary import CloseAnswer


class ParticipantInline(ReadOnlyInline):
    model = Participant
    fields = ("user", "agent", "added_by", "added_by_agent", "added_at", "removed_at")
    show_change_link = False


class TurnInline(ReadOnlyInline):
    model = Turn
    fk_name = "room"
    fields = ("agent", "asked_by", "asked_by_agent", "asked_at", "execution", "ending", "ended_at")
    show_change_link = False


@admin.register(Room)
class RoomAdmin(ReadOnlyAdmin):
    list_display = ("id", "title", "opened_by", "people", "agents", "said_count", "budget", "last_message_at", "state")
    list_filter = ("close_reason",)
    list_select_related = ("opened_by", "opened_by_agent")
    search_fields = ("id", "title", "opened_by__username", "participants__user__username", "participants__agent__name")
    inlines = (ParticipantInline, TurnInline)
    actions = ("close",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        here = Q(participants__removed_at=None)
        counted = (
            super()
            .get_queryset(request)
            .annotate(
                people_here=Count("participants__user", filter=here, distinct=True),
                agents_here=Count("participants__agent", filter=here, distinct=True),
            )
        )
        return cast(QuerySet[Any], counted)

    @admin.action(description="Close the chosen rooms", permissions=["view"])
    def close(self, request: HttpRequest, rooms: QuerySet[Room]) -> None:
        viewer = viewer_of_page(request)
        answers = [close_room(viewer, pk) for pk in rooms.values_list("pk", flat=True)]
        closed = answers.count(CloseAnswer.CLOSED)
        self.message_user(request, f"{closed} closed, {len(answers) - closed} were closed already.", messages.SUCCESS)

    @admin.display(description="people", ordering="people_here")
    def people(self, room: Any) -> int:
        return int(room.people_here)

    @admin.display(description="agents", ordering="agents_here")
    def agents(self, room: Any) -> int:
        return int(room.agents_here)

    @admin.display(description="budget", ordering="max_cost_nano")
    def budget(self, room: Room) -> str:
        return "none" if room.max_cost_nano is None else dollars_text(room.max_cost_nano)

    @admin.display(description="state", ordering="closed_at")
    def state(self, room: Room) -> str:
        return f"closed: {room.close_reason.replace('_', ' ')}" if room.closed else "open"
