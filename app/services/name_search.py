"""Search names by an index, as long as few match.

These conditions only narrow a list's own comparison. If many match, a list in its own order fills a
page quickly anyway.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, String, column, false, func, select, table, union_all
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.database import read_once
from app.models import Organization, User
from app.models.folding import MIN_SPELLING_LENGTH, fold, other_spellings
from app.models.name_index import table_of

FEW = 1000
MIN_QUERY_LENGTH = MIN_SPELLING_LENGTH
"""Minimum characters: the index consists of trigrams."""


def organizations_by_name(session: Session, query: str) -> ColumnElement[bool] | None:
    """Return the organizations, of any partner, whose name or referral codes contain the words;
    None if there are many."""
    ids = _matching_ids(session, Organization, query)
    return None if ids is None else _has_id_of(Organization, ids)


def organizations_reached_at(session: Session, query: str) -> ColumnElement[bool]:
    """Return the organizations, of any partner, with a user whose email contains the words."""
    user_ids = _matching_ids(session, User, query)
    in_address = User.email_key.contains(query.lower(), autoescape=True)
    organization_ids = select(User.organization_id).where(in_address)
    if user_ids is None:
        correlated = organization_ids.where(User.organization_id == Organization.id)
        return correlated.correlate_except(User).exists()
    ids = session.scalars(organization_ids.where(_has_id_of(User, user_ids)))
    return _has_id_of(
        Organization, [organization_id for organization_id in ids if organization_id is not None]
    )


def is_of_organization(
    session: Session, organization_id: InstrumentedAttribute[Any], id_or_name: UUID | str
) -> ColumnElement[bool]:
    """Return the condition that the organization of a column has this id, or a name that contains
    these words."""
    if isinstance(id_or_name, UUID):
        return organization_id == id_or_name
    return is_of_organization_by_name(session, organization_id, id_or_name)


def is_of_organization_by_name(
    session: Session, organization_id: InstrumentedAttribute[Any], query: str
) -> ColumnElement[bool]:
    """Return the condition that the organization of a column has a name that contains the words."""
    condition = organizations_by_name(session, query)
    matching = select(Organization.id).where(Organization.named(query))
    if condition is None and len(fold(query)) >= MIN_QUERY_LENGTH:
        # If many match, a list that checks row by row fills its page before all are found.
        correlated = matching.where(Organization.id == organization_id)
        return correlated.correlate_except(Organization).exists()
    if condition is None:
        return organization_id.in_(matching)
    key = ("organizations called", query)
    ids = read_once(session, key, lambda: session.scalars(matching.where(condition)).all())
    return organization_id.in_(ids) if ids else false()


def users_by_name(
    session: Session, partner_id: UUID | None, query: str
) -> ColumnElement[bool] | None:
    """Return the users of the partner whose email, name, or organization's name or referral
    codes contain the words, or whose external id they are; None if there are many, or without a
    partner."""
    if partner_id is None:
        return None
    user_ids = _matching_ids(session, User, query)
    organization_ids = _matching_ids(session, Organization, query)
    if user_ids is None or organization_ids is None:
        return None
    of_partner = select(User.id).where(User.partner_id == partner_id)
    queries = [of_partner.where(User.idp_uid == query)]
    if organization_ids:
        queries.append(of_partner.where(User.organization_id.in_(organization_ids)))
    # Not a single "or", for which the databases scan all users.
    more = session.scalars(union_all(*queries).limit(FEW + 1)).all()
    return None if len(more) > FEW else _has_id_of(User, [*user_ids, *more])


def _has_id_of(model: type[Organization | User], ids: Sequence[UUID]) -> ColumnElement[bool]:
    return model.id.in_(ids) if ids else false()


def _matching_ids(
    session: Session, model: type[Organization | User], query: str
) -> Sequence[UUID] | None:
    """Return the matching ids; None if there are many, or if the words are too short. Read once per
    read-only transaction: for the rows of a page, and for their number."""
    if len(fold(query)) < MIN_QUERY_LENGTH:
        return None
    key = ("known by name", model, query)
    return read_once(session, key, lambda: _search_ids(session, model, query))


def _search_ids(
    session: Session, model: type[Organization | User], query: str
) -> Sequence[UUID] | None:
    ids: dict[UUID, None] = {}
    for spelling in (
        fold(query),
        *(alternative for alternative, _umlauts in other_spellings(query)),
    ):
        ids |= dict.fromkeys(_ids_containing(session, model, spelling))
    return list(ids) if len(ids) <= FEW else None


def _ids_containing(
    session: Session, model: type[Organization | User], folded: str
) -> Sequence[UUID]:
    """Return the ids of the rows with the folded words, up to one more than `FEW`."""
    if session.get_bind().dialect.name == "sqlite":
        holds = column("words", String).op("MATCH")('"{}"'.format(folded.replace('"', '""')))
    else:
        holds = column("trigrams").op("@>", is_comparison=True)(func.name_trigrams(folded))
    ids_of = column("id", model.id.type)
    ids_query = select(ids_of).select_from(table(table_of(model))).where(holds)
    return session.scalars(ids_query.limit(FEW + 1)).all()
