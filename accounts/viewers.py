"""Who is asking, told apart from how they came in; grants nothing by itself."""

from dataclasses import dataclass

from accounts.models import User


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person or an agent that reads or acts. Exactly one of `user` and `agent_id` is set."""

    user: User | None = None
    agent_id: int | None = None
    key_id: int | None = None  # the key they came with, if any
    execution_id: str = ""  # the execution whose own token this is, if any

    @property
    def is_person(self) -> bool:
        return self.user is not None

    @property
    def is_admin(self) -> bool:
        return self.user is not None and self.user.is_admin

    @property
    def is_client(self) -> bool:
        return self.user is not None and self.user.is_client

    @property
    def caller(self) -> str:
        """A stable name for idempotency and the log."""
        return f"user:{self.user.pk}" if self.user is not None else f"agent:{self.agent_id}"
