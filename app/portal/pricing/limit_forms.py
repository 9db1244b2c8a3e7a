"""The limits of plans for the organizations on them."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

from wtforms import Field, Form, FormField

from app.enums import Tier
from app.errors import DomainError
from app.languages import gettext, lazy_gettext
from app.portal.pricing.labels import calls_a_day_label, calls_at_once_label
from app.portal.web.editing import EditDifference, SeenMarks
from app.portal.web.fields import VersionField, WholeNumber
from app.portal.web.forms import PortalForm
from app.portal.web.plan_names import plan_names
from app.services.plans.limits import PlanLimits, check

BY_SIZE = (Tier.FREE, Tier.BASIC_TRIAL, Tier.BASIC, Tier.PLUS)
_FIELDS = {"callsAtOnce": "at_once", "callsADay": "a_day"}


class AllowanceRow(Form):
    at_once = WholeNumber(lazy_gettext("Concurrent calls"))
    a_day = WholeNumber(lazy_gettext("Calls a day"))


class LimitsForm(PortalForm):
    """A blank field means no limit."""

    version = VersionField()
    free = FormField(AllowanceRow)
    basic_trial = FormField(AllowanceRow)
    basic = FormField(AllowanceRow)
    plus = FormField(AllowanceRow)

    def validate(self, extra_validators: Any = None) -> bool:
        """Validate also the ranges, so that all problems are shown at once."""
        is_valid = bool(super().validate(extra_validators))
        return self.passes(lambda: check(self.to_allowances())) and is_valid

    @property
    def rows(self) -> Iterator[tuple[Tier, AllowanceRow]]:
        fields = (self.free, self.basic_trial, self.basic, self.plus)
        yield from zip(BY_SIZE, (field.form for field in fields), strict=True)

    @classmethod
    def showing(cls, allowed: Mapping[Tier, PlanLimits], version: int) -> "LimitsForm":
        form = cls.from_object(version=version)
        for tier, row in form.rows:
            row.at_once.data = allowed[tier].calls_at_once
            row.a_day.data = allowed[tier].calls_a_day
        return form

    def to_allowances(self) -> dict[Tier, PlanLimits]:
        """Return the entered limits; unreadable ones are None."""
        return {tier: PlanLimits(row.at_once.data, row.a_day.data) for tier, row in self.rows}

    def differences(self, stored: Self, _seen: SeenMarks) -> list[EditDifference]:
        return [
            EditDifference(
                _field_label(field, tier),
                _format_value(field),
                _format_value(stored_field),
            )
            for (tier, row), (_tier, stored_row) in zip(self.rows, stored.rows, strict=True)
            for field, stored_field in zip(row, stored_row, strict=True)
            if field.data != stored_field.data
        ]

    def apply_errors(self, error: DomainError) -> None:
        rows = {tier.value: row for tier, row in self.rows}
        for problem in error.problems:
            tier, _, name = problem.field.partition(".")
            field = rows[tier][_FIELDS[name]]
            field.errors = (*field.errors, problem.message)

    def row_problems(self) -> list[tuple[str, str]]:
        """Return every problem as (id, words), with the plan's name."""
        return [
            (field.id, f"{_field_label(field, tier)}: {message}")
            for tier, row in self.rows
            for field in row
            for message in field.errors
        ]


def _field_label(field: Field, tier: Tier) -> str:
    if field.short_name == "at_once":
        return gettext("%(plan)s, concurrent calls", plan=plan_names()[tier])
    return gettext("%(plan)s, calls a day", plan=plan_names()[tier])


def _format_value(field: Field) -> str:
    format_limit = calls_at_once_label if field.short_name == "at_once" else calls_a_day_label
    return format_limit(field.data)
