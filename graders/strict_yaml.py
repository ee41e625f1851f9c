"""Loads YAML as its writer meant it; what YAML 1.1 and 1.2 read differently is refused, never guessed."""

import re
from typing import Final

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from graders.wording import quoted, shown

MOST_NODES: Final = 10_000  # with aliases followed, so that a few lines cannot stand for millions of values
DEEPEST: Final = 100
_TAG: Final = "tag:yaml.org,2002:"
_PLAIN_TAGS: Final = frozenset(_TAG + kind for kind in ("map", "seq", "str", "int", "float", "bool", "null"))
_AMBIGUOUS: Final = "!ambiguous"


class YamlFault(ValueError):
    """Text that is no YAML, or that its versions read differently; says the line, and the path if known."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.path = path


def load(text: str) -> object:
    """The one document of `text` as JSON values; None when it is empty. Raises YamlFault."""
    try:
        loader = _StrictLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _Measured().measure(node, "")
        value: object = loader.construct_document(node)
        return value
    except yaml.MarkedYAMLError as error:
        raise YamlFault(_worded(error)) from None
    except yaml.YAMLError as error:
        raise YamlFault(shown(" ".join(str(error).split()), 300)) from None
    except RecursionError:
        raise YamlFault("is nested too deeply") from None
    except YamlFault:
        raise
    except ValueError as error:  # such as an integer of thousands of digits
        raise YamlFault(f"has a value that cannot be read: {shown(str(error))}") from None


class _StrictLoader(yaml.SafeLoader):
    """Knows the plain words of YAML 1.2's core schema, and the ones that 1.1 read otherwise as ambiguous."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


_WORDS: Final = "y|yes|n|no|on|off"
# Words that 1.1 takes for booleans; numbers with a leading zero or underscores, binary, octal, hexadecimal or
# in base 60; dates; merge keys.
_TRAPS: Final = "|".join(
    (
        f"(?i:{_WORDS})",
        "[-+]?0[0-9_]+",
        "[-+]?0[box][0-9a-fA-F_]+",
        "[-+]?[0-9][0-9_]*_[0-9_.]*",
        r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?",
        "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?",
        "<<|=",
    )
)
_NUMBER: Final = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
for _tag, _pattern in (
    (_AMBIGUOUS, _TRAPS),
    (_TAG + "bool", "true|True|TRUE|false|False|FALSE"),
    (_TAG + "null", "~|null|Null|NULL|"),
    (_TAG + "int", "[-+]?(0|[1-9][0-9]*)"),
    (_TAG + "float", rf"{_NUMBER}|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"),
):
    _StrictLoader.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), None)


class _Measured:
    """Walks a document's nodes before anything is made of them."""

    def __init__(self) -> None:
        self._size_of: dict[int, int] = {}
        self._above: set[int] = set()

    def measure(self, node: Node, path: str) -> int:
        """The values that the node stands for, aliases followed; raises YamlFault for what is refused."""
        known = self._size_of.get(id(node))
        if known is not None:
            return known
        if id(node) in self._above:
            raise _fault(node, path, "an alias stands inside what it names")
        if len(self._above) == DEEPEST:
            raise _fault(node, path, "is nested too deeply")
        self._above.add(id(node))
        size = 1 + sum([self.measure(part, part_path) for part, part_path in _parts(node, path)])
        self._above.discard(id(node))
        if size > MOST_NODES:
            raise _fault(node, path, f"aliases make it stand for more than {MOST_NODES:,} values")
        self._size_of[id(node)] = size
        return size


def _parts(node: Node, path: str) -> list[tuple[Node, str]]:
    if node.tag == _AMBIGUOUS:
        raise _fault(node, path, _ambiguity(str(node.value)))
    if node.tag not in _PLAIN_TAGS:
        raise _fault(node, path, f"the tag {quoted(node.tag)} is not allowed")
    if isinstance(node, MappingNode):
        return _members(node, path)
    if isinstance(node, SequenceNode):
        return [(part, f"{path}[{place}]") for place, part in enumerate(node.value)]
    return []


def _members(node: MappingNode, path: str) -> list[tuple[Node, str]]:
    members: dict[str, tuple[Node, str]] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode) or key.tag != _TAG + "str":
            raise _fault(key, path, f"the key {quoted(str(key.value))} is no text; put it in quotes")
        if key.value in members:
            raise _fault(key, path, f"the key {quoted(key.value)} stands twice in one mapping")
        members[key.value] = (value, f"{path}.{key.value}" if path else str(key.value))
    return list(members.values())


def _ambiguity(word: str) -> str:
    if re.fullmatch(_WORDS, word, re.IGNORECASE):
        return (
            f"{quoted(word)} without quotes is a boolean in YAML 1.1 and text in YAML 1.2: "
            "write true or false, or put it in quotes"
        )
    return (
        f"{quoted(word)} without quotes is not the same in YAML 1.1 and YAML 1.2: "
        "write a plain decimal number, or put it in quotes"
    )


def _fault(node: Node, path: str, reason: str) -> YamlFault:
    return YamlFault(f"line {node.start_mark.line + 1}: {reason}", path)


def _worded(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    line = f"line {mark.line + 1}: " if mark else ""
    if error.problem and "'\\t'" in error.problem:
        return f"{line}a tab stands where YAML allows only blanks; indent with blanks"
    return shown(line + (error.problem or error.context or "is no YAML"), 300)
