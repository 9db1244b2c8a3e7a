"""Compare the rules with the figures: open alerts, and resolve those that have ended."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from app import languages
from app.enums import Role, WebhookEvent
from app.models import Alert, AlertRule, MailKind, Organization, Partner, User
from app.policy.caller import system_caller
from app.services import audit, mail_queue, notifications
from app.services.alerts.labels import sentence, title
from app.services.alerts.measuring import MetRule, find_met_rules, names_of
from app.services.auth.sessions import caller_of
from app.services.partner_users import active_users
from app.services.tenancy import visible_organizations
from app.services.webhooks.publishing import publish

ACTOR = "Alerts"
_OPENED = notifications.ALERT_OPENED
MAX_OPEN = 100
"""Open alerts of one rule: more would hide what is unusual."""
MAX_NAMED = 10
"""Maximum organizations named in a mail."""


@dataclass(frozen=True, slots=True)
class AlertChanges:
    """Alerts to open and to resolve."""

    opened: Sequence[MetRule]
    resolved: Sequence[UUID]

    def __bool__(self) -> bool:
        return bool(self.opened or self.resolved)


def changes(session: Session, now: datetime) -> AlertChanges:
    """Return the changes since the last evaluation. Read-only: one query for each measure."""
    rules = session.scalars(select(AlertRule).order_by(AlertRule.measure, AlertRule.id)).all()
    met = [
        each
        for _measure, group in groupby(rules, lambda rule: rule.measure)
        for each in find_met_rules(session, list(group), now, MAX_OPEN)
    ]
    still_met = {(each.rule_id, each.subject_id) for each in met}
    open_now = {
        (row.rule_id, row.subject_id): row.id
        for row in session.execute(
            select(Alert.rule_id, Alert.subject_id, Alert.id).where(Alert.resolved_at.is_(None))
        )
    }
    opened, open_counts = [], Counter(rule_id for rule_id, _subject in open_now)
    for each in met:
        if (each.rule_id, each.subject_id) not in open_now and open_counts[each.rule_id] < MAX_OPEN:
            opened.append(each)
            open_counts[each.rule_id] += 1
    return AlertChanges(
        opened, [alert_id for key, alert_id in open_now.items() if key not in still_met]
    )


def apply(session: Session, planned: AlertChanges, now: datetime) -> None:
    """Open and resolve the alerts, and send the rules' notifications. Skips what another worker did
    first, and rules that were changed meanwhile."""
    ids = {each.rule_id for each in planned.opened}
    locked = session.scalars(
        select(AlertRule)
        .where(AlertRule.id.in_(ids))
        .order_by(AlertRule.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    rules = {rule.id: rule for rule in locked}
    is_open = select(Alert.rule_id, Alert.subject_id).where(
        Alert.rule_id.in_(ids), Alert.resolved_at.is_(None)
    )
    open_now = {(row.rule_id, row.subject_id) for row in session.execute(is_open)}
    to_open = [
        each
        for each in planned.opened
        if (each.rule_id, each.subject_id) not in open_now
        and each.rule_id in rules
        and rules[each.rule_id].version == each.version
    ]
    resolved = session.scalars(
        select(Alert)
        .where(Alert.id.in_(planned.resolved), Alert.resolved_at.is_(None))
        .order_by(Alert.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).all()
    names = names_of(
        session,
        [
            *(each.organization_id for each in to_open),
            *(alert.organization_id for alert in resolved),
        ],
    )
    by_rule: defaultdict[UUID, list[Alert]] = defaultdict(list)
    for each in to_open:
        rule = rules[each.rule_id]
        by_rule[rule.id].append(_open_alert(session, rule, each, names, now))
    for alert in resolved:
        alert.resolved_at = now
        rule = session.get_one(AlertRule, alert.rule_id)
        _announce(session, rule, alert, WebhookEvent.ALERT_RESOLVED, names, now)
    session.flush()
    for rule_id, opened in by_rule.items():
        rule = rules[rule_id]
        if rule.by_mail and not _is_muted(rule, now):
            _mail_alerts(session, rule, opened, names)


def _open_alert(
    session: Session,
    rule: AlertRule,
    met: MetRule,
    names: dict[UUID, str],
    now: datetime,
) -> Alert:
    alert = Alert(
        partner_id=rule.partner_id,
        rule_id=rule.id,
        organization_id=met.organization_id,
        subject_id=met.subject_id,
        value=met.value,
        opened_at=now,
    )
    session.add(alert)
    session.flush()
    _announce(session, rule, alert, WebhookEvent.ALERT_OPENED, names, now)
    return alert


def _announce(
    session: Session,
    rule: AlertRule,
    alert: Alert,
    event: WebhookEvent,
    names: dict[UUID, str],
    now: datetime,
) -> None:
    """Write the change to the history and send it to the webhooks of the organization and of the
    whole portal, in English."""
    with languages.using_language(languages.DEFAULT):
        alert_title = title(rule, alert.value, names.get(alert.subject_id))
    audit.record_change(session, system_caller(ACTOR), event.value, alert, target=alert_title)
    if not _is_muted(rule, now):
        publish(
            session,
            alert.partner_id,
            alert.organization_id,
            event,
            lambda: {
                "alertId": alert.id,
                "organizationId": alert.organization_id,
                "measure": rule.measure.value,
                "threshold": rule.threshold,
                "value": alert.value,
                "title": alert_title,
                "openedAt": alert.opened_at,
                "resolvedAt": alert.resolved_at,
            },
        )


def _is_muted(rule: AlertRule, now: datetime) -> bool:
    return rule.muted_until is not None and rule.muted_until > now


def _mail_alerts(
    session: Session, rule: AlertRule, opened: Sequence[Alert], names: dict[UUID, str]
) -> None:
    """Queue one mail to each user of the rule's mails, whatever the number of opened alerts, in the
    language of the user, else of the partner."""
    partner_language = session.get_one(Partner, rule.partner_id).language
    sent: set[UUID | str] = set()

    def send(user: User | None, address: str, **more: Any) -> None:
        mail_key = user.id if user else address.lower()
        if mail_key in sent or not (user is None or notifications.wants_mail(user, _OPENED)):
            return
        sent.add(mail_key)
        user_language = user.language if user else None
        with languages.using_language(languages.best_tag((user_language, partner_language))):
            details = {**_mail_details(rule, opened, names), **more}
        kind, partner_id = MailKind.ALERTS_OPENED, rule.partner_id
        mail_queue.enqueue_to_address(session, kind, partner_id, address, user, details=details)

    extra_details = {"isRecipient": True, "organizationId": _format_id(rule.organization_id)}
    if rule.recipients is None:
        for user in _administrators(session, rule):
            if _may_see_all(session, user, opened):
                send(user, user.email)
    else:
        users = mail_queue.users_at(session, rule.partner_id, rule.recipients)
        for address in rule.recipients:
            send(users.get(address.lower()), address, **extra_details)
    if rule.to_owners and rule.organization_id is not None:
        for owner in _owners(session, rule):
            send(owner, owner.email, **extra_details)


def _administrators(session: Session, rule: AlertRule) -> Sequence[User]:
    """Return the users who manage customers."""
    return _users(session, rule, User.user_type.in_((Role.PARTNER_ADMIN, Role.ADMIN)))


def _owners(session: Session, rule: AlertRule) -> Sequence[User]:
    return _users(
        session, rule, User.organization_id == rule.organization_id, User.is_owner.is_(True)
    )


def _users(session: Session, rule: AlertRule, *conditions: ColumnElement[bool]) -> Sequence[User]:
    return session.scalars(active_users(rule.partner_id).where(*conditions)).all()


def _format_id(organization_id: UUID | None) -> str | None:
    return str(organization_id) if organization_id else None


def _may_see_all(session: Session, user: User, opened: Sequence[Alert]) -> bool:
    """Return whether a user who is limited to groups has the organizations of all alerts in
    them."""
    if not (user.is_limited and user.role is Role.ADMIN):
        return True
    ids = {alert.organization_id for alert in opened}
    if None in ids:
        return False
    visible_rows = visible_organizations(caller_of(user)).where(Organization.id.in_(ids))
    return set(session.scalars(visible_rows.with_only_columns(Organization.id))) == ids


def _mail_details(
    rule: AlertRule, opened: Sequence[Alert], names: dict[UUID, str]
) -> dict[str, str | int | list[str]]:
    name = names.get(rule.organization_id) if rule.organization_id else None
    return {
        "rule": sentence(rule, name),
        "ruleId": str(rule.id),
        "titles": [
            title(rule, alert.value, names.get(alert.subject_id)) for alert in opened[:MAX_NAMED]
        ],
        "more": max(0, len(opened) - MAX_NAMED),
    }
