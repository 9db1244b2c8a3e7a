"""Postal address and tax number of a company, as statements show them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import Problem, raise_problems
from app.languages import gettext
from app.validation.texts import trim

MAX_LINES = 6
MAX_LINE_LENGTH = 100
MAX_TAX_ID_LENGTH = 40


@dataclass(frozen=True, slots=True)
class BillingAddress:
    """Lines of the postal address, without blank ones, and the tax or registration number; both may
    be empty. `validate_address` makes one from input."""

    lines: tuple[str, ...] = ()
    tax_id: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> "BillingAddress":
        """Return the address in a column."""
        return cls(tuple(stored["lines"]), stored["taxId"]) if stored else cls()

    def to_json(self) -> dict[str, Any] | None:
        """Return the value of a column; None for an empty address."""
        return {"lines": list(self.lines), "taxId": self.tax_id} if self != _NOTHING else None

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def for_history(self) -> dict[str, Any]:
        return {"billingAddress": list(self.lines) or None, "taxId": self.tax_id or None}


_NOTHING = BillingAddress()


def validate_address(text: str, tax_id: str) -> BillingAddress:
    """Return the input without surrounding spaces and blank lines. Raises `ValidationFailed` with
    every problem by its field (``too_many_lines``, ``too_long``)."""
    lines = (line.strip() for line in text.replace("\0", "").splitlines())
    address = BillingAddress(tuple(filter(None, lines)), trim(tax_id))
    raise_problems(_problems(address))
    return address


def _problems(address: BillingAddress) -> Iterator[Problem]:
    if len(address.lines) > MAX_LINES:
        message = gettext("Use at most %(most)s lines.", most=MAX_LINES)
        yield Problem("billingAddress", "too_many_lines", message)
    if any(len(line) > MAX_LINE_LENGTH for line in address.lines):
        message = gettext(
            "A line is too long. Use at most %(most)s characters.", most=MAX_LINE_LENGTH
        )
        yield Problem("billingAddress", "too_long", message)
    if len(address.tax_id) > MAX_TAX_ID_LENGTH:
        message = gettext("Too long. Use at most %(most)s characters.", most=MAX_TAX_ID_LENGTH)
        yield Problem("taxId", "too_long", message)
