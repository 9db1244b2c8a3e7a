"""The admin report: the same users and figures as the JSON, as a page, for printing and
as a file."""

from collections.abc import Mapping
from typing import Any

from flask import render_template
from werkzeug.wrappers import Response

from app.enums import TIER_NAMES, Tier, UserStatus
from app.errors import ValidationFailed
from app.extensions import caller, transaction
from app.languages import gettext
from app.models.base import utcnow
from app.portal.users.listing import STATUS_NAMES
from app.portal.web import lists
from app.portal.web.blueprint import portal
from app.portal.web.lists import csv_file
from app.services import csv_files, partners, reporting
from app.services.reporting import Chosen, SignUps

FILTERS = ("q", "tier", "status", "since", "until")
COLUMNS = ("Email", "Organization", "Plan", "Signed up (UTC)", "Conversations", "Id")


@portal.get("/report", endpoint="report")
def show_report() -> str | tuple[str, int]:
    place, sort = lists.place(), lists.sort_filter(reporting.REPORT_SORTS, "created")
    chosen, problems = _chosen()
    span = reporting.range_of_sign_ups(chosen.since, chosen.until, utcnow().date())
    with transaction(read_only=True) as session:
        partner_id = partners.own(caller())
        summary = reporting.summary(session, caller(), partner_id)
        begun = reporting.sign_ups(session, caller(), partner_id, span)
        filtered = chosen != reporting.EVERY_USER
        matching = (
            reporting.count(session, caller(), partner_id, chosen)
            if filtered
            else summary.user_count
        )
        page = reporting.search(
            session,
            caller(),
            partner_id,
            chosen,
            sort=sort,
            cursor=place.cursor,
            limit=lists.PAGE_SIZE,
        )
    answer = render_template(
        "portal/report/page.html",
        summary=summary,
        span=span,
        by_days=reporting.by_days(span),
        begun=begun,
        chart=_chart(begun, by_days=reporting.by_days(span)),
        rows=page.items,
        matching=matching,
        place=place,
        next_url=place.next_url(page.next_cursor),
        sort=sort,
        tiers=TIER_NAMES,
        statuses=STATUS_NAMES,
        problems=problems,
        clear_url=lists.clear_url(*FILTERS),
        file_filters=lists.present(*FILTERS),
        counted_at=utcnow(),
    )
    return (answer, 422) if problems else answer


@portal.get("/report.csv")
def report_file() -> Response:
    """Export the filtered users in the order of the JSON."""
    chosen, problems = _chosen()
    if problems:
        raise ValidationFailed.on(problems[0][0], "invalid_date", problems[0][1])
    parts = [csv_files.first_line(COLUMNS)]
    with transaction(read_only=True) as session:
        report = reporting.report(session, caller(), partners.own(caller()), chosen)
        # Written while it is read, so that all its figures are of one moment.
        parts += [csv_files.lines(map(_cells, batch)) for batch in report.batches()]
    return csv_file(f"report-{utcnow():%Y-%m-%d}", parts)


def _chosen() -> tuple[Chosen, list[tuple[str, str]]]:
    """Return the filters of the URL and the problems in them; an invalid one filters nothing."""
    since, until, problems = lists.day_range("since", "until")
    chosen = Chosen(
        query=lists.text_filter("q"),
        tier=lists.choice_filter("tier", Tier),
        status=lists.choice_filter("status", UserStatus),
        since=since,
        until=until,
    )
    return chosen, problems


def _cells(row: Mapping[str, Any]) -> tuple[str | int, ...]:
    return (
        row["email"],
        row["businessName"][0],
        TIER_NAMES[row["paymentTier"]],
        row["signUpDate"],
        row["conversations"],
        str(row["id"]),
    )


def _chart(begun: list[SignUps], *, by_days: bool) -> dict[str, Any]:
    return {
        "days": [entry.start.isoformat() for entry in begun],
        "unit": "day" if by_days else "month",
        "series": [
            {
                "label": gettext("Sign-ups"),
                "values": [entry.count for entry in begun],
                "role": "first",
            }
        ],
        "unfinished": False,
    }
