"""Select the organization of a query about plan or usage."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.errors import NotFound, ValidationFailed
from app.languages import gettext
from app.models import User
from app.policy.caller import Caller
from app.schemas.figures import SubscriptionQuery
from app.services import organizations, partners, users
from app.services.users.loading import get_by_email


def by_query(
    session: Session, caller: Caller, query: SubscriptionQuery
) -> tuple[User | None, UUID]:
    """Return the id of the organization named by id, by a user's email address, or by both if they
    agree.

    Raises `NotFound` (``user_not_found``, ``organization_not_found``, ``no_organization``) and
    `ValidationFailed` (``selectors_disagree``, ``operator_without_partner``).
    """
    partners.own_partner_id(caller)
    user, organization_id = None, query.organization_id
    if organization_id is not None:
        organizations.check(session, caller, organization_id)
    if query.user_email is not None:
        user = get_by_email(session, caller, query.user_email)
        user_organization_id = _organization_of(user)
        if organization_id not in {None, user_organization_id}:
            message = gettext(
                "The user of userEmail does not belong to the organization of organizationId."
            )
            raise ValidationFailed.on("userEmail", "selectors_disagree", message)
        organization_id = user_organization_id
    if organization_id is None:
        message = gettext("Name the organization by organizationId or by userEmail.")
        raise ValidationFailed.on("organizationId", "selector_required", message)
    return user, organization_id


def by_user(session: Session, caller: Caller, external_user_id: str) -> tuple[User, UUID]:
    """Return the user and the id of their organization. Raises as `by_query`."""
    partners.own_partner_id(caller)
    user = users.get(session, caller, external_user_id)
    return user, _organization_of(user)


def _organization_of(user: User) -> UUID:
    if user.organization_id is None:
        message = gettext("This user has no organization, so it has no plan and no usage.")
        raise NotFound(message, "no_organization")
    return user.organization_id
