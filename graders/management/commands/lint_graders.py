"""`manage.py lint_graders`: says what is wrong or hardly meant in a file of graders; a thin door."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from graders.config_file import read_config
from graders.lint import lint
from trinity.kernel.errors import Refused


class Command(BaseCommand):
    help = "Check a file of graders. Exit code: 0 no error, 1 an error, or with --strict a warning."
    requires_system_checks: list[str] = []  # it needs neither database nor settings

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("config", metavar="CONFIG", help="the YAML file that lists the graders")
        parser.add_argument("--strict", action="store_true", help="take warnings for errors")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["config"]
        errors, warnings = _linted(name)
        for fault in errors:
            self.stderr.write(f"{name}: error: {fault}")
        for warned in warnings:
            self.stdout.write(f"{name}: warning: {warned['grader']} {warned['code']}: {warned['message']}")
        if errors or (warnings and options["strict"]):
            sys.exit(1)
        if not warnings:
            self.stdout.write(f"{name}: no fault found")


def _linted(name: str) -> tuple[list[str], list[dict[str, str]]]:
    try:
        config = read_config(Path(name).read_bytes())
    except OSError as error:
        return [error.strerror or str(error)], []
    except Refused as refused:
        return [f"{path}: {said}" for path, sentences in refused.errors.items() for said in sentences], []
    return [], lint(config.graders, config.max_iterations)
