"""How customers pay the statements of a partner, and when these are due."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import Problem, refuse_any
from app.languages import gettext
from app.models import Partner

MOST_CHARACTERS = 1000
MOST_DAYS = 365


@dataclass(frozen=True, slots=True)
class PaymentTerms:
    """Plain text, such as bank details; ``days`` after a statement is issued it is due. What was
    typed becomes one by `checked_terms`."""

    instructions: str = ""
    days: int | None = None

    @classmethod
    def of(cls, partner: Partner) -> "PaymentTerms":
        return cls(partner.payment_instructions or "", partner.payment_days)

    @classmethod
    def stored(cls, values: Mapping[str, Any] | None) -> "PaymentTerms":
        """Return what a statement was closed with; nothing if that wasn't stored."""
        return cls(values["instructions"], values["days"]) if values else cls()

    def to_json(self) -> dict[str, Any]:
        return {"instructions": self.instructions, "days": self.days}

    def for_history(self) -> dict[str, Any]:
        return {"paymentInstructions": self.instructions or None, "paymentDays": self.days}


def checked_terms(instructions: str, days: str) -> PaymentTerms:
    """Return what was typed, without surrounding spaces. Raises `ValidationFailed` with every
    problem by its field (``too_long``, ``out_of_range``)."""
    text = "\n".join(line.rstrip() for line in instructions.replace("\0", "").splitlines()).strip()
    refuse_any(_problems(text, days.strip()))
    return PaymentTerms(text, int(days) if days.strip() else None)


def _problems(text: str, days: str) -> Iterator[Problem]:
    if len(text) > MOST_CHARACTERS:
        message = gettext("Too long. Use at most %(most)s characters.", most=MOST_CHARACTERS)
        yield Problem("paymentInstructions", "too_long", message)
    if days and not (re.fullmatch("[0-9]{1,3}", days) and int(days) <= MOST_DAYS):
        message = gettext("Enter a number from %(least)s to %(most)s.", least=0, most=MOST_DAYS)
        yield Problem("paymentDays", "out_of_range", message)
