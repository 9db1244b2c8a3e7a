"""Create campaigns whose contacts have certain external ids and no others."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy.orm import Session

from app.errors import ValidationFailed
from app.languages import gettext
from app.models import Assistant, Campaign
from app.policy.caller import Caller
from app.services import assistants, organizations
from app.services.assistants import settings
from app.services.campaigns.lifecycle import create


def create_with_keys(
    session: Session, caller: Caller, organization_id: UUID, *, name: str, keys: Collection[str]
) -> Campaign:
    """Create a campaign of the organization's assistants that have no other external ids.

    A key that none of them has is defined at the first as one that identifies; if each has others,
    the organization's first assistant is used. Raises as `create`, and `ValidationFailed`
    (``no_assistant``).
    """
    requested_keys = {key.strip() for key in keys}
    organization = organizations.get(session, caller, organization_id)
    defined: dict[UUID, set[str]] = {}
    candidates: list[Assistant] = list(assistants.of_organization(session, caller, organization.id))
    for assistant in candidates:
        defined[assistant.id] = {
            each.key for each in assistants.external_id_keys(session, assistant)
        }
    selected = [assistant for assistant in candidates if defined[assistant.id] <= requested_keys]
    if requested_keys and not candidates:
        message = gettext(
            "The organization has no assistant, and external ids belong to assistants."
        )
        raise ValidationFailed.on("externalIdKey", "no_assistant", message)
    if requested_keys and not selected:
        selected = candidates[:1]
    for key in sorted(
        requested_keys.difference(*(defined[assistant.id] for assistant in selected))
    ):
        settings.add_external_id_key(session, caller, selected[0].id, key, identifies=True)
    return create(
        session,
        caller,
        organization.id,
        name=name,
        assistant_ids=[assistant.id for assistant in selected],
    )
