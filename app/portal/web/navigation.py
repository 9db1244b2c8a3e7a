"""The sidebar's entries, and which of them a role may open."""

from dataclasses import dataclass, replace
from functools import lru_cache
from uuid import UUID

from flask import g, request, url_for

from app.enums import Role
from app.languages import lazy_gettext, lazy_pgettext
from app.policy import ROUTES, Permission
from app.policy.caller import Caller


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """An entry of the sidebar; ``endpoint`` is its page."""

    label: str
    icon: str
    endpoint: str
    within: tuple[str, ...] = ()
    """Prefixes of the endpoints for which this entry is highlighted."""


@dataclass(frozen=True, slots=True)
class NavigationRow:
    label: str
    icon: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class NavigationGroup:
    label: str | None
    rows: tuple[NavigationRow, ...]


CUSTOMERS = lazy_gettext("Customers")
OWN_ORGANIZATION = lazy_gettext("Your organization")

OVERVIEW = NavigationEntry(lazy_gettext("Overview"), "layout-dashboard", "portal.overview")
CARRIER_STATUS = NavigationEntry(
    lazy_gettext("Carrier status"),
    "activity-heartbeat",
    "portal.carrier_status",
    ("portal.line_",),
)
HISTORY = NavigationEntry(lazy_gettext("History"), "history", "portal.audit")
CUSTOMER_PLACES = (
    NavigationEntry(
        lazy_gettext("Organizations"),
        "building",
        "portal.organizations",
        ("portal.organization", "portal.verified_number"),
    ),
    NavigationEntry(lazy_gettext("Users"), "users", "portal.users", ("portal.user",)),
    NavigationEntry(
        lazy_gettext("Assistants"), "headset", "portal.assistants", ("portal.assistant",)
    ),
    NavigationEntry(
        lazy_gettext("Phone numbers"),
        "number",
        "portal.phone_numbers",
        ("portal.phone_number_",),
    ),
)

PLACES: tuple[tuple[str | None, tuple[NavigationEntry, ...]], ...] = (
    (None, (OVERVIEW,)),
    (CUSTOMERS, CUSTOMER_PLACES),
    (
        lazy_gettext("Outreach"),
        (
            NavigationEntry(
                lazy_gettext("Campaigns"),
                "speakerphone",
                "portal.campaigns",
                ("portal.campaign", "portal.contact", "portal.upload"),
            ),
            NavigationEntry(
                lazy_gettext("Uploads"),
                "upload",
                "portal.uploads",
                ("portal.upload_choose_campaign", "portal.storage"),
            ),
            NavigationEntry(lazy_gettext("Calls"), "phone", "portal.calls", ("portal.call",)),
            NavigationEntry(
                lazy_gettext("Test call"),
                "phone-outgoing",
                "portal.test_call",
                ("portal.test_call",),
            ),
            CARRIER_STATUS,
            NavigationEntry(
                lazy_gettext("Do not call"),
                "phone-off",
                "portal.do_not_call_lists",
                ("portal.do_not_call",),
            ),
        ),
    ),
    (
        lazy_gettext("Figures"),
        (
            NavigationEntry(lazy_gettext("Usage"), "chart-bar", "portal.usage"),
            NavigationEntry(
                lazy_gettext("Costs and margin"),
                "coins",
                "portal.costs",
                ("portal.costs", "portal.statement"),
            ),
            NavigationEntry(
                lazy_gettext("Report"), "clipboard-data", "portal.report_month", ("portal.report",)
            ),
            NavigationEntry(lazy_gettext("Alerts"), "bell", "portal.alerts", ("portal.alert_",)),
            NavigationEntry(lazy_gettext("Plan"), "tag", "portal.plan", ("portal.statement",)),
        ),
    ),
    (
        lazy_gettext("Your portal"),
        (
            NavigationEntry(
                lazy_gettext("Branding"), "palette", "portal.branding", ("portal.branding",)
            ),
            NavigationEntry(
                lazy_gettext("API access"), "key", "portal.api_access", ("portal.api_",)
            ),
            NavigationEntry(lazy_gettext("Pricing"), "tag", "portal.pricing", ("portal.pricing",)),
            NavigationEntry(
                lazy_gettext("Settings"),
                "settings",
                "portal.portal_settings",
                (
                    "portal.portal_settings",
                    "portal.sign_in_policy",
                    "portal.directory",
                    "portal.personal_data_settings",
                    "portal.personal_data",
                    "portal.call_data",
                    "portal.call_erase",
                    "portal.contact_data",
                    "portal.contact_erase",
                    "portal.user_data",
                    "portal.user_erase",
                    "portal.erasure",
                    "portal.storage",
                    "portal.carrier_account",
                    "portal.sip_trunk",
                ),
            ),
            HISTORY,
        ),
    ),
)
"""The groups for the partner's staff and members."""

