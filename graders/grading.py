"""Grades one trajectory with a list of graders, in one pass, in the REST answer's shape; stores nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from graders.config import GraderSetting, read_graders
from graders.errors import UnreadableTrajectory
from graders.importers.opening import trajectory_from
from graders.kind import Ending, Verdict
from graders.lint import lint
from graders.trajectory import Trajectory
from graders.vocabulary import VerdictStatus
from trinity.kernel.errors import Refused


def grade(graders: object, trajectory: object, *, max_iterations: int | None = None) -> dict[str, Any]:
    """`{"results": […], "lint": […]}` (section 4) of graders as a list and a trajectory as JSON values.

    A trajectory of None gets error results, which are no verdict. `max_iterations` is what the config says;
    the trajectory's own outranks it. Raises Refused, with `errors` by path, for a wrong config and for a
    trajectory that cannot be read.
    """
    settings = read_graders(graders)
    if trajectory is None:
        return {
            "results": without_verdict(settings, "There is no trajectory, so nothing was judged."),
            "lint": lint(settings, max_iterations),
        }
    try:
        opened = trajectory if isinstance(trajectory, Trajectory) else trajectory_from(trajectory)
        return judge(settings, opened, max_iterations=max_iterations)
    except UnreadableTrajectory as damaged:
        raise Refused(f"trajectory: {damaged}", errors={"trajectory": [str(damaged)]}) from None


def judge(
    settings: Sequence[GraderSetting], trajectory: Trajectory, *, max_iterations: int | None = None
) -> dict[str, Any]:
    """The same answer for a trajectory that may still be read from a file; raises UnreadableTrajectory."""
    judges = [setting.kind.judge(setting.options) for setting in settings]
    sees = [one.see for one in judges]
    for step in trajectory.steps:
        for see in sees:
            see(step)
    most = max_iterations if trajectory.max_iterations is None else trajectory.max_iterations
    ending = Ending(trajectory.end_reason, most)
    results = [_result(setting, one.verdict(ending)) for setting, one in zip(settings, judges, strict=True)]
    return {"results": results, "lint": lint(settings, most)}


def without_verdict(settings: Sequence[GraderSetting], reason: str) -> list[dict[str, Any]]:
    """An error result for each grader: `passed` and `score` are null, and `reason` is the evidence."""
    return [_result(setting, None, reason) for setting in settings]


def summary(result: Mapping[str, Any]) -> str:
    """A few words for a table, such as `no looping`, `bash ×5 in a row` or `not graded`."""
    if result.get("status") != VerdictStatus.OK:
        return "not graded"
    words = result.get("details", {}).get("summary")
    return words if isinstance(words, str) and words else ("passed" if result.get("passed") else "failed")


def _result(setting: GraderSetting, verdict: Verdict | None, reason: str = "") -> dict[str, Any]:
    return {
        "type": setting.kind.type,
        "name": setting.name,
        "status": (VerdictStatus.ERROR if verdict is None else VerdictStatus.OK).value,
        "passed": None if verdict is None else verdict.passed,
        "score": None if verdict is None else verdict.score,
        "kind": setting.kind.taxonomy.score_kind.value,
        "evidence": reason if verdict is None else verdict.evidence,
        "details": {} if verdict is None else {"summary": verdict.summary, **verdict.details},
    }
