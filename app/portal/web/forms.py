"""The base of every form that a page sends, and the answer to one that was refused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar
from uuid import UUID

from flask import Flask, request
from flask_wtf import FlaskForm
from markupsafe import Markup
from sqlalchemy.orm import Session
from wtforms.fields import Field

from app.errors import Conflict, DomainError
from app.extensions import transaction
from app.portal.web.editing import MARKS, Difference, EditConflict, differences_of, edit_conflict
from app.portal.web.fields import HiddenMark, OnceField, VersionField
from app.schemas.base import Wire, wire_name
from app.schemas.parsing import read

W = TypeVar("W", bound=Wire)


class PortalForm(FlaskForm):
    """A form that a page sends, filled from the request where that is a POST.

    `hidden_tag` renders the CSRF token and, where a form declares them, ``version`` (it changes
    something) or ``once`` (it creates something). Iteration and `data` leave these fields out.
    """

    wire_fields: ClassVar[Mapping[str, str]] = {}
    """By a name of the contract: its field, where that is called otherwise."""
    problems: Sequence[tuple[str, str]] = ()
    """What is wrong beside the errors of the fields, as (id of a field or "", words)."""
    conflict: EditConflict | None = None
    """Who saved something else meanwhile, once `refused` has found it out."""

    @classmethod
    def from_object(
        cls, obj: object = None, data: Mapping[str, Any] | None = None, **more: Any
    ) -> Self:
        """Return the form filled with what is stored, whatever the request holds."""
        return cls(formdata=None, obj=obj, data=data, **more)

    @classmethod
    def from_address(cls, version: int) -> Self:
        """Return the form as a page sent it by GET, to be looked at before it is saved; for the
        present ``version`` where the address names none."""
        return cls(request.args, data={"version": version}, meta={"csrf": False})

    def __iter__(self) -> Iterator[Field]:
        return (field for name, field in self._fields.items() if name not in MARKS)

    @property
    def data(self) -> dict[str, Any]:
        return {name: field.data for name, field in self._fields.items() if name not in MARKS}

    def hidden_tag(self) -> Markup:
        """Render the hidden fields. A form that knows a version changes what there is."""
        changes = "version" in self and self["version"].data is not None
        marks = ("csrf_token", "version" if changes else "once")
        return Markup("\n").join(HiddenMark()(self[name]) for name in marks if name in self)

    def inputs(self, schema: type[Wire]) -> dict[str, Any]:
        """Return the values of the fields that the schema knows, by their wire names."""
        known = {wire_name(name) for name in schema.model_fields}
        return {
            wire: self[name].data for wire, name in self.fields_by_wire().items() if wire in known
        }

    def to_input(self, schema: type[W]) -> W:
        """Return the form as the schema reads it. Raises `ValidationFailed`."""
        return read(schema, self.inputs(schema))

    def apply_errors(self, error: DomainError) -> None:
        """Put each problem at its field, and those that belong to none in `problems`."""
        rest = [] if error.problems else [error.message]
        named = self.fields_by_wire()
        for problem in error.problems:
            name = named.get(problem.field) or named.get(problem.field.partition(".")[0])
            if name is None:
                rest.append(problem.message)
            else:
                self[name].errors = (*self[name].errors, problem.message)
        self.problems = [*self.problems, *(("", words) for words in rest)]

    def differences(self, stored: Self) -> list[Difference]:
        """Return where this form differs from the same form filled with what is ``stored``."""
        return differences_of(self, {field.name: field for field in stored})

    def show_conflict(
        self, session: Session, error: Conflict, stored: Self, target_type: str, target_id: UUID
    ) -> None:
        """Keep what the page says of ``error``, and carry the version of what it shows.

        Raises ``error`` where it is about something else.
        """
        differences = self.differences(stored)
        self.conflict = edit_conflict(session, error, differences, target_type, target_id)
        self["version"].data = stored["version"].data

    def fields_by_wire(self) -> dict[str, str]:
        """Return the name of each field by that of the contract."""
        named = {wire_name(name): name for name in self.data}
        return named | {wire: name for wire, name in self.wire_fields.items() if name in self}


class ActionForm(PortalForm):
    """A form without fields of its own: a button."""

    version = VersionField()


class CreatingForm(PortalForm):
    """A button that creates something."""

    once = OnceField()


def action_form(version: int | None = None, *, once: bool = False) -> PortalForm:
    """Return the form of a button, for the ``version`` of the record that its page shows."""
    return CreatingForm.from_object() if once else ActionForm.from_object(data={"version": version})


def seen_version() -> int | None:
    """Return the version that the sent form of a button was made for; None where it has none."""
    version: int | None = ActionForm().version.data
    return version


def refused(
    error: DomainError,
    form: PortalForm,
    page: Callable[[], str],
    *,
    stored: Callable[[Session], PortalForm] | None = None,
    target: tuple[str, UUID] | None = None,
) -> tuple[str, int]:
    """Answer a form that a service refused: 422 with the problems at their fields, or 409 with
    what another user has saved meanwhile.

    ``stored`` fills the form with what is saved, ``target`` is the record as the audit log names
    it. Raises a conflict about anything else.
    """
    if not isinstance(error, Conflict):
        form.apply_errors(error)
        return page(), 422
    if stored is None or target is None:
        raise error
    with transaction(read_only=True) as session:
        form.show_conflict(session, error, stored(session), *target)
    return page(), 409


def register(app: Flask) -> None:
    app.jinja_env.globals["action_form"] = action_form
