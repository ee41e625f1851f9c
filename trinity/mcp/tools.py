"""What a tool of the MCP door is, and the list of them, which the apps fill; knows none of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rest_framework import serializers

from accounts.viewers import Viewer
from trinity.kernel.registry import Registry

Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolDoor:
    """A thin door, as a REST view is one: `act` reads the arguments, calls one service or query, and presents.

    It runs in a thread, outside of any transaction. What it raises is translated as REST translates it.
    """

    title: str
    about: str  # for the model that may call it
    act: Callable[[Viewer, Given], dict[str, Any]]
    arguments: Mapping[str, dict[str, Any]] = field(default_factory=dict)  # JSON Schema of each
    required: tuple[str, ...] = ()
    read_only: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.arguments),
            "required": list(self.required),
            "additionalProperties": False,
        }


tools: Registry[ToolDoor] = Registry("tools of the MCP door")


def arguments_of(shape: serializers.Serializer[Any]) -> dict[str, dict[str, Any]]:
    """The fields of a REST shape as JSON Schema, so that both doors say the same bounds."""
    return {name: _schema_of(one) for name, one in shape.fields.items()}


def required_of(shape: serializers.Serializer[Any]) -> tuple[str, ...]:
    """The fields of a REST shape that must be given."""
    return tuple(name for name, one in shape.fields.items() if one.required)


def _schema_of(one: serializers.Field[Any, Any, Any, Any]) -> dict[str, Any]:
    told = getattr(one, "_spectacular_annotation", {}).get("field")
    found = dict(told) if isinstance(told, dict) else _plain_schema_of(one)
    if one.help_text:
        found["description"] = str(one.help_text)
    if one.default is not serializers.empty:
        found["default"] = one.default
    return found


def _plain_schema_of(one: serializers.Field[Any, Any, Any, Any]) -> dict[str, Any]:
    match one:
        case serializers.ChoiceField():
            return {"type": "string", "enum": list(one.choices)}
        case serializers.IntegerField():
            return _bounded({"type": "integer"}, minimum=one.min_value, maximum=one.max_value)
        case serializers.ListField():
            return _bounded(
                {"type": "array", "items": _schema_of(one.child)}, minItems=one.min_length, maxItems=one.max_length
            )
        case serializers.CharField():
            return _bounded({"type": "string"}, minLength=one.min_length, maxLength=one.max_length)
        case _:
            raise TypeError(f"No JSON Schema is known for {type(one).__name__}.")


def _bounded(schema: dict[str, Any], **bounds: Any) -> dict[str, Any]:
    return schema | {name: bound for name, bound in bounds.items() if bound is not None}
