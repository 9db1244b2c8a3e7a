"""Whether the file store of a process is the one that all processes of the installation use.

The store holds a mark, and the database its copy. A host whose folder isn't the shared one has no
mark, or another one.
"""

from uuid import uuid4

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from app.gateways.files import FileStore
from app.models import FileStoreMark
from app.services.uniqueness import insert_into

_ONLY_ROW = 1


class OtherStore(Exception):
    """The files of a store aren't those of this database; the message says what to do."""


def check(session: Session, store: FileStore, *, must_be_own: bool) -> None:
    """Compare the store with the database. Raises `OtherStore`.

    The first process marks the store. Until its transaction ends, others wait for its row.
    ``must_be_own``: a new database can't use a store that is marked already.
    """
    stored_identity = identity(session)
    if stored_identity is None:
        new = uuid4().hex
        if _introduce(session, new):
            if must_be_own and store.identity() is not None:
                message = (
                    f"{store.location} holds the files of another database. Set PORTAL_FILES_URL "
                    "to an own folder or prefix. If the files are of this database, run: "
                    "flask --app wsgi files adopt"
                )
                raise OtherStore(message)
            adopt(session, store)
        stored_identity = identity(session)
    compare(store, stored_identity)


def compare(store: FileStore, stored_identity: str | None) -> None:
    """Raise `OtherStore` unless this is the identity of the store."""
    if store.identity() != stored_identity:
        message = (
            f"{store.location} isn't where this installation keeps its files: they are shared by "
            "all hosts. Mount the shared folder there, or set PORTAL_FILES_URL as on the other "
            "hosts. If the files were moved or lost, run: flask --app wsgi files adopt"
        )
        raise OtherStore(message)


def identity(session: Session) -> str | None:
    """Return the identity of the installation's store, if a process has started with it."""
    return session.scalar(select(FileStoreMark.identity))


def adopt(session: Session, store: FileStore) -> None:
    """Declare the store that of the installation."""
    store.mark(uuid4().hex)
    session.execute(delete(FileStoreMark))
    session.execute(insert(FileStoreMark).values(id=_ONLY_ROW, identity=store.identity()))


def _introduce(session: Session, new: str) -> bool:
    """Store an identity unless another process does; return whether this one did."""
    row = {"id": _ONLY_ROW, "identity": new}
    session.execute(insert_into(session, FileStoreMark).values(**row).on_conflict_do_nothing())
    return identity(session) == new
