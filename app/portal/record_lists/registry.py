"""The lists of the portal by name."""

from typing import Any

from app.errors import NotFound
from app.extensions import caller
from app.portal.assistants.listing import ASSISTANTS
from app.portal.audit.listing import HISTORY
from app.portal.calls.listing import CALLS
from app.portal.campaigns.listing import CAMPAIGNS
from app.portal.contacts.listing import CONTACTS
from app.portal.do_not_call.listing import DO_NOT_CALL
from app.portal.operator.call_listing import PARTNER_CALLS
from app.portal.organizations.listing import ORGANIZATIONS
from app.portal.report.listing import MEMBERS
from app.portal.uploads.listing import CAMPAIGN_UPLOADS, UPLOADS
from app.portal.usage.listing import USAGE
from app.portal.users.listing import USERS
from app.portal.web.list_definitions import ListDefinition
from app.portal.web.navigation import may_open
from app.portal.webhooks.listing import WEBHOOKS

LISTS: dict[str, ListDefinition[Any]] = {
    each.name: each
    for each in (
        *(ORGANIZATIONS, USERS, ASSISTANTS, CAMPAIGNS, CONTACTS),
        *(UPLOADS, CAMPAIGN_UPLOADS, CALLS, DO_NOT_CALL, WEBHOOKS, HISTORY, MEMBERS),
        *(USAGE, PARTNER_CALLS),
    )
}


def list_named(name: str) -> ListDefinition[Any]:
    """Return the list. Raises `NotFound`, also if the user may not see it."""
    definition = LISTS.get(name)
    if definition is None or not may_open(caller(), definition.endpoint):
        raise NotFound
    if definition.permission is not None and not caller().may(definition.permission):
        raise NotFound
    return definition
