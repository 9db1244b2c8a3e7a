"""Call rates: the estimated price of a call, before the carrier reports its cost.

The longest prefix of the number decides. Until the operator imports a file, `DEFAULT_RATES` apply.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import Select, delete, exists, insert, select
from sqlalchemy.orm import Session

from app.database import read_once
from app.errors import Conflict, Problem, ValidationFailed
from app.languages import gettext, ngettext
from app.models import CallRate, SpendingLimit, SpendingTotal
from app.policy.caller import Caller
from app.services import audit
from app.services.destinations import INSTALLATION_ID

CURRENCY = "USD"
EVERYWHERE_ELSE = "1.00"
DEFAULT_RATES = {
    "0.03": "1",
    "0.06": "30 31 32 33 34 39 351 352 353 36 40 41 420 421 43 44 45 46 47 48 49 358 "
    "61 64 65 66 60 81 82 852 86 91 52 54 55 56 57 972 27",
    "0.15": "1671 1670 1684 1867 1907 385 386 370 371 372 354 356 357 359 7 90 62 63 84 886 "
    "51 506 507 971 966 965 974 968 973 20",
    "0.20": "306 316 324 336 337 346 347 393 3519 352621 352661 3620 3630 3670 407 417 "
    "4206 4207 4219 436 447 4540 4550 4560 467 474 479 485 486 487 488 4915 4916 4917 35840 "
    "35844 35845 35850 614 642 2760 2771 2772 2773 2774 2776 2778 2779 2782 2783 2784",
    "0.50": "1242 1246 1264 1268 1284 1340 1345 1441 1473 1649 1658 1664 1721 1758 1767 1784 "
    "1809 1829 1849 1868 1869 1876 502 503 504 505 509 591 593 595 598 58 92 94 880 977 "
    "212 213 216 233 234 254 255 256 961 962 964 98 380 381 382 383 387 389 355 373 374 994 995",
}
"""Prefixes by their price in US dollars per minute: a country's calling code, or the beginning of
its mobile numbers. The prices are above usual ones, so that spending limits are reached too early
rather than too late."""
DEFAULT = "default"
"""The prefix of the rate of all other numbers."""
MICROS = 1_000_000
MAX_PROBLEMS = 50
COLUMNS = (
    "prefix",
    "price_per_minute",
    "setup_price",
    "minimum_seconds",
    "increment_seconds",
    "currency",
)
_PREFIX = re.compile(r"[1-9][0-9]{0,14}|default")
_PRICE = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?")
_SECONDS = re.compile(r"[0-9]{1,4}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_CURRENCY_KEY = ("currency of rates",)


@dataclass(frozen=True, slots=True)
class CallPrice:
    """The price of calls to the numbers of a prefix, in millionths of the currency. A call is
    charged for ``minimum_seconds``, then in steps of ``increment_seconds``."""

    prefix: str
    micros_per_minute: int
    setup_micros: int = 0
    minimum_seconds: int = 60
    increment_seconds: int = 60
    currency: str = CURRENCY

    def charged_seconds(self, seconds: float) -> int:
        """Return the seconds that an answered call of this length is charged for."""
        steps = -(-max(seconds, 0) // self.increment_seconds)
        return max(self.minimum_seconds, int(steps) * self.increment_seconds)

    def price(self, seconds: float) -> int:
        """Return the price of an answered call of this length, rounded up."""
        per_minute = self.micros_per_minute * self.charged_seconds(seconds)
        return self.setup_micros + -(-per_minute // 60)


@dataclass(frozen=True, slots=True)
class RateChanges:
    """The rates before and after a replacement, both in the order of `listing`."""

    before: Sequence[CallPrice]
    after: Sequence[CallPrice]

    @property
    def added(self) -> list[CallPrice]:
        prefixes = {rate.prefix for rate in self.before}
        return [rate for rate in self.after if rate.prefix not in prefixes]

    @property
    def removed(self) -> list[CallPrice]:
        prefixes = {rate.prefix for rate in self.after}
        return [rate for rate in self.before if rate.prefix not in prefixes]

    @property
    def changed(self) -> list[tuple[CallPrice, CallPrice]]:
        """Return the rates that stay, with another price or other steps, before and after."""
        old_rates = {rate.prefix: rate for rate in self.before}
        pairs = ((old_rates.get(rate.prefix, rate), rate) for rate in self.after)
        return [(old, new) for old, new in pairs if old != new]


def _default_rates() -> Iterator[CallPrice]:
    yield CallPrice(DEFAULT, _to_micros(EVERYWHERE_ELSE))
    for price, prefixes in DEFAULT_RATES.items():
        yield from (CallPrice(prefix, _to_micros(price)) for prefix in prefixes.split())


def _to_micros(amount: str) -> int:
    return int(Decimal(amount) * MICROS)


_DEFAULT_RATES = {rate.prefix: rate for rate in _default_rates()}


def rate_of(session: Session, phone_number: str) -> CallPrice:
    """Return the rate of a number in E.164 format, in one query."""
    digits = phone_number.removeprefix("+")
    prefixes = [digits[:length] for length in range(len(digits), 0, -1)] + [DEFAULT]
    stored = session.scalars(select(CallRate).where(CallRate.prefix.in_(prefixes)))
    by_prefix: Mapping[str, CallPrice] = {
        row.prefix: _from_row(row) for row in stored
    } or _DEFAULT_RATES
    return next(by_prefix[prefix] for prefix in prefixes if prefix in by_prefix)


def price_range(session: Session, minutes: int) -> tuple[int, int]:
    """Return the lowest and the highest price of a call of this many minutes, in one query."""
    columns = (
        *(CallRate.micros_per_minute, CallRate.setup_micros),
        *(CallRate.minimum_seconds, CallRate.increment_seconds),
    )
    stored = [CallPrice("", *row) for row in session.execute(select(*columns).distinct())]
    prices = [rate.price(60 * minutes) for rate in stored or _DEFAULT_RATES.values()]
    return min(prices), max(prices)


def currency_of(session: Session) -> str:
    """Return the currency of all amounts: that of the rates. A read-only transaction reads it
    once."""
    return read_once(session, _CURRENCY_KEY, lambda: session.scalar(stored_currency()) or CURRENCY)


def stored_currency() -> Select[str]:
    """Return the query of the currency of the imported rates, if there are any; its result is for
    `remember_currency`."""
    return select(CallRate.currency).limit(1)


def remember_currency(session: Session, stored: str | None) -> str:
    """Return the currency of all amounts, also for `currency_of` in a read-only transaction."""
    return read_once(session, _CURRENCY_KEY, lambda: stored or CURRENCY)


def are_imported(session: Session) -> bool:
    """Return whether the operator has imported rates."""
    return bool(_imported(session))


def listing(session: Session) -> list[CallPrice]:
    """Return all rates, that of all other numbers first, the others by their prefixes. A read-only
    transaction then knows `currency_of` and `are_imported`."""
    imported = _imported(session)
    remember_currency(session, imported[0].currency if imported else None)
    return sorted(imported or _DEFAULT_RATES.values(), key=_sort_key)


def _imported(session: Session) -> list[CallPrice]:
    key = ("imported rates",)
    return read_once(session, key, lambda: [*map(_from_row, session.scalars(select(CallRate)))])


def to_csv(rates: Sequence[CallPrice]) -> str:
    """Return the rates as a CSV file, which `replace` reads."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(
        (
            rate.prefix,
            format_amount(rate.micros_per_minute),
            format_amount(rate.setup_micros),
            rate.minimum_seconds,
            rate.increment_seconds,
            rate.currency,
        )
        for rate in rates
    )
    return text.getvalue()


