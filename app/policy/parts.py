"""The parts of permissions that pages need, for pages about less than the whole permission."""

from app.policy.roles import Permission

P = Permission

PARTS_OF_PAGES: tuple[tuple[str, Permission, str], ...] = (
    ("portal.costs", P.ORGANIZATIONS_WRITE, "margin"),
    ("portal.alert_", P.ORGANIZATIONS_WRITE, "alert-rules"),
    ("portal.report_schedule", P.ORGANIZATIONS_WRITE, "report-schedule"),
    ("portal.organization_template", P.ORGANIZATIONS_WRITE, "templates"),
    ("portal.organization_save_as_template", P.ORGANIZATIONS_WRITE, "templates"),
    ("portal.assistant_", P.ORGANIZATIONS_WRITE, "assistants"),
    ("portal.phone_number_", P.ORGANIZATIONS_WRITE, "phone-numbers"),
    ("portal.pricing_", P.PARTNER_WRITE, "prices"),
    ("portal.calling_", P.PARTNER_WRITE, "pause"),
    ("portal.carrier_account", P.CREDENTIALS_MANAGE, "carrier-accounts"),
    ("portal.sip_trunk", P.CREDENTIALS_MANAGE, "carrier-accounts"),
    ("portal.carrier_status", P.AUDIT_READ, "carrier-status"),
    ("portal.pricing_stripe", P.CREDENTIALS_MANAGE, "payment"),
    ("portal.portal_settings_compan", P.CREDENTIALS_MANAGE, "company-accounts"),
    ("portal.directory", P.CREDENTIALS_MANAGE, "company-accounts"),
    ("portal.portal_settings_group", P.CREDENTIALS_MANAGE, "groups"),
)
"""The beginning of the names of endpoints, their permission, and the part of it."""


def part_of_page(endpoint: str, permission: str) -> str | None:
    """Return the part of the permission that a page needs; None if it is all of it."""
    matches = (
        part
        for start, needed, part in PARTS_OF_PAGES
        if endpoint.startswith(start) and needed == permission
    )
    return next(matches, None)
