"""The tabs of an organization, each with a URL of its own, and the head that they share."""

from dataclasses import dataclass
from typing import Any

from flask import url_for
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus
from app.extensions import caller
from app.languages import lazy_gettext, lazy_pgettext
from app.models import Organization, Partner
from app.policy import Permission
from app.portal.access.missing_actions import may_or_note_missing
from app.portal.organizations.listing import STATUS_LABELS
from app.portal.web.page_frame import known_frame, read_frame
from app.services import organizations, overview


@dataclass(frozen=True, slots=True)
class OrganizationTab:
    """A tab of an organization; ``count_name`` names the number shown in it."""

    label: str
    endpoint: str
    needs: Permission
    count_name: str | None = None


VERIFIED_NUMBERS = "portal.verified_numbers.list_numbers"
"""A tab of organizations in trial mode."""
TABS = (
    OrganizationTab(
        lazy_gettext("Overview"),
        "portal.organizations.show_organization",
        Permission.ORGANIZATIONS_READ,
    ),
    OrganizationTab(
        lazy_gettext("Users"),
        "portal.organizations.list_organization_users",
        Permission.USERS_READ,
        "users",
    ),
    OrganizationTab(
        lazy_gettext("Assistants"),
        "portal.organizations.list_organization_assistants",
        Permission.ORGANIZATIONS_READ,
        "assistants",
    ),
    OrganizationTab(
        lazy_gettext("Campaigns"),
        "portal.organizations.list_organization_campaigns",
        Permission.CAMPAIGNS_READ,
        "campaigns",
    ),
    OrganizationTab(
        lazy_gettext("Usage"), "portal.organizations.show_organization_usage", Permission.USAGE_READ
    ),
    OrganizationTab(
        lazy_gettext("Spending"),
        "portal.spending.edit_organization_spending",
        Permission.ORGANIZATIONS_READ,
    ),
    OrganizationTab(
        lazy_gettext("Settings"),
        "portal.organizations.edit_settings",
        Permission.ORGANIZATIONS_READ,
    ),
    OrganizationTab(
        lazy_pgettext("tab", "Do not call"),
        "portal.do_not_call.list_numbers",
        Permission.CONTACTS_READ,
        "do_not_call",
    ),
    OrganizationTab(lazy_gettext("Verified numbers"), VERIFIED_NUMBERS, Permission.CALLS_READ),
    OrganizationTab(
        lazy_gettext("Activity"), "portal.audit.show_organization_activity", Permission.AUDIT_READ
    ),
)


def organization_page_data(
    session: Session,
    organization: Organization,
    endpoint: str,
    head: overview.OrganizationHead | None = None,
) -> dict[str, Any]:
    """Return the head of every tab; ``endpoint`` is the tab that is shown. The ``head`` is read
    unless it is given."""
    if known_frame() is None or caller().is_operator:
        read_frame(session, partner_id=organization.partner_id)
    head = head or overview.head_of(session, organization)
    use = head.contents.use
    counts = {
        "users": use.users,
        "assistants": use.assistants,
        "campaigns": head.contents.campaigns,
        "do_not_call": head.contents.do_not_call,
    }
    trial = organizations.trial_of(session, organization, head.partner)
    hidden = () if trial or endpoint == VERIFIED_NUMBERS else (VERIFIED_NUMBERS,)
    return {
        "organization": organization,
        "suspended_partner": _suspended_partner(organization, head.partner),
        "trial": trial,
        "calling_pause": head.pause,
        "statuses": STATUS_LABELS,
        "use": use,
        "counts": counts,
        "parts": [
            (
                tab.label,
                url_for(tab.endpoint, organization_id=organization.id),
                counts[tab.count_name] if tab.count_name else None,
                tab.endpoint == endpoint,
            )
            for tab in TABS
            if tab.endpoint not in hidden
            and caller().may(Permission.ORGANIZATIONS_READ)
            and may_or_note_missing(tab.needs)
        ],
    }


def _suspended_partner(organization: Organization, partner: Partner) -> str | None:
    """Return the name of the partner of an organization that is active itself, if the partner is
    suspended."""
    if organization.status is not OrganizationStatus.ACTIVE or partner.suspended_at is None:
        return None
    return partner.name
