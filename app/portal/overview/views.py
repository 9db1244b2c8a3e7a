"""The overview: action items, first steps, and the figures of the month."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urljoin
from uuid import UUID

from flask import render_template, url_for
from flask_login import current_user
from sqlalchemy.orm import Session

from app.database.migration import check_schema
from app.enums import Role
from app.extensions import caller, figures, settings, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.languages.dates import standalone_month
from app.models.base import utcnow
from app.portal.audit.entries import targets_of, url_of
from app.portal.billing.formats import model_rate
from app.portal.calls.labels import in_sentence
from app.portal.operator.health import health
from app.portal.operator.system_checks import SystemCheck, load_queued_work, run_checks
from app.portal.overview import blueprint
from app.portal.overview.first_steps_views import first_steps
from app.portal.web import lists
from app.portal.web.charts import chart_of
from app.portal.web.formats import last_day, number
from app.portal.web.navigation import may_open
from app.portal.web.page_frame import read_frame
from app.portal.web.user_timezone import LAST_24_HOURS, zone
from app.services import audit, calls, figure_check, organizations, overview, reporting
from app.services.billing import statements
from app.services.figure_check import CheckedDay
from app.services.overview import ActionItem, ActionItemKind, OverviewMonth
from app.services.paging import MAX_COUNTED

SHOWN = 5
ACTION_ITEM_LINKS: dict[ActionItemKind, tuple[str, str, str, dict[str, Any]]] = {
    ActionItemKind.ALERT: ("portal.alerts.list_alerts", lazy_gettext("Open alert"), "bell", {}),
    ActionItemKind.CALL: ("portal.calls.show_call", lazy_gettext("Open call"), "alert-circle", {}),
    ActionItemKind.CALLS_UNKNOWN: (
        "portal.calls.list_calls",
        lazy_gettext("Show calls"),
        "alert-circle",
        {"state": "unknown"},
    ),
    ActionItemKind.CALLS_UNANSWERED: (
        "portal.calls.list_calls",
        lazy_gettext("Show calls"),
        "phone-off",
        {"state": "unanswered", "within": "24-hours"},
    ),
    ActionItemKind.LINE: (
        "portal.carriers.show_carrier_status",
        lazy_gettext("Show status"),
        "activity-heartbeat",
        {},
    ),
    ActionItemKind.PAUSED: (
        "portal.carriers.show_carrier_status",
        lazy_gettext("Show status"),
        "player-pause",
        {},
    ),
    ActionItemKind.ORGANIZATION_PAUSED: (
        "portal.organizations.show_organization",
        lazy_gettext("Open organization"),
        "player-pause",
        {},
    ),
    ActionItemKind.CAMPAIGN: (
        "portal.campaigns.show_outreach",
        lazy_gettext("Open campaign"),
        "speakerphone",
        {},
    ),
    ActionItemKind.UPLOAD: (
        "portal.uploads.show_upload",
        lazy_gettext("Open upload"),
        "file-spreadsheet",
        {},
    ),
    ActionItemKind.LIMIT: (
        "portal.organizations.choose_plan",
        lazy_gettext("Change limit"),
        "alert-triangle",
        {"back": "/"},
    ),
    ActionItemKind.INCLUDED: (
        "portal.organizations.choose_plan",
        lazy_gettext("Change plan"),
        "chart-bar",
        {"back": "/"},
    ),
    ActionItemKind.OWN_PLAN: (
        "portal.pricing.show_plan",
        lazy_gettext("View plan"),
        "chart-bar",
        {},
    ),
    ActionItemKind.SPENDING: (
        "portal.spending.edit_organization_spending",
        lazy_gettext("View spending"),
        "coin",
        {},
    ),
    ActionItemKind.PORTAL_SPENDING: (
        "portal.spending.show_partner_spending",
        lazy_gettext("View spending"),
        "coin",
        {},
    ),
    ActionItemKind.ASSISTANT: (
        "portal.assistants.show_assistant",
        lazy_gettext("Set up"),
        "phone-off",
        {},
    ),
    ActionItemKind.ASSISTANTS: (
        "portal.assistants.list_assistants",
        lazy_gettext("Show assistants"),
        "phone-off",
        {"readiness": "not-ready"},
    ),
    ActionItemKind.BRAND: (
        "portal.branding.show_surfaces",
        lazy_gettext("Complete"),
        "palette",
        {},
    ),
    ActionItemKind.CARRIER_ACCOUNT: (
        "portal.carriers.list_accounts",
        lazy_gettext("Show accounts"),
        "phone-outgoing",
        {},
    ),
    ActionItemKind.CREDENTIAL_KEY: ("portal.api_access.show_key", lazy_gettext("Renew"), "key", {}),
    ActionItemKind.CREDENTIAL_CLIENT: (
        "portal.api_access.show_client",
        lazy_gettext("Renew"),
        "key",
        {},
    ),
    ActionItemKind.CREDENTIAL_TOKEN: (
        "portal.scim.edit_directory",
        lazy_gettext("Renew"),
        "key",
        {},
    ),
}
"""Endpoint, button, icon and parameters of the page that fixes each kind of item."""

PARAMETERS = {
    ActionItemKind.CALL: "call_id",
    ActionItemKind.CAMPAIGN: "campaign_id",
    ActionItemKind.UPLOAD: "upload_id",
    ActionItemKind.LIMIT: "organization_id",
    ActionItemKind.INCLUDED: "organization_id",
    ActionItemKind.SPENDING: "organization_id",
    ActionItemKind.ORGANIZATION_PAUSED: "organization_id",
    ActionItemKind.ASSISTANT: "assistant_id",
    ActionItemKind.CREDENTIAL_KEY: "key_id",
    ActionItemKind.CREDENTIAL_CLIENT: "client_id",
}


@blueprint.get("/")
def show_overview() -> str:
    if current_user.user_type is Role.OPERATOR:
        return _partners_page()
    if (organization_id := caller().organization_id) is not None:
        return _member_page(organization_id)
    return _partner_page()


def _partner_page() -> str:
    with figures() as session:
        read_frame(session)
        month = overview.month(session, caller())
        organization_figures = overview.organization_figures(session, caller(), SHOWN)
        changes = audit.of_partner(session, caller(), SHOWN)
        return render_template(
            "portal/overview/page.html",
            month=month,
            in_trial=current_user.partner.trial_ended_at is None,
            organization_figures=organization_figures,
            added_label=_added_label(organization_figures.added),
            updated=month.updated,
            **_to_do_context(session),
            newest=organization_figures.newest,
            recent=reporting.last_days(utcnow().date(), organizations.RECENT_DAYS),
            changes=changes,
            targets=targets_of(session, changes),
            url_of=url_of,
            chart=_conversation_chart(month),
        )


def _added_label(added: int) -> str:
    """Return how many organizations are new this month, as far as they are counted."""
    if not added:
        return gettext("None new this month")
    if added > MAX_COUNTED:
        return gettext("over %(num)s new this month", num=number(MAX_COUNTED))
    return ngettext("%(num)s new this month", "%(num)s new this month", added)


@blueprint.get("/overview/earnings")
def show_earnings() -> str:
    """Return the tile of this month's earnings so far, loaded after the page: it needs the
    statements of all organizations."""
    with figures() as session:
        month = reporting.this_month(utcnow().date())
        earned = reporting.month_earnings(session, caller(), month.start, model_rate())
        return render_template("portal/overview/_earned.html", earned=earned)


def _member_page(organization_id: UUID) -> str:
    """Return the overview of an organization's member."""
    with figures() as session:
        read_frame(session)
        month = overview.month(session, caller())
        organization, use = organizations.get_with_usage(session, caller(), organization_id)
        latest = calls.search(session, caller(), calls.CallSearch(), limit=SHOWN).items
        return render_template(
            "portal/overview/member.html",
            month=month,
            organization=organization,
            trial=organizations.trial_of(session, organization, current_user.partner),
            use=use,
            billed=statements.current_month(session, caller(), organization_id).usage,
            updated=month.updated,
            **_to_do_context(session),
            latest=latest,
            names=calls.names_and_suspended(session, latest)[0],
            has_imported=not latest and calls.has_imported(session, caller()),
            chart=_conversation_chart(month),
        )


