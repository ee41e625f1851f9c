"""`manage.py prune`: drops what is old; rows stay. Run it once a day."""

from typing import Any

from django.conf import settings

from accounts.services import forget_answers
from executions.pruning import prune
from executions.worker.home import Home
from trinity.kernel import clock
from trinity.kernel.commands import DomainCommand


class Command(DomainCommand):
    help = (
        "Drop spool folders TRINITY_KEEP_SPOOL_DAYS after the end of their run, trajectories and whole replies after "
        "TRINITY_KEEP_DAYS, and remembered answers after a day. Safe beside a running server."
    )

    def act(self, **options: Any) -> None:
        root = Home.at(settings.TRINITY_HOME).root / "spool"
        pruned = prune(
            clock.now(),
            root,
            spool_days=settings.TRINITY_KEEP_SPOOL_DAYS,
            keep_days=settings.TRINITY_KEEP_DAYS,
        )
        self.stdout.write(
            f"Dropped {pruned.spools} spool folders, {pruned.trajectories} trajectories, shortened "
            f"{pruned.replies} replies, forgot {forget_answers()} remembered answers."
        )
