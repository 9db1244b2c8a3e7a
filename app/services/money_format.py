"""Amounts of money for users, in their language: $12.50, 12,50 €, 12.50 CHF."""

from collections.abc import Iterable
from decimal import Decimal

from app.gateways.processors.currencies import decimals
from app.languages import locale
from app.languages.dates import NO_BREAK
from app.languages.numbers import localize_number

SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def money(amount: Decimal | float, currency: str, digits: int | None = None) -> str:
    """Return $29.00, −$29.00, €948.50, ¥3,000, or 29,00 $ if the sign follows; 29.00 CHF for
    currencies without a common sign. ``digits`` are the decimals, otherwise the currency's."""
    whole = abs(Decimal(str(amount)))
    number = localize_number(whole, decimals(currency) if digits is None else digits)
    symbol, minus = SYMBOLS.get(currency.upper()), "−" if amount < 0 else ""
    if symbol is None:
        return f"{minus}{number}{NO_BREAK if currency else ''}{currency.upper()}"
    pattern = locale().currency_formats["standard"].pattern
    if pattern.startswith("¤"):
        return f"{minus}{symbol}{NO_BREAK if pattern[1] == NO_BREAK else ''}{number}"
    return f"{minus}{number}{NO_BREAK}{symbol}"


def micros(amount: int, currency: str, digits: int | None = None) -> str:
    """Return millionths as `money`, rounded to the smallest unit of the currency or to ``digits``
    decimals."""
    return money(Decimal(amount).scaleb(-6), currency, digits)


def exact_micros(amount: int, currency: str) -> str:
    """Return millionths as `exact_money`."""
    return exact_money(Decimal(amount).scaleb(-6), currency)


def exact_money(amount: Decimal, currency: str) -> str:
    """Return an amount as `money` with all its decimals, such as the price of a minute."""
    return money(amount, currency, _digits(amount, currency))


def shared_digits(amounts: Iterable[tuple[Decimal, str]]) -> int:
    """Return the decimals with which `money` writes all amounts exactly and aligned, for a column
    of them."""
    return max((_digits(amount, currency) for amount, currency in amounts), default=0)


def _digits(amount: Decimal, currency: str) -> int:
    return max(decimals(currency), -int(amount.normalize().as_tuple().exponent))
