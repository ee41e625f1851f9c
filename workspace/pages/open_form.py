"""The form that opens a room; what it asks for is read and bounded by `parameters`."""

from collections.abc import Sequence
from typing import Any

from django import forms

from trinity.kernel.typed import TypedForm, as_sent, line
from workspace.pages.people import ShownPerson


class OpenForm(TypedForm):
    """Which agents take part, the first message, and a name."""

    agents = forms.MultipleChoiceField(label="Who takes part", required=False, widget=forms.CheckboxSelectMultiple)
    text = forms.CharField(
        label="First message",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Blank: nothing is said yet.",
    )
    title = line("Name", "Blank: the first message's first line.")

    def __init__(self, *args: Any, agents: Sequence[ShownPerson], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agents"].choices = [(one.name, _choice(one)) for one in agents]  # type: ignore[attr-defined]
        if len(agents) == 1:
            self.initial.setdefault("agents", [agents[0].name])

    def given(self) -> dict[str, Any]:
        """What was typed as a program would send it."""
        return {
            "agents": self.data.getlist("agents"),  # type: ignore[attr-defined]
            "text": as_sent(self.typed("text")) or None,
            "title": self.typed("title").strip() or None,
        }


def _choice(agent: ShownPerson) -> str:
    return f"{agent.name} · {agent.title}" if agent.title else agent.name
