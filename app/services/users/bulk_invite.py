"""Inviting many users at once: each row has a result, and repeating a row does nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, UserStatus
from app.errors import DomainError, Problem, ValidationFailed, too_long
from app.languages import gettext, numbers
from app.models import Organization, User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations
from app.services.tenancy import (
    ARCHIVED,
    ORGANIZATION_SUSPENDED,
    archived_message,
    suspended_message,
)
from app.services.users.creating import email_exists, email_key, invite, refuse_no_email
from app.services.users.invitees import Invitee
from app.services.users.loading import check_type, visible
from app.services.users.updating import MAX_NAME

BATCH_SIZE = 50
"""Rows invited per transaction: about half a second, in which SQLite has no other writer."""


class InviteOutcome(StrEnum):
    INVITED = "invited"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class InviteDefaults:
    """The organization and role of rows that name none; ``roles`` are those of members by their
    names, in lower case."""

    organization_id: UUID | None = None
    role: Role = Role.STANDARD
    roles: Mapping[str, Role] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckedInvitee:
    """A row and what inviting does with it: ``problems`` if it is refused, ``reason`` if the user
    is known. The organization and ``role`` are those that the user gets or has. ``nearest``: the
    name most like that of an organization that isn't found."""

    row: Invitee
    outcome: InviteOutcome
    problems: tuple[Problem, ...] = ()
    reason: str = ""
    organization_id: UUID | None = None
    organization: str = ""
    role: Role | None = None
    nearest: str | None = None
    is_duplicate: bool = False
    """An earlier row invites the user."""

    @property
    def number(self) -> int:
        return self.row.number

    @property
    def is_ready(self) -> bool:
        return self.outcome is InviteOutcome.INVITED

    @property
    def is_refused(self) -> bool:
        return self.outcome is InviteOutcome.REFUSED


@dataclass(frozen=True, slots=True)
class FullOrganization:
    """An organization with too few seats for all of its ``new`` users besides the ``used``
    ones."""

    organization_id: UUID
    name: str
    used: int
    limit: int
    new: int

    @property
    def needed(self) -> int:
        """Return the user limit that fits all of them."""
        return self.used + self.new

    @property
    def message(self) -> str:
        return gettext(
            "%(organization)s has %(taken)s of %(limit)s users. Raise the limit by %(more)s.",
            organization=self.name,
            taken=numbers.localize_number(self.used),
            limit=numbers.localize_number(self.limit),
            more=numbers.localize_number(self.needed - self.limit),
        )


@dataclass(frozen=True, slots=True)
class CheckedInvitees:
    """The rows with their results, and the organizations with too few seats for them."""

    rows: list[CheckedInvitee]
    full: list[FullOrganization]


def check_many(
    session: Session, caller: Caller, rows: Sequence[Invitee], defaults: InviteDefaults
) -> CheckedInvitees:
    """Return what inviting the rows one after another would do; nothing is written. The first rows
    of an organization take its free seats.

    A member of the organization is KNOWN, keeps the role and gets no mail. Raises `Forbidden`, and
    `NotFound` for the organization of ``defaults``.
    """
    caller.require(Permission.USERS_WRITE)
    check_type(caller, defaults.role)
    check = _ListCheck(session, caller, rows, defaults)
    return CheckedInvitees([check.result(row) for row in rows], check.full_organizations())


def invite_many(
    session: Session, caller: Caller, rows: Sequence[Invitee], defaults: InviteDefaults
) -> list[CheckedInvitee]:
    """Invite the users of the rows without a problem; one who is refused changes nothing and stops
    no other. A list is invited in transactions of `BATCH_SIZE` rows. Raises as `check_many`."""
    results = []
    for checked in check_many(session, caller, rows, defaults).rows:
        if checked.role is None or not checked.is_ready:
            results.append(checked)
            continue
        try:
            with session.begin_nested():
                invite(
                    session,
                    caller,
                    email=checked.row.email,
                    user_type=checked.role,
                    organization_id=checked.organization_id,
                    name=checked.row.name,
                    refuse_suspended=True,
                )
            results.append(checked)
        except DomainError as error:
            problems = error.problems or (Problem("", error.code, error.message),)
            refused = replace(checked, outcome=InviteOutcome.REFUSED, problems=tuple(problems))
            results.append(refused)
    return results


