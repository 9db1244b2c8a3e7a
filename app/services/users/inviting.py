"""Inviting many users at once: each has a result, and repeating a line does nothing."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import DomainError, ValidationFailed, refuse_too_long
from app.languages import gettext, ngettext, numbers
from app.models import Organization, User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations
from app.services.users.changing import MAX_NAME
from app.services.users.creating import email_key, invite, refuse_no_email
from app.services.users.invitees import Invitee
from app.services.users.loading import check_type, visible


class Outcome(StrEnum):
    INVITED = "invited"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Defaults:
    """The organization and role of lines that name none; ``roles`` are those of members by the
    words for them, in lower case."""

    organization_id: UUID | None = None
    role: Role = Role.STANDARD
    roles: Mapping[str, Role] = field(default_factory=dict)


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


def invite_many(
    session: Session, caller: Caller, wanted: Sequence[Invitee], defaults: Defaults
) -> list[LineResult]:
    """Invite members one by one; one who is refused changes nothing and stops no other.

    An existing member of the organization is KNOWN, keeps the role and gets no mail. Raises
    `Forbidden`, and `NotFound` for the organization of ``defaults``.
    """
    caller.require(Permission.USERS_WRITE)
    check_type(caller, defaults.role)
    usual = (
        organizations.get(session, caller, defaults.organization_id)
        if defaults.organization_id
        else None
    )
    found: dict[str, list[Organization]] = {}
    results = []
    for line in wanted:
        problems = _problems_of(line)
        role = defaults.roles.get(line.role.lower()) if line.role else defaults.role
        if role is None:
            problems.append(_unknown_role(line.role or ""))
        try:
            organization = _organization(session, caller, line, usual, found)
        except DomainError as error:
            problems.append(error.message)
        if problems or role is None:
            words = " ".join(problems)
            results.append(LineResult(line.line, line.email, Outcome.REFUSED, words))
            continue
        try:
            results.append(_invite(session, caller, line, organization, role))
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
    session: Session, caller: Caller, wanted: Sequence[Invitee], defaults: Defaults
) -> tuple[list[LineResult], list[Full]]:
    """As `invite_many`, but an organization without seats for all of its new users gets none of
    them: the caller chooses who comes in. Return the full organizations too."""
    with session.begin_nested() as trial:
        results = invite_many(session, caller, wanted, defaults)
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
    kept = [each for at, each in enumerate(wanted) if at not in left_out]
    others = iter(invite_many(session, caller, kept, defaults))
    return [left_out.get(at) or next(others) for at in range(len(wanted))], list(full.values())


def check_many(
    session: Session, caller: Caller, wanted: Sequence[Invitee], defaults: Defaults
) -> tuple[list[LineResult], list[Full]]:
    """Return what `invite_where_all_fit` would; nothing is written and no mail is sent."""
    with session.begin_nested() as trial:
        results, full = invite_where_all_fit(session, caller, wanted, defaults)
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


def _unknown_role(words: str) -> str:
    return gettext("There is no role “%(role)s” for members.", role=words)


def _problems_of(line: Invitee) -> list[str]:
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
    session: Session, caller: Caller, line: Invitee, organization: Organization, role: Role
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
    line: Invitee, outcome: Outcome, words: str, organization: Organization, user: User
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
    line: Invitee,
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
