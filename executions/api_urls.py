"""Addresses of executions under /api/."""

from django.urls import path

from executions import api, grading_api

urlpatterns = [
    path("executions", api.Executions.as_view(), name="executions"),
    path("executions/<str:execution_id>", api.OneExecution.as_view(), name="execution"),
    path("executions/<str:execution_id>/trajectory", api.ExecutionTrajectory.as_view(), name="execution-trajectory"),
    path("executions/<str:execution_id>/abandon", api.AbandonExecution.as_view(), name="execution-abandon"),
    path("agents/<str:name>/executions", api.AgentExecutions.as_view(), name="agent-executions"),
    path("graders/", grading_api.GraderCatalogue.as_view(), name="graders"),
    path("graders/grade", grading_api.Grade.as_view(), name="grade"),
]
