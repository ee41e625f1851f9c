"""Reads a list of graders as agents, REST and YAML give it, and says by path what is wrong; never judges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from graders.kind import GraderKind
from graders.options import OptionErrors, read_options, unknown_key
from graders.registry import kinds
from graders.wording import found, nearest, quoted, shown
from trinity.kernel.errors import Refused

MOST_GRADERS: Final = 100
MOST_NAME_CHARACTERS: Final = 200
DEFAULT_GRADERS: Final[list[dict[str, Any]]] = [
    {"type": "loop-outcome", "config": {"max_acceptable_retries": 3}},
]
_KEYS = ["type", "name", "config"]


@dataclass(frozen=True, slots=True)
class GraderSetting:
    """One grader with every option set, ready to judge."""

    kind: GraderKind
    name: str | None  # any text of the user: shown, never a key
    options: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The setting in the shape it was given in, defaults filled in; reading it again changes nothing."""
        named = {} if self.name is None else {"name": self.name}
        config = {key: value for key, value in self.options.items() if value is not None}
        return {"type": self.kind.type, **named, "config": config}


def check_graders(graders: object) -> list[dict[str, Any]]:
    """The list with every default filled in, as plain JSON values.

    Raises Refused whose `errors` name each fault by its path, such as `graders[0].config.match` (section 4).
    """
    return [setting.as_json() for setting in read_graders(graders)]


def read_graders(graders: object) -> list[GraderSetting]:
    """The graders that a list names; raises Refused like `check_graders`."""
    if not isinstance(graders, list | tuple):
        raise _refused({"graders": [f"must be a list of graders, {found(graders)}"]})
    if len(graders) > MOST_GRADERS:
        raise _refused({"graders": [f"must be at most {MOST_GRADERS} graders, found a list of {len(graders)}"]})
    errors: dict[str, list[str]] = {}
    settings = [_read_grader(grader, f"graders[{place}]", errors) for place, grader in enumerate(graders)]
    if errors:
        raise _refused(errors)
    return [setting for setting in settings if setting is not None]


def _read_grader(grader: object, path: str, errors: dict[str, list[str]]) -> GraderSetting | None:
    if not isinstance(grader, Mapping):
        errors[path] = [f"a grader must be a mapping with {quoted('type')} and {quoted('config')}, {found(grader)}"]
        return None
    for key in grader:
        if key not in _KEYS:
            errors[f"{path}.{shown(str(key))}"] = [unknown_key(key, _KEYS)]
    name = _read_name(grader.get("name"), path, errors)
    kind = _read_type(grader, path, errors)
    if kind is None:
        return None
    options = _read_config(kind, name, grader.get("config"), path, errors)
    return None if options is None else GraderSetting(kind, name, options)


def _read_name(name: object, path: str, errors: dict[str, list[str]]) -> str | None:
    if name is None:
        return None
    if not isinstance(name, str):
        errors[f"{path}.name"] = [f"must be text, {found(name)}"]
        return None
    if len(name) > MOST_NAME_CHARACTERS:
        errors[f"{path}.name"] = [f"must be at most {MOST_NAME_CHARACTERS} characters, found {len(name):,}"]
        return None
    return shown(name, MOST_NAME_CHARACTERS)


def _read_type(grader: Mapping[object, object], path: str, errors: dict[str, list[str]]) -> GraderKind | None:
    if "type" not in grader:
        errors[f"{path}.type"] = [f"is required; known types: {', '.join(map(quoted, kinds()))}"]
        return None
    wanted = grader["type"]
    kind = kinds().get(wanted) if isinstance(wanted, str) else None
    if kind is None:
        near = nearest(wanted, list(kinds())) if isinstance(wanted, str) else None
        hint = f"; the nearest known type is {quoted(near)}" if near else ""
        errors[f"{path}.type"] = [f"must be a known type of grader, {found(wanted)}{hint}"]
    return kind


def _read_config(
    kind: GraderKind, name: str | None, config: object, path: str, errors: dict[str, list[str]]
) -> dict[str, Any] | None:
    label = f"{kind.type} {quoted(name)}" if name else kind.type
    if not isinstance(config, Mapping | None):
        errors[f"{path}.config"] = [f"{label}: must be a mapping, {found(config)}"]
        return None
    try:
        return read_options(kind.options, config or {})
    except OptionErrors as wrong:
        for key, sentences in wrong.errors.items():
            errors[f"{path}.config.{shown(key)}"] = [f"{label}: {sentence}" for sentence in sentences]
        return None


def _refused(errors: dict[str, list[str]]) -> Refused:
    return Refused("; ".join(f"{path}: {' '.join(said)}" for path, said in errors.items()), errors=errors)
