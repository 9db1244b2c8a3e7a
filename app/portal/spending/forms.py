"""The form of spending limits, and that of a file of call rates."""

from typing import ClassVar

from flask_wtf.file import FileField, FileRequired
from wtforms import BooleanField, StringField, ValidationError

from app.languages import gettext, lazy_gettext
from app.portal.web.fields import VersionField, WholeNumber
from app.portal.web.forms import PortalForm
from app.services import spending
from app.services.spending import Limits, Spending
from app.services.spending.budgets import Budget

_AMOUNT = {"inputmode": "decimal", "autocomplete": "off"}
_NUMBER = {"inputmode": "numeric", "autocomplete": "off"}


class AmountField(StringField):
    """An amount of money, kept as it is typed; blank is no limit."""

    def pre_validate(self, _form: object) -> None:
        if self.text and spending.micros_of(self.text) is None:
            message = gettext("Enter an amount like 12.50.")
            raise ValidationError(message)

    @property
    def text(self) -> str:
        return (self.data or "").strip()

    @property
    def micros(self) -> int | None:
        return spending.micros_of(self.text) if self.text else None


class SpendingForm(PortalForm):
    """Limits of a partner or an API key."""

    wire_fields: ClassVar = {"dayMicros": "day_money", "monthMicros": "month_money"}
    version = VersionField()
    day_money = AmountField(lazy_gettext("A day"), render_kw=_AMOUNT)
    month_money = AmountField(lazy_gettext("A month"), render_kw=_AMOUNT)
    day_minutes = WholeNumber(lazy_gettext("A day"), render_kw=_NUMBER)
    month_minutes = WholeNumber(lazy_gettext("A month"), render_kw=_NUMBER)

    @classmethod
    def showing(cls, found: Spending) -> "SpendingForm":
        limits = found.limits
        return cls.from_object(
            data={
                "version": found.version,
                "day_money": _words(limits.day_micros),
                "month_money": _words(limits.month_micros),
                "day_minutes": limits.day_minutes,
                "month_minutes": limits.month_minutes,
                "waits": limits.waits,
                "is_watched": limits.is_watched,
            }
        )

    def to_limits(self) -> Limits:
        return Limits(
            self.day_money.micros,
            self.month_money.micros,
            self.day_minutes.data,
            self.month_minutes.data,
        )


class OrganizationSpendingForm(SpendingForm):
    """Limits of an organization, and what calls do at them."""

    version = VersionField()
    waits = BooleanField(lazy_gettext("Calls wait for the next day or month"))
    is_watched = BooleanField(lazy_gettext("Pause calling when calls are unusual"))

    def to_limits(self) -> Limits:
        return Limits(
            self.day_money.micros,
            self.month_money.micros,
            self.day_minutes.data,
            self.month_minutes.data,
            waits=self.waits.data,
            is_watched=self.is_watched.data,
        )


class BudgetForm(PortalForm):
    """The budget of a month."""

    version = VersionField()
    budget = AmountField(lazy_gettext("Budget a month"), render_kw=_AMOUNT)

    @classmethod
    def showing(cls, found: Budget) -> "BudgetForm":
        return cls.from_object(data={"version": found.version, "budget": _words(found.micros)})


class RatesForm(PortalForm):
    file = FileField(
        lazy_gettext("CSV file"), [FileRequired(message=lazy_gettext("Choose a CSV file."))]
    )


def _words(micros: int | None) -> str:
    return "" if micros is None else spending.amount_words(micros)
