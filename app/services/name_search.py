"""Names that hold some words, found by an index as long as they are few.

The conditions here only narrow what a list compares by itself: it says what matches. Where many
match, a list that walks through its own order comes soon enough upon a page of them.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, String, column, false, select, table, union_all
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.models import Organization, User
from app.models.name_index import table_of, words_of

FEW = 1000
SHORTEST = 3
"""The index knows three letters in a row."""


def organizations_called(session: Session, words: str) -> ColumnElement[bool] | None:
    """Organizations, of whatever partner, whose name or referral codes hold the words; None where
    they are many."""
    known = _known(session, Organization, words)
    return None if known is None else _one_of(Organization, known)


def organizations_reached_at(session: Session, words: str) -> ColumnElement[bool]:
    """Organizations, of whatever partner, where the address of a person holds the words."""
    known = _known(session, User, words)
    in_address = User.email_key.contains(words.lower(), autoescape=True)
    theirs = select(User.organization_id).where(in_address)
    if known is None:
        own = theirs.where(User.organization_id == Organization.id)
        return own.correlate_except(User).exists()
    ids = session.scalars(theirs.where(_one_of(User, known)))
    return _one_of(Organization, [found for found in ids if found is not None])


def is_of_organization_called(
    session: Session, organization_id: InstrumentedAttribute[Any], words: str
) -> ColumnElement[bool]:
    """Rows of something else, by the column that says of which organization they are, where the
    name of the organization holds the words."""
    few = organizations_called(session, words)
    named = select(Organization.id).where(Organization.named(words))
    if few is None and len(words) >= SHORTEST:
        # Of the many all need not be found before a list that asks row by row has its page.
        own = named.where(Organization.id == organization_id)
        return own.correlate_except(Organization).exists()
    if few is None:
        return organization_id.in_(named)
    ids = session.scalars(named.where(few)).all()
    return organization_id.in_(ids) if ids else false()


def users_called(
    session: Session, partner_id: UUID | None, words: str
) -> ColumnElement[bool] | None:
    """Users of the partner whose address, name, or organization's name or referral codes hold the
    words, or whose external id they are; None where they are many, or the partner isn't known."""
    if partner_id is None:
        return None
    known, theirs = _known(session, User, words), _known(session, Organization, words)
    if known is None or theirs is None:
        return None
    of_partner = select(User.id).where(User.partner_id == partner_id)
    others = [of_partner.where(User.idp_uid == words)]
    if theirs:
        others.append(of_partner.where(User.organization_id.in_(theirs)))
    # Not one "or", for which the databases walk through all users.
    more = session.scalars(union_all(*others).limit(FEW + 1)).all()
    return None if len(more) > FEW else _one_of(User, [*known, *more])


def _one_of(model: type[Organization | User], ids: Sequence[UUID]) -> ColumnElement[bool]:
    return model.id.in_(ids) if ids else false()


def _known(session: Session, model: type[Organization | User], words: str) -> Sequence[UUID] | None:
    """The ids of those who hold the words; None where they are many, or the words too short."""
    if len(words) < SHORTEST:
        return None
    if session.get_bind().dialect.name == "sqlite":
        name = table_of(model)
        index = table(name, column("id", model.id.type), column("words", String))
        quoted = words.lower().replace('"', '""')
        known = select(index.c.id).where(index.c.words.op("MATCH")(f'"{quoted}"'))
    else:
        known = select(model.id).where(words_of(model).contains(words.lower(), autoescape=True))
    ids = session.scalars(known.limit(FEW + 1)).all()
    return ids if len(ids) <= FEW else None
