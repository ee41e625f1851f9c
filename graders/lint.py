"""Warns of settings that are allowed but hardly meant; refuses nothing."""

from collections.abc import Sequence

from graders.config import GraderSetting
from graders.wording import quoted


def lint(settings: Sequence[GraderSetting], max_iterations: int | None) -> list[dict[str, str]]:
    """What each grader's kind warns of: `code`, `grader` (its place in the list) and `message`."""
    return [
        {"code": str(warned.code), "grader": f"graders[{place}]", "message": f"{label}: {warned.message}"}
        for place, setting in enumerate(settings)
        for label in [f"{setting.kind.type} {quoted(setting.name)}" if setting.name else setting.kind.type]
        for warned in setting.kind.lint(setting.options, max_iterations)
    ]
