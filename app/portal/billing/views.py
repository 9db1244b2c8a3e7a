"""Costs and margin: by organization and month, and by campaign."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any
from uuid import UUID

from flask import Response, render_template, request
from sqlalchemy.orm import Session

from app import languages
from app.calendar_months import month_of, previous_month
from app.extensions import caller, transaction
from app.models import NO_CAMPAIGN, utcnow
from app.portal.billing import blueprint
from app.portal.billing.formats import (
    amount_of,
    invoice_number,
    model_rate,
    month_of_url,
    offered_months,
)
from app.portal.billing.labels import costs_message, organization_costs_message
from app.portal.billing.month_charts import month_charts, months_url
from app.portal.organizations.listing import STATUS_LABELS
from app.portal.web import lists
from app.portal.web.lists import csv_file, file_name_part
from app.portal.web.page_frame import read_frame
from app.services import csv_files, organizations, reporting
from app.services.billing import margin
from app.services.billing.carrier_sums import carrier_sums
from app.services.billing.margin import MonthMargin, MonthOfOrganization
from app.services.reporting import MonthEarned, PartnerEarnings

COLUMNS = (
    *(
        "Month (UTC)",
        "Organization",
        "Plan",
        "Answered calls",
        "Billed minutes",
        "Carrier cost, reported",
    ),
    "Carrier cost, estimated",
    "Carrier cost currency",
    "Model cost",
    "Model cost currency",
    "Price",
    "Price currency",
    "Margin",
    "Invoice number",
    "ID",
)


@blueprint.get("/costs")
def show_costs() -> str:
    today, month = utcnow().date(), month_of_url()
    with transaction(read_only=True) as session:
        read_frame(session)
        earned = reporting.earnings(session, caller(), month, today, model_rate())
        return render_template(
            "portal/billing/costs.html",
            is_empty=earned.since is None,
            last=earned.last,
            sentence=costs_message(month, is_unfinished=_is_unfinished(month)),
            **_month_context(session, month, earned.since, earned.total, earned.by_month),
            **_list_context(session, month, earned),
        )


def _is_unfinished(month: date) -> bool:
    return month == month_of(utcnow().date())


def _month_context(
    session: Session,
    month: date,
    since: date | None,
    total: MonthMargin | None,
    by_month: Sequence[MonthEarned],
    organization_id: UUID | None = None,
) -> dict[str, Any]:
    """Return the data that both pages show of the ``month`` and of the last months."""
    today = utcnow().date()
    return {
        "month": month,
        "months": offered_months(today, since, month),
        "months_url": partial(months_url, organization_id=organization_id),
        "total": total,
        "carrier": carrier_sums(session, caller(), month, organization_id),
        "today": today,
        "has_model": model_rate() != margin.ModelRate(),
        "by_month": by_month,
        "month_charts": month_charts(by_month, organization_id),
        "statuses": STATUS_LABELS,
    }


def _list_context(session: Session, month: date, earned: PartnerEarnings) -> dict[str, Any]:
    """Return a page of the organizations of a month; without a total they are sorted by name."""
    position, query = lists.current_position(), lists.text_filter("q")
    requested_sort = request.args.get("sort", "")
    sort = requested_sort if requested_sort in margin.ORDERS else "margin"
    if earned.total is None:
        sort = margin.NAME
    page = margin.by_organization(
        session,
        caller(),
        month,
        model_rate(),
        sort=sort,
        query=query,
        known=earned.rows,
        **position.query_args,
    )
    next_url = position.next_url(page.next_cursor)
    known_rows = {each.id: each for each in earned.rows or ()}
    rows = [known_rows.get(each.id, each) for each in page.items]
    return {"rows": rows, "sort": sort, "position": position, "next_url": next_url, "query": query}


@blueprint.get("/costs.csv")
def download_costs() -> Response:
    """Export all organizations of a month, or with ``organization`` the campaigns of one and their
    sum."""
    month, organization_id = month_of_url(), lists.id_or_text("organization")
    with languages.using_language(languages.DEFAULT), transaction(read_only=True) as session:
        if isinstance(organization_id, UUID):
            return _organization_file(session, organization_id, month)
        rows = margin.all_organizations(session, caller(), month, model_rate())
        rows_of_file = [
            row_cells for row in rows for row_cells in _margin_cells(f"{month:%Y-%m}", row)
        ]
    lines = [csv_files.first_line(COLUMNS), csv_files.lines(rows_of_file)]
    return csv_file(f"costs-{month:%Y-%m}", lines)


def _organization_file(session: Session, organization_id: UUID, month: date) -> Response:
    organization_month = margin.of_organization(
        session, caller(), organization_id, month, model_rate()
    ).rounded
    columns = (*COLUMNS[:2], "Campaign", *COLUMNS[2:])
    lines = [
        csv_files.first_line(columns),
        csv_files.lines(_organization_cells(f"{month:%Y-%m}", organization_month)),
    ]
    name = file_name_part(organization_month.total.name, "organization")
    return csv_file(f"costs-{name}-{month:%Y-%m}", lines)


@blueprint.get("/costs/<uuid:organization_id>")
def show_organization_costs(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        read_frame(session, partner_id=organization.partner_id)
        return render_template(
            "portal/billing/organization.html",
            no_campaign=NO_CAMPAIGN,
            **_organization_context(session, organization_id, month_of_url()),
        )


def _organization_context(session: Session, organization_id: UUID, month: date) -> dict[str, Any]:
    """Return an organization's campaigns in the month, and the months before."""
    today, model = utcnow().date(), model_rate()
    organization_month = margin.of_organization(
        session, caller(), organization_id, month, model
    ).rounded
    by_month = reporting.earnings_by_month(
        session, caller(), today, model, organization_id, known={month: organization_month.total}
    )
    return {
        "rows": organization_month.campaigns,
        "last": reporting.total_of(by_month, previous_month(month)),
        "sentence": organization_costs_message(
            month, organization_month.total.plan_name, is_unfinished=_is_unfinished(month)
        ),
        **_month_context(
            session,
            month,
            organization_month.since,
            organization_month.total,
            by_month,
            organization_id,
        ),
    }


