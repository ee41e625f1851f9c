"""Words of accounts: kinds of user and what the audit log records."""

from enum import StrEnum


class UserKind(StrEnum):
    """Who a person is to the platform (section 1)."""

    MEMBER = "member"
    CLIENT = "client"  # an outsider who may only chat, and never sees loops
    ADMIN = "admin"


class ActorKind(StrEnum):
    """Who can do something."""

    USER = "user"
    AGENT = "agent"


class AuditAction(StrEnum):
    """What the audit log can say; refusals of agents stand beside the deeds."""

    USER_CREATED = "user_created"
    KEY_CREATED = "key_created"
    KEY_REVOKED = "key_revoked"
    AGENT_CREATED = "agent_created"
    AGENT_CHANGED = "agent_changed"
    AGENT_STARTED = "agent_started"
    AGENT_STOPPED = "agent_stopped"
    AGENT_ARCHIVED = "agent_archived"
    SHARE_ADDED = "share_added"
    SHARE_REMOVED = "share_removed"
    PERMISSION_ADDED = "permission_added"
    PERMISSION_REMOVED = "permission_removed"
    LOOP_STARTED = "loop_started"
    LOOP_READ = "loop_read"
    LOOP_STOP_REQUESTED = "loop_stop_requested"
    EXECUTION_STARTED = "execution_started"
    EXECUTION_ABANDONED = "execution_abandoned"
