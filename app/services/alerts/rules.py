"""The alert rules of a partner: created, changed, muted and removed by users with the permission to
change organizations."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app import languages
from app.enums import AlertMeasure, AlertPeriod, AlertScope, OrganizationStatus
from app.errors import NotFound, Problem, ValidationFailed, check_version, raise_problems
from app.languages import gettext
from app.languages.numbers import localize_number
from app.models import Alert, AlertRule, AuditEntry, Organization, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, mail_queue, partners
from app.services.alerts.labels import sentence, uses_period
from app.services.alerts.measuring import names_of
from app.services.spending import budgets
from app.services.tenancy import (
    ARCHIVED,
    archived_message,
    fetch,
    get_organization,
    lock_owner,
    of_tenant,
)

MAX_RULES = 50
"""Maximum rules of one partner."""
_MAX_THRESHOLDS: dict[AlertMeasure, int] = {
    AlertMeasure.ANSWER_RATE: 100,
    AlertMeasure.SPENDING: 100,
    AlertMeasure.BUDGET: budgets.MAX_LEVEL,
    AlertMeasure.LIMITS: 100,
    AlertMeasure.SILENCE: 90,
}
_MAX_COUNTED = 1_000_000_000
MUTE_DAYS = (1, 7, 30)
EXISTS = "alert_rule_exists"


@dataclass(frozen=True, slots=True)
class RuleInput:
    """The input for a rule; ``organization_id`` and ``to_owners`` belong to the scope of one
    organization. Without ``recipients``, mails go to all administrators."""

    measure: AlertMeasure
    scope: AlertScope
    threshold: int | None
    period: AlertPeriod | None = None
    organization_id: UUID | None = None
    by_mail: bool = True
    recipients: tuple[str, ...] = ()
    to_owners: bool = False


def listing(session: Session, caller: Caller) -> list[tuple[AlertRule, str, datetime | None]]:
    """Return the rules of the caller's partner with their sentences, and when each last opened an
    alert that the caller may see, oldest first. Raises `Forbidden`."""
    caller.require(Permission.REPORT_READ)
    visible_alerts = of_tenant(select(Alert), caller, Alert.partner_id, Alert.organization_id)
    last = func.max(Alert.opened_at).label("opened_at")
    last_alerts = visible_alerts.with_only_columns(Alert.rule_id, last).group_by(Alert.rule_id)
    last_alert = last_alerts.subquery()
    rows = session.execute(
        _visible_rules(caller)
        .add_columns(Organization.name, last_alert.c.opened_at)
        .outerjoin(Organization, Organization.id == AlertRule.organization_id)
        .outerjoin(last_alert, last_alert.c.rule_id == AlertRule.id)
        .order_by(AlertRule.id)
    )
    return [(rule, sentence(rule, name), last_opened) for rule, name, last_opened in rows]


def get(session: Session, caller: Caller, rule_id: UUID, *, for_change: bool = False) -> AlertRule:
    """Return a rule. Raises `Forbidden` and `NotFound` (``alert_rule_not_found``)."""
    caller.require(Permission.REPORT_READ)
    query = _visible_rules(caller).where(AlertRule.id == rule_id)
    missing = NotFound(gettext("There is no such alert rule."), "alert_rule_not_found")
    return fetch(session, query, missing, for_change=for_change)


def _visible_rules(caller: Caller) -> Select[AlertRule]:
    return of_tenant(select(AlertRule), caller, AlertRule.partner_id, AlertRule.organization_id)


def create(session: Session, caller: Caller, data: RuleInput) -> AlertRule:
    """Create a rule. Raises `Forbidden`, `NotFound` (``organization_not_found``) and
    `ValidationFailed` (``out_of_range``, ``organization_required``, ``archived``,
    ``scope_not_measured``, ``period_required``, ``invalid_email``, ``too_many_recipients``,
    ``alert_rule_exists``, ``too_many_rules``)."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    partner_id = partners.own_partner_id(caller)
    values = _validate(session, caller, data)
    lock_owner(session, partner_id)
    _refuse_duplicate(session, caller, values)
    count_query = select(func.count()).where(AlertRule.partner_id == partner_id)
    if (session.scalar(count_query) or 0) >= MAX_RULES:
        message = gettext(
            "A portal has at most %(num)s alert rules. Remove one first.", num=MAX_RULES
        )
        raise ValidationFailed.on("measure", "too_many_rules", message)
    rule = AlertRule(partner_id=partner_id, **values)
    session.add(rule)
    session.flush()
    _record_rule(session, caller, rule, "alert_rule.created", after=_audit_values(rule))
    return rule


