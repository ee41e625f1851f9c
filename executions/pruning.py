"""Drops what is old of ended executions: spool folders, trajectories, whole replies; rows stay (section 1)."""

import datetime as dt
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db.models import F, Value
from django.db.models.functions import Concat, Left, Length

from executions.models import Execution, Trajectory
from executions.vocabulary import ENDED

KEPT_CHARACTERS = 500  # of an old reply
NOTE = "\n[the rest of this reply was pruned]"
BATCH = 500


@dataclass(frozen=True, slots=True)
class Pruned:
    """How much went."""

    spools: int = 0
    trajectories: int = 0
    replies: int = 0


def prune(now: dt.datetime, spool_root: Path, *, spool_days: int, keep_days: int) -> Pruned:
    """Drop spools `spool_days` after the end, trajectories and whole replies after `keep_days`. Safe to repeat.

    Only what has ended is touched, so it may run beside workers; a folder whose execution is unknown here is kept.
    """
    old = now - dt.timedelta(days=keep_days)
    return Pruned(
        spools=sum(_drop(folder) for folder in _old_spools(spool_root, now - dt.timedelta(days=spool_days))),
        trajectories=Trajectory.objects.filter(execution__ended_at__lt=old).delete()[0],
        replies=_shorten_replies(old),
    )


def _old_spools(root: Path, before: dt.datetime) -> Iterator[Path]:
    folders = [folder for folder in root.glob("exec_*.*") if folder.is_dir()]
    for begin in range(0, len(folders), BATCH):
        batch = folders[begin : begin + BATCH]
        ids = {folder.name.rpartition(".")[0] for folder in batch}
        ended = Execution.objects.filter(pk__in=ids, status__in=ENDED, ended_at__lt=before)
        gone = set(ended.values_list("pk", flat=True))
        yield from (folder for folder in batch if folder.name.rpartition(".")[0] in gone)


def _drop(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _shorten_replies(before: dt.datetime) -> int:
    long = Execution.objects.annotate(characters=Length("response")).filter(
        status__in=ENDED, ended_at__lt=before, characters__gt=KEPT_CHARACTERS + len(NOTE)
    )
    return long.update(response=Concat(Left(F("response"), KEPT_CHARACTERS), Value(NOTE)))