def format_amount(micros: int) -> str:
    """Return an amount as 12.50, with more decimals only if they are needed."""
    whole, _, decimals = f"{Decimal(micros) / MICROS:.6f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


def audit_amount(session: Session, micros: int | None) -> str | None:
    """Return 12.50 USD, as the history stores a limit; None without one."""
    return None if micros is None else f"{format_amount(micros)} {currency_of(session)}"


def micros_of(text: str) -> int | None:
    """Return 12.50 as millionths; None for a text that isn't an amount with at most 6 decimals."""
    return _to_micros(text) if _PRICE.fullmatch(text) else None


def preview(session: Session, caller: Caller, content: bytes) -> RateChanges:
    """Return the changes by replacing all rates by those of a CSV file.

    Raises `Forbidden`, `ValidationFailed` with the number of each wrong row, and `Conflict`
    (``currency_in_use``) for another currency while limits or totals have amounts in the old one.
    """
    require_operator(caller)
    rates = _parse_rates(content)
    before, after = listing(session), sorted(rates, key=_sort_key)
    if before[0].currency != after[0].currency and _is_used(session):
        message = gettext(
            "Spending limits and totals are in %(currency)s. Rates can't be in another currency.",
            currency=before[0].currency,
        )
        raise Conflict(message, "currency_in_use")
    return RateChanges(before, after)


def replace(session: Session, caller: Caller, content: bytes) -> int:
    """Replace all rates by those of a CSV file; return their number. Raises as `preview`."""
    changes = preview(session, caller, content)
    session.execute(delete(CallRate))
    names = CallPrice.__dataclass_fields__
    rows = [{name: getattr(rate, name) for name in names} for rate in changes.after]
    session.execute(insert(CallRate), rows)
    _record(session, caller, changes.before, changes.after)
    return len(changes.after)


