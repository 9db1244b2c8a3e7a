"""Shared by list screens: filters, sorting and position in the URL, links to other pages."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from flask import Response, request, url_for

from app.errors import ValidationFailed
from app.languages import gettext
from app.models.folding import hyphenated
from app.portal.web.blueprint import portal
from app.schemas.figures import END_BEFORE_START
from app.validation.texts import trim
from app.validation.uuids import as_uuid

PAGE_SIZE = 25
_TRAIL = "."
_MAX_TRAIL_LENGTH = 60
_MAX_WORDS_LENGTH = 80

E = TypeVar("E", bound=StrEnum)


class ColumnKind(StrEnum):
    """The kind of a column's values, which decides the words of its two orders and the usual
    one."""

    FIGURE = "figure"
    MOMENT = "moment"
    NAME = "name"
    OTHER = "other"

    @property
    def is_largest_first(self) -> bool:
        return self in (ColumnKind.FIGURE, ColumnKind.MOMENT)

    @property
    def orders(self) -> tuple[str, str]:
        """The words for the ascending and the descending order."""
        match self:
            case ColumnKind.FIGURE:
                return gettext("Lowest first"), gettext("Highest first")
            case ColumnKind.MOMENT:
                return gettext("Oldest first"), gettext("Newest first")
            case ColumnKind.NAME:
                return gettext("A to Z"), gettext("Z to A")
            case ColumnKind.OTHER:
                return gettext("Ascending"), gettext("Descending")


def text_filter(name: str) -> str | None:
    """Return a text filter of the URL, without characters that databases refuse; None if it is
    blank."""
    return trim(request.args.get(name))[:200] or None


def choice_filter(name: str, kind: type[E]) -> E | None:
    """Return the enum member that the URL names; None for anything else."""
    value = request.args.get(name, "")
    return kind(value) if value in set(kind) else None


def id_or_text(name: str) -> UUID | str | None:
    """Return a filter that links fill with an id and users with words."""
    text = text_filter(name)
    try:
        return UUID(text) if text else None
    except ValueError:
        return text


def id_filter(name: str) -> UUID | None:
    """Return the id that links put into the URL; None for anything else."""
    return as_uuid(request.args.get(name, ""))


def ids_of(keys: Iterable[str]) -> set[UUID]:
    """Return the ids among the keys of selected rows."""
    return {record_id for key in keys if (record_id := as_uuid(key))}


def present(*filters: str) -> dict[str, Any]:
    """Return those of the filters that are in the URL, to link another page with the same
    filters."""
    return {name: request.args[name] for name in filters if request.args.get(name)}


def day_filter(name: str) -> date | None:
    """Return a day of the URL; None if it is blank. Raises `ValidationFailed`."""
    value = request.args.get(name, "").strip()
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        message = gettext("Enter a day like 2026-02-28.")
        raise ValidationFailed.on(name, "invalid_date", message) from None


def day_range(first: str, last: str) -> tuple[date | None, date | None, list[tuple[str, str]]]:
    """Return the days of the URL and their problems, by name; an invalid day is ignored."""
    problems: list[tuple[str, str]] = []
    days: list[date | None] = []
    for name in (first, last):
        try:
            days.append(day_filter(name))
        except ValidationFailed as error:
            problems.append((name, error.message))
            days.append(None)
    start, end = days
    if start and end and end < start:
        return None, None, [(last, str(END_BEFORE_START))]
    return start, end, problems


@dataclass(frozen=True, slots=True)
class ListPosition:
    """The position of a list in the URL; ``trail`` holds the cursors of the previous pages."""

    cursor: str | None
    trail: tuple[str, ...]

    @property
    def is_first(self) -> bool:
        return self.cursor is None

    @property
    def rows_before(self) -> int | None:
        """How many rows the previous pages show; None if the URL doesn't contain it."""
        if self.is_first:
            return 0
        # A trail that is full may have lost its first pages.
        return None if len(self.trail) >= _MAX_TRAIL_LENGTH else (len(self.trail) + 1) * PAGE_SIZE

    @property
    def query_args(self) -> dict[str, Any]:
        """The requested page, as arguments of a service."""
        return {"cursor": self.cursor, "limit": PAGE_SIZE}

    def pager(self, next_cursor: str | None, *filters: str) -> dict[str, Any]:
        """Return the values that a template needs to link the previous and next page, and the list
        without these filters."""
        next_url = self.next_url(next_cursor)
        return {"position": self, "next_url": next_url, "clear_url": clear_url(*filters)}

    def previous_url(self) -> str | None:
        """The URL of the previous page; None on the first."""
        if self.cursor is None:
            return None
        before = self.trail[-1] if self.trail else None
        return address(cursor=before or None, trail=_TRAIL.join(self.trail[:-1]) or None)

    def next_url(self, next_cursor: str | None) -> str | None:
        """The URL of the page that begins at ``next_cursor``; None at the end."""
        if next_cursor is None:
            return None
        trail = (*self.trail, self.cursor or "")[-_MAX_TRAIL_LENGTH:] if self.cursor else self.trail
        return address(cursor=next_cursor, trail=_TRAIL.join(trail) or None)


