"""Writes of agents: create, change, start, stop, archive; changes no execution and no loop itself."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from accounts.models import ApiKey
from accounts.services import forbidden, revoke_key
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from agents import hooks
from agents.locking import lock_agent
from agents.models import Agent
from agents.parameters import check_runtime, check_workspace, read_changes, read_new_agent
from agents.probing import probe, probe_changes
from agents.queries import owns
from agents.record import record
from agents.vocabulary import AgentStatus
from trinity.kernel import clock
from trinity.kernel.errors import Broken, Refused
from trinity.kernel.vocabulary import RefusalCode


def create_agent(viewer: Viewer, given: Mapping[str, Any]) -> Agent:
    """A new agent, running at once and owned by who makes it. Only admins may; Refused field by field."""
    if viewer.user is None or not viewer.is_admin:
        raise forbidden("Only admins create agents: an agent runs code on the server.")
    columns = read_new_agent(given)
    if Agent.objects.filter(name=columns["name"]).exists():
        raise name_taken()
    columns.setdefault("workspace", own_workspace(columns["name"], columns["place"]))
    probe(columns)
    try:
        with transaction.atomic():
            agent = Agent.objects.create(owner=viewer.user, **columns)
            record(AuditAction.AGENT_CREATED, agent, by=viewer, facts={"runtime": agent.runtime})
    except IntegrityError as error:  # somebody else was faster with this name
        raise name_taken() from error
    return agent


def change_agent(viewer: Viewer, agent: Agent, given: Mapping[str, Any]) -> Agent:
    """Change what was given: title, limits, model and graders by the owner; all else by admins only (section 1)."""
    refuse_unless_owner(viewer, agent)
    columns = read_changes(given, by_admin=viewer.is_admin)
    probe_changes(agent, columns)  # before the lock: it may start programs

    def change(locked: Agent) -> bool:
        check_workspace(columns, place_now=locked.place)
        found = columns | check_runtime(columns, runtime_now=locked.runtime, settings_now=locked.runtime_settings)
        if found.get("workspace") == "":
            found["workspace"] = own_workspace(locked.name, found.get("place", locked.place))
        return _set(locked, **found)

    changed = _under_lock(viewer, agent, AuditAction.AGENT_CHANGED, change, {"fields": sorted(columns)})
    _tell(changed)
    return changed


def start_agent(viewer: Viewer, agent: Agent) -> Agent:
    """Let it admit executions again; safe to repeat."""
    refuse_unless_owner(viewer, agent)
    started = _under_lock(
        viewer, agent, AuditAction.AGENT_STARTED, lambda locked: _set(locked, status=AgentStatus.RUNNING)
    )
    _tell(started)
    return started


def stop_agent(viewer: Viewer, agent: Agent) -> Agent:
    """Admit nothing new; what is in flight finishes, what is queued waits (section 2). Safe to repeat."""
    refuse_unless_owner(viewer, agent)
    return _under_lock(
        viewer, agent, AuditAction.AGENT_STOPPED, lambda locked: _set(locked, status=AgentStatus.STOPPED)
    )


def archive_agent(viewer: Viewer, agent: Agent) -> Agent:
    """Put it away for good: its loops are asked to stop, its keys end; its name and its history stay."""
    refuse_unless_owner(viewer, agent)

    def archive(locked: Agent) -> bool:
        if locked.archived_at is not None:
            return False
        for _, end in hooks.archived.entries():
            end(locked, viewer)
        for key in ApiKey.objects.filter(agent_id=locked.pk, revoked_at=None):
            revoke_key(key, by=viewer)
        return _set(locked, archived_at=clock.now())

    return _under_lock(viewer, agent, AuditAction.AGENT_ARCHIVED, archive)


def own_workspace(name: str, place: str) -> str:
    """The agent's own folder in $TRINITY_HOME, made when it lies at this host's place."""
    folder = Path(settings.TRINITY_HOME) / "agents" / name / "workspace"
    if place == settings.TRINITY_PLACE:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Broken(f"The folder {folder} cannot be made: {error.strerror}.") from error
    return str(folder)


def refuse_unless_owner(viewer: Viewer, agent: Agent) -> None:
    """Changing an agent is for its owner and for admins; who may only use it is told so."""
    if not owns(viewer, agent):
        raise forbidden(f"Only the owner of {agent.name} or an admin may do this.")


def name_taken() -> Refused:
    """A name is taken for ever: history and keys of an archived agent go by it."""
    sentence = "This name is taken, perhaps by an archived agent; names are never used again."
    return Refused(f"name: {sentence}", code=RefusalCode.CONFLICT, errors={"name": [sentence]})


def _under_lock(
    viewer: Viewer,
    agent: Agent,
    action: AuditAction,
    change: Callable[[Agent], bool],
    facts: Mapping[str, object] | None = None,
) -> Agent:
    """One change of an agent under its lock, which is recorded and told when something moved."""
    with transaction.atomic(durable=True):
        locked, _ = lock_agent(agent.pk)
        if change(locked):
            record(action, locked, by=viewer, facts=facts)
    return locked


def _set(agent: Agent, **columns: Any) -> bool:
    """Write the columns that differ; answers whether any did."""
    moved = {name: value for name, value in columns.items() if getattr(agent, name) != value}
    for name, value in moved.items():
        setattr(agent, name, value)
    if moved:
        agent.save(update_fields=list(moved))
    return bool(moved)


def _tell(agent: Agent) -> None:
    """More may be admitted now; a worker that is not told finds out by its sweep."""
    for _, tell in hooks.admits_more.entries():
        tell(agent)
