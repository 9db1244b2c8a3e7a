"""The base of every form, and the transaction that saves one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self, TypeVar
from uuid import UUID

from babel.support import LazyProxy
from flask import abort, make_response, request
from flask_wtf import FlaskForm
from flask_wtf.csrf import generate_csrf
from markupsafe import Markup
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response
from wtforms.fields import Field, RadioField
from wtforms.widgets import Select

from app.errors import CHANGED_MEANWHILE, Conflict, DomainError, RateLimited, ValidationFailed
from app.extensions import transaction
from app.languages import labelled
from app.portal.web.blueprint import portal
from app.portal.web.editing import (
    HIDDEN_FIELDS,
    EditConflict,
    EditDifference,
    SeenMarks,
    differences_of,
    edit_conflict,
    reset_unchanged,
    seen_marks,
)
from app.portal.web.errors import with_wait
from app.portal.web.fields import (
    HiddenFieldInput,
    QuickSelect,
    VersionField,
    hidden_field,
    once_token,
)
from app.portal.web.formats import typographic
from app.schemas.base import Wire, wire_name
from app.schemas.parsing import read

W = TypeVar("W", bound=Wire)
F = TypeVar("F", bound="PortalForm")


class PortalForm(FlaskForm):
    """A form, filled from the request if that is a POST.

    `hidden_tag` renders the CSRF token and, if a form declares them, ``version`` (it changes
    something) or ``once`` (it creates something). Iteration and `data` leave these fields out.
    """

    class Meta(FlaskForm.Meta):
        def render_field(self, field: Field, render_kw: dict[str, Any]) -> Markup:
            if type(field.widget) is Select:
                field.widget = QuickSelect(field.widget.multiple)
            rendered: Markup = super().render_field(field, render_kw)
            return rendered

    wire_fields: ClassVar[Mapping[str, str]] = {}
    """Contract name -> field, where the two names differ."""
    limited_field: ClassVar[str] = ""
    """The field that shows that the form was sent too often."""
    problems: Sequence[tuple[str, str]] = ()
    """Problems that aren't the fields' own errors, as (id of a field or "", words)."""
    conflict: EditConflict | None = None
    """The conflict with another user; set by `saving`."""
    seen: str | None = None
    """The marks of what is saved now, after a conflict."""

    @classmethod
    def from_object(cls, obj: object = None, **values: Any) -> Self:
        """Return the form with the stored values, ignoring the request."""
        return cls(formdata=None, obj=obj, **values)

    @classmethod
    def from_address(cls, version: int) -> Self:
        """Return the form from a page's GET parameters, to be previewed before it is saved; for the
        current ``version`` if the URL has none."""
        return cls(request.args, data={"version": version}, meta={"csrf": False})

    @property
    def is_refused(self) -> bool:
        """Whether the input wasn't saved: because of an error or of another user's change."""
        return bool(self.errors or self.problems or self.conflict)

    def __iter__(self) -> Iterator[Field]:
        return (field for name, field in self._fields.items() if name not in HIDDEN_FIELDS)

    @property
    def data(self) -> dict[str, Any]:
        return {
            name: field.data for name, field in self._fields.items() if name not in HIDDEN_FIELDS
        }

    def hidden_tag(self) -> Markup:
        """Render the hidden fields. A form with a version edits an existing record."""
        changes = "version" in self and self["version"].data is not None
        names = ("csrf_token", "version" if changes else "once")
        hidden_fields = [HiddenFieldInput()(self[name]) for name in names if name in self]
        if changes:
            hidden_fields.append(hidden_field("seen", self._seen()))
        return Markup("\n").join(hidden_fields)

    def _seen(self) -> str:
        """Return the marks of what the user has seen saved."""
        if self.seen is None and self["version"].raw_data:
            return request.values.get("seen", "")
        return self.seen or seen_marks(self)

    def inputs(self, schema: type[Wire]) -> dict[str, Any]:
        """Return the values of the fields that the schema has, by their wire names."""
        wire_names = {wire_name(name) for name in schema.model_fields}
        return {
            wire: self[name].data
            for wire, name in self.fields_by_wire().items()
            if wire in wire_names
        }

    def to_input(self, schema: type[W]) -> W:
        """Return the form as the schema's input. Raises `ValidationFailed`."""
        return read(schema, self.inputs(schema))

    def passes(self, check: Callable[[], object]) -> bool:
        """Return whether a service's check raises no `ValidationFailed`; its problems are put at
        their fields."""
        try:
            check()
        except ValidationFailed as error:
            self.apply_errors(error)
            return False
        return True

    def apply_errors(self, error: DomainError) -> None:
        """Put each problem at its field, and those without a field into `problems`. An unreadable
        value has one problem, whatever the services say about it."""
        unassigned = [] if error.problems else [typographic(error.message)]
        named = self.fields_by_wire()
        unreadable = {field.name for field in self if field.errors}
        for problem in error.problems:
            name = named.get(problem.field) or named.get(problem.field.partition(".")[0])
            message = typographic(problem.message)
            if name is None:
                unassigned.append(message)
            elif name not in unreadable:
                self[name].errors = (*self[name].errors, message)
        self.problems = [*self.problems, *(("", text) for text in unassigned)]

    def error_entries(self) -> list[tuple[str, str]]:
        """Return what needs changing, as (id of an element or "", words): the problems of the
        fields in their order, then the others. Errors of a row or a form within a field aren't
        sentences."""
        entries = []
        others = list(self.problems)
        for field in self:
            anchor = f"{field.id}-0" if isinstance(field, RadioField) else field.id
            messages = [each for each in field.errors if isinstance(each, str | LazyProxy)]
            entries += [(anchor, labelled(field.label.text, str(message))) for message in messages]
            entries += [problem for problem in others if problem[0].startswith(f"{field.id}-")]
            others = [problem for problem in others if not problem[0].startswith(f"{field.id}-")]
        return entries + others

    def apply_limit(self, error: RateLimited) -> None:
        """Show that the form was sent too often. Raises ``error`` if it has no place for that."""
        if not self.limited_field:
            raise error
        self[self.limited_field].errors = (error.message,)

    def differences(self, stored: Self, seen: SeenMarks) -> list[EditDifference]:
        """Return what its user, or another one, changed since the values were ``seen``; ``stored``
        is the same form filled with what is saved."""
        return differences_of(self, {field.name: field for field in stored}, seen)

    def show_conflict(
        self, session: Session, error: Conflict, stored: Self, target_type: str, target_id: UUID
    ) -> None:
        """Store what the page shows about ``error``, with the version of what it shows. Fields that
        the user hasn't changed get what is saved.

        Raises ``error`` if it is not an edit conflict.
        """
        seen = SeenMarks(request.values.get("seen", ""))
        changes = self.differences(stored, seen)
        reset_unchanged(self, {field.name: field for field in stored}, seen)
        self.seen = seen_marks(stored)
        self.conflict = edit_conflict(session, error, changes, target_type, target_id)
        self["version"].data = stored["version"].data

    def fields_by_wire(self) -> dict[str, str]:
        """Return the name of each field by that of the contract."""
        named = {wire_name(name): name for name in self.data}
        return named | {wire: name for wire, name in self.wire_fields.items() if name in self}


