"""The history: who changed what, when and from where, with the values before and after; the latest
changes of an organization are a tab of its page."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from flask import render_template
from sqlalchemy.orm import Session

from app.extensions import caller, transaction
from app.languages import gettext
from app.models import utcnow
from app.portal.audit import blueprint
from app.portal.audit.entries import table_of
from app.portal.audit.kinds import actions, kinds
from app.portal.audit.listing import CALL_REQUESTS, HISTORY, leaves_calls_out, shows_calls
from app.portal.organizations.tabs import organization_page_data
from app.portal.web import lists, organization_picker
from app.portal.web.blueprint import Page
from app.portal.web.fragments import render_checked
from app.portal.web.list_pages import list_page
from app.portal.web.user_timezone import zone
from app.services import organizations
from app.services.audit import search as audit_search

LATEST = 20
"""Number of changes on the tab of an organization."""


@blueprint.get("/audit")
def show_audit() -> Page:
    with transaction(read_only=True) as session:
        page = list_page(session, HISTORY)
        return render_checked(
            "portal/audit/page.html",
            HISTORY.problems(),
            list=page,
            table=table_of(session, page.rows),
            **_filters(session),
        )


def _filters(session: Session) -> dict[str, Any]:
    """Return the options of the filters."""
    return {
        "filter_labels": organization_picker.named_in_filter(session),
        "shows_calls": shows_calls(),
        "leaves_calls_out": leaves_calls_out(),
        "kinds": kinds(),
        "actions": actions(lists.text_filter("kind")),
        "presets": _presets(),
    }


@blueprint.get("/organizations/<uuid:organization_id>/activity")
def show_organization_activity(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        filters = audit_search.HistoryFilter(organization=organization.id, without=CALL_REQUESTS)
        entries = audit_search.search(session, caller(), filters, limit=LATEST).items
        return render_template(
            "portal/audit/activity.html",
            **organization_page_data(
                session, organization, "portal.audit.show_organization_activity"
            ),
            entries=entries,
            table=table_of(session, entries, {organization.id: organization.name}) | {"names": {}},
        )


def _presets() -> list[tuple[str, date, date]]:
    """Return the usual ranges of days, in the user's time zone."""
    today = utcnow().astimezone(ZoneInfo(zone())).date()
    yesterday = today - timedelta(days=1)
    return [
        (gettext("Today"), today, today),
        (gettext("Yesterday"), yesterday, yesterday),
        (gettext("7 days"), today - timedelta(days=6), today),
    ]
