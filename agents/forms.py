"""What an owner may change of an agent on its page; types and bounds are `parameters`' own."""

from typing import Any

from django import forms

from agents.models import Agent
from trinity.kernel.errors import Refused


class AgentForm(forms.Form):
    """Title, limits and model, as typed."""

    title = forms.CharField(label="Title", required=False)
    execution_timeout_seconds = forms.CharField(
        label="Execution timeout", required=False, help_text="Seconds, 10–7,200. No run may take longer."
    )
    max_parallel_tasks = forms.CharField(
        label="Slots", required=False, help_text="1–100 executions at once. Blank: the default."
    )
    model = forms.CharField(label="Default model", required=False, help_text="Blank: the runtime's own.")

    def given(self) -> dict[str, Any]:
        """What was typed, as a program would send it; blank means the default."""
        typed = {name: str(self.data.get(name, "")).strip() for name in self.fields}
        numbers = ("execution_timeout_seconds", "max_parallel_tasks")
        return {
            name: (int(text) if name in numbers and text.isascii() and text.isdigit() else text) or None
            for name, text in typed.items()
        }

    def refuse(self, refusal: Refused) -> None:
        """Show a refusal at the fields that it names, else above the form."""
        self.errors.clear()
        for name, sentences in refusal.errors.items():
            for sentence in sentences:
                self.add_error(name if name in self.fields else None, sentence)
        if not refusal.errors:
            self.add_error(None, refusal.detail)


def agent_form(agent: Agent) -> AgentForm:
    """The form filled with what the agent has."""
    return AgentForm(initial={name: getattr(agent, name) for name in AgentForm.base_fields})
