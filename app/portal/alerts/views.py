"""The open and resolved alerts, and their titles."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session

from app.enums import AlertMeasure
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import Alert, AlertRule, AuditEntry, utcnow
from app.policy import Permission
from app.portal.web import lists
from app.portal.web.author_names import author_names
from app.portal.web.blueprint import Page, portal
from app.portal.web.messages import redirect_with
from app.services import alerts, partners

FIGURES: dict[AlertMeasure, tuple[str, dict[str, Any]]] = {
    AlertMeasure.CONVERSATIONS: ("portal.usage", {}),
    AlertMeasure.MINUTES: ("portal.usage", {}),
    AlertMeasure.ANSWER_RATE: ("portal.calls", {"state": "unanswered"}),
    AlertMeasure.FAILED_CALLS: ("portal.calls", {"state": "failed"}),
    AlertMeasure.SILENCE: ("portal.calls", {}),
    AlertMeasure.SPENDING: ("portal.organization_spending", {}),
    AlertMeasure.BUDGET: ("portal.organization_spending", {}),
    AlertMeasure.LIMITS: ("portal.organization_plan", {"back": "/alerts"}),
}
"""The page and parameters with the records of each measure."""
OF_SPENDING = frozenset({AlertMeasure.SPENDING, AlertMeasure.BUDGET})


@portal.get("/alerts", endpoint="alerts")
def list_alerts() -> str:
    place, resolved = lists.place(), request.args.get("state") == "resolved"
    with transaction(read_only=True) as session:
        partners.own(caller())
        page = alerts.search(session, caller(), resolved=resolved, **place.wanted)
        return render_template(
            "portal/alerts/list.html",
            **_listed(session, page.items),
            resolved=resolved,
            **place.pager(page.next_cursor),
        )


def _listed(session: Session, found: Sequence[alerts.AlertView]) -> dict[str, Any]:
    """Return the alerts with their figures and the names of who acknowledged them, and the rules
    with their last alerts and for how long they can be muted."""
    return {
        "rows": [(shown, figures_url(shown.alert, shown.rule)) for shown in found],
        "names": author_names(session, {shown.alert.acknowledged_by or "" for shown in found}),
        "rules": alerts.listing(session, caller()),
        "last_opened": alerts.last_opened(session, caller()),
        "mute_days": alerts.MUTE_DAYS,
        "now_utc": utcnow(),
    }


@portal.post("/alerts/<uuid:alert_id>/acknowledge")
def alert_acknowledge(alert_id: UUID) -> Page:
    with transaction() as session:
        shown = alerts.acknowledge(session, caller(), alert_id)
    words = gettext("Acknowledged. %(title)s.", title=shown.title_now)
    return redirect_with(words, url_for("portal.alerts"))


def titles_of(session: Session, entries: Sequence[AuditEntry]) -> dict[str, str]:
    """Return the titles of alerts in entries of the history, which keep the English ones, in the
    user's language, by the ids of the alerts: of those that the user may see and that still
    exist."""
    if not caller().may(Permission.REPORT_READ):
        return {}
    ids = {UUID(entry.target_id) for entry in entries if entry.target_type == "alert"}
    found = alerts.titles(session, caller(), ids)
    return {str(alert_id): title for alert_id, title in found.items()}


def figures_url(alert: Alert, rule: AlertRule) -> str:
    """Return the page with the records that an alert counts, in the days that it counts."""
    endpoint, parameters = FIGURES[rule.measure]
    last = (alert.resolved_at or utcnow()).astimezone(UTC).date()
    if rule.period is not None:
        start = alerts.period_starts(last)[rule.period]
        parameters = {**parameters, "start": start, "end": last}
    if alert.organization_id is None:
        if rule.measure in OF_SPENDING:
            endpoint = "portal.portal_settings_spending"
        return url_for(endpoint, **parameters)
    is_page = rule.measure in {*OF_SPENDING, AlertMeasure.LIMITS}
    named = "organization_id" if is_page else "organization"
    return url_for(endpoint, **{**parameters, named: alert.organization_id})
