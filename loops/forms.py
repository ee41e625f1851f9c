"""The Run Loop form: what it asks, and how typed text becomes a request; the bounds are checked by `parameters`."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms

from agents.models import Agent
from loops import parameters
from loops.models import Loop
from loops.pages.again import parameters_of
from loops.vocabulary import OnFailure
from trinity.kernel.durations import limit_text
from trinity.kernel.errors import Refused
from trinity.kernel.typed import TypedForm, as_sent, dollars, line, whole

ALL_TOOLS, SOME_TOOLS = "all", "some"
_NUMBERS = ("max_runs", "delay_seconds", "timeout_per_run", "max_duration_seconds", "no_progress_threshold")


class LoopForm(TypedForm):
    """Section 2's fields. All of them are texts here: types and bounds are `parameters.read_parameters`' own."""

    message = forms.CharField(
        label="Message template",
        required=False,
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 4, "placeholder": "Process item {{run}}. Previous result: {{previous_response}}"}
        ),
        help_text=(
            "Sent on each run. {{run}} is its number, {{previous_response}} the last 2,000 characters of the last "
            "successful reply. 1–100,000 characters."
        ),
    )
    max_runs = line("Max runs", "1–100", kind="numeric", initial="10")
    stop_signal = line(
        "Stop signal",
        "Ends the loop when a reply contains it. Blank: a fixed number of runs.",
        attributes={"placeholder": "[[DONE]]"},
    )
    delay_seconds = line("Delay between runs", "Seconds, 0–3,600", kind="numeric", initial="0")
    timeout_per_run = line("Timeout per run", "Seconds", kind="numeric")
    max_duration_seconds = line(
        "Max duration",
        "Seconds, 1–604,800, of the whole loop. Blank: no limit.",
        kind="numeric",
        attributes={"placeholder": "no limit"},
    )
    max_cost_usd = line(
        "Max cost",
        "US dollars, more than 0. Checked between runs. Blank: no budget.",
        kind="decimal",
        attributes={"placeholder": "no budget"},
    )
    no_progress_threshold = line(
        "No-progress threshold",
        "Identical replies in a row that end it; 0 is off, else at least 2.",
        kind="numeric",
        initial="3",
    )
    on_failure = forms.ChoiceField(
        label="On iteration failure",
        required=False,
        choices=[(OnFailure.ABORT, "Abort: end the loop"), (OnFailure.CONTINUE, "Continue with the next run")],
    )
    max_consecutive_failures = line("Max consecutive failures", "1–100 in a row end it.", kind="numeric", initial="3")
    model = line("Model", "Blank: the agent's.")
    tools = forms.ChoiceField(
        label="Allowed tools",
        required=False,
        initial=ALL_TOOLS,
        choices=[(ALL_TOOLS, "All tools (unrestricted)"), (SOME_TOOLS, "Only these:")],
        widget=forms.RadioSelect,
    )
    allowed_tools = forms.CharField(
        label="Names of allowed tools",
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "Read, Edit, Bash", "autocomplete": "off"}),
        help_text="Separated by commas.",
    )

    def __init__(self, *args: Any, agent: Agent, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cap = agent.execution_timeout_seconds
        timeout = self.fields["timeout_per_run"]
        timeout.help_text = f"Seconds, 10–{cap:,}. Blank: the agent's, {limit_text(cap)}."
        timeout.widget.attrs["placeholder"] = str(cap)
        self.fields["model"].widget.attrs["placeholder"] = agent.model or "the agent's"

    def given(self) -> dict[str, Any]:
        """What was typed as a program would send it: numbers where they can be read, nothing where it is blank."""
        typed = {name: self.typed(name) for name in self.fields}
        asked: dict[str, Any] = {
            "message": as_sent(typed["message"]) or None,
            "stop_signal": typed["stop_signal"],
            "on_failure": typed["on_failure"] or None,
            "model": typed["model"].strip() or None,
            "max_cost_usd": dollars(typed["max_cost_usd"]),
        }
        asked |= {name: whole(typed[name]) for name in _NUMBERS}
        if asked["on_failure"] == OnFailure.CONTINUE:
            asked["max_consecutive_failures"] = whole(typed["max_consecutive_failures"])
        if typed["tools"] == SOME_TOOLS:
            asked["allowed_tools"] = [name.strip() for name in typed["allowed_tools"].split(",") if name.strip()]
        return asked

    def foreseen(self) -> parameters.LoopParameters | None:
        """As much of it as can be read, with defaults for the rest; None without a number of runs."""
        asked = self.given()
        asked["message"] = asked["message"] or " "
        try:
            return parameters.read_parameters(asked)
        except Refused as refusal:
            kept = {name: value for name, value in asked.items() if name not in refusal.errors}
            try:
                return parameters.read_parameters({"message": " ", **kept})
            except Refused:
                return None


def initial_of(loop: Loop) -> Mapping[str, Any]:
    """The form filled as this loop was started."""
    asked = parameters_of(loop)
    tools = asked.pop("allowed_tools", None)
    if tools is not None:
        asked |= {"tools": SOME_TOOLS, "allowed_tools": ", ".join(tools)}
    if "max_cost_usd" in asked:
        asked["max_cost_usd"] = f"{Decimal(str(asked['max_cost_usd'])).normalize():f}"  # 1, as one would type it
    return asked
