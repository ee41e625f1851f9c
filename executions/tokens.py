"""The key that a running agent holds: signed, of one execution and attempt, good while it runs; stored nowhere."""

from django.core import signing

from accounts.viewers import Viewer
from executions.models import Execution
from executions.vocabulary import ExecutionStatus

PREFIX = "trx_"
_SALT = "trinity.execution"


def token_of(execution: Execution) -> str:
    """TRINITY_API_KEY of this attempt; it acts as the agent (section 3)."""
    return PREFIX + signing.Signer(salt=_SALT).sign(f"{execution.pk}.{execution.attempt}")


def execution_of(token: str) -> Execution | None:
    """The running execution whose token this is, or None. A takeover by another worker does not end it."""
    try:
        signed = signing.Signer(salt=_SALT).unsign(token.removeprefix(PREFIX))
    except signing.BadSignature:
        return None
    execution_id, _, attempt = signed.rpartition(".")
    return (
        Execution.objects.filter(pk=execution_id, attempt=int(attempt), status=ExecutionStatus.RUNNING)
        .select_related("agent")
        .first()
    )


def viewer_of_token(token: str) -> Viewer | None:
    """The agent that the running execution of this token belongs to; None when nothing of it runs any more."""
    execution = execution_of(token)
    return None if execution is None else Viewer(agent_id=execution.agent_id, execution_id=execution.pk)
