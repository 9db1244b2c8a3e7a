"""Invite many users at once: each has a result, and repeating a line does nothing."""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID

from sqlalchemy.orm import Session

from app.contact_files.formulas import guard_cell
from app.enums import Role, UserStatus
from app.errors import DomainError, ValidationFailed, refuse_too_long
from app.languages import gettext, ngettext, numbers
from app.models import Organization, User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations
from app.services.pasted_lines import PastedLine, lines_of
from app.services.users.changing import MAX_NAME
from app.services.users.creating import email_key, invite, refuse_no_email
from app.services.users.loading import check_type, visible

MOST_USERS = 500
_HEADS = {
    "email": ("mail",),
    "organization": ("organization", "organisation", "company", "business", "customer"),
    "role": ("role",),
    "name": ("name",),
}


_COLUMNS = ("line", "email", "name", "organization", "role")
_NAMED = re.compile(r"([^<>]*)<\s*([^<>\s]+)\s*>")


class Outcome(StrEnum):
    INVITED = "invited"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A user to invite, and the organization and role if the line names them."""

    line: int
    email: str
    name: str | None
    organization: str | None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class LineResult:
    """The result for a user of a line; ``user_id`` is None if they were refused. ``is_full``: the
    organization's user limit refused them. ``role``: of the user who is or was invited."""

    line: int
    email: str
    outcome: Outcome
    message: str
    organization: str | None = None
    organization_id: UUID | None = None
    user_id: UUID | None = None
    is_full: bool = False
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Full:
    """An organization with seats for only ``fits`` of the new users ``wanted``."""

    organization_id: UUID
    name: str
    fits: int
    wanted: int

    @property
    def message(self) -> str:
        return ngettext(
            "%(fits)s of %(num)s new user fits in the user limit of %(organization)s.",
            "%(fits)s of %(num)s new users fit in the user limit of %(organization)s.",
            self.wanted,
            organization=self.name,
            fits=numbers.written(self.fits),
        )


def read_invitees(text: str, roles: Mapping[str, Role] = MappingProxyType({})) -> list[Wanted]:
    """Return the users of a text: a line has address, name, organization and role, in columns that
    may have names, or several addresses. A last cell that is one of ``roles`` is the role.

    Raises `ValidationFailed` (``required``, ``too_many``).
    """
    lines = lines_of(text)
    columns = None
    if lines and _is_header(lines[0].cells):
        columns = _columns(lines[0].cells)
        lines = lines[1:]
    found = [_with_role(each, roles) for line in lines for each in _wanted(line, columns)]
    check_count(found)
    return found


