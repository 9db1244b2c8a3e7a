"""Rounded amounts that add up: the rows of a table sum up to its rounded total."""

from collections.abc import Sequence
from decimal import Decimal

from app.gateways.processors.currencies import decimals


def rounded_parts(amounts: Sequence[int], currency: str) -> list[int]:
    """Return the amounts, in millionths, in whole units of the currency, such as cents. Their sum
    is the rounded sum of the amounts: those with the largest remainders are rounded up, the first
    of equal ones."""
    unit = 10 ** (6 - decimals(currency))
    whole = round(Decimal(sum(amounts)) / unit)
    whole_units = [amount // unit for amount in amounts]
    by_remainder = sorted(range(len(amounts)), key=lambda index: -(amounts[index] % unit))
    for index in by_remainder[: whole - sum(whole_units)]:
        whole_units[index] += 1
    return [count * unit for count in whole_units]


def are_adjusted(amounts: Sequence[int], rounded: Sequence[int], currency: str) -> bool:
    """Return whether one of the `rounded_parts` differs from the amount's own rounding."""
    rounded_alone = (rounded_parts([amount], currency)[0] for amount in amounts)
    return any(
        in_sum != by_itself for in_sum, by_itself in zip(rounded, rounded_alone, strict=True)
    )