def update(
    session: Session,
    caller: Caller,
    rule_id: UUID,
    data: RuleInput,
    *,
    expected_version: int | None = None,
) -> bool:
    """Change everything but the measure; return whether anything changed. Raises as `create`, and
    `Conflict` (``changed_meanwhile``)."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    rule = get(session, caller, rule_id, for_change=True)
    values = _validate(session, caller, data, rule.organization_id)
    values["measure"] = rule.measure
    if _has_values(rule, values):
        return False
    check_version(expected_version, rule.version, "alert rule")
    lock_owner(session, rule.partner_id)
    _refuse_duplicate(session, caller, values)
    before = _audit_values(rule)
    for name, value in values.items():
        setattr(rule, name, value)
    rule.version += 1
    session.flush()
    _record_rule(
        session, caller, rule, "alert_rule.updated", before=before, after=_audit_values(rule)
    )
    return True


def mute(session: Session, caller: Caller, rule_id: UUID, days: int) -> AlertRule:
    """Mute a rule for some days (one of `MUTE_DAYS`); 0 ends it. Raises `Forbidden`, `NotFound` and
    `ValidationFailed` (``out_of_range``)."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    if days not in (0, *MUTE_DAYS):
        message = gettext("Choose how long the rule is muted.")
        raise ValidationFailed.on("days", "out_of_range", message)
    rule = get(session, caller, rule_id, for_change=True)
    before = {"mutedUntil": rule.muted_until}
    rule.muted_until = utcnow() + timedelta(days=days) if days else None
    rule.version += 1
    session.flush()
    action = "alert_rule.muted" if days else "alert_rule.unmuted"
    _record_rule(
        session, caller, rule, action, before=before, after={"mutedUntil": rule.muted_until}
    )
    return rule


