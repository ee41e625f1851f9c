"""Durations as people read them; the script that lets them tick says the same (static/js/clock.js)."""


def duration_text(seconds: float) -> str:
    """48 s · 1 m 52 s · 1 h 02 m · 2 d 3 h: two units at most, whole ones."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} m {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} m"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"


def milliseconds_text(milliseconds: int | None) -> str:
    """The same for a measured duration; below ten seconds with a tenth; '—' when unknown."""
    if milliseconds is None:
        return "—"
    if milliseconds < 9_950:
        return f"{milliseconds / 1000:.1f} s"
    return duration_text(milliseconds / 1000)


def limit_text(seconds: int) -> str:
    """A limit as somebody set it: whole units where it has them, else as in `duration_text`."""
    for unit, word in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= unit and seconds % unit == 0:
            return f"{seconds // unit} {word}"
    return duration_text(seconds)
