"""REST doors of rooms (section 7); thin: they read, call one service or query, and present.

`for_clients` lets clients in; where it does not stand, the door does not exist for them.
"""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from loops import schemas as loop_schemas
from loops.presenting import loop_body
from loops.standing import standings_of
from trinity.kernel import clock
from trinity.rest import query
from trinity.rest.doors import Door, answered, location
from trinity.rest.idempotency import Answer, once
from trinity.rest.schema import IDEMPOTENCY_KEY, LOCATION
from workspace import schemas
from workspace.parameters import read_participant, read_room, read_text, read_title
from workspace.presenting import participant_body, posted_body, room_body, room_detail, work_body
from workspace.queries import ROOMS_LISTED, Seat, line_of, managed_room, participants_in, rooms_of, seat_in, transcript
from workspace.rail import cards_of, room_executions, room_loops
from workspace.record import room_step, seat_under_lock
from workspace.rooms import (
    add_participant,
    close_room,
    opening,
    refuse_clients,
    remove_participant,
    rename_room,
)
from workspace.services import cancel_turn, post_in, retry
from workspace.underway import shown_turns

ROOM_ID = query.in_path("The room's id.", "room_[A-Za-z0-9_-]{16}")
_MESSAGES = query.limit()
_SINCE = query.number("Only messages after the one with this `seq`, oldest first.")
_BEFORE = query.number("Only messages before the one with this `seq`.")


