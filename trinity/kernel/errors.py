"""The two kinds of error a domain call may raise: the caller's fault and ours; no door has words here."""

from collections.abc import Mapping, Sequence

from trinity.kernel.vocabulary import RefusalCode


class TrinityError(Exception):
    """Anything the product says on purpose when a step was impossible."""


class Refused(TrinityError):
    """The caller asked for what cannot be given; nothing was changed.

    `code` decides the status at each door (REST, pages, sockets, MCP translate it in one place each).
    `errors` names each field at fault with sentences for a person; `facts` are bare values that a program
    may want, such as `agent_cap_seconds`.
    """

    def __init__(
        self,
        detail: str,
        *,
        code: RefusalCode = RefusalCode.INVALID,
        errors: Mapping[str, Sequence[str]] | None = None,
        facts: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.errors = {name: list(sentences) for name, sentences in (errors or {}).items()}
        self.facts = dict(facts or {})


class Broken(TrinityError):
    """Something of ours does not hold; the message says what and what to do about it."""


def refused_field(name: str, sentence: str, **facts: object) -> Refused:
    """A refusal of one field: the sentence stands both as the detail and at the field."""
    return Refused(f"{name}: {sentence}", errors={name: [sentence]}, facts=facts)