OPERATOR_PLACES: tuple[tuple[str | None, tuple[NavigationEntry, ...]], ...] = (
    (None, (OVERVIEW,)),
    (CUSTOMERS, CUSTOMER_PLACES),
    (
        lazy_pgettext("subject", "Calling"),
        (
            NavigationEntry(lazy_gettext("Calls"), "phone", "portal.operator_calls"),
            CARRIER_STATUS,
            NavigationEntry(
                lazy_gettext("Call destinations"),
                "world",
                "portal.operator_destinations",
                ("portal.operator_destinations", "portal.operator_partner_destinations"),
            ),
            NavigationEntry(
                lazy_gettext("Spending"),
                "coin",
                "portal.operator_spending",
                ("portal.operator_spending", "portal.operator_partner_spending"),
            ),
        ),
    ),
    (
        lazy_gettext("Platform"),
        (
            NavigationEntry(lazy_gettext("Installation"), "server", "portal.operator_installation"),
            NavigationEntry(
                lazy_gettext("Storage"),
                "database",
                "portal.operator_storage",
                ("portal.operator_storage", "portal.operator_partner_storage"),
            ),
            NavigationEntry(lazy_gettext("Figure check"), "checks", "portal.operator_figures"),
            HISTORY,
        ),
    ),
)


OF_A_PARTNER = frozenset(
    {
        "portal.alerts",
        "portal.calls",
        "portal.usage",
        "portal.costs",
        "portal.report",
        "portal.report_month",
        "portal.branding",
        "portal.branding_contrast",
        "portal.branding_history",
        "portal.branding_version",
        "portal.organization_new",
        "portal.overview_earned",
        "portal.organization_templates",
        "portal.organization_template_new",
        "portal.pricing",
        "portal.pricing_history",
        "portal.pricing_limits",
        "portal.pricing_stripe",
        "portal.pricing_version",
        "portal.report_schedule",
        "portal.alert_rule_new",
        "portal.notifications",
        "portal.portal_settings",
        "portal.portal_settings_destinations",
        "portal.portal_settings_spending",
        "portal.portal_settings_budget",
        "portal.portal_settings_companies",
        "portal.portal_settings_domain",
        "portal.portal_settings_groups",
        "portal.sign_in_policy",
        "portal.personal_data_settings",
        "portal.directory",
        "portal.calling_pause_confirm",
        "portal.calling_resume",
    }
)
"""Screens of the caller's own partner: operators have none."""


SETTINGS_GROUPS = (
    (
        lazy_gettext("Company"),
        (
            ("portal.portal_settings", lazy_gettext("General")),
            ("portal.portal_settings_domain", lazy_gettext("Domain and email")),
            ("portal.portal_settings_groups", lazy_gettext("Organization groups")),
        ),
    ),
    (
        lazy_pgettext("subject", "Calling"),
        (
            ("portal.carrier_accounts", lazy_gettext("Carrier accounts")),
            ("portal.portal_settings_destinations", lazy_gettext("Call destinations")),
            ("portal.portal_settings_spending", lazy_gettext("Spending")),
        ),
    ),
    (
        lazy_gettext("Security"),
        (
            ("portal.sign_in_policy", lazy_gettext("Sign-in")),
            ("portal.portal_settings_companies", lazy_gettext("Company accounts")),
            ("portal.directory", lazy_gettext("Directory")),
        ),
    ),
    (
        lazy_gettext("Data"),
        (
            ("portal.personal_data_settings", lazy_gettext("Personal data")),
            ("portal.storage", lazy_gettext("Storage")),
        ),
    ),
)
"""The pages of the settings in their groups: endpoints and names."""

