"""Reads a YAML file of graders (section 4); judges nothing and prints nothing."""

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from graders.config import GraderSetting, read_graders
from graders.options import unknown_key, whole_number
from graders.strict_yaml import YamlFault, load
from graders.wording import found, quoted, shown
from trinity.kernel.errors import refused_field

MOST_BYTES: Final = 256 * 1024
SLIP_OF_THE_PEN: Final = 0.8  # likeness from which another key is taken for the one that was meant
_KEYS: Final = ["graders", "stimulus"]


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a config file holds: graders, and the most iterations of the simulation when it says so."""

    graders: list[GraderSetting]
    max_iterations: int | None


def read_config(content: bytes) -> ConfigFile:
    """The graders of a YAML file.

    Raises Refused at the path of the key at fault, or at `config` for a file that is no YAML; faults of YAML
    name the line.
    """
    document = _loaded(content)
    if not isinstance(document, dict):
        raise refused_field("config", f"must be a mapping with {quoted('graders')}, {found(document)}")
    for key in document:
        if key not in _KEYS:
            raise refused_field(shown(key), unknown_key(key, _KEYS))
    if document.get("graders") in (None, []):
        raise refused_field("graders", f"must be a list of at least one grader, {found(document.get('graders'))}")
    return ConfigFile(read_graders(document["graders"]), _max_iterations(document.get("stimulus")))


def _loaded(content: bytes) -> object:
    if len(content) > MOST_BYTES:
        raise refused_field("config", f"must be at most {MOST_BYTES:,} bytes, found {len(content):,}")
    try:
        return load(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise refused_field("config", f"is no UTF-8 text ({error.reason})") from None
    except YamlFault as fault:
        raise refused_field(shown(fault.path) or "config", str(fault)) from None


def _max_iterations(stimulus: object) -> int | None:
    simulation = _member(stimulus, "stimulus", "simulation")
    value = _member(simulation, "stimulus.simulation", "max_iterations")
    number = whole_number(value)
    if value is not None and (number is None or number < 1):
        raise refused_field("stimulus.simulation.max_iterations", f"must be an integer ≥ 1, {found(value)}")
    return number


def _member(value: object, path: str, key: str) -> object:
    """One key of a mapping that may hold others: they are no business of graders unless they look like it."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise refused_field(path, f"must be a mapping, {found(value)}")
    for other in value:
        if other != key and SequenceMatcher(None, other, key).ratio() >= SLIP_OF_THE_PEN:
            raise refused_field(f"{path}.{shown(other)}", unknown_key(other, [key]))
    return value.get(key)
