"""Create an organization for each row of a file, after a check of all rows."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CarrierKind, OrganizationStatus
from app.errors import DomainError, Problem
from app.languages import gettext, lazy_gettext
from app.models import Organization, User
from app.models.base import name_key
from app.policy.caller import Caller
from app.services.organization_templates.checking import InstallationBounds, openable_for
from app.services.organization_templates.content import content_of
from app.services.organization_templates.creating import (
    OrganizationDetails,
    create_organization,
    problems_of_details,
)
from app.services.organization_templates.loading import get
from app.services.organization_templates.organization_files import OrganizationFileRow
from app.services.users import new_administrators
from app.services.users.creating import email_exists

BATCH_SIZE = 20
"""Rows created per transaction: about half a second, in which SQLite has no other writer."""
_COLUMN_NAMES = {
    "name": lazy_gettext("Name"),
    "email": lazy_gettext("Email"),
    "userName": lazy_gettext("User name"),
    "defaultRegion": lazy_gettext("Country"),
    "timezone": lazy_gettext("Time zone"),
}
"""Column names by the field of a problem."""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A row and its problems; ``organization_id`` is set once it is created."""

    row: OrganizationFileRow
    problems: tuple[Problem, ...] = ()
    organization_id: UUID | None = None

    @property
    def message(self) -> str:
        """The problems, each after the name of its column."""
        return " ".join(map(_at_its_column, self.problems))


def check_many(
    session: Session,
    caller: Caller,
    template_id: UUID,
    rows: Sequence[OrganizationFileRow],
    bounds: InstallationBounds,
    *,
    of_file: Sequence[OrganizationFileRow] = (),
) -> list[CheckedRow]:
    """Return each row with its problems; nothing is written. A name or an email that exists
    already, or twice in the file, is a problem; ``of_file`` are its rows if ``rows`` are a part of
    them. Raises `Forbidden` and `NotFound`."""
    template = get(session, caller, template_id)
    content = content_of(template)
    openable = openable_for(session, caller, template.partner_id)
    names = _rows_by(of_file or rows, lambda details: name_key(details.name))
    emails = _rows_by(of_file or rows, lambda details: (details.email or "").lower())
    known_names = _known_names(session, template.partner_id, names)
    known_emails = _known_emails(session, template.partner_id, emails)
    checked = []
    for each in rows:
        details = each.details
        problems = [*problems_of_details(content, details, openable, bounds)]
        key, email = name_key(details.name), (details.email or "").lower()
        if key and key in known_names:
            message = gettext("There is an organization %(name)s already.", name=details.name)
            problems.append(Problem("name", "name_taken", message))
        elif key and (other := _other_row(names[key], each)):
            message = gettext("Row %(row)s has the same name.", row=other)
            problems.append(Problem("name", "name_taken", message))
        if content.first_role is not None and email:
            if email in known_emails:
                problems.extend(email_exists().problems)
            elif other := _other_row(emails[email], each):
                message = gettext("Row %(row)s has the same email.", row=other)
                problems.append(Problem("email", "email_exists", message))
        checked.append(CheckedRow(each, tuple(problems)))
    return checked


def create_many(
    session: Session,
    caller: Caller,
    template_id: UUID,
    rows: Sequence[OrganizationFileRow],
    bounds: InstallationBounds,
    *,
    of_file: Sequence[OrganizationFileRow] = (),
    in_trial: bool = True,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
) -> list[CheckedRow]:
    """Create an organization for each row without a problem; a row that is refused leaves nothing
    and stops no other. A file is created in transactions of `BATCH_SIZE` rows; call `mail_owners`
    afterwards. Raises `Forbidden` and `NotFound`."""
    results = []
    for checked in check_many(session, caller, template_id, rows, bounds, of_file=of_file):
        if checked.problems:
            results.append(checked)
            continue
        try:
            with session.begin_nested():
                made = create_organization(
                    session,
                    caller,
                    template_id,
                    checked.row.details,
                    bounds,
                    in_trial=in_trial,
                    carrier=carrier,
                    with_notice=False,
                )
            results.append(CheckedRow(checked.row, organization_id=made.id))
        except DomainError as error:
            problems = error.problems or (Problem("", error.code, error.message),)
            results.append(CheckedRow(checked.row, tuple(problems)))
    return results


def mail_owners(session: Session, caller: Caller, results: Iterable[CheckedRow]) -> None:
    """Queue one mail to the administrators about the owners of all organizations of a file."""
    made_ids = [each.organization_id for each in results if each.organization_id]
    new_administrators.mail_owners(session, caller, made_ids)


def as_json(results: Iterable[CheckedRow]) -> list[Any]:
    """Return the results of rows, for `from_json`."""
    return [
        [
            str(each.organization_id) if each.organization_id else None,
            [[problem.field, problem.code, problem.message] for problem in each.problems],
        ]
        for each in results
    ]


def from_json(rows: Sequence[OrganizationFileRow], kept: Sequence[Any]) -> list[CheckedRow]:
    """Return the results of these rows."""
    return [
        CheckedRow(
            row, tuple(Problem(*each) for each in problems), UUID(made_id) if made_id else None
        )
        for row, (made_id, problems) in zip(rows, kept, strict=True)
    ]


def _at_its_column(problem: Problem) -> str:
    """Return the message of a problem after the name of its column."""
    column = _COLUMN_NAMES.get(problem.field)
    if column is None:
        return problem.message
    return gettext("%(column)s: %(problem)s", column=column, problem=problem.message)


def _rows_by(
    rows: Sequence[OrganizationFileRow], key: Callable[[OrganizationDetails], str]
) -> Mapping[str, list[int]]:
    """Return the numbers of the rows by a key of their organizations."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        numbers[key(row.details)].append(row.number)
    return numbers


def _other_row(numbers: Sequence[int], row: OrganizationFileRow) -> int | None:
    """Return the first of the rows that isn't this one."""
    return next((number for number in numbers if number != row.number), None)


def _known_names(session: Session, partner_id: UUID, keys: Iterable[str]) -> set[str]:
    query = select(Organization.name_key).where(
        Organization.partner_id == partner_id,
        Organization.name_key.in_([key for key in keys if key]),
        Organization.status != OrganizationStatus.ARCHIVED,
    )
    return set(session.scalars(query))


def _known_emails(session: Session, partner_id: UUID, emails: Iterable[str]) -> set[str]:
    query = select(User.email_key).where(
        User.partner_id == partner_id, User.email_key.in_([each for each in emails if each])
    )
    return set(session.scalars(query))