SETTINGS_PAGES = tuple(page for _, pages in SETTINGS_GROUPS for page in pages)


def may_open(caller: Caller, endpoint: str) -> bool:
    if caller.partner_id is None and endpoint in OF_A_PARTNER:
        return False
    if caller.organization_id is None and endpoint == "portal.plan":
        return False  # the partner's staff use Pricing, which leads there
    needed = ROUTES.get(endpoint)
    return not isinstance(needed, Permission) or caller.may(needed)


def navigation_for(caller: Caller) -> tuple[NavigationGroup, ...]:
    """Return the groups and entries that the caller may open, with the current one marked."""
    shape = replace(
        caller,
        subject_id=None,
        label="",
        partner_id=caller.partner_id and _SOME_ID,
        organization_id=caller.organization_id and _SOME_ID,
        ip=None,
        request_id=None,
        viewed_by=None,
    )
    groups = _allowed_groups(shape)
    matching = _current_endpoints(_highlighted_endpoint(caller))
    current = [
        entry.endpoint for _, entries in groups for entry in entries if entry.endpoint in matching
    ][-1:]
    return tuple(
        NavigationGroup(
            label,
            tuple(
                NavigationRow(
                    entry.label, entry.icon, url_for(entry.endpoint), entry.endpoint in current
                )
                for entry in entries
            ),
        )
        for label, entries in groups
    )


def settings_groups() -> list[NavigationGroup]:
    """Return the pages of the settings that the caller may open, with the current one marked, also
    in the response to its form."""
    current_path = request.script_root + request.path
    groups = [
        NavigationGroup(
            label,
            tuple(
                NavigationRow(name, "", url_for(endpoint), url_for(endpoint) == current_path)
                for endpoint, name in pages
                if may_open(g.caller, endpoint)
            ),
        )
        for label, pages in SETTINGS_GROUPS
    ]
    return [group for group in groups if group.rows]


_SOME_ID = UUID(int=1)
_PREVIEWED_ENDPOINTS = {"portal.branding_preview": "portal.overview"}
"""Return the page that a preview shows."""


def _highlighted_endpoint(caller: Caller) -> str:
    """Return the endpoint that decides which place is highlighted. The do-not-call list of one
    organization belongs to the organizations, except for members, who have no list of
    organizations."""
    endpoint = request.endpoint or ""
    is_tab = endpoint.startswith("portal.do_not_call") and endpoint != "portal.do_not_call_lists"
    if is_tab and may_open(caller, "portal.organizations"):
        return "portal.organization"
    return _PREVIEWED_ENDPOINTS.get(endpoint, endpoint)


@lru_cache(100)
def _allowed_groups(caller: Caller) -> tuple[tuple[str | None, tuple[NavigationEntry, ...]], ...]:
    """Return the places that the caller may open, which depend on the permissions and on having a
    partner and an organization, not on which."""
    groups = []
    for label, entries in OPERATOR_PLACES if caller.is_operator else PLACES:
        allowed = tuple(entry for entry in entries if may_open(caller, entry.endpoint))
        is_own = caller.organization_id is not None and label is CUSTOMERS
        if allowed:
            groups.append((OWN_ORGANIZATION if is_own else label, allowed))
    return tuple(groups)


@lru_cache(1000)
def _current_endpoints(endpoint: str) -> frozenset[str]:
    """Return the endpoints of the places that are highlighted on a page."""
    all_entries = [entry for _, entries in (*PLACES, *OPERATOR_PLACES) for entry in entries]
    endpoints = {entry.endpoint for entry in all_entries}
    if endpoint in endpoints:
        return frozenset({endpoint})
    return frozenset(
        entry.endpoint for entry in all_entries if endpoint.startswith(entry.within or ("\0",))
    )


ROLE_NAMES: dict[Role, str] = {
    Role.OPERATOR: lazy_gettext("Platform operator"),
    Role.PARTNER_ADMIN: lazy_gettext("Partner admin"),
    Role.PARTNER_EDITOR: lazy_gettext("Partner editor"),
    Role.ADMIN: lazy_gettext("Customer admin"),
    Role.OWNER: lazy_gettext("Owner"),
    Role.STANDARD: lazy_gettext("Member"),
}
