"""JSON's equality as hashable keys, so that comparing two values is one lookup; never changes a value.

Python's own `==` is not JSON's: it says True == 1. Strings stand for themselves, objects become frozensets
(key order is nothing), arrays tuples (their order is something), and numbers keep Python's exact equality
across int, float and Decimal, so that 1 equals 1.0 and large integers are not rounded.
"""

import math
from collections.abc import Hashable, Mapping
from decimal import Decimal
from enum import Enum

# Comparing nested tuples recurses in C; deeper values get a flat key instead. Equal values are equally
# deep, so both forms never have to be compared with each other.
DEEPEST_NESTED_KEY = 48
# Beyond this, Python's hash of integers repeats in a pattern that an attacker can aim at.
LARGEST_PLAIN_NUMBER = 2**53

_CONTAINERS = (Mapping, tuple)
_NUMBERS = (int, float, Decimal)


class _Word(Enum):
    TRUE = "true"
    FALSE = "false"
    NAN = "nan"
    LARGE = "large"
    OBJECT = "object"
    ARRAY = "array"
    DEEP = "deep"


class _TooDeep(Exception):
    pass


def canonical(value: object) -> Hashable:
    """A key that is equal for two JSON values exactly when JSON calls them equal.

    NaN, which is not JSON but may come from Python code, equals itself. Raises TypeError for what is no JSON.
    """
    if type(value) is dict:
        for part in value.values():
            kind = type(part)
            if kind is not str and (kind is not int or not -LARGEST_PLAIN_NUMBER < part < LARGEST_PLAIN_NUMBER):
                break
        else:  # most arguments are flat objects of text and small numbers: no need to look deeper
            return frozenset(value.items())
    try:
        return _nested(value, 0)
    except _TooDeep:
        return _flat(value)


def _nested(value: object, depth: int) -> Hashable:
    kind = type(value)
    if kind is dict or kind is list or isinstance(value, _CONTAINERS):
        if depth == DEEPEST_NESTED_KEY:
            raise _TooDeep
        return _container(value, depth + 1)  # type: ignore[arg-type]
    return _scalar(value)


def _container(value: Mapping[str, object] | list[object] | tuple[object, ...], depth: int) -> Hashable:
    if isinstance(value, list | tuple):
        return tuple([part if type(part) is str else _nested(part, depth) for part in value])
    return frozenset([(key, part if type(part) is str else _nested(part, depth)) for key, part in value.items()])


def _scalar(value: object) -> Hashable:
    if value is None or isinstance(value, str):
        return value
    if value is True or value is False:
        return _Word.TRUE if value else _Word.FALSE
    if not isinstance(value, _NUMBERS):
        raise TypeError(f"{type(value).__name__} is no JSON value")
    if isinstance(value, float) and math.isnan(value):
        return _Word.NAN
    return value if -LARGEST_PLAIN_NUMBER < value < LARGEST_PLAIN_NUMBER else _large(Decimal(value))


def _large(number: Decimal) -> Hashable:
    """Sign, digits and exponent without trailing zeros: the same however the number was written."""
    sign, digits, exponent = number.as_tuple()
    text = "".join(map(str, digits))
    significant = text.rstrip("0")
    if isinstance(exponent, int):
        exponent += len(text) - len(significant)
    return (_Word.LARGE, sign, significant, exponent)


def _flat(value: object) -> Hashable:
    """The value as one flat tuple in prefix order, built without recursion."""
    tokens: list[Hashable] = [_Word.DEEP]
    pending: list[object] = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            tokens.append((_Word.OBJECT, len(part)))
            for key in sorted(part, reverse=True):
                pending += (part[key], key)
        elif isinstance(part, list | tuple):
            tokens.append((_Word.ARRAY, len(part)))
            pending.extend(reversed(part))
        else:
            tokens.append(_scalar(part))
    return tuple(tokens)
