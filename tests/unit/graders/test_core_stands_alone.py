"""What a stranger could lift out: the judging core knows neither Django nor the rest of the project."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import graders

ROOT = Path(graders.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
DJANGO_DOORS = {ROOT / "apps.py", *(ROOT / "management").rglob("*.py")}
KERNEL_DOORS = DJANGO_DOORS | {ROOT / "config.py", ROOT / "config_file.py", ROOT / "grading.py"}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_doors_import_django_or_the_kernel(path: Path) -> None:
    names = list(imported(path))

    if path not in DJANGO_DOORS:
        assert not [name for name in names if name.split(".")[0] in ("django", "rest_framework", "channels", "celery")]
    if path not in KERNEL_DOORS:
        assert not [name for name in names if name.split(".")[0] == "trinity"]
    assert not [
        name for name in names if name.split(".")[0] in ("accounts", "agents", "executions", "loops", "workspace")
    ]


def test_the_core_runs_without_django() -> None:
    code = (
        "import sys, io; from graders.importers.opening import open_trajectory; from graders.registry import kinds; "
        "from graders.kind import Ending; "
        "judge = kinds()['loop-outcome'].judge("
        "{'max_acceptable_retries': 0, 'should_loop': False, 'match': 'name', 'tools': None, 'max_cycle_period': 1}); "
        'trajectory = open_trajectory(io.BytesIO(b\'{"steps": [[{"tool": "a"}], [{"tool": "a"}]]}\')); '
        "[judge.see(step) for step in trajectory.steps]; "
        "print(judge.verdict(Ending()).passed, 'django' in sys.modules, 'trinity' in sys.modules)"
    )

    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "False False False"
