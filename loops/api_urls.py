"""Addresses of loops under /api/."""

from django.urls import path

from loops import api

urlpatterns = [
    path("loops", api.Loops.as_view(), name="loops"),
    path("loops/<str:loop_id>", api.OneLoop.as_view(), name="loop"),
    path("loops/<str:loop_id>/stop", api.StopLoop.as_view(), name="loop-stop"),
    path("agents/<str:name>/loops", api.AgentLoops.as_view(), name="agent-loops"),
]
