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

from flask import abort, current_app, flash, redirect, request
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

    def led_to(self, url: str) -> str:
        """Store the URL of the response; return it."""
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
    # Going back and sending other values is another submission.
    key = sha256(repr((token, submitted, *more)).encode()).hexdigest()
    return idempotency.claim(session, current_user.id, request.endpoint or "", key, {})


@dataclass(frozen=True, slots=True)
class EditDifference:
    """A field that two users filled in differently, in the words of the page."""

    label: str
    yours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class EditConflict:
    """Another user saved first, or the same one elsewhere: who, when, and the differences."""

    author: str | None
    at: datetime | None
    differences: Sequence[EditDifference]
    is_own: bool = False


def edit_conflict(
    session: Session,
    error: Conflict,
    differences: Sequence[EditDifference],
    target_type: str,
    target_id: UUID,
) -> EditConflict:
    """Return the data that a page shows about ``error``; raise it again if it is not such a
    conflict."""
    if error.code != CHANGED_MEANWHILE:
        raise error
    last = audit.last_of_target(session, caller(), target_type, target_id)
    if last is None:
        return EditConflict(None, None, differences)
    author = author_label(last.actor, author_names(session, [last.actor]))
    return EditConflict(author, last.at, differences, last.actor_id == caller().subject_id)


def differences_of(submitted: Iterable[Field], stored: Mapping[str, Field]) -> list[EditDifference]:
    """Return the differences between the input and what is stored, by field name.

    Fields that the page doesn't show are left out: they aren't sent, and keep their stored values.
    """
    pairs = [(field, stored[field.name]) for field in submitted if _is_sent(field, stored)]
    return [
        EditDifference(str(edited.label.text), _display_value(edited), _display_value(stored_field))
        for edited, stored_field in pairs
        if _display_value(edited) != _display_value(stored_field)
    ]


def seen_marks(fields: Iterable[Field]) -> str:
    """Return a mark of each field's value, for a page that shows them: sent back with the form, it
    tells which of them its user has changed."""
    return " ".join(f"{field.name}:{_digest(field)}" for field in fields if _has_digest(field))


def reset_unchanged(
    submitted: Iterable[Field], stored: Mapping[str, Field], seen_digests: str
) -> None:
    """Set the fields that still have one of the ``seen_digests`` to what is stored."""
    digests = dict(pair.split(":") for pair in seen_digests.split() if pair.count(":") == 1)
    for field in submitted:
        if (
            field.name in stored
            and digests.get(field.name) == _digest(field)
            and _has_digest(field)
        ):
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
