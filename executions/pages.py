"""Answers that several pages give of executions; decides nothing."""

from django.http import HttpResponse


def raw_text(text: str) -> HttpResponse:
    """What an agent wrote, byte for byte, in a form that no browser runs or renders."""
    return HttpResponse(
        text,
        content_type="text/plain; charset=utf-8",
        headers={"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"},
    )