def remove(session: Session, caller: Caller, rule_id: UUID) -> None:
    """Remove a rule with its alerts. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    rule = get(session, caller, rule_id, for_change=True)
    _record_rule(session, caller, rule, "alert_rule.removed", before=_audit_values(rule))
    session.delete(rule)
    session.flush()


_SENTENCE_FIELDS = frozenset({"measure", "scope", "threshold", "period"})


def sentences_of(
    session: Session,
    caller: Caller,
    entries: Iterable[AuditEntry],
    names: Mapping[UUID, str] | None = None,
) -> dict[UUID, str]:
    """Return the sentences of the rules in entries of the history, as the rules were then, in the
    current language, by the ids of the entries. A rule that was removed is known only by entries
    with its measure. The caller has loaded the entries; the ``names`` of their organizations are
    read unless they are given."""
    rule_entries = [entry for entry in entries if entry.target_type == "alert_rule"]
    if not rule_entries:
        return {}
    visible_rules = of_tenant(select(AlertRule), caller, AlertRule.partner_id)
    rule_ids = {
        UUID(entry.target_id)
        for entry in rule_entries
        if not {*entry.before, *entry.after} >= _SENTENCE_FIELDS
    }
    rules = (
        {
            str(rule.id): rule
            for rule in session.scalars(visible_rules.where(AlertRule.id.in_(rule_ids)))
        }
        if rule_ids
        else {}
    )
    if names is None:
        names = names_of(session, [entry.organization_id for entry in rule_entries])
    sentences = {}
    for entry in rule_entries:
        values = {**entry.before, **entry.after}
        if (rule := rules.get(entry.target_id)) is not None:
            values = _audit_values(rule) | values
        if "measure" in values:
            past_rule = AlertRule(
                measure=AlertMeasure(values["measure"]),
                scope=AlertScope(values["scope"]),
                threshold=values["threshold"],
                period=AlertPeriod(values["period"]) if values.get("period") else None,
            )
            owner = entry.organization_id
            sentences[entry.id] = sentence(past_rule, names.get(owner) if owner else None)
    return sentences


def _validate(
    session: Session, caller: Caller, data: RuleInput, current_id: UUID | None = None
) -> dict[str, Any]:
    """Return the values of the columns. ``current_id`` is the rule's current organization."""
    problems: list[Problem] = []
    if caller.is_limited and data.scope is not AlertScope.ORGANIZATION:
        message = gettext("Choose one organization. Your access is limited to some of them.")
        problems.append(Problem("scope", "organization_required", message))
    maximum = _MAX_THRESHOLDS.get(data.measure, _MAX_COUNTED)
    minimum = 0 if data.measure is AlertMeasure.FAILED_CALLS else 1  # more than none
    if data.threshold is None or not minimum <= data.threshold <= maximum:
        message = gettext(
            "Enter a whole number from %(least)s to %(most)s.",
            least=minimum,
            most=localize_number(maximum),
        )
        problems.append(Problem("threshold", "out_of_range", message))
    if data.scope is AlertScope.PARTNER and data.measure is AlertMeasure.LIMITS:
        message = gettext("Limits belong to organizations. Choose each organization, or one.")
        problems.append(Problem("scope", "scope_not_measured", message))
    if uses_period(data.measure) and data.period is None:
        problems.append(Problem("period", "period_required", gettext("Choose a period.")))
    problems += mail_queue.problems_of_recipients(data.recipients)
    is_one = data.scope is AlertScope.ORGANIZATION
    if is_one and data.organization_id is None:
        message = gettext("Choose one of your organizations.")
        problems.append(Problem("organizationId", "organization_required", message))
    raise_problems(problems)
    if is_one and data.organization_id not in (None, current_id):
        organization = get_organization(session, caller, data.organization_id)
        if organization.status is OrganizationStatus.ARCHIVED:
            raise ValidationFailed.on("organizationId", ARCHIVED, archived_message())
    return asdict(data) | {
        "organization_id": data.organization_id if is_one else None,
        "period": data.period if uses_period(data.measure) else None,
        "recipients": list(data.recipients) or None,
        "to_owners": data.to_owners and is_one,
    }


def _refuse_duplicate(session: Session, caller: Caller, values: dict[str, Any]) -> None:
    for rule in session.scalars(_visible_rules(caller).order_by(AlertRule.id)):
        if _has_values(rule, values):
            message = gettext("A rule with this measure, limit, period and scope exists already.")
            raise ValidationFailed(message, EXISTS, extra={"ruleId": str(rule.id)})


def _has_values(rule: AlertRule, values: dict[str, Any]) -> bool:
    return all(getattr(rule, name) == value for name, value in values.items())


def _record_rule(
    session: Session, caller: Caller, rule: AlertRule, action: str, **values: dict[str, Any]
) -> None:
    name = _organization_name(session, rule)
    with languages.using_language(languages.DEFAULT):  # the history stores the words
        target = sentence(rule, name)
    audit.record_change(session, caller, action, rule, target=target, **values)


def _organization_name(session: Session, rule: AlertRule) -> str | None:
    if rule.organization_id is None:
        return None
    return session.get_one(Organization, rule.organization_id).name


def _audit_values(rule: AlertRule) -> dict[str, Any]:
    """Return the rule as the history shows it."""
    return {
        "measure": rule.measure,
        "scope": rule.scope,
        "organizationId": rule.organization_id,
        "threshold": rule.threshold,
        "period": rule.period,
        "byMail": rule.by_mail,
        "recipients": rule.recipients or [],
        "toOwners": bool(rule.to_owners),
    }
