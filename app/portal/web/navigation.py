"""The sidebar's entries, and which of them a role may open."""

from dataclasses import dataclass

from flask import request, url_for

from app.enums import Role
from app.policy import ROUTES, Permission
from app.policy.caller import Caller


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the sidebar; ``endpoint`` is its page."""

    label: str
    icon: str
    endpoint: str
    within: tuple[str, ...] = ()
    """Prefixes of the endpoints for which this entry is highlighted."""


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    icon: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class Group:
    label: str | None
    rows: tuple[Row, ...]


CUSTOMERS = "Customers"

PLACES: tuple[tuple[str | None, tuple[Place, ...]], ...] = (
    (
        None,
        (
            Place("Overview", "layout-dashboard", "portal.overview"),
            Place("Installation", "server", "portal.operator_installation"),
        ),
    ),
    (
        CUSTOMERS,
        (
            Place("Organizations", "building", "portal.organizations", ("portal.organization",)),
            Place("Users", "users", "portal.users", ("portal.user",)),
            Place("Assistants", "headset", "portal.assistants", ("portal.assistant",)),
            Place("Phone numbers", "number", "portal.phone_numbers", ("portal.phone_number_",)),
        ),
    ),
    (
        "Outreach",
        (
            Place(
                "Campaigns",
                "speakerphone",
                "portal.campaigns",
                ("portal.campaign", "portal.contact"),
            ),
            Place("Uploads", "upload", "portal.uploads", ("portal.upload", "portal.storage")),
            Place("Calls", "phone", "portal.calls", ("portal.call",)),
            Place("Test call", "phone-outgoing", "portal.test_call", ("portal.test_call",)),
            Place("Carrier status", "activity-heartbeat", "portal.line_health", ("portal.line_",)),
            Place(
                "Call destinations",
                "world",
                "portal.operator_destinations",
                ("portal.operator_destinations", "portal.operator_partner_destinations"),
            ),
            Place(
                "Spending",
                "coin",
                "portal.operator_spending",
                ("portal.operator_spending", "portal.operator_partner_spending"),
            ),
            Place(
                "Storage",
                "database",
                "portal.operator_storage",
                ("portal.operator_storage", "portal.operator_partner_storage"),
            ),
            Place("Do not call", "phone-off", "portal.do_not_call_lists", ("portal.do_not_call",)),
        ),
    ),
    (
        "Figures",
        (
            Place("Usage", "chart-bar", "portal.usage"),
            Place(
                "Costs and margin", "coins", "portal.costs", ("portal.costs", "portal.statement")
            ),
            Place("Report", "clipboard-data", "portal.report_month", ("portal.report",)),
            Place("Figure check", "checks", "portal.operator_figures"),
            Place("Alerts", "bell", "portal.alerts", ("portal.alert_",)),
            Place("Plan", "tag", "portal.plan", ("portal.statement",)),
        ),
    ),
    (
        "Your portal",
        (
            Place("Branding", "palette", "portal.branding", ("portal.branding",)),
            Place("API access", "key", "portal.api_access", ("portal.api_",)),
            Place("Pricing", "tag", "portal.pricing", ("portal.pricing",)),
            Place("Settings", "settings", "portal.portal_settings", ("portal.portal_settings",)),
            Place("History", "history", "portal.audit"),
        ),
    ),
)


OF_A_PARTNER = frozenset(
    {
        "portal.alerts",
        "portal.usage",
        "portal.costs",
        "portal.report",
        "portal.report_month",
        "portal.branding",
        "portal.branding_contrast",
        "portal.branding_history",
        "portal.organization_new",
        "portal.organization_templates",
        "portal.organization_template_new",
        "portal.pricing",
        "portal.pricing_history",
        "portal.pricing_limits",
        "portal.pricing_stripe",
        "portal.report_schedule",
        "portal.alert_rule_new",
        "portal.notifications",
        "portal.portal_settings",
        "portal.portal_settings_destinations",
        "portal.portal_settings_spending",
        "portal.portal_settings_budget",
    }
)
"""Screens of the caller's own partner: operators have none."""


def may_open(caller: Caller, endpoint: str) -> bool:
    """Whether the caller may open the page."""
    if caller.partner_id is None and endpoint in OF_A_PARTNER:
        return False
    if caller.organization_id is None and endpoint == "portal.plan":
        return False  # the partner's staff have Pricing, which leads there
    needed = ROUTES.get(endpoint)
    return not isinstance(needed, Permission) or caller.may(needed)


def navigation_for(caller: Caller) -> tuple[Group, ...]:
    """Return the groups and entries that the caller may open, with the current one marked."""
    groups = []
    for label, places in PLACES:
        rows = tuple(
            Row(place.label, place.icon, url_for(place.endpoint), _is_current(place))
            for place in places
            if may_open(caller, place.endpoint)
        )
        within = caller.organization_id is not None and label == CUSTOMERS
        if rows:
            groups.append(Group("Your organization" if within else label, rows))
    return tuple(groups)


def _is_current(place: Place) -> bool:
    endpoint = request.endpoint or ""
    others = {p.endpoint for _, places in PLACES for p in places if p is not place}
    if endpoint in others:
        return False
    return endpoint == place.endpoint or endpoint.startswith(place.within or ("\0",))


ROLE_NAMES: dict[Role, str] = {
    Role.OPERATOR: "Platform operator",
    Role.PARTNER_ADMIN: "Partner admin",
    Role.PARTNER_EDITOR: "Partner editor",
    Role.ADMIN: "Customer admin",
    Role.OWNER: "Owner",
    Role.STANDARD: "Member",
}
