"""From one state of an upload to the next."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import UUID

from flask import redirect, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.errors import Conflict
from app.extensions import transaction


@contextmanager
def unless_moved_on() -> Iterator[Session]:
    """A transaction for the step. An upload that has moved on stays as it is: its page, which is
    shown in any case, says where it stands."""
    with suppress(Conflict), transaction() as session:
        yield session


def to_upload(upload_id: UUID) -> Response:
    return redirect(url_for("portal.upload", upload_id=upload_id), 303)
