"""Waits for a check call from a command: beside a server that carries it out, or carrying it out itself.

It decides nothing of the call; what it starts outlives it, as everywhere.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from executions.adding.check_call import Check, look_at
from executions.models import Execution
from executions.worker.carrier import Carrier
from executions.worker.home import OneServer

LOOK_SECONDS = 0.2
NOBODY_TAKES_IT_AFTER = 20.0  # a server sweeps every 2 s; a busy worker or none at all takes longer


@contextmanager
def somebody_works(execution: Execution) -> Iterator[bool]:
    """Whether a server works on this installation. If none does, this process carries the execution out meanwhile.

    Its agent's next executions may follow; nothing else is touched, and no second server can begin in between.
    """
    lock = OneServer(Path(settings.TRINITY_HOME))
    if settings.DISTRIBUTED or not lock.take():
        yield True
        return
    carrier = Carrier(Path(settings.TRINITY_HOME), place=execution.agent.place)
    carrier.start(sweeping=False)
    carrier.nudge(execution.agent_id)
    try:
        yield False
    finally:
        carrier.stop()
        lock.release()


def follow(execution: Execution, tell: Callable[[Check], None]) -> Check:
    """Wait until the check has ended, or is seen to take long; `tell` hears of each change."""
    began, told = time.monotonic(), ""
    while True:
        execution.refresh_from_db()
        check = look_at(execution)
        if check.sentence != told and not check.ended:
            told = check.sentence
            tell(check)
        waited_in_vain = check.wait is not None and time.monotonic() - began > NOBODY_TAKES_IT_AFTER
        if check.ended or check.stands_still or waited_in_vain:
            return check
        time.sleep(LOOK_SECONDS)
