"""Addresses of agents under /api/."""

from django.urls import path

from agents import api, sharing_api

urlpatterns = [
    path("agents", api.Agents.as_view(), name="agents"),
    path("agents/<str:name>", api.OneAgent.as_view(), name="agent"),
    path("agents/<str:name>/start", api.StartAgent.as_view(), name="agent-start"),
    path("agents/<str:name>/stop", api.StopAgent.as_view(), name="agent-stop"),
    path("agents/<str:name>/shares", sharing_api.Shares.as_view(), name="agent-shares"),
    path("agents/<str:name>/shares/<str:username>", sharing_api.OneShare.as_view(), name="agent-share"),
    path("agents/<str:name>/permissions", sharing_api.Permissions.as_view(), name="agent-permissions"),
    path("agents/<str:name>/permissions/<str:target>", sharing_api.OnePermission.as_view(), name="agent-permission"),
    path("agents/<str:name>/keys", sharing_api.AgentKeys.as_view(), name="agent-keys"),
    path("agents/<str:name>/keys/<str:prefix>", sharing_api.OneAgentKey.as_view(), name="agent-key"),
]
