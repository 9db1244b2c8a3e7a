"""Forms that act once even if they are sent twice, and never overwrite changes that their user has
not seen.

A form that creates something has the field ``once``; one that changes something has the ``version``
that its user has seen (`PortalForm.hidden_tag` renders both).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from hmac import digest
from typing import Any
from uuid import UUID

from flask import abort, current_app, redirect, request
from flask_login import current_user
from sqlalchemy.orm import Session
from wtforms import (
    BooleanField,
    FieldList,
    FormField,
    PasswordField,
    SelectField,
    SelectMultipleField,
)
from wtforms.fields import Field

from app.errors import CHANGED_MEANWHILE, Conflict
from app.extensions import caller
from app.languages import gettext
from app.portal.web.author_names import author_names
from app.portal.web.formats import number
from app.portal.web.messages import flash
from app.portal.web.process_names import author_label
from app.services import audit, idempotency

HIDDEN_FIELDS = frozenset({"csrf_token", "once", "version", "seen"})
"""Names of the hidden fields, which are left out of differences and audit entries."""


class FormSubmission:
    """One submission of the current form, inside the transaction of its work.

    A form that was submitted before ends the request: it redirects to the page of the first
    submission, with a ``notice`` if there is one. ``more`` is data besides the fields, such as a
    file's hash.
    """

    def __init__(self, session: Session, *more: str, notice: str | None = None):
        self._session = session
        claim = _claim(session, *more)
        self._slot = claim if isinstance(claim, idempotency.IdempotencySlot) else None
        if not isinstance(claim, dict):
            return
        if notice:
            flash(notice, "info")
        abort(redirect(str(claim["url"]), 303))

    def finish(self, url: str) -> str:
        """Store the URL of the response, to which the same submission redirects from now on; return
        it."""
        if self._slot is not None:
            idempotency.store_answer(self._session, self._slot, {"url": url})
        return url


def run_once(session: Session, step: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do a part of a submission that needs several transactions, and return its result, which is
    JSON; a part that was done before returns its stored result."""
    claim = _claim(session, step)
    if isinstance(claim, dict):
        return claim
    result = work()
    if claim is not None:
        idempotency.store_answer(session, claim, result)
    return result


def _claim(session: Session, *more: str) -> idempotency.IdempotencySlot | dict[str, Any] | None:
    """Return the response to the same submission of the current form, or a slot for it; None if the
    form has no token."""
    token = request.form.get("once", "")
    if not token.isalnum():
        return None
    submitted = sorted((k, v) for k, v in request.form.items(multi=True) if k not in HIDDEN_FIELDS)
    # By the rule of the address: another version of the portal may name the view differently.
    rule = request.url_rule.rule if request.url_rule else ""
    # Going back and sending other values is another submission.
    key = sha256(repr((rule, token, submitted, *more)).encode()).hexdigest()
    return idempotency.claim(session, current_user.id, "portal.form", key, {})


@dataclass(frozen=True, slots=True)
class EditDifference:
    """A field that one of two users changed, or both, in the words of the page. ``submitted`` and
    ``stored`` are equal if its user hasn't changed it, or to the same value; ``is_theirs`` is False
    if only its user has."""

    label: str
    submitted: str
    stored: str
    is_theirs: bool = True

    @property
    def is_yours(self) -> bool:
        return self.submitted != self.stored


@dataclass(frozen=True, slots=True)
class EditConflict:
    """Another user saved first, or the same one elsewhere: who, when, and the fields that either of
    them changed."""

    author: str | None
    at: datetime | None
    changes: Sequence[EditDifference]
    is_own: bool = False

    @property
    def theirs(self) -> list[EditDifference]:
        """What the other user changed."""
        return [change for change in self.changes if change.is_theirs]

    @property
    def collides(self) -> bool:
        """Whether both changed the same field."""
        return any(change.is_yours for change in self.theirs)

    @property
    def has_yours(self) -> bool:
        return any(change.is_yours for change in self.changes)


