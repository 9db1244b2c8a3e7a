"""The alerts of a partner, and acknowledging them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from app import languages
from app.enums import AlertMeasure, AlertPeriod
from app.errors import NotFound
from app.languages import gettext
from app.languages.dates import NO_BREAK
from app.models import Alert, AlertRule, AuditEntry, Organization, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, partners
from app.services.alerts.labels import amount, title, uses_period
from app.services.alerts.measuring import MeasureRequest, measure_values, names_of, nearest_of_each
from app.services.audit import notified
from app.services.paging import Page, SortOrder, keyset_page
from app.services.tenancy import fetch, of_tenant, visible_organizations

_NEWEST = SortOrder(Alert.opened_at, descending=True)


@dataclass(frozen=True, slots=True)
class AlertView:
    """An alert with its rule and the name of its organization, if it is about one. ``value_now`` is
    the current value of an open alert in a list, if it can be measured."""

    alert: Alert
    rule: AlertRule
    organization: str | None
    value_now: int | None = None

    @property
    def title(self) -> str:
        """The alert's finding, in the current language."""
        return title(self.rule, self.alert.value, self.organization)

    @property
    def title_now(self) -> str:
        """The current value, else the alert's finding, with the limit of the rule."""
        value = self.alert.value if self.value_now is None else self.value_now
        text = title(self.rule, value, self.organization)
        limit = amount(self.rule, self.rule.threshold)
        if self.rule.measure is AlertMeasure.ANSWER_RATE:
            reason = gettext("(below %(num)s)", num=limit)
        else:
            reason = gettext("(limit %(num)s)", num=limit)
        return f"{text} {reason.replace(' ', NO_BREAK)}"

    @property
    def value_when_opened(self) -> str:
        """The value when the alert opened, if it has changed since."""
        is_same = self.value_now in (None, self.alert.value)
        return "" if is_same else amount(self.rule, self.alert.value)

    @property
    def is_muted(self) -> bool:
        return self.rule.muted_until is not None and self.rule.muted_until > utcnow()


def search(
    session: Session,
    caller: Caller,
    *,
    resolved: bool = False,
    cursor: str | None = None,
    limit: int = 25,
) -> Page[AlertView]:
    """Return a page of the open or the resolved alerts, newest first; open ones with their current
    values, by one query for each measure. Raises `Forbidden` and `ValidationFailed`
    (``invalid_cursor``)."""
    rows = _visible_alerts(caller).where(
        Alert.resolved_at.is_not(None) if resolved else Alert.resolved_at.is_(None)
    )
    page = keyset_page(session, rows, _NEWEST, cursor=cursor, limit=limit)
    if not page.items:
        return Page([], page.next_cursor)
    rows_of_page = select(Alert).where(Alert.id.in_([alert.id for alert in page.items]))
    by_id = {view.alert.id: view for view in _load_views(session, rows_of_page)}
    views = [by_id[alert.id] for alert in page.items]
    return Page(views if resolved else _add_current_values(session, views), page.next_cursor)


def open_alerts(session: Session, caller: Caller, limit: int) -> list[AlertView]:
    """Return the newest open alerts that are not acknowledged, with their current values. Raises
    `Forbidden`."""
    rows = _unacknowledged_alerts(caller).order_by(Alert.id.desc()).limit(limit)
    return _add_current_values(session, _load_views(session, rows))


def any_open(caller: Caller) -> ColumnElement[bool]:
    """Whether `open_alerts` finds any. Raises `Forbidden`."""
    return _unacknowledged_alerts(caller).exists()


def titles(session: Session, caller: Caller, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the titles of those of the alerts that the caller may see and that still exist, in the
    current language. Raises `Forbidden`."""
    if not ids:
        return {}
    rows = _visible_alerts(caller).where(Alert.id.in_(ids))
    return {view.alert.id: view.title for view in _load_views(session, rows)}


def acknowledge(session: Session, caller: Caller, alert_id: UUID) -> AlertView:
    """Note that the caller knows about an alert; it stays open until it resolves. Return it with
    its current value. Repeating it changes nothing. Raises `Forbidden`, `NotFound`
    (``alert_not_found``)."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    missing = NotFound(gettext("There is no such alert."), "alert_not_found")
    alert = fetch(
        session, _visible_alerts(caller).where(Alert.id == alert_id), missing, for_change=True
    )
    (view,) = _load_views(session, select(Alert).where(Alert.id == alert.id))
    if alert.acknowledged_at is None:
        alert.acknowledged_at, alert.acknowledged_by = utcnow(), caller.label[:200]
        with languages.using_language(languages.DEFAULT):  # the history stores the words
            target = view.title
        audit.record_change(session, caller, "alert.acknowledged", alert, target=target)
        session.flush()
        conditions = AuditEntry.target_type == "alert", AuditEntry.target_id == str(alert.id)
        notified.mark_read_by_staff(session, caller, alert.partner_id, *conditions)
    return _add_current_values(session, [view])[0]


def nearest(
    session: Session, caller: Caller, measure: AlertMeasure
) -> dict[AlertPeriod | None, str]:
    """Return the value of the organization that is nearest to an alert now, for each period, as the
    title of an alert; by one query for all periods. Raises `Forbidden`."""
    caller.require(Permission.REPORT_READ)
    partner_id = partners.own_partner_id(caller)
    periods = list(AlertPeriod) if uses_period(measure) else [None]
    visible = visible_organizations(caller).with_only_columns(Organization.id)
    only = visible if caller.is_limited else None
    nearest_values = nearest_of_each(
        session, MeasureRequest(measure, periods, [partner_id], utcnow(), only)
    )
    names = names_of(session, [organization_id for _, organization_id, _ in nearest_values])
    return {
        period: title(AlertRule(measure=measure, period=period), value, names[organization_id])
        for period, organization_id, value in nearest_values
    }


def _add_current_values(session: Session, views: Sequence[AlertView]) -> list[AlertView]:
    values: dict[UUID, int | None] = {}
    by_measure = sorted(views, key=lambda each: each.rule.measure)
    for _measure, group in groupby(by_measure, key=lambda each: each.rule.measure):
        rows = list(group)
        subject_ids = {each.alert.subject_id for each in rows}
        measured_values = measure_values(
            session, [each.rule for each in rows], utcnow(), subject_ids
        )
        for each in rows:
            of_subject: Mapping[AlertPeriod | None, int] = measured_values.get(
                each.alert.subject_id, {}
            )
            values[each.alert.id] = of_subject.get(each.rule.period)
    return [replace(each, value_now=values[each.alert.id]) for each in views]


def _visible_alerts(caller: Caller) -> Select[Alert]:
    caller.require(Permission.REPORT_READ)
    return of_tenant(select(Alert), caller, Alert.partner_id, Alert.organization_id)


def _unacknowledged_alerts(caller: Caller) -> Select[Alert]:
    return _visible_alerts(caller).where(
        Alert.resolved_at.is_(None), Alert.acknowledged_at.is_(None)
    )


def _load_views(session: Session, rows: Select[Alert]) -> list[AlertView]:
    """Return the alerts of a query, in one query with their rules and organizations."""
    query = (
        rows.add_columns(AlertRule, Organization.name)
        .join(AlertRule, AlertRule.id == Alert.rule_id)
        .outerjoin(Organization, Organization.id == Alert.organization_id)
    )
    return [AlertView(*row) for row in session.execute(query)]
