"""Knows every grader: the modules of `graders.kinds`, found by looking; names none of them."""

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from graders import kinds as kinds_package
from graders.kind import GraderKind


def kinds() -> Mapping[str, GraderKind]:
    """Every grader by its type, in alphabetical order.

    Raises RuntimeError when a module of the package is no grader or when two claim one type.
    """
    return _kinds_under(tuple(kinds_package.__path__))


def catalogue() -> list[dict[str, Any]]:
    """Every grader with its options (type, default, meaning, bounds) and its taxonomy, as plain values."""
    return [kind.as_catalogued() for kind in kinds().values()]


@cache
def _kinds_under(folders: tuple[str, ...]) -> Mapping[str, GraderKind]:
    by_type: dict[str, GraderKind] = {}
    for module in pkgutil.iter_modules(folders, f"{kinds_package.__name__}."):
        kind = getattr(import_module(module.name), "KIND", None)
        if not isinstance(kind, GraderKind):
            raise RuntimeError(f"{module.name} has no KIND of type GraderKind")
        if kind.type in by_type:
            raise RuntimeError(f"{module.name} claims the type {kind.type!r}, which another grader has")
        by_type[kind.type] = kind
    return dict(sorted(by_type.items()))
