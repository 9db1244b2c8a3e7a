"""Invite many users at once: each line has its own result, and repeating a line does nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parseaddr
from enum import StrEnum
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import DomainError, ValidationFailed
from app.models import Organization, User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations
from app.services.pasted_lines import PastedLine, lines_of
from app.services.users.creating import email_key, invite
from app.services.users.loading import check_type, visible
from app.validation.emails import is_email

MOST_LINES = 500
MAX_NAME = 200
_HEADS = {
    "email": ("mail",),
    "organization": ("organization", "organisation", "company", "business", "customer"),
    "name": ("name",),
}


class Outcome(StrEnum):
    INVITED = "invited"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One line: the user to invite, and the organization if the line names one."""

    line: int
    email: str
    name: str | None
    organization: str | None


@dataclass(frozen=True, slots=True)
class LineResult:
    """The result of a line; ``user_id`` is None if it was refused."""

    line: int
    email: str
    outcome: Outcome
    message: str
    organization: str | None = None
    user_id: UUID | None = None


def read_invitees(text: str) -> list[Wanted]:
    """Return the lines of a text: address, name, organization, in columns that may have names.

    Raises `ValidationFailed` (``required``, ``too_many``).
    """
    lines = lines_of(text)
    columns = None
    if lines and _is_header(lines[0].cells):
        columns = _columns(lines[0].cells)
        lines = lines[1:]
    if not lines:
        message = "Enter at least one address or choose a file."
        raise ValidationFailed.on("users", "required", message)
    if len(lines) > MOST_LINES:
        message = f"{len(lines):,} lines are too many. Invite at most {MOST_LINES:,} at a time."
        raise ValidationFailed.on("users", "too_many", message)
    return [_wanted(line, columns) for line in lines]


def invite_many(
    session: Session,
    caller: Caller,
    wanted: Sequence[Wanted],
    *,
    organization_id: UUID | None = None,
) -> list[LineResult]:
    """Invite members, line by line; a refused line changes nothing and stops no other.

    ``organization_id`` is for lines that name no organization. An existing member of the
    organization is KNOWN and gets no mail. Raises `Forbidden` and `NotFound` for
    ``organization_id``.
    """
    caller.require(Permission.USERS_WRITE)
    check_type(caller, Role.STANDARD)
    usual = organizations.get(session, caller, organization_id) if organization_id else None
    found: dict[str, list[Organization]] = {}
    results = []
    for line in wanted:
        try:
            organization = _organization(session, caller, line, usual, found)
            results.append(_invite(session, caller, line, organization))
        except DomainError as error:
            results.append(LineResult(line.line, line.email, Outcome.REFUSED, error.message))
    return results


def _invite(
    session: Session, caller: Caller, line: Wanted, organization: Organization
) -> LineResult:
    if not is_email(line.email):
        message = "Enter an email like name@example.com."
        raise ValidationFailed.on("email", "invalid_email", message)
    if line.name is not None and len(line.name) > MAX_NAME:
        raise ValidationFailed.on(
            "name", "too_long", f"Too long. Use at most {MAX_NAME} characters."
        )
    known = session.scalar(
        visible(caller).where(
            User.email_key == email_key(line.email), User.organization_id == organization.id
        )
    )
    if known is not None:
        words = "Already invited." if known.status is UserStatus.INVITED else "Already a member."
        return _result(line, Outcome.KNOWN, words, organization, known)
    with session.begin_nested():
        user = invite(
            session,
            caller,
            email=line.email,
            user_type=Role.STANDARD,
            organization_id=organization.id,
            name=line.name,
        )
    return _result(line, Outcome.INVITED, "Invited.", organization, user)


def _result(
    line: Wanted, outcome: Outcome, words: str, organization: Organization, user: User
) -> LineResult:
    return LineResult(line.line, line.email, outcome, words, organization.name, user.id)


def _organization(
    session: Session,
    caller: Caller,
    line: Wanted,
    usual: Organization | None,
    found: dict[str, list[Organization]],
) -> Organization:
    if line.organization is None:
        if usual is None:
            message = "This line has no organization. Add one, or choose one for all lines."
            raise ValidationFailed.on("organization", "required", message)
        return usual
    key = line.organization.lower()
    if key not in found:
        found[key] = organizations.called(session, caller, line.organization)
    return one_called(line.organization, found[key])


def one_called(name: str, found: Sequence[Organization]) -> Organization:
    """Return the only one of the organizations with a name. Raises `ValidationFailed`
    (``organization_not_found``, ``organization_ambiguous``)."""
    if not found:
        message = f"There is no organization called “{name}”."
        raise ValidationFailed.on("organization", "organization_not_found", message)
    if len(found) > 1:
        message = f"Several organizations are called “{name}”. Invite from the right one’s page."
        raise ValidationFailed.on("organization", "organization_ambiguous", message)
    return found[0]


def by_name(session: Session, caller: Caller, name: str) -> Organization:
    """Return the caller's organization of this name. Raises as `one_called`."""
    return one_called(name, organizations.called(session, caller, name))


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


def _wanted(line: PastedLine, columns: dict[str, int] | None) -> Wanted:
    if columns:
        cells = {part: _cell(line, at) for part, at in columns.items()}
        email, name, organization = (
            cells.get(part, "") for part in ("email", "name", "organization")
        )
    else:
        at = next((at for at, cell in enumerate(line.cells) if "@" in cell), 0)
        rest = [cell for place, cell in enumerate(line.cells) if place != at] + ["", ""]
        email, name, organization = line.cells[at], rest[0], rest[1]
    written, address = parseaddr(email)
    if is_email(address):
        email, name = address, name or written
    return Wanted(line.number, email[:254], name or None, organization or None)


def _cell(line: PastedLine, at: int) -> str:
    return line.cells[at] if at < len(line.cells) else ""
