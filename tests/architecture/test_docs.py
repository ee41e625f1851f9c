"""The docs that are printed from the code are fresh, and links lead somewhere."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "examples" / "README.md"])


def test_the_state_machines_are_those_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "script"))
    import state_machines

    assert state_machines.PAGE.read_text(encoding="utf-8") == state_machines.page()
    sys.modules.pop("state_machines")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_to_a_file_leads_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)

    for target in re.findall(r"\]\((?!https?:|#|/)([^)#\s]+)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=lambda page: page.name)
def test_a_decision_is_short_and_says_what_follows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert len(text.splitlines()) <= 60
    assert all(f"**{part}.**" in text for part in ("Context", "Decision", "Consequences"))
