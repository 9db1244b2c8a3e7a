"""What keeps forms honest: one sent twice acts once, and nobody overwrites what they never saw.

A form that creates something carries ``once``, one that changes something the ``version`` its
reader has seen (``components/form_marks.html`` writes both).
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from flask import Flask, g, request
from flask_login import current_user
from sqlalchemy.orm import Session
from wtforms import BooleanField, Form, PasswordField, SelectField
from wtforms.fields import Field

from app.errors import Conflict
from app.extensions import caller
from app.services import audit, idempotency

CHANGED_MEANWHILE = "changed_meanwhile"
MARKS = frozenset({"csrf_token", "once", "version"})


class Sending:
    """One sending of the present form, inside the transaction of its work; ``more`` is what was
    sent beside the fields, such as the hash of a file."""

    def __init__(self, session: Session, *more: str):
        self._session = session
        self._slot: idempotency.Slot | None = None
        self.earlier: str | None = None
        """Where the answer of the same sending led, when it came in before."""
        token = request.form.get("once", "")
        if not token.isalnum():
            return
        typed = sorted((k, v) for k, v in request.form.items(multi=True) if k not in MARKS)
        # Going back and sending something else is another sending.
        key = sha256(repr((token, typed, *more)).encode()).hexdigest()
        found = idempotency.claim(session, current_user.id, request.endpoint or "", key, {})
        if isinstance(found, idempotency.Slot):
            self._slot = found
        else:
            self.earlier = str(found["url"])

    def led_to(self, url: str) -> str:
        """Remembers the address of the answer; returns it."""
        if self._slot is not None:
            idempotency.keep(self._session, self._slot, {"url": url})
        return url


def seen_version() -> int | None:
    """Return the version that the sent form was filled from; None where it names none."""
    text = (request.form if request.method == "POST" else request.args).get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def carried_version(stored: int) -> int:
    """Return the version that a form of the answer carries: the one its reader has seen.

    A form that comes back with an error keeps the version it was sent with, so a correction
    can't overwrite what was saved meanwhile. The stored version goes along where the answer
    shows what is stored (`show_stored`).
    """
    seen = None if g.get("shows_stored") else seen_version()
    return stored if seen is None else seen


def show_stored() -> None:
    """Declare that the answer shows what is stored, so its forms carry the stored version."""
    g.shows_stored = True


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that two people filled in differently, in the words of the page."""

    label: str
    yours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Somebody else saved first: who, when, and where the two differ."""

    author: str | None
    at: datetime | None
    differences: list[Difference]


def overtaken(
    session: Session,
    error: Conflict,
    typed: Form,
    stored: Form,
    *,
    target_type: str,
    target_id: UUID,
) -> Overtaken:
    """What the page says of ``error``; raises it again where it is about something else.

    ``stored`` is the same form, filled with what is saved now.
    """
    pairs = ((field, stored[field.name]) for field in typed if field.name in stored)
    differences = [
        Difference(mine.label.text, _words(mine), _words(theirs))
        for mine, theirs in pairs
        if _words(mine) != _words(theirs)
    ]
    return edit_conflict(session, error, differences, target_type=target_type, target_id=target_id)


def edit_conflict(
    session: Session,
    error: Conflict,
    differences: list[Difference],
    *,
    target_type: str,
    target_id: UUID,
) -> Overtaken:
    """As `overtaken`, for a form whose ``differences`` the page finds itself."""
    if error.code != CHANGED_MEANWHILE:
        raise error
    show_stored()
    last = audit.last_of_target(session, caller(), target_type, target_id)
    return Overtaken(last.actor if last else None, last.at if last else None, differences)


def _words(field: Field) -> str:
    if isinstance(field, PasswordField):
        return ""
    if isinstance(field, BooleanField):
        return "Yes" if field.data else "No"
    if isinstance(field, SelectField) and field.choices:
        words = {str(c.value): str(c.label) for c in field.choices if hasattr(c, "value")}
        chosen = field.data if isinstance(field.data, list) else [field.data]
        return ", ".join(words.get(str(one), str(one or "–")) for one in chosen) or "–"
    if isinstance(field.data, list | tuple | set):
        return ", ".join(str(item) for item in field.data) or "–"
    if field.data in (None, ""):
        return "–"
    return str(field.data).replace("\r\n", "\n")  # how browsers send the lines of a text


def register(app: Flask) -> None:
    app.jinja_env.globals["once_token"] = lambda: secrets.token_hex(16)
    app.jinja_env.globals["carried_version"] = carried_version
