"""Money as whole nano-dollars: rounding, bounds, the unknown, and what a person reads."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trinity.kernel.money import MAX_NANO, MAX_REPORT_NANO, NANO, dollars_text, to_dollars, to_nano


@pytest.mark.parametrize(
    ("dollars", "nano"),
    [
        (0, 0), (1, NANO), (0.1, NANO // 10), ("0.1", NANO // 10), (Decimal("0.1"), NANO // 10),
        (0.29, 290_000_000), (1.005, 1_005_000_000), (-0.5, -NANO // 2), (1e-9, 1), ("1e-9", 1),
    ],
)  # fmt: skip
def test_an_amount_is_what_it_says_and_not_what_binary_makes_of_it(dollars: object, nano: int) -> None:
    assert to_nano(dollars) == nano


@pytest.mark.parametrize(
    ("dollars", "nano"), [("0.0000000004", 0), ("0.0000000005", 1), ("0.0000000014", 1), ("0.0000000015", 2)]
)
def test_half_a_nano_dollar_is_rounded_up(dollars: str, nano: int) -> None:
    assert to_nano(dollars) == nano


def test_ten_times_ten_cents_is_a_dollar() -> None:
    assert sum(to_nano(0.1) or 0 for _ in range(10)) == to_nano(1)


@pytest.mark.parametrize(
    "senseless", [None, True, False, math.nan, math.inf, -math.inf, "NaN", "Infinity", "free", "", [], {}, b"1"]
)
def test_what_is_no_finite_amount_is_unknown_and_not_nothing(senseless: object) -> None:
    assert to_nano(senseless) is None


@pytest.mark.parametrize(
    "absurd",
    [1e300, "1e400", 10**400, 10**5_000, Decimal("1e999999")],
    ids=["float", "text", "long", "longer than Python prints", "decimal"],
)
def test_an_absurd_amount_is_capped_so_that_a_hundred_of_them_still_make_a_sum(absurd: object) -> None:
    assert to_nano(absurd) == MAX_REPORT_NANO
    assert 100 * MAX_REPORT_NANO <= MAX_NANO < 2**63


def test_an_absurd_debt_is_capped_too() -> None:
    assert to_nano(-1e300) == -MAX_REPORT_NANO


@given(st.integers(-MAX_REPORT_NANO, MAX_REPORT_NANO))
def test_what_was_stored_is_read_back_to_the_nano_dollar(nano: int) -> None:
    assert to_nano(Decimal(nano) / NANO) == nano


@given(st.integers(0, 10**15))
def test_json_shows_amounts_up_to_a_million_dollars_exactly(nano: int) -> None:
    assert to_nano(to_dollars(nano)) == nano


def test_unknown_stays_unknown() -> None:
    assert to_dollars(None) is None
    assert dollars_text(None) == "—"


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        ("0", "$0.00"), ("1", "$1.00"), ("1234567.891", "$1,234,567.89"), ("0.10", "$0.10"), ("0.012", "$0.012"),
        ("0.0034", "$0.0034"), ("0.00012", "$0.00012"), ("0.04", "$0.04"), ("0.0500", "$0.05"), ("0.0030", "$0.003"),
    ],
)  # fmt: skip
def test_a_person_reads_cents_and_more_digits_of_small_amounts(dollars: str, text: str) -> None:
    assert dollars_text(to_nano(dollars)) == text
