"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest

from seeklab.data.format import format_number


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (None, 3, "-"),
        (math.nan, 3, "-"),
        (math.inf, 3, "infinite"),
        (-math.inf, 3, "-infinite"),
        (0.0, 3, "0"),
        (10**400, 3, f"{10**400:,}"),
        (1e-9, 3, "almost 0"),
        (0.000123456, 3, "0.000123"),
        (999.96, 3, "1,000"),
        (1234567.8, 3, "1,234,568"),
        (12.345678, 6, "12.3457"),
    ],
)
def test_a_number_keeps_the_digits_that_a_reader_needs(value: float | None, digits: int, expected: str) -> None:
    assert format_number(value, digits) == expected


def test_a_number_without_separator_can_be_read_again() -> None:
    assert float(format_number(1234567, 6, separator="")) == 1234567
