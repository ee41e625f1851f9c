"""The shapes of keys in REST, for the schema; reads and writes nothing."""

from rest_framework import serializers

from accounts.parameters import KEY_NAME_CHARACTERS
from accounts.vocabulary import ActorKind
from trinity.rest.shapes import Shape, word


class Actor(Shape):
    """Who did something."""

    kind = word(ActorKind)
    name = serializers.CharField()


class NewKeyBody(Shape):
    """A key to be made."""

    name = serializers.CharField(
        max_length=KEY_NAME_CHARACTERS, required=False, allow_null=True, allow_blank=True, trim_whitespace=False
    )
    expires_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="With its zone, in the future; none: the key never expires."
    )


class Key(Shape):
    """A key, without its secret."""

    prefix = serializers.CharField(help_text="Tells keys apart; it stands in the key itself.")
    name = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)


class NewKey(Key):
    """A key just made."""

    secret = serializers.CharField(help_text="The key; it is shown once and kept only as a hash.")
