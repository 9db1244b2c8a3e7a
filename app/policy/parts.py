"""Which part of a broad permission a page needs, so that its refusal can name that part alone:
the page of alert rules needs "change alert rules", not all that ``organizations:write`` allows."""

from app.policy.roles import Permission

P = Permission

PARTS_OF_PAGES: tuple[tuple[str, Permission, str], ...] = (
    ("portal.billing.show_costs", P.ORGANIZATIONS_WRITE, "margin"),
    ("portal.billing.show_organization_costs", P.ORGANIZATIONS_WRITE, "margin"),
    ("portal.billing.download_costs", P.ORGANIZATIONS_WRITE, "margin"),
    ("portal.alerts.", P.ORGANIZATIONS_WRITE, "alert-rules"),
    ("portal.report.", P.ORGANIZATIONS_WRITE, "report-schedule"),
    ("portal.organization_templates.", P.ORGANIZATIONS_WRITE, "templates"),
    ("portal.assistants.", P.ORGANIZATIONS_WRITE, "assistants"),
    ("portal.phone_numbers.", P.ORGANIZATIONS_WRITE, "phone-numbers"),
    ("portal.pricing.", P.PARTNER_WRITE, "prices"),
    ("portal.carriers.", P.PARTNER_WRITE, "pause"),
    ("portal.carriers.", P.CREDENTIALS_MANAGE, "carrier-accounts"),
    ("portal.carriers.", P.AUDIT_READ, "carrier-status"),
    ("portal.pricing.", P.CREDENTIALS_MANAGE, "payment"),
    ("portal.identity_providers.", P.CREDENTIALS_MANAGE, "company-accounts"),
    ("portal.scim.", P.CREDENTIALS_MANAGE, "company-accounts"),
    ("portal.organization_groups.", P.CREDENTIALS_MANAGE, "groups"),
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
