"""Inviting many users at once: each has a result, and repeating a line does nothing."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import DomainError, ValidationFailed, refuse_too_long
from app.languages import gettext, numbers
from app.models import Organization, User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations
from app.services.tenancy import ARCHIVED, archived_words
from app.services.users.changing import MAX_NAME
from app.services.users.creating import invite, refuse_known_address, refuse_no_email
from app.services.users.invitees import Invitee
from app.services.users.loading import check_type, visible


class InviteOutcome(StrEnum):
    INVITED = "invited"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class InviteDefaults:
    """The organization and role of lines that name none; ``roles`` are those of members by their
    names, in lower case."""

    organization_id: UUID | None = None
    role: Role = Role.STANDARD
    roles: Mapping[str, Role] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LineResult:
    """The result for a user of a line; ``user_id`` is None if they were refused. ``is_full``: the
    organization's user limit refused them. ``role``: of the user who is or was invited.
    ``nearest``: the name most like that of an organization that isn't found. ``wrong``: the fields
    of a refused line that have to change. ``is_duplicate``: an earlier line invites the user."""

    line: int
    email: str
    outcome: InviteOutcome
    message: str
    organization: str | None = None
    organization_id: UUID | None = None
    user_id: UUID | None = None
    is_full: bool = False
    role: Role | None = None
    nearest: str | None = None
    wrong: frozenset[str] = frozenset()
    is_duplicate: bool = False


@dataclass(frozen=True, slots=True)
class FullOrganization:
    """An organization with too few seats for all of its ``new`` users besides the ``taken``
    ones."""

    organization_id: UUID
    name: str
    taken: int
    limit: int
    new: int

    @property
    def needed(self) -> int:
        """Return the user limit that fits all of them."""
        return self.taken + self.new

    @property
    def message(self) -> str:
        return gettext(
            "%(organization)s has %(taken)s of %(limit)s users. Raise the limit by %(more)s.",
            organization=self.name,
            taken=numbers.written_number(self.taken),
            limit=numbers.written_number(self.limit),
            more=numbers.written_number(self.needed - self.limit),
        )


def invite_many(
    session: Session, caller: Caller, wanted: Sequence[Invitee], defaults: InviteDefaults
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
    matches: dict[str, list[Organization]] = {}
    listed: set[tuple[UUID, str]] = set()
    results = []
    for line in wanted:
        role = defaults.roles.get(line.role.lower()) if line.role else defaults.role
        organization, missing = None, []
        try:
            organization = _organization(session, caller, line, usual, matches)
        except DomainError as error:
            missing = [error.message]
        if organization is not None:
            known = _known(session, caller, line, organization)
            if known is not None:
                results.append(known)
                continue
        partner_id = organization.partner_id if organization else caller.partner_id
        problems = _problems_of(session, line, partner_id, listed)
        wrong = {"email": bool(problems), "role": role is None, "organization": bool(missing)}
        if role is None:
            problems.append(gettext("Choose Member or Owner."))
        problems += missing
        if problems or role is None or organization is None:
            words = " ".join(problems)
            refused = LineResult(line.line, line.email, InviteOutcome.REFUSED, words)
            fields = frozenset(name for name, is_wrong in wrong.items() if is_wrong)
            results.append(replace(refused, wrong=fields))
            continue
        try:
            results.append(_invite(session, caller, line, organization, role))
            listed.add((organization.partner_id, line.email.lower()))
        except DomainError as error:
            refused = LineResult(line.line, line.email, InviteOutcome.REFUSED, error.message)
            if error.code == "user_limit_reached":
                refused = replace(
                    refused,
                    organization=organization.name,
                    organization_id=organization.id,
                    is_full=True,
                )
            results.append(refused)
    return _with_nearest(session, caller, wanted, results, matches)


def invite_within_limits(
    session: Session, caller: Caller, wanted: Sequence[Invitee], defaults: InviteDefaults
) -> tuple[list[LineResult], list[FullOrganization]]:
    """As `invite_many`: the first lines of an organization take its free seats, and the results of
    the others say what to do. Return the full organizations too."""
    results = invite_many(session, caller, wanted, defaults)
    refused = [result for result in results if result.is_full]
    return [_with_way_out(result) for result in results], _full(session, refused)


def check_many(
    session: Session, caller: Caller, wanted: Sequence[Invitee], defaults: InviteDefaults
) -> tuple[list[LineResult], list[FullOrganization]]:
    """Return what `invite_within_limits` would, with the seats that are taken now; nothing is
    written and no mail is sent."""
    with session.begin_nested() as trial:
        results, _full_then = invite_within_limits(session, caller, wanted, defaults)
        trial.rollback()
    new = {result.user_id for result in results if result.outcome is InviteOutcome.INVITED}
    full = {result.organization_id for result in results if result.is_full}
    new_there = [
        result
        for result in results
        if result.organization_id in full
        and (result.is_full or result.outcome is InviteOutcome.INVITED)
    ]
    return [
        replace(each, message=_listed_twice(), is_duplicate=True)
        if each.outcome is InviteOutcome.KNOWN and each.user_id in new
        else each
        for each in results
    ], _full(session, new_there)


def _full(session: Session, new: Sequence[LineResult]) -> list[FullOrganization]:
    """Return the full organizations of these lines of ``new`` users."""
    users = {(result.organization_id, result.email.lower()) for result in new}
    counts = Counter(organization_id for organization_id, _email in users)
    full = []
    for organization_id in dict.fromkeys(result.organization_id for result in new):
        organization = session.get_one(Organization, organization_id)
        taken = organizations.seats_taken(session, organization.id)
        full.append(
            FullOrganization(
                *(organization.id, organization.name, taken, organization.user_limit),
                counts[organization_id],
            )
        )
    return full


def _with_way_out(result: LineResult) -> LineResult:
    if not result.is_full:
        return result
    message = gettext("User limit reached. Raise the limit, or leave this line out.")
    return replace(result, message=message)


def _listed_twice() -> str:
    return gettext("Listed twice.")


def _problems_of(
    session: Session,
    line: Invitee,
    partner_id: UUID | None,
    listed: Collection[tuple[UUID, str]],
) -> list[str]:
    """Return what is wrong with the address and the name; ``listed`` are the partners and addresses
    of those who were just invited."""
    checks: list[Callable[[], None]] = [
        lambda: refuse_no_email(line.email),
        lambda: refuse_too_long("name", line.name, MAX_NAME),
    ]
    problems = []
    if partner_id is not None and (partner_id, line.email.lower()) in listed:
        problems.append(_listed_twice())
    elif partner_id is not None:
        checks.append(lambda: refuse_known_address(session, partner_id, line.email))
    for check in checks:
        try:
            check()
        except ValidationFailed as error:
            problems.append(error.message)
    return problems


def _known(
    session: Session, caller: Caller, line: Invitee, organization: Organization
) -> LineResult | None:
    """Return the result for a member of the organization; None for anyone else."""
    known = session.scalar(
        visible(caller).where(
            User.email_key == line.email.lower(), User.organization_id == organization.id
        )
    )
    if known is None:
        return None
    words = (
        gettext("Already invited.")
        if known.status is UserStatus.INVITED
        else gettext("Already a member.")
    )
    return _result(line, InviteOutcome.KNOWN, words, organization, known)


def _with_nearest(
    session: Session,
    caller: Caller,
    wanted: Sequence[Invitee],
    results: Sequence[LineResult],
    matches: dict[str, list[Organization]],
) -> list[LineResult]:
    nearest = {
        name: organizations.nearest_name(session, caller, name)
        for name, called in matches.items()
        if not called
    }
    return [
        replace(result, nearest=nearest.get((line.organization or "").lower()))
        for line, result in zip(wanted, results, strict=True)
    ]


def _invite(
    session: Session, caller: Caller, line: Invitee, organization: Organization, role: Role
) -> LineResult:
    with session.begin_nested():
        user = invite(
            session,
            caller,
            email=line.email,
            user_type=role,
            organization_id=organization.id,
            name=line.name,
        )
    return _result(line, InviteOutcome.INVITED, gettext("Invited."), organization, user)


def _result(
    line: Invitee, outcome: InviteOutcome, words: str, organization: Organization, user: User
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
    matches: dict[str, list[Organization]],
) -> Organization:
    if line.organization is None:
        if usual is None:
            message = gettext("No organization. Add one, or choose one for all lines.")
            raise ValidationFailed.on("organization", "required", message)
        return usual
    key = line.organization.lower()
    if key not in matches:
        matches[key] = organizations.called(session, caller, line.organization)
    return one_called(line.organization, matches[key])


def one_called(name: str, matches: Sequence[Organization]) -> Organization:
    """Return the only one of the organizations with a name. Raises `ValidationFailed`
    (``organization_not_found``, ``organization_ambiguous``)."""
    if not matches:
        message = gettext("There is no organization called “%(name)s”.", name=name)
        raise ValidationFailed.on("organization", "organization_not_found", message)
    if len(matches) > 1:
        message = gettext(
            "Several organizations are called “%(name)s”. Invite from the right one’s page.",
            name=name,
        )
        raise ValidationFailed.on("organization", "organization_ambiguous", message)
    return matches[0]


def by_name(session: Session, caller: Caller, name: str) -> Organization:
    """Return the caller's organization of this name. Raises as `one_called`, and `ValidationFailed`
    (``archived``) if only an archived one has it."""
    matches = organizations.called(session, caller, name)
    if not matches and organizations.called(session, caller, name, archived=True):
        raise ValidationFailed.on("organization", ARCHIVED, archived_words())
    return one_called(name, matches)
