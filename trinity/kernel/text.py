"""Cleans text from outside where it is stored; never used to change what a rule has already read."""

REPLACEMENT = "\ufffd"


def clean(text: str, limit: int | None = None) -> str:
    """`text` without NUL and lone surrogates; cut in its middle to `limit` characters, saying so.

    The end is kept as well as the beginning: a stop signal and a verdict stand there.
    """
    if "\x00" in text:
        text = text.replace("\x00", REPLACEMENT)
    if not text.isascii():
        text = _without_lone_surrogates(text)
    if limit is not None and len(text) > limit:
        note = f"\n[cut here: {len(text):,} characters, about {limit:,} kept]\n"
        room = max(0, limit - len(note))
        tail = room // 4
        text = (text[: room - tail] + note + text[len(text) - tail :])[:limit]
    return text


def _without_lone_surrogates(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # UTF-16 joins true pairs again and replaces each lone half once
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def first_line(text: str, limit: int = 200) -> str:
    """The first line that says something, for titles."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def collapse(text: str) -> str:
    """White space collapsed to single blanks, none at the ends."""
    return " ".join(text.split())
