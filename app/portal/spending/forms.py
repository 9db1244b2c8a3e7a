"""The form of spending limits, and that of a file of call rates."""

from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from flask_wtf.file import FileField, FileRequired
from wtforms import BooleanField, StringField, TextAreaField, ValidationError

from app.languages import gettext, lazy_gettext
from app.languages.numbers import (
    localize_number,
    number_separators,
    parse_number,
    without_separators,
)
from app.portal.web.fields import VersionField, WholeNumber, addresses_of
from app.portal.web.forms import PortalForm
from app.services import spending
from app.services.spending import SpendingLimits, SpendingState
from app.services.spending.budgets import ALERTS, MonthBudget, check
from app.validation.texts import whole_number

_MAX_AMOUNT = Decimal(10**12)
_MAX_DECIMALS = 6
_AMOUNT_ATTRIBUTES = {"inputmode": "decimal", "autocomplete": "off"}
_NUMBER_ATTRIBUTES = {"inputmode": "numeric", "autocomplete": "off"}


class AmountField(StringField):
    """An amount of money, kept as typed in the reader's language; blank means no limit."""

    example = Decimal("12.50")

    def pre_validate(self, _form: object) -> None:
        if self.is_too_exact:
            message = gettext("Enter an amount with at most %(most)s decimals.", most=_MAX_DECIMALS)
            raise ValidationError(message)
        if self.text and self.micros is None:
            if number_separators().decimal == "." and parse_number(self._with_point) is not None:
                message = gettext("Use a point for decimals: %(amount)s.", amount=self._with_point)
                raise ValidationError(message)
            example = localize_number(self.example, 2)
            message = gettext("Enter an amount like %(example)s.", example=example)
            if self.text[0] in "-−" and parse_number(self.text[1:]) is not None:
                refusal = gettext("An amount can’t be negative.")
                message = f"{refusal} {message}"
            raise ValidationError(message)

    @property
    def text(self) -> str:
        return (self.data or "").strip()

    @property
    def _with_point(self) -> str:
        return self.text.replace(",", ".")

    @property
    def micros(self) -> int | None:
        """Return the amount in millionths; None if it isn't an amount with at most 6 decimals. An
        amount above any service's maximum is reduced, so that the service can report its range."""
        exact = self._exact_micros
        return None if exact is None or self.is_too_exact else int(exact)

    @property
    def is_too_exact(self) -> bool:
        """Return whether it is an amount with more than 6 decimals."""
        exact = self._exact_micros
        return exact is not None and exact != int(exact)

    @property
    def _exact_micros(self) -> Decimal | None:
        amount = parse_number(self.text)
        return None if amount is None else min(amount, _MAX_AMOUNT) * spending.MICROS


class UnitPriceField(AmountField):
    """A price of a minute or call."""

    example = Decimal("0.15")


class SpendingForm(PortalForm):
    """Limits of a partner or an API key."""

    wire_fields: ClassVar = {"dayMicros": "day_money", "monthMicros": "month_money"}
    version = VersionField()
    day_money = AmountField(lazy_gettext("Spending limit, a day"), render_kw=_AMOUNT_ATTRIBUTES)
    month_money = AmountField(lazy_gettext("Spending limit, a month"), render_kw=_AMOUNT_ATTRIBUTES)
    day_minutes = WholeNumber(lazy_gettext("Call minutes, a day"))
    month_minutes = WholeNumber(lazy_gettext("Call minutes, a month"))

    @classmethod
    def showing(cls, state: SpendingState) -> "SpendingForm":
        limits = state.limits
        return cls.from_object(
            version=state.version,
            day_money=format_amount(limits.day_micros),
            month_money=format_amount(limits.month_micros),
            day_minutes=limits.day_minutes,
            month_minutes=limits.month_minutes,
            waits=limits.waits,
            is_watched=limits.is_watched,
        )

    def to_limits(self) -> SpendingLimits:
        return SpendingLimits(
            self.day_money.micros,
            self.month_money.micros,
            self.day_minutes.data,
            self.month_minutes.data,
        )

    @property
    def is_day_money_above_month(self) -> bool:
        limits = self.to_limits()
        return _is_above(limits.day_micros, limits.month_micros)

    @property
    def are_day_minutes_above_month(self) -> bool:
        limits = self.to_limits()
        return _is_above(limits.day_minutes, limits.month_minutes)


class OrganizationSpendingForm(SpendingForm):
    """Limits of an organization, and the consequence of reaching them."""

    version = VersionField()
    waits = BooleanField(lazy_gettext("Calls wait for the next day or month"))
    is_watched = BooleanField(lazy_gettext("Pause calling when calls are unusual"))

    def to_limits(self) -> SpendingLimits:
        return replace(super().to_limits(), waits=self.waits.data, is_watched=self.is_watched.data)


class BudgetForm(PortalForm):
    version = VersionField()
    budget = AmountField(lazy_gettext("Budget a month"), render_kw=_AMOUNT_ATTRIBUTES)
    levels = StringField(lazy_gettext("Alert levels"), render_kw=_NUMBER_ATTRIBUTES)
    recipients = TextAreaField(lazy_gettext("More recipients"), render_kw={"spellcheck": "false"})

    @classmethod
    def showing(cls, budget: MonthBudget) -> "BudgetForm":
        return cls.from_object(
            version=budget.version,
            budget=format_amount(budget.micros),
            levels=", ".join(map(str, budget.levels)),
            recipients="\n".join(budget.recipients),
        )

    def validate(self, extra_validators: Any = None) -> bool:
        """Validate the readable fields also by the service's rules, so that all problems are shown
        at once."""
        fine = bool(super().validate(extra_validators))
        levels = list(ALERTS) if self.levels.errors else self.selected_levels()
        checked = self.passes(lambda: check(self.budget.micros, levels, self.addresses))
        return fine and checked

    def validate_levels(self, _field: StringField) -> None:
        if any(whole_number(level, 9) is None for level in self._levels):
            raise ValidationError(gettext("Enter percentages like 50, 80, 100."))

    @property
    def _levels(self) -> list[str]:
        text = (self.levels.data or "").replace("%", " ").replace(",", " ").replace(";", " ")
        return text.split()

    def selected_levels(self) -> list[int]:
        """Return the entered percentages; the service's defaults without any."""
        return [int(level) for level in self._levels] or list(ALERTS)

    @property
    def addresses(self) -> list[str]:
        return addresses_of(self.recipients)


class RatesForm(PortalForm):
    file = FileField(
        lazy_gettext("CSV file"), [FileRequired(message=lazy_gettext("Choose a CSV file."))]
    )


def _is_above(day: int | None, month: int | None) -> bool:
    return day is not None and month is not None and day > month


def format_amount(micros: int | None) -> str:
    """Return an amount in the format of `AmountField`; blank without one."""
    return "" if micros is None else without_separators(spending.format_amount(micros))