class SeenMarks:
    """The marks of the values that the user of a form has seen saved, from `seen_marks`."""

    def __init__(self, text: str):
        self._digests = dict(pair.split(":") for pair in text.split() if pair.count(":") == 1)

    def has(self, field: Field) -> bool:
        return field.name in self._digests and _has_digest(field)

    def is_changed(self, field: Field) -> bool:
        """Return whether the field's value is another one than its user has seen."""
        return self._digests[field.name] != _digest(field)


def edit_conflict(
    session: Session,
    error: Conflict,
    changes: Sequence[EditDifference],
    target_type: str,
    target_id: UUID,
) -> EditConflict:
    """Return the data that a page shows about ``error``; raise it again if it is not such a
    conflict."""
    if error.code != CHANGED_MEANWHILE:
        raise error
    last = audit.last_of_target(session, caller(), target_type, target_id)
    if last is None:
        return EditConflict(None, None, changes)
    author = author_label(last.actor, author_names(session, [last.actor]))
    return EditConflict(author, last.at, changes, last.actor_id == caller().subject_id)


def differences_of(
    submitted: Iterable[Field], stored: Mapping[str, Field], seen: SeenMarks
) -> list[EditDifference]:
    """Return the fields that the user or another one changed, by what is stored by field name.

    Fields that the page doesn't show are left out: they aren't sent, and keep their stored values.
    """
    differences = (
        difference_of(field, stored[field.name], seen)
        for field in submitted
        if _is_sent(field, stored)
    )
    return [each for each in differences if each is not None]


def difference_of(edited: Field, stored: Field, seen: SeenMarks) -> EditDifference | None:
    """Return the change of a field; None if no one has changed it. Of a field without a mark both
    users are said to have changed it."""
    yours, theirs, is_theirs = _display_value(edited), _display_value(stored), True
    if seen.has(edited):
        is_theirs = seen.is_changed(stored)
        if not seen.is_changed(edited):
            yours = theirs
        if yours == theirs and not is_theirs:
            return None
    elif yours == theirs:
        return None
    return EditDifference(str(edited.label.text), yours, theirs, is_theirs)


def seen_marks(fields: Iterable[Field]) -> str:
    """Return a mark of each field's value, for a page that shows them: sent back with the form, it
    tells which of them its user has changed."""
    return " ".join(f"{field.name}:{_digest(field)}" for field in fields if _has_digest(field))


def reset_unchanged(
    submitted: Iterable[Field], stored: Mapping[str, Field], seen: SeenMarks
) -> None:
    """Set the fields that their user hasn't changed to what is stored."""
    for field in submitted:
        if field.name in stored and seen.has(field) and not seen.is_changed(field):
            field.raw_data = None  # which some fields show instead of their data
            field.process(None, stored[field.name].data)


def _has_digest(field: Field) -> bool:
    return not isinstance(field, PasswordField | FieldList | FormField)


def _digest(field: Field) -> str:
    """Return a digest that doesn't reveal the value of a field that the page leaves out."""
    key: str = current_app.config["SECRET_KEY"]
    content = f"{field.name}={_display_value(field)}"
    return digest(key.encode(), content.encode(), "sha256").hex()[:8]


def _is_sent(field: Field, stored: Mapping[str, Field]) -> bool:
    if field.name not in stored:
        return False
    # Browsers send nothing for a box that isn't ticked
    return bool(field.raw_data) or isinstance(field, BooleanField | SelectMultipleField)


def _display_value(field: Field) -> str:
    if isinstance(field, PasswordField):
        return ""
    if isinstance(field, BooleanField):
        return gettext("Yes") if field.data else gettext("No")
    if isinstance(field, SelectField) and field.choices:
        labels = {str(c.value): str(c.label) for c in field.choices if hasattr(c, "value")}
        selected = field.data if isinstance(field.data, list) else [field.data]
        return ", ".join(labels.get(str(code), str(code or "–")) for code in selected) or "–"
    if isinstance(field.data, list | tuple | set):
        return ", ".join(str(item) for item in field.data) or "–"
    if field.data in (None, ""):
        return "–"
    value = number(field.data) if isinstance(field.data, int) else str(field.data)
    return value.replace("\r\n", "\n")  # browsers' form of line breaks