class ActionForm(PortalForm):
    """A form without fields of its own: a button."""

    version = VersionField()


@portal.app_template_global("action_form")
class ButtonForm:
    """The hidden fields of a form that is only a button, for the ``version`` of the record on its
    page: pages have many, and a full form takes twenty times as long to create."""

    def __init__(self, version: int | None = None, *, once: bool = False):
        self._version = version
        self._once = once

    def hidden_tag(self) -> Markup:
        """Render the fields, as `PortalForm.hidden_tag` does."""
        hidden_fields = [hidden_field("csrf_token", generate_csrf())]
        if self._version is not None:
            hidden_fields.append(hidden_field("version", str(self._version)))
        if self._once:
            hidden_fields.append(hidden_field("once", once_token()))
        return Markup("\n").join(hidden_fields)


def seen_version() -> int | None:
    """Return the version of the record that the button's page showed; None if it has none."""
    version: int | None = ActionForm().version.data
    return version


@contextmanager
def showing_problems(
    form: PortalForm,
    page: Callable[[], str | Response],
    *,
    validate: bool = True,
    check: Callable[[], object] | None = None,
    shows: tuple[type[DomainError], ...] = (),
) -> Iterator[None]:
    """Show problems on the form's page. An invalid form, or one that the block refuses, ends the
    request: its page is shown again, with 422 and the problems at their fields, or with 429 if
    `apply_limit` has a place for the message. Raises other errors, except those listed in
    ``shows``.

    All problems are shown at once: those that the block would find in the other fields of an
    invalid form are found by ``check``, a check of the service. Without ``validate`` only the
    block checks the form.
    """
    if validate and not form.validate():
        if check is not None:
            form.passes(check)
        abort(make_response(page(), 422))
    try:
        yield
    except RateLimited as error:
        form.apply_limit(error)
        abort(with_wait(page(), error))
    except DomainError as error:
        if not isinstance(error, (ValidationFailed, *shows)):
            raise
        form.apply_errors(error)
        abort(make_response(page(), 422))


