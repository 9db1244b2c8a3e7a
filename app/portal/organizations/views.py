"""The list of organizations, and the tabs of one that only show it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from babel.dates import format_date
from flask import render_template
from sqlalchemy.orm import Session

from app.calendar_months import month_of, months_later
from app.enums import CarrierKind
from app.extensions import caller, settings, transaction
from app.languages import locale
from app.languages.dates import format_local_date
from app.models import Organization, utcnow
from app.policy import Permission
from app.portal.access.missing_actions import may_or_note_missing
from app.portal.organizations import blueprint
from app.portal.organizations.labels import (
    archive_confirmation,
    archive_effect,
    list_message,
    suspend_confirmation,
    suspend_effect,
)
from app.portal.organizations.limit_labels import (
    a_day_note,
    assistants_note,
    at_once_note,
    region_names,
    remaining_label,
    users_note,
)
from app.portal.organizations.listing import ORGANIZATIONS
from app.portal.organizations.tabs import organization_page_data
from app.portal.users.listing import STATUS_LABELS as USER_STATUS_LABELS
from app.portal.web import lists
from app.portal.web.campaign_statuses import STATUS_LABELS as CAMPAIGN_STATUS_LABELS
from app.portal.web.campaign_statuses import with_statuses
from app.portal.web.list_pages import list_page, without_empty
from app.portal.web.organization_picker import suggested_names
from app.portal.web.readiness import READINESS_LABELS, ReadinessRow, row_of
from app.services import (
    assistants,
    audit,
    campaigns,
    organizations,
    overview,
    partners,
    phone_numbers,
    reporting,
    storage,
    users,
)
from app.services.billing import included_usage, statements
from app.services.calls import limits

LATEST_CHANGES = 5
MONTHS = 12


@blueprint.get("/organizations/names")
def suggest_names() -> str:
    """Return the suggestions of a field for an organization, by its text."""
    with transaction(read_only=True) as session:
        names = suggested_names(session, lists.text_filter("organization"))
    return render_template("portal/organizations/_names.html", names=names)


@blueprint.get("/organizations")
def list_organizations() -> str:
    with transaction(read_only=True) as session:
        page = without_empty(list_page(session, ORGANIZATIONS), "included")
        partner = partners.named_in_filter(session, caller(), lists.id_filter("partner"))
        return render_template(
            "portal/organizations/list.html",
            list=page,
            summary=list_message(partner),
            recent=reporting.last_days(utcnow().date(), organizations.RECENT_DAYS),
        )


@blueprint.get("/organizations/<uuid:organization_id>")
def show_organization(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get_with_limits(session, caller(), organization_id)
        numbers = overview.numbers_of(session, organization)
        return render_template(
            "portal/organizations/detail.html",
            **organization_page_data(
                session, organization, "portal.organizations.show_organization", numbers.head
            ),
            **_plan_use(session, organization, numbers),
            **_overview(session, organization, numbers),
        )


def _overview(
    session: Session, organization: Organization, numbers: overview.OrganizationNumbers
) -> dict[str, Any]:
    """Return the current calls and those of this month, the latest changes, and what suspending and
    archiving would stop."""
    suspending = suspend_confirmation(organization, numbers.reach)
    archiving = archive_confirmation(organization, numbers.reach)
    return {
        "suspending": suspending,
        "suspend_effect": suspend_effect(suspending.consequences),
        "archiving": archiving,
        "archive_effect": archive_effect(organization, archiving.consequences),
        "region_names": region_names,
        "month": _month(numbers.month, numbers.month_before),
        **_limits(organization, numbers),
        "changes": audit.latest(session, caller(), organization.id, LATEST_CHANGES),
    }


def _plan_use(
    session: Session, organization: Organization, numbers: overview.OrganizationNumbers
) -> dict[str, Any]:
    """Return the storage and subscription of a plan and, for users who may see what customers pay,
    this month's statement so far."""
    bill = None
    if may_or_note_missing(Permission.ORGANIZATIONS_WRITE):
        stored = [numbers.statement] if numbers.statement else []
        ended = {organization.id: numbers.ended_tier} if numbers.ended_tier else {}
        month = month_of(utcnow().date())
        bills = statements.bills(session, [organization], month, known=stored, ended=ended)
        bill = bills[organization.id]
    return {
        "bill": bill,
        "plan_left": remaining_label(bill.usage) if bill else "",
        "used_up": included_usage.usage_notice(bill) if bill else None,
        "storage": storage.of_organization(
            session, organization, settings().storage_defaults, numbers.stored
        ),
        "subscription": numbers.subscription,
    }


def _tab_page(
    organization_id: UUID,
    endpoint: str,
    template: str,
    values: Callable[[Session, Organization], Mapping[str, Any]],
) -> str:
    """Return a tab of the organization, with its ``values``."""
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        head = organization_page_data(session, organization, endpoint)
        return render_template(template, **head, **values(session, organization))


