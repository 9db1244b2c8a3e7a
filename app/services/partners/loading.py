"""The one way to a partner: who asks for another's gets the answer for one that is absent."""

from functools import partial
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.errors import NotFound, ValidationFailed
from app.models import Partner
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas import partners as wire
from app.schemas.partners import PartnerFilter
from app.services.paging import Listing
from app.services.partners.resource import to_resource
from app.services.tenancy import fetch, of_tenant


def visible(caller: Caller) -> Select[Partner]:
    """The partners that the caller may see: an operator all, other callers their own."""
    return of_tenant(select(Partner), caller, Partner.id)


def get(session: Session, caller: Caller, partner_id: UUID, *, for_change: bool = False) -> Partner:
    """The partner with its lists; `NotFound` (``partner_not_found``) for any but the caller's.

    ``for_change`` holds the row until the transaction ends.
    """
    query = visible(caller).where(Partner.id == partner_id)
    return fetch(session, query, _not_found(), for_change=for_change)


def check(session: Session, caller: Caller, partner_id: UUID) -> UUID:
    """The id, if the caller may act inside that partner; otherwise `NotFound`, as `get`.

    Costs a query only for operators: other callers have one partner, known from the credential.
    """
    if caller.partner_id is not None:
        if caller.partner_id != partner_id:
            raise _not_found()
        return partner_id
    query = visible(caller).with_only_columns(Partner.id).where(Partner.id == partner_id)
    if session.scalar(query) is None:
        raise _not_found()
    return partner_id


def own(caller: Caller) -> UUID:
    """The partner that the caller acts for; operators have none: `ValidationFailed`
    (``operator_without_partner``)."""
    if caller.partner_id is None:
        message = (
            "This operation acts for the partner of the credential, and an operator has none: "
            "use the operations under /api/partners/{partnerId}."
        )
        raise ValidationFailed(message, "operator_without_partner")
    return caller.partner_id


def listing(caller: Caller, chosen: PartnerFilter) -> Listing[Partner, wire.Partner]:
    """The caller's partners that match: ``domain`` exactly, ``name`` anywhere in the name."""
    caller.require(Permission.PARTNER_READ)
    rows = visible(caller)
    if chosen.domain is not None:
        rows = rows.where(Partner.domain_key == domain_key(chosen.domain))
    if chosen.name is not None:
        rows = rows.where(Partner.name.icontains(chosen.name, autoescape=True))
    return Listing(rows, Partner.created_at, Partner.id, partial(to_resource, caller=caller))


def domain_key(domain: str) -> str:
    """How domains are compared. Lower case can be longer than what it was made from."""
    return domain.lower()[:200]


def _not_found() -> NotFound:
    return NotFound("There is no such partner.", "partner_not_found")