def _to_do_context(session: Session) -> dict[str, Any]:
    """Return the action items and the first steps."""
    silent = settings().worker_silent_seconds
    to_do = overview.find_action_items(session, caller(), worker_silent_after=silent)
    return {
        "action_items": [_action_item(item) for item in to_do.items],
        "setup": first_steps(session, to_do.steps),
    }


def _partners_page() -> str:
    position = lists.current_position()
    with figures() as session:
        page = overview.list_partners(
            session,
            caller(),
            query=lists.text_filter("q"),
            **position.query_args,
        )
    with transaction(read_only=True) as session:
        queued_work = load_queued_work(session)
        tiles = health(session, queued_work)
        checked = figure_check.latest_days(session, caller())
        wrong, _fine = run_checks(session, queued_work, check_schema(session.connection()), checked)
    return render_template(
        "portal/overview/operator.html",
        health=tiles,
        action_items=[_check_as_item(check) for check in wrong],
        checked=checked,
        chart=_checked_chart(checked),
        last_day=LAST_24_HOURS,
        rows=page.items,
        **position.pager(page.next_cursor, "q"),
    )


def _check_as_item(check: SystemCheck) -> dict[str, Any]:
    """Return a check of the installation that needs attention as an action item."""
    return {
        "title": f"{check.title}: {in_sentence(check.word)}",
        "text": check.text,
        "url": urljoin(url_for("portal.operator.show_installation"), check.url or ""),
        "act": gettext("View"),
        "symbol": "alert-circle",
        "tone": check.tone,
    }


def _action_item(item: ActionItem) -> dict[str, Any]:
    endpoint, act, symbol, values = ACTION_ITEM_LINKS[item.kind]
    parameter = PARAMETERS.get(item.kind)
    if parameter:
        values = {**values, parameter: item.target}
    elif item.kind is ActionItemKind.ALERT:
        values = {"_anchor": f"alert-{item.target}"}
    return {
        "title": item.title,
        "text": gettext("Until %(day)s.", day=last_day(item.at, zone())) if item.at else item.text,
        "url": url_for(endpoint, **values) if may_open(caller(), endpoint) else None,
        "act": act,
        "symbol": symbol,
        "tone": "danger" if item.urgent else "" if item.kind is ActionItemKind.BRAND else "warning",
    }


def _conversation_chart(month: OverviewMonth) -> dict[str, Any]:
    before = [entry.conversations for entry in month.month_before]
    return chart_of(
        reporting.whole_month(month.start).dates,
        ("first", standalone_month(month.start), [entry.conversations for entry in month.days]),
        ("compare", gettext("Previous month"), before),
        unfinished=True,
    )


def _checked_chart(checked: Sequence[CheckedDay]) -> dict[str, Any]:
    counts = [each.conversations for each in checked]
    series = ("first", gettext("Conversations"), counts[::-1])
    return chart_of([each.day for each in checked[::-1]], series)
