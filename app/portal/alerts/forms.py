"""The form of an alert rule, and the words of its measures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from flask import url_for
from markupsafe import Markup
from sqlalchemy.orm import Session
from wtforms import BooleanField, RadioField, SelectChoice, SelectField, StringField, TextAreaField

from app.enums import AlertMeasure, AlertPeriod, AlertScope
from app.errors import DomainError, ValidationFailed
from app.extensions import caller
from app.languages import gettext, lazy_gettext
from app.models import AlertRule
from app.portal.web.fields import OnceField, VersionField, WholeNumber, addresses_of
from app.portal.web.forms import PortalForm
from app.services import organizations
from app.services.alerts import EXISTS, RuleInput, uses_period


@dataclass(frozen=True, slots=True)
class MeasureWords:
    """A measure in the list of measures and in its form; ``threshold`` labels the number."""

    title: str
    text: str
    threshold: str
    icon: str


MEASURES: Mapping[AlertMeasure, MeasureWords] = {
    AlertMeasure.ANSWER_RATE: MeasureWords(
        lazy_gettext("Low answer rate"),
        lazy_gettext(
            "Fewer calls are answered, by a person or by voicemail, than the percentage you enter. "
            "Counted from 20 calls on."
        ),
        lazy_gettext("Answered calls fall below"),
        "phone-off",
    ),
    AlertMeasure.FAILED_CALLS: MeasureWords(
        lazy_gettext("Failed calls"),
        lazy_gettext(
            "The carrier refuses or can’t place calls. Busy and unanswered calls aren’t failures."
        ),
        lazy_gettext("More failed calls than"),
        "alert-circle",
    ),
    AlertMeasure.SILENCE: MeasureWords(
        lazy_gettext("No calls"),
        lazy_gettext("An active organization has no calls for the days you enter."),
        lazy_gettext("No calls for"),
        "player-pause",
    ),
    AlertMeasure.CONVERSATIONS: MeasureWords(
        lazy_gettext("Many conversations"),
        lazy_gettext("More conversations than the number you enter."),
        lazy_gettext("More conversations than"),
        "chart-bar",
    ),
    AlertMeasure.MINUTES: MeasureWords(
        lazy_gettext("Many minutes"),
        lazy_gettext("More minutes of conversation than the number you enter."),
        lazy_gettext("More minutes than"),
        "clock",
    ),
    AlertMeasure.SPENDING: MeasureWords(
        lazy_gettext("Spending limit nearly used"),
        lazy_gettext("An organization has used the percentage of a spending limit that you enter."),
        lazy_gettext("Used at least"),
        "coin",
    ),
    AlertMeasure.BUDGET: MeasureWords(
        lazy_gettext("Budget spent"),
        lazy_gettext("The percentage of the budget of a month that you enter is spent."),
        lazy_gettext("Spent at least"),
        "coin",
    ),
    AlertMeasure.LIMITS: MeasureWords(
        lazy_gettext("Users or assistants nearly used"),
        lazy_gettext("Only for organizations that may have more than one user or assistant."),
        lazy_gettext("Used at least"),
        "users",
    ),
}
PERIODS = {
    AlertPeriod.TODAY: lazy_gettext("Today"),
    AlertPeriod.DAYS_7: lazy_gettext("Last 7 days"),
    AlertPeriod.DAYS_30: lazy_gettext("Last 30 days"),
    AlertPeriod.MONTH: lazy_gettext("This month"),
}
SCOPES = {
    AlertScope.EACH_ORGANIZATION: lazy_gettext("Each organization"),
    AlertScope.ORGANIZATION: lazy_gettext("One organization"),
    AlertScope.PARTNER: lazy_gettext("All organizations together"),
}


class RuleForm(PortalForm):
    """The fields of a rule; its measure is in the URL or stored."""

    wire_fields: ClassVar = {"organizationId": "organization", "measure": "threshold"}
    version = VersionField()
    once = OnceField()
    scope = RadioField(lazy_gettext("For"), default=AlertScope.EACH_ORGANIZATION.value)
    organization = StringField(
        lazy_gettext("Organization"), render_kw={"maxlength": 200, "autocomplete": "off"}
    )
    threshold = WholeNumber(lazy_gettext("Threshold"))
    period = SelectField(
        lazy_gettext("Period"),
        choices=[SelectChoice(period.value, words) for period, words in PERIODS.items()],
        default=AlertPeriod.DAYS_7.value,
    )
    by_mail = BooleanField(lazy_gettext("Send emails"), default=True)
    recipients = TextAreaField(lazy_gettext("Recipients"), render_kw={"spellcheck": "false"})
    to_owners = BooleanField(lazy_gettext("Also email its owners"))

    @classmethod
    def showing(cls, session: Session, rule: AlertRule) -> "RuleForm":
        name = None
        if rule.organization_id is not None:
            name = organizations.get(session, caller(), rule.organization_id).name
        data = {
            "version": rule.version,
            "scope": rule.scope.value,
            "organization": name,
            "threshold": rule.threshold,
            "period": rule.period.value if rule.period else None,
            "by_mail": rule.by_mail,
            "recipients": "\n".join(rule.recipients or []),
            "to_owners": rule.to_owners,
        }
        form = cls.from_object(
            data={key: value for key, value in data.items() if value is not None}
        )
        form.adapt_to(rule.measure)
        return form

    def apply_errors(self, error: DomainError) -> None:
        """Link the existing rule."""
        if error.code == EXISTS:
            url = url_for("portal.alerts.show_alert_rule", rule_id=error.extra["ruleId"])
            link = Markup('<a href="{}">{}</a>').format(url, gettext("Open that rule"))
            self.problems = [*self.problems, ("", Markup("{} {}").format(error.message, link))]
        else:
            super().apply_errors(error)

    def adapt_to(self, measure: AlertMeasure) -> None:
        """Label the fields for a measure and remove those that it doesn't use."""
        self.scope.choices = [
            SelectChoice(scope.value, label)
            for scope, label in SCOPES.items()
            if (measure, scope) != (AlertMeasure.LIMITS, AlertScope.PARTNER)
        ]
        self.threshold.label.text = MEASURES[measure].threshold
        if not uses_period(measure):
            del self.period

    def to_input(  # type: ignore[override]  # the input of this form isn't a schema of the API
        self, session: Session, measure: AlertMeasure, preferred_id: UUID | None
    ) -> RuleInput:
        """Return the input; ``preferred_id`` is preferred among organizations of the same name. A
        threshold that isn't a number is None. Raises `ValidationFailed`."""
        for field in (self.scope, self.period) if "period" in self else (self.scope,):
            if field.data not in {choice.value for choice in field.choices}:
                raise ValidationFailed.on(
                    field.name, "not_offered", gettext("Choose one of these.")
                )
        scope = AlertScope(self.scope.data)
        return RuleInput(
            measure,
            scope,
            self.threshold.data,
            AlertPeriod(self.period.data) if "period" in self else None,
            self._named(session, preferred_id) if scope is AlertScope.ORGANIZATION else None,
            by_mail=bool(self.by_mail.data),
            recipients=tuple(addresses_of(self.recipients)),
            to_owners=bool(self.to_owners.data),
        )

    def _named(self, session: Session, preferred_id: UUID | None) -> UUID | None:
        name = (self.organization.data or "").strip()
        live, archived = (
            [row.id for row in organizations.find_by_name(session, caller(), name, archived=each)]
            for each in (False, True)
        )
        if preferred_id in (*live, *archived):
            return preferred_id
        ids = live or archived
        if len(ids) > 1:
            message = gettext("Several organizations have this name. Add the rule from its page.")
            raise ValidationFailed.on("organizationId", "several_organizations", message)
        return ids[0] if ids else None
