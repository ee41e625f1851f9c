"""The Celery doors of `executions`: each hands an id to this process's carrier and returns at once."""

from celery import shared_task

from executions.worker import current


@shared_task(name="executions.take_work")
def take_work(agent_id: int) -> None:
    """An agent may have work."""
    current.carrier().nudge(agent_id)


@shared_task(name="executions.end_abandoned")
def end_abandoned() -> None:
    """Somebody abandoned a run of this place; look now instead of at the next renewal."""
    current.carrier().look_for_abandoned()