class Rooms(Door):
    tag = "Rooms"
    for_clients = True
    parameters = {
        "search": query.name("Only rooms whose name or messages have this.", 200),
        "limit": query.limit(ROOMS_LISTED),
    }

    @extend_schema(operation_id="list_rooms", responses=schemas.RoomShape(many=True))
    def get(self, request: Request) -> Response:
        """List the rooms that one takes part in. By last activity."""
        found = rooms_of(self.viewer, search=self.asked["search"] or "", limit=self.asked["limit"])
        return Response([room_body(one.seat) for one in found])

    @extend_schema(
        operation_id="open_room",
        request=schemas.NewRoom,
        responses={201: schemas.RoomShape},
        parameters=[IDEMPOTENCY_KEY, LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Open a room. With agents that one may use; a first message wakes as any other."""
        refuse_clients(self.viewer)
        body = self.body()
        asked, key = read_room(body), self.idempotency_key(body)
        with opening(self.viewer, asked) as found:

            def make() -> Answer:
                seat = found.open()
                return Answer(201, room_body(seat), location("api:room", room_id=seat.room.pk))

            answer = once(key, make)
        return answered(answer)


class RoomDoor(Door):
    """The base of doors under a room."""

    tag = "Rooms"
    for_clients = True
    path_parameters = {"room_id": ROOM_ID}

    @property
    def room_id(self) -> str:
        """The room of the address; whether there is one is for services to say."""
        return str(self.kwargs["room_id"])

    def seat(self) -> Seat:
        """The caller's place in the room. Refused (not found) when they take no part."""
        return seat_in(self.viewer, self.room_id)


class OneRoom(RoomDoor):
    parameters = {"since": _SINCE, "before": _BEFORE, "limit": _MESSAGES}

    @extend_schema(operation_id="read_room", responses=schemas.RoomDetail)
    def get(self, request: Request, room_id: str) -> Response:
        """Read a room. Its newest messages, or those since or before one; who takes part, and what is under way."""
        seat, now = self.seat(), clock.now()
        page = transcript(seat, since=self.asked["since"], before=self.asked["before"], limit=self.asked["limit"])
        cards = cards_of(seat, page.lines, now)
        return Response(room_detail(seat, participants_in(seat.room.pk), shown_turns(seat, now), page, cards))

    @extend_schema(operation_id="rename_room", request=schemas.NewTitle, responses=schemas.Renamed)
    def patch(self, request: Request, room_id: str) -> Response:
        """Rename a room. For who opened it, and admins."""
        managed_room(self.viewer, room_id)
        room = rename_room(self.viewer, room_id, read_title(self.body()))
        return Response({"room_id": room.pk, "title": room.title})


class Messages(RoomDoor):
    @extend_schema(
        operation_id="post_message",
        request=schemas.NewMessage,
        responses={201: schemas.Posted},
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, room_id: str) -> Response:
        """Post a message. In a room with one agent it wakes it; with several, `@name` does, in order of mention."""
        room = self.seat().room
        body = self.body()
        text, key = read_text(body), self.idempotency_key(body)
        with room_step(room.pk) as record:
            seat = seat_under_lock(record, self.viewer)
            answer = once(key, lambda: Answer(201, posted_body(seat, post_in(record, seat, text))))
        return answered(answer)


class RetryMessage(RoomDoor):
    path_parameters = RoomDoor.path_parameters | {"seq": query.in_path("The failed turn's message.", "[0-9]{1,9}")}

    @extend_schema(operation_id="retry_turn", request=None, responses={202: schemas.Retried})
    def post(self, request: Request, room_id: str, seq: str) -> Response:
        """Try a failed turn again. Safe to repeat: it is tried once."""
        seat = self.seat()
        self.expect_no_body()
        turn = retry(self.viewer, seat.room.pk, line_of(seat, query.path_number(seq)))
        return Response({"turn_id": turn.pk}, status=202)


class CancelTurn(RoomDoor):
    path_parameters = RoomDoor.path_parameters | {"turn_id": query.in_path("The turn's id.", "[0-9]{1,9}")}

    @extend_schema(operation_id="cancel_turn", request=None, responses=schemas.CancelledTurn)
    def post(self, request: Request, room_id: str, turn_id: str) -> Response:
        """Cancel a turn that has not begun. For who asked for it, and who may close the room; safe to repeat."""
        seat = self.seat()
        self.expect_no_body()
        number = query.path_number(turn_id)
        return Response({"turn_id": number, "status": cancel_turn(self.viewer, seat.room.pk, number)})


class Participants(RoomDoor):
    @extend_schema(operation_id="list_participants", responses=schemas.ParticipantShape(many=True))
    def get(self, request: Request, room_id: str) -> Response:
        """List who takes part. In the order in which they came."""
        return Response([participant_body(one) for one in participants_in(self.seat().room.pk)])

    @extend_schema(
        operation_id="add_participant", request=schemas.NewParticipant, responses={201: schemas.ParticipantShape}
    )
    def post(self, request: Request, room_id: str) -> Response:
        """Add an agent or a person. For who opened the room, and admins; safe to repeat."""
        managed_room(self.viewer, room_id)
        agent, user = read_participant(self.body())
        added = add_participant(self.viewer, room_id, agent=agent, user=user)
        return Response(participant_body(added), status=201)


class RemoveAgent(RoomDoor):
    path_parameters = RoomDoor.path_parameters | {"name": query.in_path("The agent's name.", ".+")}

    @extend_schema(operation_id="remove_agent", request=None, responses={204: None})
    def delete(self, request: Request, room_id: str, name: str) -> Response:
        """Remove an agent. What it has not begun is withdrawn, and what it is at is not posted."""
        remove_participant(self.viewer, room_id, agent=name)
        return Response(status=204)


class RemovePerson(RoomDoor):
    path_parameters = RoomDoor.path_parameters | {"username": query.in_path("The person's username.", ".+")}

    @extend_schema(operation_id="remove_person", request=None, responses={204: None})
    def delete(self, request: Request, room_id: str, username: str) -> Response:
        """Remove a person, or leave. They see the room no more."""
        remove_participant(self.viewer, room_id, user=username)
        return Response(status=204)


class CloseRoom(RoomDoor):
    @extend_schema(operation_id="close_room", request=None, responses=schemas.ClosedRoom)
    def post(self, request: Request, room_id: str) -> Response:
        """Close a room. It takes no more messages and stays readable; safe to repeat."""
        room = managed_room(self.viewer, room_id)
        self.expect_no_body()
        return Response({"room_id": room.pk, "status": close_room(self.viewer, room.pk)})


class RoomWork(RoomDoor):
    for_clients = False
    parameters = {"all": query.flag("All that ended within 30 days, not the newest three.")}

    @extend_schema(operation_id="read_room_work", responses=schemas.WorkShape)
    def get(self, request: Request, room_id: str) -> Response:
        """Read a room's work. Each execution of its agents that belongs to it."""
        return Response(work_body(room_executions(self.seat(), clock.now(), all_earlier=bool(self.asked["all"]))))


class RoomLoops(RoomDoor):
    for_clients = False
    parameters = {"limit": query.limit()}

    @extend_schema(operation_id="list_room_loops", responses=loop_schemas.LoopShape(many=True))
    def get(self, request: Request, room_id: str) -> Response:
        """List a room's loops. Those started from it, and those of its agents that one may use; newest first."""
        now, found = clock.now(), list(room_loops(self.seat())[: self.asked["limit"]])
        standings = standings_of(found, now)
        return Response([loop_body(loop, standings[loop.pk], self.viewer, now) for loop in found])
