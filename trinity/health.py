"""Says whether this installation works: a check for load balancers, and numbers for Prometheus; repairs nothing."""

from collections.abc import Iterator

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.cache import never_cache
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from rest_framework.request import Request

from accounts.services import forbidden
from agents.models import Agent
from executions.models import Execution
from executions.vocabulary import ExecutionStatus
from loops.models import Loop
from loops.vocabulary import LoopStatus
from trinity.rest.doors import Door

log = structlog.get_logger(__name__)
ANSWERS = "answers"
AWAY = "does not answer"
QUEUE_SECONDS = 2


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """200 when the database answers. Each part says how it is; without its queue the sweep still finds the work."""
    parts = {"database": _database()}
    if settings.REDIS_URL:
        parts["queue"] = _queue()
    well = parts["database"] == ANSWERS
    return JsonResponse({"status": "ok" if well else "unavailable", **parts}, status=200 if well else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError) as error:
        log.error("the database does not answer", error=repr(error))
        return AWAY
    return ANSWERS


def _queue() -> str:
    import redis  # only where there is one

    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=QUEUE_SECONDS, socket_connect_timeout=QUEUE_SECONDS
    )
    try:
        client.ping()
    except redis.RedisError as error:
        log.error("the queue does not answer", error=repr(error))
        return AWAY
    finally:
        client.close()
    return ANSWERS


class Metrics(Door):
    """Numbers for Prometheus; for admins and their keys."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponseBase:
        """How many agents, executions and loops there are, by status."""
        if not self.viewer.is_admin:
            raise forbidden("Only admins read the metrics.")
        registry = CollectorRegistry()
        registry.register(Counted())
        return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class Counted:
    """Counts rows when asked; nothing is kept in a second place."""

    def collect(self) -> Iterator[Metric]:
        for name, says, model, vocabulary in (
            ("trinity_executions", "Executions by status.", Execution, ExecutionStatus),
            ("trinity_loops", "Loops by status.", Loop, LoopStatus),
        ):
            counted = dict(model.objects.order_by().values_list("status").annotate(Count("pk")))
            family = GaugeMetricFamily(name, says, labels=["status"])
            for status in vocabulary:
                family.add_metric([status], counted.get(status, 0))
            yield family
        living = Agent.objects.filter(archived_at=None).count()
        yield GaugeMetricFamily("trinity_agents", "Agents that are not archived.", value=living)
