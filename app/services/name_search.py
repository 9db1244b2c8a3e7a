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


def organizations_called(session: Session, words: str) -> ColumnElement[bool] | None:
    """Return the organizations, of any partner, whose name or referral codes contain the words;
    None if there are many."""
    known = _known(session, Organization, words)
    return None if known is None else _one_of(Organization, known)


def organizations_reached_at(session: Session, words: str) -> ColumnElement[bool]:
    """Return the organizations, of any partner, with a user whose email contains the words."""
    known = _known(session, User, words)
    in_address = User.email_key.contains(words.lower(), autoescape=True)
    theirs = select(User.organization_id).where(in_address)
    if known is None:
        own = theirs.where(User.organization_id == Organization.id)
        return own.correlate_except(User).exists()
    ids = session.scalars(theirs.where(_one_of(User, known)))
    return _one_of(
        Organization, [organization_id for organization_id in ids if organization_id is not None]
    )


def is_of_organization(
    session: Session, organization_id: InstrumentedAttribute[Any], wanted: UUID | str
) -> ColumnElement[bool]:
    """Return the condition that the organization of a column has this id, or a name that contains
    these words."""
    if isinstance(wanted, UUID):
        return organization_id == wanted
    return is_of_organization_called(session, organization_id, wanted)


def is_of_organization_called(
    session: Session, organization_id: InstrumentedAttribute[Any], words: str
) -> ColumnElement[bool]:
    """Return the condition that the organization of a column has a name that contains the words."""
    few = organizations_called(session, words)
    named = select(Organization.id).where(Organization.named(words))
    if few is None and len(fold(words)) >= MIN_QUERY_LENGTH:
        # If many match, a list that checks row by row fills its page before all are found.
        own = named.where(Organization.id == organization_id)
        return own.correlate_except(Organization).exists()
    if few is None:
        return organization_id.in_(named)
    key = ("organizations called", words)
    ids = read_once(session, key, lambda: session.scalars(named.where(few)).all())
    return organization_id.in_(ids) if ids else false()


def users_called(
    session: Session, partner_id: UUID | None, words: str
) -> ColumnElement[bool] | None:
    """Return the users of the partner whose email, name, or organization's name or referral
    codes contain the words, or whose external id they are; None if there are many, or without a
    partner."""
    if partner_id is None:
        return None
    known, theirs = _known(session, User, words), _known(session, Organization, words)
    if known is None or theirs is None:
        return None
    of_partner = select(User.id).where(User.partner_id == partner_id)
    others = [of_partner.where(User.idp_uid == words)]
    if theirs:
        others.append(of_partner.where(User.organization_id.in_(theirs)))
    # Not a single "or", for which the databases scan all users.
    more = session.scalars(union_all(*others).limit(FEW + 1)).all()
    return None if len(more) > FEW else _one_of(User, [*known, *more])


def _one_of(model: type[Organization | User], ids: Sequence[UUID]) -> ColumnElement[bool]:
    return model.id.in_(ids) if ids else false()


def _known(session: Session, model: type[Organization | User], words: str) -> Sequence[UUID] | None:
    """Return the matching ids; None if there are many, or if the words are too short. Read once per
    read-only transaction: for the rows of a page, and for their number."""
    if len(fold(words)) < MIN_QUERY_LENGTH:
        return None
    key = ("known by name", model, words)
    return read_once(session, key, lambda: _search_known(session, model, words))


def _search_known(
    session: Session, model: type[Organization | User], words: str
) -> Sequence[UUID] | None:
    ids: dict[UUID, None] = {}
    for spelling in (fold(words), *(other for other, _umlauts in other_spellings(words))):
        ids |= dict.fromkeys(_holding(session, model, spelling))
    return list(ids) if len(ids) <= FEW else None


def _holding(session: Session, model: type[Organization | User], folded: str) -> Sequence[UUID]:
    """Return the ids of the rows with the folded words, up to one more than `FEW`."""
    if session.get_bind().dialect.name == "sqlite":
        holds = column("words", String).op("MATCH")('"{}"'.format(folded.replace('"', '""')))
    else:
        holds = column("trigrams").op("@>", is_comparison=True)(func.name_trigrams(folded))
    ids_of = column("id", model.id.type)
    known = select(ids_of).select_from(table(table_of(model))).where(holds)
    return session.scalars(known.limit(FEW + 1)).all()
