"""Encrypting stored secrets again after a change of the application's secret."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, tuple_, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.services.credentials.encryption import reseal

BATCH_SIZE = 200


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A column of encrypted texts, and the purpose of their key."""

    column: InstrumentedAttribute[Any]
    purpose: str


def reencrypt_batch(
    session: Session, stored: StoredSecret, keys: Sequence[str], after: Sequence[Any]
) -> Sequence[Any]:
    """Encrypt with the first key what another one encrypted, in some rows after this primary key
    (empty: from the first row). Return the primary key of the last one; empty if there was none.

    A secret that no known key decrypts, or that has changed meanwhile, stays as it is.
    """
    column, model = stored.column, stored.column.class_
    ids = model.__table__.primary_key.columns
    query = select(*ids, column).where(column != "").order_by(*ids).limit(BATCH_SIZE)
    if after:
        query = query.where(tuple_(*ids) > tuple_(*after))
    last: Sequence[Any] = ()
    for *last, sealed in session.execute(query).all():
        current = reseal(sealed, stored.purpose, keys)
        if current != sealed:
            same = tuple_(*ids) == tuple_(*last)
            session.execute(update(model).where(same, column == sealed).values({column: current}))
    return last
