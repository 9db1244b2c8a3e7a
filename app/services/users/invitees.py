"""Lists of users to invite: parsed from a text or a file, kept as the text of a form."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from app.contact_files.column_names import EMAIL, FULL_NAME
from app.contact_files.columns_by_heading import (
    ORGANIZATION,
    ORGANIZATION_WORDS,
    columns_by_heading,
)
from app.enums import Role
from app.errors import ValidationFailed
from app.languages import gettext, numbers
from app.services.pasted_lines import PastedLine, lines_of

MAX_USERS = 500
_NAMES = {
    "email": EMAIL,
    "organization": ORGANIZATION,
    "role": "role|rolle|rôle|rol",
    "name": f"{FULL_NAME}|user name|first name|vorname|prénom",
}
"""The headings of each column, in the order in which columns are claimed."""
_WORDS = {
    "email": "email|e-mail|mail|courriel|correo",
    "organization": ORGANIZATION_WORDS,
    "role": "role|rolle|rôle|rol",
    "name": "name|nom|nombre",
}
"""Words in unknown headings, in the same order."""
COLUMNS = ("email", "name", "organization", "role")
_NAMED = re.compile(r"([^<>]*)<\s*([^<>\s]+)\s*>")


@dataclass(frozen=True, slots=True)
class Invitee:
    """A user to invite, and the organization and role if the line names them; ``number`` is that of
    the line."""

    number: int
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
    columns = _columns(lines[0].cells) if lines else {}
    if columns:
        lines = lines[1:]
    invitees = [_with_role(each, roles) for line in lines for each in _invitees(line, columns)]
    _check_count(invitees)
    return invitees


def to_lines(rows: Sequence[Invitee]) -> list[PastedLine]:
    """Return the users as lines with `COLUMNS`, for `from_lines`."""
    return [
        PastedLine(row.number, tuple(getattr(row, name) or "" for name in COLUMNS)) for row in rows
    ]


def from_lines(lines: Sequence[PastedLine]) -> list[Invitee]:
    """Return the users of such lines. Raises as `read_invitees`."""
    invitees = [_entry(line.number, *line.cells) for line in lines]
    _check_count(invitees)
    return invitees


def _check_count(invitees: Sequence[Invitee]) -> None:
    """Raises `ValidationFailed` (``required``, ``too_many``)."""
    if not invitees:
        message = gettext("Enter at least one address or choose a file.")
        raise ValidationFailed.on("users", "required", message)
    if len(invitees) > MAX_USERS:
        message = gettext(
            "%(count)s users are too many. Invite at most %(most)s at a time.",
            count=numbers.localize_number(len(invitees)),
            most=numbers.localize_number(MAX_USERS),
        )
        raise ValidationFailed.on("users", "too_many", message)


def _with_role(line: Invitee, roles: Mapping[str, Role]) -> Invitee:
    """Return the line with its role in place: the last cell, if it is one and has no column of its
    own, or a role before the organization."""
    is_role = (line.organization or "").lower() in roles
    if is_role and (line.role or "").lower() not in roles:
        return replace(line, organization=line.role, role=line.organization)
    return line


def _columns(cells: tuple[str, ...]) -> dict[str, int]:
    """Return the position of each part if these are headings, which name a column of addresses."""
    columns = columns_by_heading(cells, _NAMES, _WORDS)
    return columns if "email" in columns and "@" not in "".join(cells) else {}


def _invitees(line: PastedLine, columns: dict[str, int]) -> list[Invitee]:
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