@contextmanager
def saving(
    form: PortalForm,
    page: Callable[[], str | Response],
    *,
    stored: Callable[[Session], PortalForm] | None = None,
    target: tuple[str, UUID] | None = None,
    validate: bool = True,
    check: Callable[[], object] | None = None,
    shows: tuple[type[DomainError], ...] = (),
    all_tenants: bool = False,
) -> Iterator[Session]:
    """Open a transaction for the work of a form, whose problems end the request as in
    `showing_problems`. If another user saved meanwhile, the page is shown again with 409 and the
    changes.

    ``stored`` fills the form with what is saved, ``target`` is the record's name in the audit log.
    """
    with showing_problems(form, page, validate=validate, check=check, shows=shows):
        try:
            with transaction(all_tenants=all_tenants) as session:
                yield session
        except Conflict as error:
            if error.code != CHANGED_MEANWHILE or stored is None or target is None:
                raise
            with transaction(read_only=True) as session:
                form.show_conflict(session, error, stored(session), *target)
            abort(make_response(page(), 409))


@contextmanager
def saving_edit(
    form: F,
    kind: str,
    record_id: UUID,
    page: Callable[[UUID, F], str],
    stored: Callable[[Session, UUID], F],
    *,
    validate: bool = True,
    check: Callable[[], object] | None = None,
    shows: tuple[type[DomainError], ...] = (),
) -> Iterator[Session]:
    """As `saving`, for a form that edits the record with this id.

    ``kind`` is its name in the audit log, ``page`` shows the form, ``stored`` fills it with what
    is saved.
    """
    with saving(
        form,
        lambda: page(record_id, form),
        stored=lambda session: stored(session, record_id),
        target=(kind, record_id),
        validate=validate,
        check=check,
        shows=shows,
    ) as session:
        yield session


def stored_page_of_own(page: Callable[[F], str], stored: Callable[[Session], F]) -> str:
    """Return the page of a form that edits what the caller has one of, filled with what is stored;
    ``page`` and ``stored`` are those of `saving`."""
    with transaction(read_only=True) as session:
        form = stored(session)
    return page(form)


def stored_page(
    record_id: UUID, page: Callable[[UUID, F], str], stored: Callable[[Session, UUID], F]
) -> str:
    """Return the page of a form that edits the record, filled with what is stored; ``page`` and
    ``stored`` are those of `saving_edit`."""
    with transaction(read_only=True) as session:
        return page(record_id, stored(session, record_id))
