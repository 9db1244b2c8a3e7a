"""Load partners: another partner is treated like a missing one."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, or_, select
from sqlalchemy.orm import Session, joinedload, selectinload

from app.database import read_once
from app.errors import NotFound, ValidationFailed, check_version
from app.languages import gettext
from app.models import Partner
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas import partners as wire
from app.schemas.partners import PartnerFilter
from app.services.paging import Listing
from app.services.partners.resource import LISTS, to_resource
from app.services.tenancy import fetch, of_tenant


def visible(caller: Caller) -> Select[Partner]:
    """Return the partners that the caller may see: an operator all, other callers their own."""
    return of_tenant(select(Partner), caller, Partner.id)


def get(session: Session, caller: Caller, partner_id: UUID, *, for_change: bool = False) -> Partner:
    """Return the caller's partner; its lists are loaded when they are used. Raises `NotFound`
    (``partner_not_found``).

    ``for_change`` locks the row until the transaction ends. A read-only transaction reads it once.
    """
    query = visible(caller).where(Partner.id == partner_id)
    key = (Partner, caller, partner_id)
    return fetch(session, query, _not_found(), for_change=for_change, key=key)


def lock_partner(
    session: Session, caller: Caller, partner_id: UUID, expected_version: int | None
) -> Partner:
    """Return the partner, locked for a change. Raises `NotFound` and `Conflict`
    (``changed_meanwhile``)."""
    partner = get(session, caller, partner_id, for_change=True)
    check_version(expected_version, partner.version, "partner")
    return partner


def remember(session: Session, caller: Caller, partner: Partner) -> None:
    """Let `get` find the partner of a signed-in user, who was read with it in another transaction,
    in a read-only transaction."""
    key = (Partner, caller, partner.id)
    read_once(session, key, lambda: session.merge(partner, load=False))


def remember_read(session: Session, caller: Caller, partner: Partner) -> None:
    """Let `get` find a partner that the caller may see and that was read with other data, in a
    read-only transaction."""
    read_once(session, (Partner, caller, partner.id), lambda: partner)


def search(session: Session, caller: Caller, query: str, *, limit: int) -> Sequence[Partner]:
    """Return the caller's partners by name: those whose name or domain contains the words."""
    rows = visible(caller).where(has_name_or_domain(query))
    return session.scalars(rows.order_by(Partner.name_key, Partner.id).limit(limit)).all()


def has_name_or_domain(query: str) -> ColumnElement[bool]:
    """Return the condition that the name or domain of a partner contains the words."""
    return or_(Partner.named(query), Partner.domain.icontains(query, autoescape=True))


def check(session: Session, caller: Caller, partner_id: UUID) -> UUID:
    """Return the id if the caller may act inside that partner; raise `NotFound` as `get` otherwise.

    It costs a query only for operators: other callers have one partner, known from the credential.
    """
    if caller.partner_id is not None:
        if caller.partner_id != partner_id:
            raise _not_found()
        return partner_id
    query = visible(caller).with_only_columns(Partner.id).where(Partner.id == partner_id)
    if session.scalar(query) is None:
        raise _not_found()
    return partner_id


def named_in_filter(session: Session, caller: Caller, partner_id: UUID | None) -> str | None:
    """Return the name of the partner that narrows an operator's list; None for other callers."""
    if partner_id is None or not caller.is_operator:
        return None
    return names_of(session, caller, [partner_id]).get(partner_id)


def names_of(session: Session, caller: Caller, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of those partners that the caller may see."""
    return {row.id: row.name for row in _named_rows(session, caller, ids)}


def suspended_of(session: Session, caller: Caller, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of those partners that are suspended, for operators: users of a suspended
    partner see nothing at all."""
    if not caller.is_operator:
        return {}
    rows = _named_rows(session, caller, ids)
    return {row.id: row.name for row in rows if row.suspended_at is not None}


def _named_rows(
    session: Session, caller: Caller, ids: Collection[UUID]
) -> Sequence[Row[UUID, str, datetime | None]]:
    """Return the ids, names and suspensions of those partners that the caller may see. A read-only
    transaction reads them once."""
    if not ids:
        return ()
    columns = (Partner.id, Partner.name, Partner.suspended_at)
    query = visible(caller).with_only_columns(*columns).where(Partner.id.in_(ids))
    key = ("named partners", caller, frozenset(ids))
    return read_once(session, key, lambda: session.execute(query).all())


def own_partner_id(caller: Caller) -> UUID:
    """Return the partner that the caller acts for. Raises `ValidationFailed`
    (``operator_without_partner``) for operators."""
    if caller.partner_id is None:
        message = (
            "This operation acts for the partner of the credential, and an operator has none: "
            "use the operations under /api/partners/{partnerId}."
        )
        raise ValidationFailed(message, "operator_without_partner")
    return caller.partner_id


def own_with_pictures(caller: Caller) -> Select[Partner]:
    """Return the query of `get_own` that also reads the copies of its pictures on other hosts: a
    row for each, which `Result.unique` makes one."""
    pictures = joinedload(Partner.outside_pictures)
    return visible(caller).where(Partner.id == own_partner_id(caller)).options(pictures)


def get_own(session: Session, caller: Caller, *, for_change: bool = False) -> Partner:
    """Return the partner that the caller acts for, as `get`. Raises as `own_partner_id`."""
    return get(session, caller, own_partner_id(caller), for_change=for_change)


def listing(caller: Caller, filters: PartnerFilter) -> Listing[Partner, wire.Partner]:
    """Return the caller's partners that match: ``domain`` exactly, ``name`` anywhere in
    the name, in any case and without accents."""
    caller.require(Permission.PARTNER_READ)
    lists = (selectinload(getattr(Partner, name)) for name, _model, _fields in LISTS.values())
    rows = visible(caller).options(*lists)
    if filters.domain is not None:
        rows = rows.where(Partner.domain_key == domain_key(filters.domain))
    if filters.name is not None:
        rows = rows.where(Partner.named(filters.name))
    return Listing(rows, Partner.created_at, Partner.id, partial(to_resource, caller=caller))


def domain_key(domain: str) -> str:
    """Return the form in which domains are compared. Lower case can be longer than the original."""
    return domain.lower()[:200]


def _not_found() -> NotFound:
    return NotFound(gettext("There is no such partner."), "partner_not_found")
