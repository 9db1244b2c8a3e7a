"""The first page: what needs a decision, and the figures of the month."""

from typing import Any

from flask import g, render_template, url_for

from app.enums import Role
from app.extensions import caller, transaction
from app.portal.blueprint import portal
from app.services import audit, organizations, reporting
from app.services import overview as figures
from app.services.overview import Matter, Month

NEWEST = 5
LATEST_CHANGES = 5
PLACES = {
    "call": ("portal.call", "call_id", "Look at it", "alert-circle"),
    "import": ("portal.upload", "upload_id", "Look at it", "file-spreadsheet"),
    "organization": ("portal.organization", "organization_id", "Show", "alert-triangle"),
}


@portal.get("/")
def overview() -> str:
    if g.user.user_type is Role.OPERATOR:
        return render_template("portal/overview/operator.html")
    with transaction(read_only=True) as session:
        month = figures.month(session, caller())
        whole_partner = caller().organization_id is None
        newest = figures.newest_organizations(session, caller(), NEWEST) if whole_partner else []
        return render_template(
            "portal/overview/page.html",
            month=month,
            updated=reporting.last_updated(session, caller()),
            placed=figures.calls_since(session, caller(), month.start),
            matters=[_shown(matter) for matter in figures.matters(session, caller())],
            newest=newest,
            use=organizations.use_of(session, [row.id for row in newest]),
            tiers=figures.organizations_by_tier(session, caller()) if whole_partner else {},
            changes=audit.of_partner(session, caller(), LATEST_CHANGES),
            chart=_chart(month),
        )


def _shown(matter: Matter) -> dict[str, Any]:
    endpoint, parameter, act, symbol = PLACES[matter.kind]
    values: dict[str, Any] = {parameter: matter.target}
    url = url_for(endpoint, **values) if matter.target else None
    return {"title": matter.title, "text": matter.text, "url": url, "act": act, "symbol": symbol}


def _chart(month: Month) -> dict[str, Any]:
    before = [day.conversations for day in month.days_before]
    padded: list[int | None] = [*before, *[None] * (len(month.days) - len(before))]
    return {
        "days": [day.day.isoformat() for day in month.days],
        "series": [
            {
                "label": f"{month.start:%B}",
                "values": [day.conversations for day in month.days],
                "role": "first",
            },
            {"label": "Month before", "values": padded, "role": "compare"},
        ],
        "unfinished": True,
    }
