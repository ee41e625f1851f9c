"""Tags and filters that every page shares: moments, durations, money, badges; they make no query."""

import datetime as dt
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.form_tokens import FORM_TOKEN, new_token
from trinity.kernel import clock
from trinity.kernel.durations import duration_text, limit_text, milliseconds_text
from trinity.kernel.money import dollars_text

register = template.Library()
register.filter("duration", duration_text)
register.filter("milliseconds", milliseconds_text)
register.filter("limit", limit_text)
register.filter("dollars", dollars_text)


@register.simple_tag
def moment(at: dt.datetime | None, seconds: bool = False) -> SafeString | str:
    """`<time>` in UTC; the page's clock script shows it local, with the zone on hover."""
    if at is None:
        return "—"
    at = at.astimezone(dt.UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC"{}>{}</time>',
        at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        at.strftime("%Y-%m-%d %H:%M:%S"),
        SafeString(" data-seconds") if seconds else "",
        _near(at, clock.now(), "%H:%M:%S" if seconds else "%H:%M"),
    )


def _near(at: dt.datetime, now: dt.datetime, time_of_day: str) -> str:
    days = (now.date() - at.date()).days
    if days == 0:
        return at.strftime(time_of_day)
    if days == 1:
        return at.strftime(f"yesterday {time_of_day}")
    if days == -1:
        return at.strftime(f"tomorrow {time_of_day}")
    return f"{at.day} {at.strftime('%b %Y' if at.year != now.year else '%b')} {at.strftime(time_of_day)}"


@register.simple_tag
def ticking(since: dt.datetime | None, until: dt.datetime | None = None) -> SafeString | str:
    """How long something has gone on; without `until` the page's clock script lets it tick."""
    if since is None:
        return "—"
    if until is not None:
        return duration_text((until - since).total_seconds())
    return format_html(
        '<span data-since="{}">{}</span>',
        since.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        duration_text((clock.now() - since).total_seconds()),
    )


@register.simple_tag
def badge(words: str, tone: str, pulses: bool = False) -> SafeString:
    """A status as icon, word and tone."""
    return format_html('<span class="badge tone-{}{}">{}</span>', tone, " pulses" if pulses else "", words)


@register.simple_tag
def server_now() -> str:
    """The server's present, from which the page's clocks tick."""
    return clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


@register.simple_tag
def form_token() -> SafeString:
    """What makes this form's work done once, however often it is sent."""
    return format_html('<input type="hidden" name="{}" value="{}">', FORM_TOKEN, new_token())


@register.inclusion_tag("_field.html")
def field(bound: Any, wide: bool = False) -> dict[str, Any]:
    """One form field with its label, hint and refusals; the hint and refusals are tied to the input."""
    described = " ".join(
        name
        for name, there in (
            (f"{bound.id_for_label}-hint", bound.help_text),
            (f"{bound.id_for_label}-refused", bound.errors),
        )
        if there
    )
    attributes: dict[str, str] = {"aria-describedby": described} if described else {}
    if bound.errors:
        attributes["aria-invalid"] = "true"
    return {"field": bound, "wide": wide, "widget": bound.as_widget(attrs=attributes)}
