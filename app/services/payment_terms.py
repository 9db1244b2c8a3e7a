"""How customers pay the statements of a partner, and when these are due."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.errors import Problem, raise_problems
from app.languages import gettext, language
from app.models import Partner

MAX_CHARACTERS = 1000
MAX_DAYS = 365


@dataclass(frozen=True, slots=True)
class PaymentTerms:
    """Plain text, such as bank details; ``days`` after a statement is issued it is due. ``texts``
    replace the instructions for readers of their languages. `validate_terms` makes one from
    input."""

    instructions: str = ""
    days: int | None = None
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """Return the instructions in the current language."""
        return self.texts.get(language()) or self.instructions

    @classmethod
    def of(cls, partner: Partner) -> "PaymentTerms":
        return cls(
            partner.payment_instructions or "", partner.payment_days, partner.payment_texts or {}
        )

    @classmethod
    def stored(cls, values: Mapping[str, Any] | None) -> "PaymentTerms":
        """Return the terms that a statement was closed with; blank ones if none were stored."""
        if not values:
            return cls()
        return cls(values["instructions"], values["days"], values.get("texts") or {})

    def to_json(self) -> dict[str, Any]:
        return {"instructions": self.instructions, "days": self.days, "texts": {**self.texts}}

    def for_history(self) -> dict[str, Any]:
        texts = {code: {"paymentInstructions": text} for code, text in self.texts.items()}
        return {
            "paymentInstructions": self.instructions or None,
            "paymentDays": self.days,
            "textsByLanguage": texts or None,
        }


def validate_terms(instructions: str, days: str, texts: Mapping[str, str]) -> PaymentTerms:
    """Return the input without surrounding spaces; ``texts`` by the codes of their languages.
    Raises `ValidationFailed` with every problem by its field (``too_long``, ``out_of_range``)."""
    text = _trim_lines(instructions)
    cleaned = {code: _trim_lines(raw) for code, raw in texts.items()}
    raise_problems(_problems(text, days.strip(), cleaned))
    non_empty = {code: each for code, each in cleaned.items() if each}
    return PaymentTerms(text, int(days) if days.strip() else None, non_empty)


def _trim_lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.replace("\0", "").splitlines()).strip()


def _problems(text: str, days: str, texts: Mapping[str, str]) -> Iterator[Problem]:
    texts_by_field = {"paymentInstructions": text}
    texts_by_field |= {f"paymentText{code.title()}": each for code, each in texts.items()}
    for name, each in texts_by_field.items():
        if len(each) > MAX_CHARACTERS:
            message = gettext("Too long. Use at most %(most)s characters.", most=MAX_CHARACTERS)
            yield Problem(name, "too_long", message)
    if days and not (re.fullmatch("[0-9]{1,3}", days) and int(days) <= MAX_DAYS):
        message = gettext("Enter a number from %(least)s to %(most)s.", least=0, most=MAX_DAYS)
        yield Problem("paymentDays", "out_of_range", message)
