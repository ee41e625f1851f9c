"""The shapes of graders and verdicts in REST, for the schema; reads and writes nothing."""

from rest_framework import serializers

from graders.vocabulary import VerdictStatus
from trinity.rest.shapes import Shape, word


class GraderOption(Shape):
    """One option of a kind of grader; with its bounds."""

    name = serializers.CharField()
    type = serializers.CharField()
    required = serializers.BooleanField()  # type: ignore[assignment]
    default = serializers.JSONField()
    meaning = serializers.CharField()
    minimum = serializers.IntegerField(required=False)
    maximum = serializers.IntegerField(required=False)
    choices = serializers.ListField(child=serializers.CharField(), required=False)


class GraderShape(Shape):
    """A kind of grader."""

    type = serializers.CharField()
    meaning = serializers.CharField()
    options = GraderOption(many=True)
    taxonomy = serializers.DictField(child=serializers.CharField())


class GraderGiven(Shape):
    """One grader, as in a config file."""

    type = serializers.CharField()
    name = serializers.CharField(required=False, allow_null=True)
    config = serializers.DictField()


class Grading(Shape):
    """Graders, and either a trajectory or an ended execution."""

    graders = GraderGiven(many=True)
    trajectory = serializers.JSONField(
        required=False, help_text="Our own JSON, trinity-trajectory/1, or a known other."
    )
    execution_id = serializers.CharField(required=False)


class VerdictRow(Shape):
    """A verdict in a few words."""

    type = serializers.CharField()
    passed = serializers.BooleanField(allow_null=True)
    summary = serializers.CharField()


class VerdictShape(Shape):
    """What a grader says; `passed` and `score` are null when it could not judge."""

    type = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    status = word(VerdictStatus)
    passed = serializers.BooleanField(allow_null=True)
    score = serializers.FloatField(allow_null=True)
    evidence = serializers.CharField()
    details = serializers.DictField()


class KeptVerdict(VerdictShape):
    """The same of an execution's own graders."""

    summary = serializers.CharField()


class GradedResult(VerdictShape):
    """The same as answered at once."""

    kind = serializers.CharField()


class LintWarning(Shape):
    """What is allowed, and probably not meant."""

    code = serializers.CharField()
    grader = serializers.CharField()
    message = serializers.CharField()


class Graded(Shape):
    """The answer of grading."""

    results = GradedResult(many=True)
    lint = LintWarning(many=True)
