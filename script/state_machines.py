"""Writes docs/state-machines.md from the vocabularies; decides no move."""

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
Status = TypeVar("Status", bound=StrEnum)
PAGE = ROOT / "docs" / "state-machines.md"


def page() -> str:
    """The page as the code has it now."""
    from executions import vocabulary as executions
    from loops import vocabulary as loops

    return "\n".join(
        [
            "# State machines",
            "",
            "Printed from the vocabularies by `script/state_machines.py`; a test keeps this page fresh.",
            "",
            *_machine("Execution", executions.LEGAL_MOVES),
            "",
            "`running → queued` is a model that was away before the agent had used a tool.",
            "",
            *_machine("Loop", loops.LEGAL_MOVES),
            "",
            "`interrupted` is known from old records and never written.",
            "",
        ]
    )


def _machine(name: str, moves: Mapping[Status, frozenset[Status]]) -> list[str]:
    ended = [status for status, after in moves.items() if not after]
    lines = [f"  {status} --> {after}" for status, then in moves.items() for after in sorted(then)]
    lines += [f"  {status} --> [*]" for status in ended]
    return [f"## {name}", "", "```mermaid", "stateDiagram-v2", "  [*] --> queued", *lines, "```"]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "trinity.settings")
    PAGE.write_text(page(), encoding="utf-8")
