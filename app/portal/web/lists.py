"""What list screens share: filters and place in the address, links to the next and last page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from flask import Response, request, url_for

from app.errors import ValidationFailed
from app.portal.web.blueprint import portal
from app.schemas.figures import END_BEFORE_START

PAGE_SIZE = 25
_TRAIL = "."
_LONGEST_TRAIL = 60

E = TypeVar("E", bound=StrEnum)


def text_filter(name: str) -> str | None:
    """A filter of the address as text, without what no list can hold; None where it is blank."""
    return request.args.get(name, "").replace("\0", "").strip()[:200] or None


def choice_filter(name: str, kind: type[E]) -> E | None:
    """A filter of the address that names a member; anything else filters nothing."""
    value = request.args.get(name, "")
    return kind(value) if value in set(kind) else None


def id_or_words(name: str) -> UUID | str | None:
    """A filter that a link fills with an id and a person with words."""
    text = text_filter(name)
    try:
        return UUID(text) if text else None
    except ValueError:
        return text


def present(*filters: str) -> dict[str, Any]:
    """Those of the filters that the address holds, to link something else by the same ones."""
    return {name: request.args[name] for name in filters if request.args.get(name)}


def day_filter(name: str) -> date | None:
    """A day that the address names; None where it is blank. Raises `ValidationFailed`."""
    value = request.args.get(name, "").strip()
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        message = "Enter a day like 2026-02-28."
        raise ValidationFailed.on(name, "invalid_date", message) from None


def day_range(first: str, last: str) -> tuple[date | None, date | None, list[tuple[str, str]]]:
    """The days that the address names so, and what is wrong with either, by its name; that
    filters nothing."""
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
        return None, None, [(last, END_BEFORE_START)]
    return start, end, problems


def sort_filter(offered: Mapping[str, object], default: str) -> str:
    """The order that the address names, where the screen offers it."""
    wanted = request.args.get("sort", default)
    return wanted if wanted in offered else default


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a list the address stands; ``trail`` holds the cursors of the pages before."""

    cursor: str | None
    trail: tuple[str, ...]

    @property
    def is_first(self) -> bool:
        return self.cursor is None

    def previous_url(self) -> str | None:
        """The page before; None on the first."""
        if self.cursor is None:
            return None
        before = self.trail[-1] if self.trail else None
        return _address(cursor=before or None, trail=_TRAIL.join(self.trail[:-1]) or None)

    def next_url(self, next_cursor: str | None) -> str | None:
        """The page that begins behind ``next_cursor``; None at the end."""
        if next_cursor is None:
            return None
        trail = (*self.trail, self.cursor or "")[-_LONGEST_TRAIL:] if self.cursor else self.trail
        return _address(cursor=next_cursor, trail=_TRAIL.join(trail) or None)


def place() -> Place:
    """The place in the list that the address names."""
    trail = request.args.get("trail", "")
    return Place(request.args.get("cursor") or None, tuple(trail.split(_TRAIL)) if trail else ())


@portal.app_template_global()
def sort_url(name: str, current: str) -> str:
    """The address that sorts by a column, or turns the order round where it is sorted by it."""
    wanted = f"-{name}" if current == name else name
    return _address(sort=wanted, cursor=None, trail=None)


@portal.app_template_global()
def sort_direction(name: str, current: str) -> str | None:
    """What ``aria-sort`` says of a column."""
    return {name: "ascending", f"-{name}": "descending"}.get(current)


def clear_url(*filters: str) -> str | None:
    """Return the address without filters; None if no filter is set."""
    if not any(request.args.get(name) for name in filters):
        return None
    return url_for(request.endpoint or "", **(request.view_args or {}))


def _address(**changes: str | None) -> str:
    kept = {name: value for name, value in request.args.items() if value}
    kept.update(changes)  # type: ignore[arg-type]  # None removes the parameter in url_for
    return url_for(request.endpoint or "", **{**(request.view_args or {}), **kept})


def csv_file(name: str, parts: Iterable[bytes]) -> Response:
    """The parts, sent one after the other as a file; ``name`` is plain ASCII."""
    response = Response(parts, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
