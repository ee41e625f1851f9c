"""The shapes of agents in REST, for the schema; reads and writes nothing."""

from rest_framework import serializers

from agents.models import EXECUTION_TIMEOUT_SECONDS, MAX_PARALLEL_TASKS, NAME_PATTERN
from agents.parameters import (
    DEFAULT_PARALLEL_TASKS,
    DEFAULT_TIMEOUT_SECONDS,
    MODEL_CHARACTERS,
    NAME_CHARACTERS,
    PLACE_PATTERN,
    TITLE_CHARACTERS,
    WORKSPACE_CHARACTERS,
)
from agents.runtimes.registry import RuntimeName
from agents.vocabulary import AgentStatus
from trinity.rest.shapes import OPTIONAL, Shape, optional_integer, optional_text, word


class Changes(Shape):
    """What an owner may change; null means the default again. The last four are for admins only."""

    title = optional_text(TITLE_CHARACTERS)
    execution_timeout_seconds = optional_integer(*EXECUTION_TIMEOUT_SECONDS, default=DEFAULT_TIMEOUT_SECONDS)
    max_parallel_tasks = optional_integer(*MAX_PARALLEL_TASKS, default=DEFAULT_PARALLEL_TASKS)
    model = optional_text(MODEL_CHARACTERS, help_text="None: what the runtime takes by itself.")
    graders = serializers.ListField(
        child=serializers.DictField(), **OPTIONAL, help_text="None: loop-outcome with 3 retries."
    )
    runtime = word(RuntimeName, required=False)
    runtime_settings = serializers.DictField(**OPTIONAL, help_text="What the runtime needs, such as `argv`.")
    workspace = serializers.CharField(
        max_length=WORKSPACE_CHARACTERS, **OPTIONAL, help_text="An absolute folder that exists; none: one of its own."
    )
    place = serializers.RegexField(f"^{PLACE_PATTERN}$", **OPTIONAL, help_text="Which workers may run it.")


class NewAgent(Changes):
    """An agent to be made; it is running at once."""

    name = serializers.RegexField(
        f"^{NAME_PATTERN}$", max_length=NAME_CHARACTERS, help_text="Unique for ever: names are never used again."
    )
    runtime = word(RuntimeName)


class AgentShape(Shape):
    """An agent."""

    name = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    owner = serializers.CharField()
    status = word(AgentStatus)
    runtime = serializers.CharField()
    place = serializers.CharField()
    execution_timeout_seconds = serializers.IntegerField()
    max_parallel_tasks = serializers.IntegerField()
    model = serializers.CharField(allow_null=True)
    graders = serializers.ListField(child=serializers.DictField(), allow_null=True)
    created_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(allow_null=True)
    runtime_settings = serializers.DictField(required=False, help_text="For its owner and admins.")
    workspace = serializers.CharField(required=False, help_text="For its owner and admins.")


class NewShare(Shape):
    """Whom to share with."""

    user = serializers.CharField(max_length=150, help_text="The username of a member.")


class Share(Shape):
    """Who may use an agent besides its owner."""

    user = serializers.CharField()
    since = serializers.DateTimeField()


class NewPermission(Shape):
    """Which agent to call."""

    agent = serializers.CharField(max_length=NAME_CHARACTERS, help_text="An agent that one may use oneself.")


class Permission(Shape):
    """Which other agent an agent may call."""

    agent = serializers.CharField()
    since = serializers.DateTimeField()
