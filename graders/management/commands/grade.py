"""`manage.py grade`: grades recorded trajectories with a file of graders; a thin door that never judges."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError

from graders.config_file import ConfigFile, read_config
from graders.errors import UnreadableTrajectory
from graders.grading import judge
from graders.importers.opening import open_trajectory
from trinity.kernel.errors import Refused

ALL_PASSED, A_VERDICT_FAILED, BAD_INPUT = 0, 1, 2


class Command(BaseCommand):
    help = "Grade recorded trajectories. Exit code: 0 all passed, 1 a verdict failed, 2 bad input or config."
    requires_system_checks: list[str] = []  # it needs neither database nor settings

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", help="a recorded trajectory; - is standard input")
        parser.add_argument("--config", required=True, metavar="YAML", help="the file that lists the graders")
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        config = _config(options["config"])
        answers = [_graded(name, config) for name in options["files"]]
        code = max(_exit_code(answer) for answer in answers)
        if options["format"] == "json":
            self._write_json(answers, code)
        else:
            for answer in answers:
                self._write_text(answer)
        if code != ALL_PASSED:
            sys.exit(code)

    def _write_json(self, answers: list[dict[str, Any]], code: int) -> None:
        self.stdout.write(json.dumps({"passed": code == ALL_PASSED, "files": answers}, indent=2))

    def _write_text(self, answer: dict[str, Any]) -> None:
        for warned in answer["lint"]:
            self.stderr.write(f"warning: {warned['grader']} {warned['code']}: {warned['message']}")
        if answer["error"] is not None:
            self.stderr.write(f"{answer['file']}: error: {answer['error']}")
        for result in answer["results"]:
            verdict = "passed" if result["passed"] else "FAILED"
            self.stdout.write(f"{answer['file']}: {verdict}: {result['name'] or result['type']}: {result['evidence']}")


def _config(name: str) -> ConfigFile:
    try:
        return read_config(Path(name).read_bytes())
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}", returncode=BAD_INPUT) from None
    except Refused as refused:
        faults = [f"{path}: {said}" for path, sentences in refused.errors.items() for said in sentences]
        raise CommandError("\n".join(f"{name}: {fault}" for fault in faults), returncode=BAD_INPUT) from None


def _graded(name: str, config: ConfigFile) -> dict[str, Any]:
    answer: dict[str, Any] = {"file": name, "error": None, "results": [], "lint": []}
    try:
        if name == "-":
            return answer | _judged(sys.stdin.buffer, config)
        with open(name, "rb") as source:
            return answer | _judged(source, config)
    except OSError as error:
        return answer | {"error": error.strerror or str(error)}
    except UnreadableTrajectory as damaged:
        return answer | {"error": str(damaged)}


def _judged(source: BinaryIO, config: ConfigFile) -> dict[str, Any]:
    return judge(config.graders, open_trajectory(source), max_iterations=config.max_iterations)


def _exit_code(answer: dict[str, Any]) -> int:
    if answer["error"] is not None:
        return BAD_INPUT
    return ALL_PASSED if all(result["passed"] for result in answer["results"]) else A_VERDICT_FAILED
