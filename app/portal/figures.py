"""Usage, report and pricing: figures that agree to the unit with the JSON."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from flask import g, render_template, request

from app.enums import Tier
from app.errors import ValidationFailed
from app.extensions import caller, transaction
from app.portal import lists
from app.portal.blueprint import portal
from app.services import partners, pricing, reporting
from app.services.pricing import TIER_NAMES
from app.services.reporting import Day

MOST_DAYS = 366


@portal.get("/usage")
def usage() -> str | tuple[str, int]:
    today = datetime.now(UTC).date()
    presets = {
        "7 days": (today - timedelta(days=6), today),
        "This month": (today.replace(day=1), today),
        "30 days": (today - timedelta(days=29), today),
        "12 months": (today - timedelta(days=364), today),
    }
    start, end = presets["30 days"]
    problem = None
    try:
        start, end = _asked_range(start, end)
    except ValidationFailed as error:
        problem = error.message
    length = (end - start).days + 1
    with transaction(read_only=True) as session:
        days = reporting.daily(session, caller(), start, end)
        before = reporting.daily(
            session, caller(), start - timedelta(days=length), start - timedelta(days=1)
        )
        updated = reporting.last_updated(session, caller())
    page = render_template(
        "portal/usage/page.html",
        start=start,
        end=end,
        presets=presets,
        problem=problem,
        days=days,
        totals=_totals(days),
        totals_before=_totals(before),
        updated=updated,
        chart=_chart(days, end == today),
    )
    return (page, 422) if problem else page


@portal.get("/report")
def report() -> str:
    place = lists.place()
    with transaction(read_only=True) as session:
        partner_id = partners.own(caller())
        summary = reporting.summary(session, caller(), partner_id)
        page = reporting.search(
            session,
            caller(),
            partner_id,
            query=lists.text_filter("q"),
            tier=lists.choice_filter("tier", Tier),
            cursor=place.cursor,
            limit=lists.PAGE_SIZE,
        )
    return render_template(
        "portal/report/page.html",
        summary=summary,
        rows=page.items,
        place=place,
        next_url=place.next_url(page.next_cursor),
        tiers=TIER_NAMES,
        clear_url=lists.clear_url("q", "tier"),
    )


@portal.get("/pricing", endpoint="pricing")
def show_pricing() -> str:
    with transaction(read_only=True) as session:
        plans = pricing.plans(session, caller(), partners.own(caller()))
    return render_template("portal/pricing/page.html", plans=plans, partner=g.partner)


def _asked_range(start: date, end: date) -> tuple[date, date]:
    """The range that the address names, else the one given. Raises `ValidationFailed`."""
    asked = [request.args.get(name, "") for name in ("start", "end")]
    if not any(asked):
        return start, end
    try:
        start, end = (date.fromisoformat(text) for text in asked)
    except ValueError:
        message = "Write both days as year-month-day, such as 2026-11-01."
        raise ValidationFailed.on("start", "invalid_date", message) from None
    if end < start:
        message = "The last day is before the first one."
        raise ValidationFailed.on("end", "end_before_start", message)
    if (end - start).days >= MOST_DAYS or start.year < 2000:
        message = "A range has at most 366 days, from the year 2000 on."
        raise ValidationFailed.on("end", "range_too_long", message)
    return start, end


def _totals(days: Any) -> Day:
    names = ("conversations", "by_person", "by_voicemail", "seconds")
    return Day(date.min, *(sum(getattr(day, name) for day in days) for name in names))


def _chart(days: Any, unfinished: bool) -> dict[str, Any]:
    return {
        "days": [day.day.isoformat() for day in days],
        "series": [
            {"label": "With a person", "values": [d.by_person for d in days], "role": "first"},
            {"label": "With voicemail", "values": [d.by_voicemail for d in days], "role": "second"},
        ],
        "unfinished": unfinished,
    }