def reset(session: Session, caller: Caller) -> None:
    """Restore the default rates. Raises `Forbidden`, `Conflict` (``currency_in_use``)."""
    require_operator(caller)
    before = listing(session)
    if before[0].currency != CURRENCY and _is_used(session):
        message = gettext(
            "Spending limits and totals are in %(currency)s.", currency=before[0].currency
        )
        raise Conflict(message, "currency_in_use")
    session.execute(delete(CallRate))
    _record(session, caller, before, listing(session))


def require_operator(caller: Caller) -> None:
    caller.require_operator(gettext("Only the platform operator changes this."))


def _is_used(session: Session) -> bool:
    used = select(exists().select_from(SpendingLimit), exists().select_from(SpendingTotal))
    return any(session.execute(used).one())


def _record(
    session: Session, caller: Caller, before: Sequence[CallPrice], after: Sequence[CallPrice]
) -> None:
    audit.record(
        session,
        caller,
        action="installation.call_rates_changed",
        target_type="installation",
        target_id=INSTALLATION_ID,
        target="Installation",
        before={"rates": len(before), "currency": before[0].currency},
        after={"rates": len(after), "currency": after[0].currency},
    )


def _from_row(row: CallRate) -> CallPrice:
    return CallPrice(
        row.prefix,
        row.micros_per_minute,
        row.setup_micros,
        row.minimum_seconds,
        row.increment_seconds,
        row.currency,
    )


def _sort_key(rate: CallPrice) -> tuple[bool, str]:
    return rate.prefix != DEFAULT, rate.prefix


def _parse_rates(content: bytes) -> list[CallPrice]:
    problems: list[Problem] = []
    rates: dict[str, CallPrice] = {}
    for number, row in _parse_csv(content):
        wrong = list(_wrong_cells(row)) or list(_row_conflicts(row, rates))
        problems += (
            Problem(
                "file",
                "wrong_row",
                gettext("Row %(row)s: %(problem)s", row=number, problem=each),
            )
            for each in wrong
        )
        if len(problems) >= MAX_PROBLEMS:
            break
        if not wrong:
            rates[row[0]] = _to_rate(row)
    if not problems and DEFAULT not in rates:
        message = gettext(
            "A row with the prefix %(prefix)s is missing: the price of all other numbers.",
            prefix=DEFAULT,
        )
        problems.append(Problem("file", "default_missing", message))
    if problems:
        message = "\n".join(problem.message for problem in problems)
        raise ValidationFailed(message, problems[0].code, problems)
    return list(rates.values())


def _parse_csv(content: bytes) -> list[tuple[int, list[str]]]:
    """Return the rows below the names of the columns, with their numbers; blank ones are left
    out."""
    try:
        text = content.decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error):
        message = gettext("Choose a CSV file in UTF-8.")
        raise ValidationFailed.on("file", "not_csv", message) from None
    if not rows or tuple(rows[0]) != COLUMNS:
        message = gettext("The first row must be: %(columns)s", columns=",".join(COLUMNS))
        raise ValidationFailed.on("file", "wrong_columns", message)
    return [(number, row) for number, row in enumerate(rows[1:], start=2) if any(row)]


def _row_conflicts(row: Sequence[str], rates: Mapping[str, CallPrice]) -> Iterator[str]:
    """Return what is wrong with a row in view of those before it."""
    if row[0] in rates:
        yield gettext("The prefix %(prefix)s is listed twice.", prefix=row[0])
    if rates and row[5] != next(iter(rates.values())).currency:
        yield gettext("All rates must have the same currency.")


def _to_rate(row: Sequence[str]) -> CallPrice:
    return CallPrice(
        row[0], _to_micros(row[1]), _to_micros(row[2]), int(row[3]), int(row[4]), row[5]
    )


def _wrong_cells(row: Sequence[str]) -> Iterator[str]:
    if len(row) != len(COLUMNS):
        yield ngettext(
            "It has %(num)s column instead of %(wanted)s.",
            "It has %(num)s columns instead of %(wanted)s.",
            len(row),
            wanted=len(COLUMNS),
        )
        return
    checks = (
        (_PREFIX, _prefix_message),
        (_PRICE, _price_message),
        (_PRICE, _price_message),
        (_SECONDS, _seconds_message),
        (_SECONDS, _seconds_message),
        (_CURRENCY, _currency_message),
    )
    for name, cell, (pattern, message_for) in zip(COLUMNS, row, checks, strict=True):
        if not pattern.fullmatch(cell):
            yield message_for(name)
        elif name == "increment_seconds" and not int(cell):
            yield gettext("%(column)s must be at least 1.", column=name)


def _prefix_message(column: str) -> str:
    return gettext(
        "%(column)s must be digits with the country code, like 4930, or default.", column=column
    )


def _price_message(column: str) -> str:
    return gettext(
        "%(column)s must be an amount like 0.05, with at most 6 decimals.", column=column
    )


def _seconds_message(column: str) -> str:
    return gettext("%(column)s must be seconds like 60.", column=column)


def _currency_message(column: str) -> str:
    return gettext("%(column)s must be a code like USD.", column=column)
