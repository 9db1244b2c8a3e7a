"""What the sidebar shows to a caller, and which pages a caller may open."""

from dataclasses import dataclass, replace
from functools import lru_cache
from uuid import UUID

from flask import g, request, url_for

from app.policy import ROUTES, Permission
from app.policy.caller import Caller
from app.portal.web.sidebar_entries import (
    CUSTOMERS,
    OPERATOR_SIDEBAR,
    OWN_ORGANIZATION,
    PARTNER_ONLY_ENDPOINTS,
    PARTNER_SIDEBAR,
    SETTINGS_GROUPS,
    NavigationEntry,
)


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


def may_open(caller: Caller, endpoint: str) -> bool:
    if caller.partner_id is None and endpoint in PARTNER_ONLY_ENDPOINTS:
        return False
    if caller.organization_id is None and endpoint == "portal.pricing.show_plan":
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
_PREVIEWED_ENDPOINTS = {"portal.branding.show_preview": "portal.overview.show_overview"}
"""The page that each preview shows."""


def _highlighted_endpoint(caller: Caller) -> str:
    """Return the endpoint that decides which entry is highlighted. The do-not-call list of one
    organization belongs to the organizations, except for members, who have no list of
    organizations; what members see of the plans belongs to the pricing for those who edit it."""
    endpoint = request.endpoint or ""
    is_tab = (
        endpoint.startswith("portal.do_not_call.")
        and endpoint != "portal.do_not_call.list_do_not_call_lists"
    )
    if is_tab and may_open(caller, "portal.organizations.list_organizations"):
        return "portal.organizations.show_organization"
    pricing = "portal.pricing.show_pricing"
    if endpoint == "portal.pricing.show_plan" and may_open(caller, pricing):
        return pricing
    return _PREVIEWED_ENDPOINTS.get(endpoint, endpoint)


@lru_cache(100)
def _allowed_groups(caller: Caller) -> tuple[tuple[str | None, tuple[NavigationEntry, ...]], ...]:
    """Return the entries that the caller may open, which depend on the permissions and on having a
    partner and an organization, not on which."""
    groups = []
    for label, entries in OPERATOR_SIDEBAR if caller.is_operator else PARTNER_SIDEBAR:
        allowed = tuple(entry for entry in entries if may_open(caller, entry.endpoint))
        is_own = caller.organization_id is not None and label is CUSTOMERS
        if allowed:
            groups.append((OWN_ORGANIZATION if is_own else label, allowed))
    return tuple(groups)


@lru_cache(1000)
def _current_endpoints(endpoint: str) -> frozenset[str]:
    """Return the endpoints of the entries that are highlighted on a page."""
    all_entries = [entry for _, entries in PARTNER_SIDEBAR + OPERATOR_SIDEBAR for entry in entries]
    endpoints = {entry.endpoint for entry in all_entries}
    if endpoint in endpoints:
        return frozenset({endpoint})
    return frozenset(
        entry.endpoint for entry in all_entries if endpoint.startswith(entry.within or ("\0",))
    )
