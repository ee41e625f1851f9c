"""Every address that this project has, from its own URL configuration and socket routes, filled with real values.

An address with a part that nobody taught the walk to fill is an error, so that a new one is walked on its first day.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

_PART = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)")
Values = Mapping[str, Iterable[str]]


def url_templates() -> set[str]:
    """Each address with its parts in braces, such as `/loops/{loop_id}/`."""

    def walk(patterns: Iterable[Any], before: str) -> Iterator[str]:
        for one in patterns:
            template = before + _template(str(one.pattern))
            if isinstance(one, URLResolver):
                yield from walk(one.url_patterns, template)
            elif isinstance(one, URLPattern):
                yield template

    return set(walk(get_resolver().url_patterns, "/"))


def socket_templates() -> set[str]:
    """The same for sockets."""
    from trinity.asgi import application

    routes = application.application_mapping["websocket"].routes
    return {"/" + _template(str(one.pattern)) for one in routes}


def filled(template: str, values: Values) -> list[str]:
    """The address with every combination of these values."""
    names = list(dict.fromkeys(re.findall(r"{(\w+)}", template)))
    unknown = [name for name in names if name not in values]
    assert not unknown, f"{template}: the walk does not know what to put for {unknown}; teach it (tests/web/walking.py)"
    choices = itertools.product(*(list(values[name]) for name in names))
    return [template.format(**dict(zip(names, chosen, strict=True))) for chosen in choices]


def _template(pattern: str) -> str:
    found = _PART.sub(lambda match: f"{{{match[1] or match[2]}}}", pattern)
    return re.sub(r"\\Z|[\^$]|\\", "", found)