def _organization_cells(
    month: str, organization_month: MonthOfOrganization
) -> Iterator[tuple[csv_files.Cell, ...]]:
    """Return the cells of an organization's campaigns, and of their sum."""
    total = organization_month.total
    for row in organization_month.campaigns:
        campaign = replace(row, name=row.name or "Without a campaign", plan_name=total.plan_name)
        for cells in _margin_cells(month, campaign):
            yield (cells[0], total.name, *cells[1:])
    for cells in _margin_cells(month, replace(total, name="Total")):
        yield (cells[0], total.name, *cells[1:])


def _margin_cells(month: str, row: MonthMargin) -> Iterator[tuple[csv_files.Cell, ...]]:
    """Return the cells of a row; more carrier currencies follow in lines of their own."""
    row_id = "" if row.id == NO_CAMPAIGN else str(row.id)
    first_cost, *further_costs = row.carrier or (margin.CarrierCost(row.model_currency, 0, 0),)
    yield (
        *(month, row.name, row.plan_name, row.used.calls, row.used.minutes),
        *_carrier_cells(first_cost),
        *(amount_of(row.model, row.model_currency), row.model_currency),
        *(amount_of(row.price, row.currency), row.currency),
        None if row.margin is None else amount_of(row.margin, row.currency),
        *(invoice_number(row.number), row_id),
    )
    for cost in further_costs:
        yield (month, row.name, "", "", "", *_carrier_cells(cost), *[""] * 6, row_id)


def _carrier_cells(cost: margin.CarrierCost) -> tuple[csv_files.Cell, ...]:
    amounts = (amount_of(each, cost.currency) for each in (cost.reported, cost.estimated))
    return (*amounts, cost.currency)
