"""Lists of users to invite: parsed from a text or a file, kept as the text of a form."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from app.contact_files.formulas import guard_cell
from app.enums import Role
from app.errors import ValidationFailed
from app.languages import gettext, numbers
from app.services.pasted_lines import PastedLine, lines_of
from app.validation.texts import whole_number

MAX_USERS = 500
_HEADS = {
    "email": ("mail",),
    "organization": ("organization", "organisation", "company", "business", "customer"),
    "role": ("role",),
    "name": ("name",),
}
_COLUMNS = ("line", "email", "name", "organization", "role")
_NAMED = re.compile(r"([^<>]*)<\s*([^<>\s]+)\s*>")


@dataclass(frozen=True, slots=True)
class Invitee:
    """A user to invite, and the organization and role if the line names them."""

    line: int
    email: str
    name: str | None
    organization: str | None
    role: str | None = None


def read_invitees(text: str, roles: Mapping[str, Role] = MappingProxyType({})) -> list[Invitee]:
    """Return the users of a text: a line has address, name, organization and role, in columns that
    may have names, or several addresses. A last cell that is one of ``roles`` is the role; role and
    organization may change places.

    Raises `ValidationFailed` (``required``, ``too_many``).
    """
    lines = lines_of(text)
    columns = None
    if lines and _is_header(lines[0].cells):
        columns = _columns(lines[0].cells)
        lines = lines[1:]
    invitees = [_with_role(each, roles) for line in lines for each in _invitees(line, columns)]
    check_count(invitees)
    return invitees


def as_text(wanted: Sequence[Invitee]) -> str:
    """Return the users as the text of a form, for `from_text`."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for each in wanted:
        cells = (each.email, each.name, each.organization, each.role)
        writer.writerow([each.line, *(guard_cell(cell or "") for cell in cells)])
    return text.getvalue()


def from_text(text: str) -> list[Invitee]:
    """Return the users of a form."""
    invitees = []
    for line in lines_of(text)[1:]:
        number, *cells = (*line.cells, *[""] * len(_COLUMNS))[: len(_COLUMNS)]
        known = whole_number(number, 8)
        invitees.append(_entry(line.number if known is None else known, *cells))
    return invitees


def check_count(invitees: Sequence[Invitee]) -> None:
    """Raises `ValidationFailed` (``required``, ``too_many``)."""
    if not invitees:
        message = gettext("Enter at least one address or choose a file.")
        raise ValidationFailed.on("users", "required", message)
    if len(invitees) > MAX_USERS:
        message = gettext(
            "%(count)s users are too many. Invite at most %(most)s at a time.",
            count=numbers.written_number(len(invitees)),
            most=numbers.written_number(MAX_USERS),
        )
        raise ValidationFailed.on("users", "too_many", message)


def _with_role(line: Invitee, roles: Mapping[str, Role]) -> Invitee:
    """Return the line with its role in place: the last cell, if it is one and has no column of its
    own, or a role before the organization."""
    is_role = (line.organization or "").lower() in roles
    if is_role and (line.role or "").lower() not in roles:
        return replace(line, organization=line.role, role=line.organization)
    return line


def _is_header(cells: tuple[str, ...]) -> bool:
    heads = " ".join(cells).lower()
    return "@" not in heads and any(word in heads for word in _HEADS["email"])


def _columns(heads: tuple[str, ...]) -> dict[str, int]:
    """Return the position of each part under these column names."""
    columns: dict[str, int] = {}
    for part, words in _HEADS.items():
        for at, head in enumerate(heads):
            if at not in columns.values() and any(word in head.lower() for word in words):
                columns[part] = at
                break
    return columns


def _invitees(line: PastedLine, columns: dict[str, int] | None) -> list[Invitee]:
    """Return the users of a line: one, or one for each address if the columns have no names."""
    if columns:
        cells = {part: _cell(line, at) for part, at in columns.items()}
        written, email = _parted(cells.get("email", ""))
        name = cells.get("name", "") or written
        return [
            _entry(line.number, email, name, cells.get("organization", ""), cells.get("role", ""))
        ]
    return [_of_cells(line, cells) for cells in _groups(line.cells)]


def _groups(cells: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the cells of each address of a line: it comes first or last among them."""
    positions = [at for at, cell in enumerate(cells) if "@" in cell]
    if len(positions) < 2:
        return [cells]
    starts = positions if positions[0] == 0 else [0, *(at + 1 for at in positions[:-1])]
    return [cells[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _of_cells(line: PastedLine, cells: tuple[str, ...]) -> Invitee:
    at = next((at for at, cell in enumerate(cells) if "@" in cell), 0)
    written, email = _parted(cells[at])
    name, organization, role, *_ = (*cells[:at], *cells[at + 1 :], "", "", "")
    if written and not organization:
        name, organization = written, name
    return _entry(line.number, email, name or written, organization, role)


def _parted(cell: str) -> tuple[str, str]:
    """Return name and address of ``Name <address>``; the name is empty if there is none."""
    named = _NAMED.fullmatch(cell)
    return (named[1].strip(), named[2]) if named else ("", cell)


def _entry(line: int, email: str, name: str, organization: str, role: str) -> Invitee:
    return Invitee(line, email[:254], name or None, organization or None, role or None)


def _cell(line: PastedLine, at: int) -> str:
    return line.cells[at] if at < len(line.cells) else ""