def current_position() -> ListPosition:
    """Return the position in the list from the URL."""
    trail = request.args.get("trail", "")
    return ListPosition(
        request.args.get("cursor") or None, tuple(trail.split(_TRAIL)) if trail else ()
    )


@portal.app_template_global()
def sort_url(name: str, current: str, kind: str) -> str:
    """Return the URL that sorts by a column, or reverses the order if the list is sorted by it."""
    first, second = _orders_of(name, kind)
    return address(sort=second if current == first else first, cursor=None, trail=None)


@portal.app_template_global()
def sort_choices(name: str, current: str, kind: str) -> list[tuple[str, str, bool]]:
    """Return the two orders of a column as (URL, words, whether the list has it), the usual one
    first."""
    rising, falling = ColumnKind(kind).orders
    labels = {name: rising, f"-{name}": falling}
    return [
        (address(sort=order, cursor=None, trail=None), labels[order], order == current)
        for order in _orders_of(name, kind)
    ]


def _orders_of(name: str, kind: str) -> tuple[str, str]:
    """Return the two orders of a column, the usual one first."""
    rising, falling = name, f"-{name}"
    return (falling, rising) if ColumnKind(kind).is_largest_first else (rising, falling)


@portal.app_template_global()
def sort_direction(name: str, current: str) -> str | None:
    """Return a column's value of ``aria-sort``."""
    return {name: "ascending", f"-{name}": "descending"}.get(current)


def clear_url(*filters: str) -> str | None:
    """Return the URL without filters; None if no filter is set."""
    if not any(request.args.get(name) for name in filters):
        return None
    return url_for(request.endpoint or "", **(request.view_args or {}))


@portal.app_template_global("here_with")
def address(**changes: Any) -> str:
    """Return the URL of the page with other parameters; None removes one. Those that would be
    arguments of `url_for` are left out."""
    params: dict[str, Any] = {
        name: [value for value in values if value]
        for name, values in request.args.lists()
        if name not in ("endpoint", "self") and not name.startswith("_")
    }
    params.update(changes)  # [] also removes the parameter in url_for
    return url_for(request.endpoint or "", **{**(request.view_args or {}), **params})


def file_name_part(name: str, otherwise: str) -> str:
    """Return a text for the name of a file, in lower-case ASCII; ``otherwise`` if nothing is
    left."""
    return hyphenated(name, _MAX_WORDS_LENGTH) or otherwise


def csv_file(name: str, chunks: Iterable[bytes]) -> Response:
    """Return the parts as a streamed file; ``name`` is plain ASCII."""
    response = Response(chunks, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def pdf_file(name: str, content: bytes) -> Response:
    """Return the answer that downloads the file under this name, without its ending."""
    named = {"Content-Disposition": f'attachment; filename="{name}.pdf"'}
    return Response(content, mimetype="application/pdf", headers=named)
