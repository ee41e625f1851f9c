"""The executions app: one call of an agent, carried out once."""

from django.apps import AppConfig


class ExecutionsConfig(AppConfig):
    name = "executions"

    def ready(self) -> None:
        from accounts.authentication import bearer_kinds
        from agents import hooks as agent_hooks
        from executions import grading, hooks, receivers, tokens
        from graders.config import check_graders

        bearer_kinds.add(tokens.PREFIX, tokens.viewer_of_token)
        agent_hooks.graders.add("graders", check_graders)
        receivers.register_repair("grades", grading.grade_waiting)
        agent_hooks.archived.add("executions", hooks.withdraw_waiting)
        agent_hooks.admits_more.add("executions", hooks.tell_workers)
