"""The kinds of field that the schemas of all apps are made of; validates nothing, since `fields` reads requests."""

from enum import StrEnum
from typing import Any

from rest_framework import serializers

Shape = serializers.Serializer[Any]
OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True}


def text(low: int, high: int, help_text: str = "") -> serializers.CharField:
    """A required text, stored as sent."""
    return serializers.CharField(min_length=low, max_length=high, trim_whitespace=False, help_text=help_text)


def optional_text(high: int, help_text: str = "") -> serializers.CharField:
    """A text that may be blank, null or left out."""
    return serializers.CharField(
        max_length=high, allow_blank=True, trim_whitespace=False, help_text=help_text, **OPTIONAL
    )


def optional_integer(low: int, high: int, **more: Any) -> serializers.IntegerField:
    """A whole number within bounds; null or left out: its default."""
    more = {"required": False} | more if "default" not in more else more  # a default says it already
    return serializers.IntegerField(min_value=low, max_value=high, allow_null=True, **more)


def optional_names(most: int, longest: int, help_text: str = "") -> serializers.ListField:
    """A list of names, never empty; null or left out: no restriction."""
    child = serializers.CharField(min_length=1, max_length=longest)
    return serializers.ListField(child=child, min_length=1, max_length=most, help_text=help_text, **OPTIONAL)


def moment() -> serializers.DateTimeField:
    """A point in time that may not be known yet."""
    return serializers.DateTimeField(allow_null=True)


def dollars(help_text: str = "") -> serializers.FloatField:
    """An amount in dollars; null is unknown."""
    return serializers.FloatField(allow_null=True, help_text=help_text)


def word(vocabulary: type[StrEnum], **more: Any) -> serializers.ChoiceField:
    """A word of a vocabulary; the schema names it after the vocabulary (`ENUM_NAME_OVERRIDES`)."""
    return serializers.ChoiceField([(one.value, one.name) for one in vocabulary], **more)
