"""A peer's worker: a plain Celery task that does one run with the ORM and enqueues the next; knows no guardrail.

As such chains are usually written: the row of the run is committed before the call, its outcome after it.
"""

import os
from typing import Any, ClassVar

import django
from celery import Celery, shared_task
from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from bench_parts.protocol import REPLY


def _database(url: str) -> dict[str, Any]:
    address, name = url.removeprefix("postgresql://").rsplit("/", 1)
    login, host = address.rsplit("@", 1)
    user, password = login.split(":", 1)
    engine = "django.db.backends.postgresql"
    return {"ENGINE": engine, "NAME": name, "USER": user, "PASSWORD": password, "CONN_MAX_AGE": None} | dict(
        zip(("HOST", "PORT"), host.split(":"), strict=True)
    )


app = Celery("celery_app", broker=os.environ["BENCH_REDIS_URL"])
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,  # else a killed worker would end the chain
    worker_prefetch_multiplier=1,
    worker_send_task_events=False,
    CELERY_DB_REUSE_MAX=10**9,  # the kindest way: else Celery opens a session per task
)
settings.configure(
    DATABASES={"default": _database(os.environ["BENCH_DATABASE_URL"])},
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()


class Loop(models.Model):
    """A chain."""

    objects: ClassVar["models.Manager[Loop]"] = models.Manager()
    runs = models.IntegerField()
    completed = models.IntegerField(default=0)
    reply = models.TextField(default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        app_label = "chain"

    def __str__(self) -> str:
        return str(self.pk)


class Run(models.Model):
    """One turn."""

    objects: ClassVar["models.Manager[Run]"] = models.Manager()
    loop_id: int
    loop = models.ForeignKey(Loop, models.CASCADE)
    number = models.IntegerField()
    status = models.CharField(max_length=10)
    reply = models.TextField(default="")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        app_label = "chain"
        constraints: ClassVar = [models.UniqueConstraint(fields=["loop", "number"], name="number_once")]

    def __str__(self) -> str:
        return f"{self.loop_id}.{self.number}"


@shared_task
def turn(loop_id: int, number: int, runs: int) -> None:
    """One run, and the message for the next one."""
    run = Run.objects.create(loop_id=loop_id, number=number, status="running", started_at=timezone.now())
    reply, now = REPLY, timezone.now()
    with transaction.atomic():
        Run.objects.filter(pk=run.pk, status="running").update(status="done", reply=reply, ended_at=now)
        ended_at = now if number == runs else None
        Loop.objects.filter(pk=loop_id).update(completed=number, reply=reply, ended_at=ended_at)
    if number < runs:
        turn.delay(loop_id, number + 1, runs)
