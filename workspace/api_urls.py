"""Addresses of rooms under /api/."""

from django.urls import path

from workspace import api

urlpatterns = [
    path("rooms", api.Rooms.as_view(), name="rooms"),
    path("rooms/<str:room_id>", api.OneRoom.as_view(), name="room"),
    path("rooms/<str:room_id>/messages", api.Messages.as_view(), name="room-messages"),
    path("rooms/<str:room_id>/messages/<str:seq>/retry", api.RetryMessage.as_view(), name="room-retry"),
    path("rooms/<str:room_id>/turns/<str:turn_id>/cancel", api.CancelTurn.as_view(), name="room-cancel"),
    path("rooms/<str:room_id>/participants", api.Participants.as_view(), name="room-participants"),
    path("rooms/<str:room_id>/participants/agents/<str:name>", api.RemoveAgent.as_view(), name="room-agent"),
    path("rooms/<str:room_id>/participants/people/<str:username>", api.RemovePerson.as_view(), name="room-person"),
    path("rooms/<str:room_id>/close", api.CloseRoom.as_view(), name="room-close"),
    path("rooms/<str:room_id>/work", api.RoomWork.as_view(), name="room-work"),
    path("rooms/<str:room_id>/loops", api.RoomLoops.as_view(), name="room-loops"),
]
