"""Rows of a pasted list or a file: checked and corrected on a page before they are used.

The page keeps the rows as the text of its form, with a field for each cell of a row that has a
problem.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from flask import request
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from wtforms.fields.choices import SelectChoice

from app.errors import Problem, ValidationFailed
from app.extensions import transaction
from app.languages import gettext
from app.portal.web.editing import run_once
from app.portal.web.formats import number
from app.portal.web.forms import PortalForm
from app.services import pasted_lines
from app.services.pasted_lines import PastedLine, decoded
from app.validation.texts import trim

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a row with a problem. ``options`` is the ID of a list of texts to choose from,
    ``suggestion`` a text that a button fills in."""

    name: str
    label: str
    value: str
    problems: Sequence[str] = ()
    choices: Sequence[SelectChoice] = ()
    options: str = ""
    placeholder: str = ""
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class RowToFix:
    """A row with a problem; ``position`` is its place among all rows of the page."""

    position: int
    number: int
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class DoneRow:
    """A row that was just used, and the page of what it became."""

    title: str
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The page of checked rows. ``done`` are the rows that were just used; the others are left.
    ``more_to_fix`` are rows with a problem that the page doesn't show yet. ``asks``: it has a
    question about all rows."""

    title: str
    lead: str
    trail: Sequence[tuple[str, str | None]]
    check_url: str
    use_url: str
    apply_label: str
    busy_label: str
    start_url: str
    done_url: str
    to_fix: Sequence[RowToFix]
    ready: int
    done: Sequence[DoneRow]
    done_title: str
    symbol: str
    more_to_fix: int = 0
    asks: bool = False


def add_label(ready: int, refused: int, all_ready: str) -> str:
    """Return the words of the button; ``all_ready`` are those for a page without refused rows."""
    if not refused:
        return all_ready
    return gettext("Add %(good)s, leave out %(bad)s", good=number(ready), bad=number(refused))


def kept_lines(text: str | None, columns: Sequence[str]) -> list[PastedLine]:
    """Return the rows of the page as it showed them."""
    return pasted_lines.from_text(text or "", columns)


def corrected_lines(text: str | None, columns: Sequence[str]) -> list[PastedLine]:
    """Return the rows of the page with the corrected cells, without those that were left out."""
    return [
        PastedLine(
            line.number,
            tuple(
                _corrected(f"{name}-{position}", cell)
                for name, cell in zip(columns, line.cells, strict=True)
            ),
        )
        for position, line in enumerate(kept_lines(text, columns))
        if f"remove-{position}" not in request.form
    ]


def _corrected(name: str, cell: str) -> str:
    """Return the last value of the field, which is that of a pressed button; else the cell."""
    values = request.form.getlist(name)
    return trim(" ".join(values[-1].splitlines())) if values else cell


def messages_by_cell(
    problems: Iterable[Problem], cells: Mapping[str, str], default: str
) -> dict[str, list[str]]:
    """Return the messages by cell; ``cells`` are the names of cells by the field of a problem, and
    those of other fields are at the ``default``."""
    messages: dict[str, list[str]] = {}
    for problem in problems:
        messages.setdefault(cells.get(problem.field, default), []).append(problem.message)
    return messages


def file_data(sent: FileStorage, max_bytes: int, message: str) -> bytes:
    """Return the content of the file. Raises `ValidationFailed` with the message if it is
    larger."""
    data = sent.stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValidationFailed.on("file", "too_large", message)
    return data


def file_text(sent: FileStorage, max_bytes: int, message: str) -> str:
    """Return the text of the file. Raises `ValidationFailed`, as `file_data` and `decoded`."""
    return decoded(file_data(sent, max_bytes, message))


def apply_row_errors(form: PortalForm, error: ValidationFailed) -> None:
    """Put the problems at the file, if one was sent, else at their fields."""
    if form["file"].data:
        form["file"].errors = (error.message,)
    else:
        form.apply_errors(error)


def use_in_parts(
    rows: Sequence[Row], batch_size: int, use: Callable[[Session, Sequence[Row]], list[Any]]
) -> list[Any]:
    """Use the rows in several transactions, and return the result of each row, which is JSON. A
    repeated form, also after a fault in between, uses only those that are left."""
    results: list[Any] = []
    for start in range(0, len(rows), batch_size):
        part = rows[start : start + batch_size]
        with transaction() as session:
            work = partial(_results, use, session, part)
            results += run_once(session, f"rows from {start}", work)["results"]
    return results


def _results(
    use: Callable[[Session, Sequence[Row]], list[Any]], session: Session, part: Sequence[Row]
) -> dict[str, Any]:
    return {"results": use(session, part)}
