"""Money as whole nano-dollars, so that sums are exact on every database; unknown is None, never 0."""

import math
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

NANO = 1_000_000_000
MAX_NANO = 9 * 10**18  # fits a BigInteger column
MAX_REPORT_NANO = MAX_NANO // 100  # one execution's report: the sum of a loop's 100 runs always fits


def to_nano(dollars: object) -> int | None:
    """Nano-dollars of an amount in dollars, rounded half up; None when it is no finite number.

    Booleans are not amounts. Beyond `MAX_REPORT_NANO` it is capped, so one absurd report cannot break a sum.
    """
    if isinstance(dollars, bool) or not isinstance(dollars, int | float | Decimal | str):
        return None
    if isinstance(dollars, float) and not math.isfinite(dollars):
        return None
    try:
        # Through its text a float is what it says; an integer may be longer than Python is willing to print.
        amount = Decimal(dollars) if isinstance(dollars, int) else Decimal(str(dollars))
    except InvalidOperation:
        return None
    if not amount.is_finite():
        return None
    if abs(amount) > Decimal(MAX_REPORT_NANO) / NANO:
        return MAX_REPORT_NANO if amount > 0 else -MAX_REPORT_NANO
    return int((amount * NANO).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def to_dollars(nano: int | None) -> float | None:
    """Dollars as a JSON number; None stays None."""
    return None if nano is None else float(Decimal(nano) / NANO)


def dollars_text(nano: int | None) -> str:
    """For people: cents, and as many more digits as a small amount needs; '—' when unknown."""
    if nano is None:
        return "—"
    amount = Decimal(nano) / NANO
    digits = 2
    while digits < 6 and amount and abs(amount) < Decimal(1).scaleb(-digits + 1):
        digits += 1
    text = f"${amount:,.{digits}f}"
    while digits > 2 and text.endswith("0"):  # four cents are $0.04 beside $0.13
        text, digits = text[:-1], digits - 1
    return text