class _ListCheck:
    """The check of a list: a fixed number of queries, and two for each unknown organization."""

    def __init__(
        self, session: Session, caller: Caller, rows: Sequence[Invitee], defaults: InviteDefaults
    ):
        self._caller = caller
        self._defaults = defaults
        self._default_organization = (
            organizations.get(session, caller, defaults.organization_id)
            if defaults.organization_id
            else None
        )
        names = {row.organization for row in rows if row.organization}
        self._by_name = organizations.find_by_names(session, caller, names)
        self._nearest = {
            name: organizations.nearest_name(session, caller, name)
            for name, matches in self._by_name.items()
            if not matches
        }
        named = [each for matches in self._by_name.values() for each in matches]
        if self._default_organization is not None:
            named.append(self._default_organization)
        partner_ids = {each.partner_id for each in named} | {caller.partner_id}
        of_rows = (
            User.partner_id.in_(partner_ids - {None}),
            User.email_key.in_({row.email.lower() for row in rows}),
        )
        self._members = {
            (user.organization_id, user.email_key): user
            for user in session.scalars(visible(caller).where(*of_rows))
        }
        addresses = select(User.partner_id, User.email_key).where(*of_rows)
        self._addresses = {(partner_id, key) for partner_id, key in session.execute(addresses)}
        self._taken = organizations.seats_taken_by(session, {each.id for each in named})
        self._invited: dict[tuple[UUID, str], CheckedInvitee] = {}
        """The rows that invite a user, by partner and address."""
        self._full: dict[UUID, Organization] = {}
        self._without_seat: set[tuple[UUID, str]] = set()
        """The organizations and addresses of users without a free seat."""

    def result(self, row: Invitee) -> CheckedInvitee:
        """Return the result of a row after those of the rows before it."""
        problems: list[Problem] = []
        organization = None
        try:
            organization = self._organization(row)
        except ValidationFailed as error:
            problems += error.problems
        if organization is not None and (member := self._member(row, organization)):
            return member
        role = self._defaults.roles.get(row.role.lower()) if row.role else self._defaults.role
        if role is None:
            problems.append(Problem("role", "unknown_role", gettext("Choose Member or Owner.")))
        partner_id = organization.partner_id if organization else self._caller.partner_id
        problems += too_long("name", row.name, MAX_NAME)
        problems += self._address_problems(row, partner_id)
        if organization is not None and not problems and self._is_full(organization):
            self._full[organization.id] = organization
            self._without_seat.add((organization.id, row.email.lower()))
            message = gettext("User limit reached. Raise the limit, or leave this row out.")
            problems.append(Problem("organization", "user_limit_reached", message))
        if organization is None or problems:
            nearest = self._nearest.get(row.organization or "")
            refused = InviteOutcome.REFUSED
            return CheckedInvitee(row, refused, problems=tuple(problems), nearest=nearest)
        self._taken[organization.id] += 1
        invited = _checked(row, InviteOutcome.INVITED, organization, role)
        self._invited[organization.partner_id, row.email.lower()] = invited
        return invited

    def full_organizations(self) -> list[FullOrganization]:
        """Return the organizations that don't have enough seats for the rows so far."""
        new = Counter(invited.organization_id for invited in self._invited.values())
        left = Counter(organization_id for organization_id, _email in self._without_seat)
        return [
            FullOrganization(
                organization_id=organization.id,
                name=organization.name,
                used=self._taken[organization.id] - new[organization.id],
                limit=organization.user_limit,
                new=new[organization.id] + left[organization.id],
            )
            for organization in self._full.values()
        ]

    def _organization(self, row: Invitee) -> Organization:
        organization = self._default_organization
        if row.organization is not None:
            organization = only_match(row.organization, self._by_name[row.organization])
        elif organization is None:
            message = gettext("No organization. Add one, or choose one for all rows.")
            raise ValidationFailed.on("organization", "required", message)
        if organization.status is OrganizationStatus.SUSPENDED:
            message = suspended_message(organization.name)
            raise ValidationFailed.on("organization", ORGANIZATION_SUSPENDED, message)
        if organization.status is OrganizationStatus.ARCHIVED:
            raise ValidationFailed.on("organization", ARCHIVED, archived_message())
        return organization

    def _member(self, row: Invitee, organization: Organization) -> CheckedInvitee | None:
        """Return the result for a member of the organization, or for a user that an earlier
        row invites; None for anyone else."""
        key = row.email.lower()
        earlier = self._invited.get((organization.partner_id, key))
        if earlier is not None and earlier.organization_id == organization.id:
            return replace(
                earlier,
                row=row,
                outcome=InviteOutcome.KNOWN,
                reason=_listed_twice(),
                is_duplicate=True,
            )
        user = self._members.get((organization.id, key))
        if user is None:
            return None
        is_invited = user.status is UserStatus.INVITED
        reason = gettext("Already invited.") if is_invited else gettext("Already a member.")
        return replace(_checked(row, InviteOutcome.KNOWN, organization, user.role), reason=reason)

    def _address_problems(self, row: Invitee, partner_id: UUID | None) -> Sequence[Problem]:
        try:
            refuse_no_email(row.email)
            address = partner_id, email_key(row.email)
            if address in self._addresses:
                raise email_exists()
        except ValidationFailed as error:
            return error.problems
        if address in self._invited:
            return [Problem("email", "email_exists", _listed_twice())]
        return []

    def _is_full(self, organization: Organization) -> bool:
        return 0 < organization.user_limit <= self._taken[organization.id]


def _listed_twice() -> str:
    return gettext("Listed twice.")


def _checked(
    row: Invitee, outcome: InviteOutcome, organization: Organization, role: Role | None
) -> CheckedInvitee:
    return CheckedInvitee(
        row,
        outcome,
        organization_id=organization.id,
        organization=organization.name,
        role=role,
    )


def only_match(name: str, matches: Sequence[Organization]) -> Organization:
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


def organization_by_name(session: Session, caller: Caller, name: str) -> Organization:
    """Return the caller's organization of this name. Raises as `only_match`, and `ValidationFailed`
    (``archived``) if only an archived one has it."""
    matches = organizations.find_by_name(session, caller, name)
    if not matches and organizations.find_by_name(session, caller, name, archived=True):
        raise ValidationFailed.on("organization", ARCHIVED, archived_message())
    return only_match(name, matches)
