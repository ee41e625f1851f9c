"""The shapes of executions in REST, for the schema; reads and writes nothing."""

from rest_framework import serializers

from accounts.schemas import Actor
from agents.models import EXECUTION_TIMEOUT_SECONDS
from executions.grading_schemas import KeptVerdict
from executions.requests import ALLOWED_TOOLS, MODEL_CHARACTERS, PROMPT_CHARACTERS, TOOL_NAME_CHARACTERS
from executions.vocabulary import AbandonAnswer, Category, ExecutionStatus, Trigger, WaitReason
from trinity.rest.shapes import Shape, dollars, moment, optional_integer, optional_names, optional_text, text, word


class Call(Shape):
    """One call of an agent."""

    prompt = text(*PROMPT_CHARACTERS)
    model = optional_text(MODEL_CHARACTERS, help_text="None: the agent's.")
    allowed_tools = optional_names(ALLOWED_TOOLS, TOOL_NAME_CHARACTERS, help_text="None: unrestricted.")
    timeout_seconds = optional_integer(
        *EXECUTION_TIMEOUT_SECONDS, help_text="None: the agent's execution timeout, which it may not exceed."
    )


class Called(Shape):
    """What a call is answered."""

    execution_id = serializers.CharField()
    status = word(ExecutionStatus)
    agent_name = serializers.CharField()


class Waiting(Shape):
    """Why an execution has not begun."""

    reason = word(WaitReason)
    words = serializers.CharField()
    place_in_line = serializers.IntegerField(allow_null=True, help_text="1 is next; null where there is no line.")
    until = moment()
    why = serializers.CharField(allow_null=True, help_text="While a model is away: the kind of its error.")
    since = moment()


class Tokens(Shape):
    """Tokens as the agent's last word counts them; null is unknown."""

    input = serializers.IntegerField(allow_null=True)
    output = serializers.IntegerField(allow_null=True)
    cache_read = serializers.IntegerField(allow_null=True)
    cache_write = serializers.IntegerField(allow_null=True)


class Work(Shape):
    """What an execution did or does."""

    tool_calls = serializers.IntegerField()
    permission_denials = serializers.ListField(child=serializers.CharField(), help_text="Tools that were refused.")
    activity = serializers.CharField(allow_null=True, help_text="What it does now: tool and first argument.")
    commits = serializers.IntegerField(allow_null=True)
    lines_added = serializers.IntegerField(allow_null=True)
    lines_removed = serializers.IntegerField(allow_null=True)


class ExecutionShape(Work):
    """An execution, without its texts."""

    execution_id = serializers.CharField()
    agent_name = serializers.CharField()
    trigger = word(Trigger)
    category = word(Category)
    loop_id = serializers.CharField(allow_null=True)
    run_number = serializers.IntegerField(allow_null=True)
    status = word(ExecutionStatus)
    waiting = Waiting(allow_null=True)
    model = serializers.CharField(allow_null=True)
    used_model = serializers.CharField(allow_null=True, help_text="What the agent says it used.")
    allowed_tools = serializers.ListField(child=serializers.CharField(), allow_null=True)
    timeout_seconds = serializers.IntegerField()
    error_kind = serializers.CharField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    cost_usd = dollars("Null is unknown, never 0.")
    cost_estimated = serializers.BooleanField()
    tokens = Tokens()
    notes = serializers.ListField(child=serializers.CharField(), help_text="For the reader: what was cut or missing.")
    attempt = serializers.IntegerField()
    duration_ms = serializers.IntegerField(allow_null=True)
    queued_at = serializers.DateTimeField()
    started_at = moment()
    completed_at = moment()
    abandon_requested_at = moment()
    started_by = Actor(allow_null=True)


class ExecutionRow(ExecutionShape):
    """An execution in a list."""

    prompt_preview = serializers.CharField(allow_blank=True, help_text="The first 500 characters.")
    response_preview = serializers.CharField(allow_blank=True, allow_null=True, help_text="The first 500 characters.")


class ExecutionDetail(ExecutionShape):
    """Everything of an execution but its trajectory."""

    prompt = serializers.CharField(allow_blank=True)
    response = serializers.CharField(allow_blank=True, allow_null=True)
    verdicts = KeptVerdict(many=True)


class TrajectoryShape(Shape):
    """The ordered tool calls of an execution, in the neutral format that graders read."""

    format = serializers.CharField()
    steps = serializers.ListField(child=serializers.JSONField(), help_text="Lists of calls; a list is one model step.")
    end_reason = serializers.CharField()


class Abandoned(Shape):
    """What a request to abandon is answered."""

    execution_id = serializers.CharField()
    status = word(AbandonAnswer)
