"""Ties a vocabulary to a column: choices for forms, a constraint for the database."""

from enum import StrEnum

from django.db.models import CheckConstraint, Q


def choices_of(vocabulary: type[StrEnum]) -> list[tuple[str, str]]:
    """Django choices of a vocabulary, in its order."""
    return [(str(word), str(word).replace("_", " ").replace("-", " ")) for word in vocabulary]


def one_of(field: str, vocabulary: type[StrEnum], *, name: str, blank: bool = False) -> CheckConstraint:
    """A constraint: `field` holds a word of the vocabulary (or nothing, with `blank`)."""
    words = [str(word) for word in vocabulary] + ([""] if blank else [])
    return CheckConstraint(condition=Q(**{f"{field}__in": words}), name=name)
