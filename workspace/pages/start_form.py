"""The rail's form that starts a loop: four fields, and the guardrails that its sentence promises."""

from collections.abc import Sequence
from typing import Any

from django import forms

from agents.models import Agent
from loops.vocabulary import OnFailure
from trinity.kernel.typed import TypedForm, as_sent, dollars, line, whole

# What the form says it starts with (section 5, "The Workspace rail"); the sentence and the numbers go together.
IDENTICAL_REPLIES = 3
FAILURES_IN_A_ROW = 3
PROMISE = (
    f"It also stops by itself after {IDENTICAL_REPLIES} identical replies in a row, and after {FAILURES_IN_A_ROW} "
    "consecutive failures. No time limit unless you set one."
)


class StartForm(TypedForm):
    """Agent, task, runs and budget; everything else is as the promise says."""

    agent = forms.ChoiceField(label="Agent", required=False)
    message = forms.CharField(
        label="Do this each run", required=False, strip=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    max_runs = line("Runs", kind="numeric", initial="10")
    max_cost_usd = line("Cost budget (USD)", kind="decimal", attributes={"placeholder": "none"})

    def __init__(self, *args: Any, agents: Sequence[Agent], **kwargs: Any) -> None:
        kwargs.setdefault("auto_id", "start_%s")  # the composer and dialogs have fields of their own
        super().__init__(*args, **kwargs)
        self.fields["agent"].choices = [(one.name, _choice(one)) for one in agents]  # type: ignore[attr-defined]
        # One that is stopped would refuse; the first that runs stands chosen.
        self.initial.setdefault("agent", next((one.name for one in agents if one.running), ""))

    @property
    def agent_name(self) -> str:
        return self.typed("agent")

    def given(self) -> dict[str, Any]:
        """What was typed as a program would send it, with the promised guardrails and no deadline."""
        return {
            "message": as_sent(self.typed("message")) or None,
            "max_runs": whole(self.typed("max_runs")),
            "max_cost_usd": dollars(self.typed("max_cost_usd")),
            "on_failure": OnFailure.CONTINUE,
            "no_progress_threshold": IDENTICAL_REPLIES,
            "max_consecutive_failures": FAILURES_IN_A_ROW,
        }


def _choice(agent: Agent) -> str:
    return agent.name if agent.running else f"{agent.name} (stopped)"
