"""Sets up an empty installation: an admin with a password and a key, and the two demo agents; once."""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction

from accounts.models import User
from accounts.services import create_key, create_user
from accounts.viewers import Viewer
from accounts.vocabulary import UserKind
from agents.services import create_agent
from trinity.kernel.secret_file import write_private

EXAMPLES = Path(settings.BASE_DIR) / "examples"


@dataclass(frozen=True, slots=True)
class FirstStart:
    """What is shown once."""

    password: str
    api_key: str

    def in_words(self, home: Path) -> str:
        """What a newcomer needs."""
        return (
            f"  log in as   admin / {self.password}\n"
            f"  API key     {self.api_key}\n"
            f"  (both are kept in {home}/admin-password and {home}/admin-api-key)"
        )


def set_up(home: Path) -> FirstStart | None:
    """Make everything in one transaction when there is no user yet; None when there is."""
    if User.objects.exists():
        return None
    workspace = home / "agents" / "inbox" / "workspace"
    _lay_out_texts(workspace / "inbox")
    with transaction.atomic():
        admin, password = create_user("admin", kind=UserKind.ADMIN)
        new = create_key(user=admin, name="first start")
        viewer = Viewer(user=admin)
        create_agent(
            viewer,
            {
                "name": "inbox",
                "title": "Summarises the oldest text in its inbox folder",
                "runtime": "command",
                "runtime_settings": _example("inbox_agent.py"),
            },
        )
        create_agent(
            viewer,
            {
                "name": "practice",
                "title": "Shows on demand every way in which a run can end",
                "runtime": "command",
                "runtime_settings": _example("practice_agent.py"),
            },
        )
        write_private(home / "admin-password", password)
        write_private(home / "admin-api-key", new.secret)
    return FirstStart(password, new.secret)


def _example(program: str) -> dict[str, object]:
    return {"argv": [sys.executable, str(EXAMPLES / program)], "output": "stream-json"}


def _lay_out_texts(inbox: Path) -> None:
    """A dozen texts, oldest first by name, so that there is real work to see."""
    inbox.mkdir(mode=0o755, parents=True, exist_ok=True)
    for age, text in enumerate(sorted((EXAMPLES / "texts").glob("*.txt"), reverse=True)):
        copy = inbox / text.name
        shutil.copyfile(text, copy)
        written = copy.stat().st_mtime - 60 * age
        os.utime(copy, (written, written))