def as_text(wanted: Sequence[Wanted]) -> str:
    """Return the users as the text of a form, for `from_text`."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for each in wanted:
        cells = (each.email, each.name, each.organization, each.role)
        writer.writerow([each.line, *(guard_cell(cell or "") for cell in cells)])
    return text.getvalue()


def from_text(text: str) -> list[Wanted]:
    """Return the users of a form."""
    found = []
    for line in lines_of(text)[1:]:
        number, *cells = (*line.cells, *[""] * len(_COLUMNS))[: len(_COLUMNS)]
        known = number.isascii() and number.isdigit() and len(number) < 9
        found.append(_entry(int(number) if known else line.number, *cells))
    return found


def check_count(found: Sequence[Wanted]) -> None:
    """Raises `ValidationFailed` (``required``, ``too_many``)."""
    if not found:
        message = gettext("Enter at least one address or choose a file.")
        raise ValidationFailed.on("users", "required", message)
    if len(found) > MOST_USERS:
        message = gettext(
            "%(count)s users are too many. Invite at most %(most)s at a time.",
            count=numbers.written(len(found)),
            most=numbers.written(MOST_USERS),
        )
        raise ValidationFailed.on("users", "too_many", message)


def invite_many(
    session: Session,
    caller: Caller,
    wanted: Sequence[Wanted],
    *,
    organization_id: UUID | None = None,
    role: Role = Role.STANDARD,
    roles: Mapping[str, Role] = MappingProxyType({}),
) -> list[LineResult]:
    """Invite members one by one; one who is refused changes nothing and stops no other.

    ``organization_id`` and ``role`` are for lines that name none; ``roles`` are those of members by
    the words for them, in lower case. An existing member of the organization is KNOWN, keeps the
    role and gets no mail. Raises `Forbidden`, and `NotFound` for ``organization_id``.
    """
    caller.require(Permission.USERS_WRITE)
    check_type(caller, role)
    usual = organizations.get(session, caller, organization_id) if organization_id else None
    found: dict[str, list[Organization]] = {}
    results = []
    for line in wanted:
        problems = _problems_of(line)
        given = roles.get(line.role.lower()) if line.role else role
        if given is None:
            problems.append(_unknown_role(line.role or ""))
        try:
            organization = _organization(session, caller, line, usual, found)
        except DomainError as error:
            problems.append(error.message)
        if problems or given is None:
            words = " ".join(problems)
            results.append(LineResult(line.line, line.email, Outcome.REFUSED, words))
            continue
        try:
            results.append(_invite(session, caller, line, organization, given))
        except DomainError as error:
            refused = LineResult(line.line, line.email, Outcome.REFUSED, error.message)
            if error.code == "user_limit_reached":
                refused = replace(
                    refused,
                    organization=organization.name,
                    organization_id=organization.id,
                    is_full=True,
                )
            results.append(refused)
    return results


def invite_where_all_fit(
    session: Session,
    caller: Caller,
    wanted: Sequence[Wanted],
    *,
    organization_id: UUID | None = None,
    role: Role = Role.STANDARD,
    roles: Mapping[str, Role] = MappingProxyType({}),
) -> tuple[list[LineResult], list[Full]]:
    """As `invite_many`, but an organization without seats for all of its new users gets none of
    them: the caller chooses who comes in. Return the full organizations too."""
    with session.begin_nested() as trial:
        results = invite_many(
            session, caller, wanted, organization_id=organization_id, role=role, roles=roles
        )
        full = _full(results)
        if full:
            trial.rollback()
    if not full:
        return results, []
    new = _new(results)
    left_out = {
        at: _without_seat(result, full[result.organization_id])
        for at, result in enumerate(results)
        if result.organization_id in full
        and (result.outcome is not Outcome.KNOWN or result.user_id in new)
    }
    others = iter(
        invite_many(
            session,
            caller,
            [each for at, each in enumerate(wanted) if at not in left_out],
            organization_id=organization_id,
            role=role,
            roles=roles,
        )
    )
    return [left_out.get(at) or next(others) for at in range(len(wanted))], list(full.values())


def check_many(
    session: Session,
    caller: Caller,
    wanted: Sequence[Wanted],
    *,
    organization_id: UUID | None = None,
    role: Role = Role.STANDARD,
    roles: Mapping[str, Role] = MappingProxyType({}),
) -> tuple[list[LineResult], list[Full]]:
    """Return what `invite_where_all_fit` would; nothing is written and no mail is sent."""
    with session.begin_nested() as trial:
        results, full = invite_where_all_fit(
            session, caller, wanted, organization_id=organization_id, role=role, roles=roles
        )
        trial.rollback()
    new = _new(results)
    again = gettext("Listed twice.")
    return [
        replace(each, message=again)
        if each.outcome is Outcome.KNOWN and each.user_id in new
        else each
        for each in results
    ], full


def _full(results: Sequence[LineResult]) -> dict[UUID | None, Full]:
    """Return the organizations whose user limit refused anyone."""
    invited = Counter(r.organization_id for r in results if r.outcome is Outcome.INVITED)
    refused = Counter((r.organization_id, r.organization) for r in results if r.is_full)
    return {
        found: Full(found, name or "", invited[found], invited[found] + count)
        for (found, name), count in refused.items()
        if found is not None
    }


def _new(results: Sequence[LineResult]) -> set[UUID | None]:
    """Return the ids of the users who were invited; another line of such a user is KNOWN."""
    return {result.user_id for result in results if result.outcome is Outcome.INVITED}


def _without_seat(result: LineResult, full: Full) -> LineResult:
    return replace(result, outcome=Outcome.REFUSED, message=full.message, user_id=None)


def _with_role(line: Wanted, roles: Mapping[str, Role]) -> Wanted:
    """Return the line with its last cell as the role, if it is one and has no column of its own."""
    if line.role is None and (line.organization or "").lower() in roles:
        return replace(line, organization=None, role=line.organization)
    return line


def _unknown_role(words: str) -> str:
    return gettext("There is no role “%(role)s” for members.", role=words)


def _problems_of(line: Wanted) -> list[str]:
    """Return what is wrong with the address and the name."""
    checks: tuple[Callable[[], None], ...] = (
        lambda: refuse_no_email(line.email),
        lambda: refuse_too_long("name", line.name, MAX_NAME),
    )
    problems = []
    for check in checks:
        try:
            check()
        except ValidationFailed as error:
            problems.append(error.message)
    return problems


def _invite(
    session: Session, caller: Caller, line: Wanted, organization: Organization, role: Role
) -> LineResult:
    known = session.scalar(
        visible(caller).where(
            User.email_key == email_key(line.email), User.organization_id == organization.id
        )
    )
    if known is not None:
        words = (
            gettext("Already invited.")
            if known.status is UserStatus.INVITED
            else gettext("Already a member.")
        )
        return _result(line, Outcome.KNOWN, words, organization, known)
    with session.begin_nested():
        user = invite(
            session,
            caller,
            email=line.email,
            user_type=role,
            organization_id=organization.id,
            name=line.name,
        )
    return _result(line, Outcome.INVITED, gettext("Invited."), organization, user)


def _result(
    line: Wanted, outcome: Outcome, words: str, organization: Organization, user: User
) -> LineResult:
    return LineResult(
        line.line,
        line.email,
        outcome,
        words,
        organization.name,
        organization.id,
        user.id,
        role=user.role,
    )


def _organization(
    session: Session,
    caller: Caller,
    line: Wanted,
    usual: Organization | None,
    found: dict[str, list[Organization]],
) -> Organization:
    if line.organization is None:
        if usual is None:
            message = gettext(
                "This line has no organization. Add one, or choose one for all lines."
            )
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
        message = gettext("There is no organization called “%(name)s”.", name=name)
        raise ValidationFailed.on("organization", "organization_not_found", message)
    if len(found) > 1:
        message = gettext(
            "Several organizations are called “%(name)s”. Invite from the right one’s page.",
            name=name,
        )
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


def _wanted(line: PastedLine, columns: dict[str, int] | None) -> list[Wanted]:
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
    places = [at for at, cell in enumerate(cells) if "@" in cell]
    if len(places) < 2:
        return [cells]
    starts = places if places[0] == 0 else [0, *(at + 1 for at in places[:-1])]
    return [cells[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _of_cells(line: PastedLine, cells: tuple[str, ...]) -> Wanted:
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


def _entry(line: int, email: str, name: str, organization: str, role: str) -> Wanted:
    return Wanted(line, email[:254], name or None, organization or None, role or None)


def _cell(line: PastedLine, at: int) -> str:
    return line.cells[at] if at < len(line.cells) else ""
