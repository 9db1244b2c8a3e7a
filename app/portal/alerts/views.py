"""The open and resolved alerts, and their rules: created, changed, muted and removed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session

from app.enums import AlertMeasure, AlertScope
from app.errors import NotFound
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.models import Alert, AlertRule, AuditEntry, utcnow
from app.policy import Permission
from app.portal.alerts import blueprint
from app.portal.alerts.forms import MEASURES, RuleForm
from app.portal.web import lists
from app.portal.web.author_names import author_names
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.editing import FormSubmission
from app.portal.web.formats import long_datetime, short_datetime
from app.portal.web.forms import saving, saving_edit
from app.portal.web.messages import redirect_saved, redirect_with
from app.portal.web.organization_picker import suggested_names
from app.portal.web.user_timezone import zone
from app.services import alerts, organizations, partners
from app.validation.uuids import as_uuid

FIGURES: dict[AlertMeasure, tuple[str, dict[str, Any]]] = {
    AlertMeasure.CONVERSATIONS: ("portal.usage.show_usage", {}),
    AlertMeasure.MINUTES: ("portal.usage.show_usage", {}),
    AlertMeasure.ANSWER_RATE: ("portal.calls.list_calls", {"state": "unanswered"}),
    AlertMeasure.FAILED_CALLS: ("portal.calls.list_calls", {"state": "failed"}),
    AlertMeasure.SILENCE: ("portal.calls.list_calls", {}),
    AlertMeasure.SPENDING: ("portal.spending.edit_organization_spending", {}),
    AlertMeasure.BUDGET: ("portal.spending.edit_organization_spending", {}),
    AlertMeasure.LIMITS: ("portal.organizations.choose_plan", {"back": "/alerts"}),
}
"""The page and parameters that list the records of each measure."""
OF_SPENDING = frozenset({AlertMeasure.SPENDING, AlertMeasure.BUDGET})


@blueprint.get("/alerts")
def list_alerts() -> str:
    position, resolved = lists.current_position(), request.args.get("state") == "resolved"
    with transaction(read_only=True) as session:
        partners.own_partner_id(caller())
        page = alerts.search(session, caller(), resolved=resolved, **position.query_args)
        return render_template(
            "portal/alerts/list.html",
            **_list_context(session, page.items),
            resolved=resolved,
            **position.pager(page.next_cursor),
        )


def _list_context(session: Session, views: Sequence[alerts.AlertView]) -> dict[str, Any]:
    """Return the alerts with their figures and the names of those who acknowledged them, and the
    rules with their last alerts and the durations for muting."""
    return {
        "rows": [(view, figures_url(view.alert, view.rule)) for view in views],
        "names": author_names(session, {view.alert.acknowledged_by or "" for view in views}),
        "rules": _list_rules(session),
        "mute_days": alerts.MUTE_DAYS,
        "now_utc": utcnow(),
    }


def _list_rules(session: Session) -> list[tuple[AlertRule, str, str, bool]]:
    """Return each rule with its sentence, the words of its status, and whether it is muted."""
    rules = []
    for rule, sentence, last_opened in alerts.listing(session, caller()):
        is_muted = rule.muted_until is not None and rule.muted_until > utcnow()
        status_label = _status_label(rule, last_opened, is_muted=is_muted)
        rules.append((rule, sentence, status_label, is_muted))
    return rules


def _status_label(rule: AlertRule, last_opened: datetime | None, *, is_muted: bool) -> str:
    """Return how the rule reports alerts, or until when it is muted, and its last alert."""
    if is_muted:
        delivery = gettext("Muted until %(time)s", time=long_datetime(rule.muted_until, zone()))
    else:
        delivery = gettext("Email, webhook") if rule.by_mail else gettext("Webhook")
    last_alert = gettext("No alert yet")
    if last_opened is not None:
        last_alert = gettext("Last alert %(time)s", time=short_datetime(last_opened, zone()))
    return f"{delivery} · {last_alert}"


@blueprint.post("/alerts/<uuid:alert_id>/acknowledge")
def acknowledge_alert(alert_id: UUID) -> Page:
    with transaction() as session:
        view = alerts.acknowledge(session, caller(), alert_id)
    message = gettext("Acknowledged. %(title)s.", title=view.title_now)
    return redirect_with(message, url_for("portal.alerts.list_alerts"))


def titles_of(session: Session, entries: Sequence[AuditEntry]) -> dict[str, str]:
    """Return the titles of alerts in entries of the history, in the user's language (the entries
    store English ones), by the ids of the alerts, as far as the user may see them and they still
    exist."""
    if not caller().may(Permission.REPORT_READ):
        return {}
    ids = {UUID(entry.target_id) for entry in entries if entry.target_type == "alert"}
    titles = alerts.titles(session, caller(), ids)
    return {str(alert_id): title for alert_id, title in titles.items()}


def figures_url(alert: Alert, rule: AlertRule) -> str:
    """Return the page with the records that an alert counts, limited to its days."""
    endpoint, parameters = FIGURES[rule.measure]
    last = (alert.resolved_at or utcnow()).astimezone(UTC).date()
    if rule.period is not None:
        start = alerts.period_starts(last)[rule.period]
        parameters = {**parameters, "start": start, "end": last}
    if alert.organization_id is None:
        if rule.measure in OF_SPENDING:
            endpoint = "portal.spending.show_partner_spending"
        return url_for(endpoint, **parameters)
    is_page = rule.measure in {*OF_SPENDING, AlertMeasure.LIMITS}
    named = "organization_id" if is_page else "organization"
    return url_for(endpoint, **{**parameters, named: alert.organization_id})


@blueprint.get("/alerts/rules/new")
def new_alert_rule() -> str:
    """Let the user choose the measure first, then show its form."""
    if not request.args.get("measure"):
        return _measures_page()
    measure, form = _requested_measure(), RuleForm.from_object()
    form.adapt_to(measure)
    if (organization_id := as_uuid(request.args.get("organization"))) is not None:
        with transaction(read_only=True) as session:
            form.organization.data = organizations.get(session, caller(), organization_id).name
        form.scope.data = AlertScope.ORGANIZATION.value
    return _page(measure, None, form)


@blueprint.post("/alerts/rules/new")
def create_alert_rule() -> Page:
    measure, form = _requested_measure(), RuleForm()
    form.adapt_to(measure)
    organization_id = as_uuid(request.args.get("organization"))
    with saving(form, lambda: _page(measure, None, form), validate=False) as session:
        submission = FormSubmission(session)
        alerts.create(session, caller(), form.to_input(session, measure, organization_id))
        url = submission.finish(url_for("portal.alerts.list_alerts"))
    return redirect_with(gettext("Rule added. The first check is within 5 minutes."), url)


@blueprint.get("/alerts/rules/<uuid:rule_id>")
def show_alert_rule(rule_id: UUID) -> str:
    with transaction(read_only=True) as session:
        rule = alerts.get(session, caller(), rule_id)
        form = RuleForm.showing(session, rule)
    return _page(rule.measure, rule_id, form)


@blueprint.post("/alerts/rules/<uuid:rule_id>")
def save_alert_rule(rule_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        rule = alerts.get(session, caller(), rule_id)
    form = RuleForm()
    form.adapt_to(rule.measure)
    page = partial(_page, rule.measure)
    with saving_edit(form, "alert_rule", rule_id, page, _stored, validate=False) as session:
        rule_input = form.to_input(session, rule.measure, rule.organization_id)
        version = form.version.data
        changed = alerts.update(session, caller(), rule_id, rule_input, expected_version=version)
    return redirect_saved(gettext("Rule saved."), url_for("portal.alerts.list_alerts"), changed)


@blueprint.post("/alerts/rules/<uuid:rule_id>/mute")
def mute_alert_rule(rule_id: UUID) -> Page:
    days = request.form.get("days", type=int)
    if days not in (0, *alerts.MUTE_DAYS):
        raise NotFound
    with transaction() as session:
        until = alerts.mute(session, caller(), rule_id, days).muted_until
    return redirect_with(_muted_message(until), url_for("portal.alerts.list_alerts"))


def _muted_message(until: datetime | None) -> str:
    if until is None:
        return gettext("Rule unmuted.")
    return gettext(
        "Muted until %(moment)s: no emails or webhooks. Alerts still appear here.",
        moment=long_datetime(until, zone()),
    )


REMOVING = (
    lazy_gettext("Its open and resolved alerts are deleted."),
    lazy_gettext("The history keeps them."),
)


@blueprint.get("/alerts/rules/<uuid:rule_id>/remove")
def confirm_remove_alert_rule(rule_id: UUID) -> str:
    with transaction(read_only=True) as session:
        alerts.get(session, caller(), rule_id)
    return ConfirmationPage(
        title=gettext("Remove this alert rule?"),
        consequences=REMOVING,
        action_label=gettext("Remove rule"),
        keep_label=gettext("Keep rule"),
        keep_url=url_for("portal.alerts.show_alert_rule", rule_id=rule_id),
    ).page()


@blueprint.post("/alerts/rules/<uuid:rule_id>/remove")
def remove_alert_rule(rule_id: UUID) -> Page:
    with transaction() as session:
        alerts.remove(session, caller(), rule_id)
    return redirect_with(gettext("Rule removed."), url_for("portal.alerts.list_alerts"))


def _requested_measure() -> AlertMeasure:
    name = request.args.get("measure", "")
    if name not in set(AlertMeasure):
        raise NotFound
    return AlertMeasure(name)


def _measures_page() -> str:
    params = lists.present("organization")
    return render_template(
        "portal/alerts/choose.html",
        measures=[
            (label, url_for("portal.alerts.new_alert_rule", measure=measure.value, **params))
            for measure, label in MEASURES.items()
        ],
    )


def _stored(session: Session, rule_id: UUID) -> RuleForm:
    return RuleForm.showing(session, alerts.get(session, caller(), rule_id))


def _page(measure: AlertMeasure, rule_id: UUID | None, form: RuleForm) -> str:
    with transaction(read_only=True) as session:
        names = suggested_names(session)
        nearest = alerts.nearest(session, caller(), measure)
    return render_template(
        "portal/alerts/edit.html",
        form=form,
        measure=MEASURES[measure],
        unit=alerts.UNITS[measure],
        rule_id=rule_id,
        names=names,
        nearest=nearest,
    )