@blueprint.get("/organizations/<uuid:organization_id>/users")
def list_organization_users(organization_id: UUID) -> str:
    endpoint = "portal.organizations.list_organization_users"
    return _tab_page(organization_id, endpoint, "portal/organizations/users.html", _users)


def _users(session: Session, organization: Organization) -> dict[str, Any]:
    """Return a page of the organization's users."""
    position, query = lists.current_position(), lists.text_filter("q")
    filters = users.UserFilter(query=query, organization=organization.id)
    page = users.search(session, caller(), filters, **position.query_args)
    pager = position.pager(page.next_cursor, "q")
    return {"rows": page.items, "user_statuses": USER_STATUS_LABELS, **pager}


@blueprint.get("/organizations/<uuid:organization_id>/assistants")
def list_organization_assistants(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        head = organization_page_data(
            session, organization, "portal.organizations.list_organization_assistants"
        )
        return render_template(
            "portal/organizations/assistants.html",
            **head,
            rows=_assistants(session, organization, head["suspended_partner"]),
            names=READINESS_LABELS,
        )


def _assistants(
    session: Session, organization: Organization, suspended_partner: str | None
) -> list[ReadinessRow]:
    rows = assistants.of_organization(session, caller(), organization.id)
    refusals = phone_numbers.refusals(session, rows, CarrierKind(settings().carrier))
    return [row_of(each, organization, refusals.get(each.id), suspended_partner) for each in rows]


@blueprint.get("/organizations/<uuid:organization_id>/campaigns")
def list_organization_campaigns(organization_id: UUID) -> str:
    endpoint = "portal.organizations.list_organization_campaigns"
    return _tab_page(organization_id, endpoint, "portal/organizations/campaigns.html", _campaigns)


def _campaigns(session: Session, organization: Organization) -> dict[str, Any]:
    """Return a page of the organization's campaigns, each with its status."""
    position = lists.current_position()
    filters = campaigns.CampaignFilter(organization_id=organization.id)
    page = campaigns.search(session, caller(), filters, **position.query_args)
    rows = with_statuses(session, page.items)
    pager = position.pager(page.next_cursor)
    return {"rows": rows, "campaign_status_labels": CAMPAIGN_STATUS_LABELS, **pager}


@blueprint.get("/organizations/<uuid:organization_id>/usage")
def show_organization_usage(organization_id: UUID) -> str:
    endpoint = "portal.organizations.show_organization_usage"
    return _tab_page(organization_id, endpoint, "portal/organizations/usage.html", _usage)


def _limits(organization: Organization, numbers: overview.OrganizationNumbers) -> Mapping[str, Any]:
    """Return the current calls and those of today with the limits that apply, and what follows from
    each limit."""
    at_once = limits.at_once_of(organization, settings().calls_per_organization)
    a_day = limits.day_of(organization)
    use = numbers.head.contents.use
    return {
        "calls": {
            "under_way": numbers.under_way,
            "at_once": at_once,
            "made": numbers.made,
            "a_day": a_day,
        },
        "limit_notes": {
            "assistants": assistants_note(organization, use),
            "users": users_note(organization, use),
            "at_once": at_once_note(organization, at_once, numbers.under_way),
            "a_day": a_day_note(organization, a_day, numbers.made),
        },
    }


def _month(current: reporting.DailyFigures, previous: reporting.DailyFigures) -> Mapping[str, Any]:
    """Return this month until today (UTC) and the same days of the previous month."""
    today = utcnow().date()
    return {
        "start": current.day,
        "earlier_start": previous.day,
        "name": format_date(current.day, "LLLL", locale=locale()),
        "title": _title(current.day),
        "today": today,
        "now": current,
        "before": previous,
        "whole_day_before": reporting.this_month(today).whole_day_before(today),
    }


def _title(month: date) -> str:
    """Return November 2026."""
    return format_local_date(month, "yMMMM")


def _usage(session: Session, organization: Organization) -> dict[str, Any]:
    """Return this month, and all months from the first use on."""
    today = utcnow().date()
    first = months_later(today, 1 - MONTHS)
    days = reporting.daily_of(session, caller(), organization, first, today)
    span = reporting.this_month(today)
    current, previous = (
        reporting.total(reporting.within(days, each)) for each in (span, span.before())
    )
    return {"month": _month(current, previous), "months": _months(days)}


def _months(
    days: Sequence[reporting.DailyFigures],
) -> list[tuple[reporting.DaySpan, str, reporting.DailyFigures]]:
    """Return the months, the latest first, each with its totals; none before the first use."""
    months: dict[date, list[reporting.DailyFigures]] = {}
    for day in days:
        months.setdefault(month_of(day.day), []).append(day)
    totals = [
        (reporting.whole_month(month), _title(month), reporting.total(days_of_month))
        for month, days_of_month in sorted(months.items(), reverse=True)
    ]
    while len(totals) > 1 and not totals[-1][2].conversations:
        totals.pop()
    return totals
