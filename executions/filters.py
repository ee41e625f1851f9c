"""The filters of the executions page, from its address; what they let through is decided by `queries`."""

from collections.abc import Iterable
from typing import Any

import django_filters
from django import forms
from django.core.validators import RegexValidator

from executions.models import Execution
from executions.vocabulary import ExecutionStatus, Trigger
from trinity.kernel.choices import choices_of

LOOP_ID_PATTERN = r"loop_[A-Za-z0-9_-]{16}\Z"


class ExecutionFilter(django_filters.FilterSet):  # type: ignore[misc] # it is not typed
    """Each field narrows; rubbish is an error at its field, and then nothing is listed."""

    agent = django_filters.ChoiceFilter(field_name="agent__name", choices=[], empty_label="any", label="Agent")
    trigger = django_filters.ChoiceFilter(choices=choices_of(Trigger), empty_label="any", label="Trigger")
    status = django_filters.ChoiceFilter(choices=choices_of(ExecutionStatus), empty_label="any", label="Status")
    loop_id = django_filters.CharFilter(
        label="Loop", widget=forms.TextInput(attrs={"placeholder": "loop_…", "autocomplete": "off"})
    )

    class Meta:
        model = Execution
        fields = ("agent", "trigger", "status", "loop_id")

    def __init__(self, *args: Any, agent_names: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.filters["agent"].extra["choices"] = [(name, name) for name in agent_names]
        loop_id = self.form.fields["loop_id"]
        loop_id.validators.append(RegexValidator(LOOP_ID_PATTERN, "Must be a loop's id."))
