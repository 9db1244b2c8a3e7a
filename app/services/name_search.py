"""Names that hold some words, found by an index as long as they are few.

The conditions here only narrow what a list compares by itself: it says what matches. Where many
match, a list that walks through its own order comes soon enough upon a page of them.
"""

from uuid import UUID

from sqlalchemy import ColumnElement, Select, String, column, func, select, table, union_all
from sqlalchemy.orm import Session

from app.models import Organization, User
from app.models.name_index import table_of, words_of

FEW = 1000
SHORTEST = 3
"""The index knows three letters in a row."""


def organizations_among(session: Session, words: str) -> list[ColumnElement[bool]]:
    """What narrows organizations to those whose name or referral codes hold the words."""
    known = _known(session, Organization, words)
    return [] if known is None else [Organization.id.in_(known)]


def users_among(session: Session, words: str) -> list[ColumnElement[bool]]:
    """What narrows users to those whose address, name, organization's name or referral codes hold
    the words, or whose external id they are."""
    themselves = _known(session, User, words)
    theirs = _known(session, Organization, words)
    if themselves is None or theirs is None:
        return []
    ids = union_all(
        themselves,
        select(User.id).where(User.organization_id.in_(theirs)),
        select(User.id).where(User.idp_uid == words),
    )
    return [User.id.in_(ids)]


def _known(session: Session, model: type[Organization | User], words: str) -> Select[UUID] | None:
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
    some = known.limit(FEW + 1).subquery()
    many = (session.scalar(select(func.count()).select_from(some)) or 0) > FEW
    return None if many else known
