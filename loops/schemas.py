"""The shapes of loops in REST, for the schema; reads and writes nothing."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.schemas import Actor
from executions.grading_schemas import VerdictRow
from executions.schemas import Waiting, Work
from executions.vocabulary import ExecutionStatus
from loops import parameters
from loops.vocabulary import LoopStatus, OnFailure, StopAnswer, StopReason
from trinity.kernel.vocabulary import Tone
from trinity.rest.shapes import (
    OPTIONAL,
    Shape,
    dollars,
    moment,
    optional_integer,
    optional_names,
    optional_text,
    text,
    word,
)


@extend_schema_field(
    {
        "oneOf": [
            {"type": "integer", "const": 0},
            {"type": "integer", "minimum": 2, "maximum": parameters.NO_PROGRESS_THRESHOLD[1]},
        ],
        "default": 3,
    }
)
class Threshold(serializers.IntegerField):
    """0 (off), or at least 2."""


@extend_schema_field({"type": "number", "exclusiveMinimum": 0, "maximum": parameters.MAX_COST_USD, "format": "double"})
class Budget(serializers.FloatField):
    """More than 0 dollars."""


class NewLoop(Shape):
    """A loop to be started (section 2 of the design). Null in an optional field means its default."""

    message = text(
        *parameters.MESSAGE_CHARACTERS,
        help_text="What to do on each run; `{{run}}` and `{{previous_response}}` are filled in.",
    )
    max_runs = serializers.IntegerField(min_value=parameters.MAX_RUNS[0], max_value=parameters.MAX_RUNS[1])
    stop_signal = optional_text(
        parameters.STOP_SIGNAL_CHARACTERS, help_text="A reply that contains it ends the loop; blank: none."
    )
    delay_seconds = optional_integer(*parameters.DELAY_SECONDS, default=0, help_text="Between runs.")
    timeout_per_run = optional_integer(
        *parameters.TIMEOUT_PER_RUN, help_text="Seconds; none: the agent's, which it may not exceed."
    )
    max_duration_seconds = optional_integer(
        *parameters.MAX_DURATION_SECONDS, help_text="Of the whole loop, at least one run's timeout; none: no deadline."
    )
    no_progress_threshold = Threshold(help_text="Identical replies in a row that end the loop; 0: off.", **OPTIONAL)
    max_cost_usd = Budget(help_text="What the loop may spend; none: no budget.", **OPTIONAL)
    on_failure = word(OnFailure, help_text="None: abort.", **OPTIONAL)
    max_consecutive_failures = optional_integer(
        *parameters.MAX_CONSECUTIVE_FAILURES, default=3, help_text="For `continue`: so many in a row end the loop."
    )
    model = optional_text(parameters.MODEL_CHARACTERS, help_text="None: the agent's.")
    allowed_tools = optional_names(
        parameters.ALLOWED_TOOLS, parameters.TOOL_NAME_CHARACTERS, help_text="None: unrestricted."
    )


class StartedLoop(Shape):
    """What a start is answered."""

    loop_id = serializers.CharField()
    status = word(LoopStatus)
    agent_name = serializers.CharField()
    max_runs = serializers.IntegerField()


class LoopWords(Shape):
    """What a person reads."""

    badge = serializers.CharField()
    reason = serializers.CharField(allow_blank=True, help_text="Why it ended, or what it waits for.")
    workspace = serializers.CharField()
    tone = word(Tone)


class CurrentRun(Shape):
    """The run that waits or is in flight."""

    run_number = serializers.IntegerField()
    execution_id = serializers.CharField()
    status = word(ExecutionStatus)
    started_at = moment()
    activity = serializers.CharField(allow_null=True)


class LoopShape(Shape):
    """A loop, without its runs and its last response."""

    loop_id = serializers.CharField()
    agent_name = serializers.CharField()
    title = serializers.CharField(allow_blank=True, help_text="The first line of the message.")
    status = word(LoopStatus)
    stop_reason = word(StopReason, allow_null=True)
    error = serializers.CharField(allow_null=True)
    words = LoopWords()
    version = serializers.IntegerField(help_text="Goes up with every change.")
    message = serializers.CharField()
    max_runs = serializers.IntegerField()
    stop_signal = serializers.CharField(allow_null=True)
    delay_seconds = serializers.IntegerField()
    timeout_per_run = serializers.IntegerField()
    max_duration_seconds = serializers.IntegerField(allow_null=True)
    no_progress_threshold = serializers.IntegerField()
    max_cost_usd = dollars("Null: no budget.")
    on_failure = word(OnFailure)
    max_consecutive_failures = serializers.IntegerField()
    model = serializers.CharField(allow_null=True)
    allowed_tools = serializers.ListField(child=serializers.CharField(), allow_null=True)
    runs_completed = serializers.IntegerField()
    failed_runs = serializers.IntegerField(help_text="Tolerated failures.")
    consecutive_failures = serializers.IntegerField()
    repeat_count = serializers.IntegerField(help_text="Identical replies in a row.")
    total_cost_usd = serializers.FloatField(help_text="A run without a known cost counts as 0.")
    elapsed_seconds = serializers.FloatField(help_text="Since run 1 got its slot; outside the ETag.")
    current_run = CurrentRun(allow_null=True)
    waiting = Waiting(allow_null=True)
    created_at = serializers.DateTimeField()
    started_at = moment()
    completed_at = moment()
    deadline_at = moment()
    next_run_at = moment()
    stop_requested_at = moment()
    started_by = Actor(allow_null=True)
    stop_requested_by = Actor(allow_null=True)


class RunShape(Work):
    """One run of a loop."""

    run_number = serializers.IntegerField()
    execution_id = serializers.CharField()
    status = word(ExecutionStatus, help_text="Its execution's.")
    response_preview = serializers.CharField(allow_null=True, allow_blank=True, help_text="The first 500 characters.")
    cost_usd = dollars("Null is unknown, never 0.")
    cost_estimated = serializers.BooleanField()
    duration_ms = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    error_kind = serializers.CharField(allow_null=True)
    notes = serializers.ListField(child=serializers.CharField(), help_text="For the reader: what was cut or missing.")
    verdicts = VerdictRow(many=True)
    started_at = moment()
    completed_at = moment()


class LoopDetail(LoopShape):
    """Everything of a loop."""

    last_response = serializers.CharField(allow_null=True, allow_blank=True)
    refused_tools = serializers.DictField(
        child=serializers.IntegerField(), help_text="Tools that were refused, and in how many runs."
    )
    runs = RunShape(many=True)


class StoppedLoop(Shape):
    """What a stop request is answered."""

    loop_id = serializers.CharField()
    status = word(StopAnswer)
