"""Words that every app shares; an app's own words stand in its own vocabulary."""

from enum import StrEnum


class RefusalCode(StrEnum):
    """Why a call was refused; each door translates it once (REST: to a status)."""

    INVALID = "invalid"  # 400: a field is wrong
    MALFORMED = "malformed"  # 400: the body cannot be read
    UNAUTHENTICATED = "unauthenticated"  # 401
    FORBIDDEN = "forbidden"  # 403: the caller knows that it exists, and may not
    NOT_FOUND = "not_found"  # 404: unknown, or not to be seen
    METHOD_NOT_ALLOWED = "method_not_allowed"  # 405
    CONFLICT = "conflict"  # 409: not in this state
    TOO_LARGE = "too_large"  # 413
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"  # 415
    KEY_REUSED = "idempotency_key_reused"  # 422: same key, another body
    TOO_MANY = "too_many_requests"  # 429
    UNAVAILABLE = "unavailable"  # 503: the database is away; the same call may do later


class Tone(StrEnum):
    """How a status feels to the one who reads it; pages map it to a colour and an icon."""

    ACTIVE = "active"
    OK = "ok"
    WARN = "warn"
    BAD = "bad"
    NEUTRAL = "neutral"
