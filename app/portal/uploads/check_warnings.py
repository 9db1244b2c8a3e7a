"""The warnings of the check screen: about rows to apply, and how they were read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from app.enums import CampaignStatus, ContactAction
from app.errors import translate_stored
from app.languages import gettext, ngettext
from app.models import Campaign, ContactImport, Organization, utcnow
from app.phone import country_name
from app.portal.uploads.upload_pages import choice_url
from app.portal.web.formats import number
from app.services import outreach
from app.services.contacts.results import FAILED
from app.services.imports import reports
from app.services.imports.kinds import DUPLICATE, NOT_IN_USE
from app.services.imports.records import earlier_row
from app.services.imports.reports import ProblemKind, ShownRow
from app.services.imports.summary import ASSUMED_COUNTRY

SHOWN_DUPLICATES = 3
MOST_PAIRS = 2
"""How many pairs of rows are decided above the figures; more are on their own page."""
SOON = timedelta(minutes=2)
_OTHER_LENGTHS = frozenset({"too_short", "too_long", "wrong_length"})
"""The reasons of numbers that may be of another country."""
_NATIONAL_DIGITS = 8
"""The digits that national numbers have at least in most countries."""


@dataclass(frozen=True, slots=True)
class RowPair:
    """Two rows about the same contact, of which one can be kept alone."""

    message: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class RowWarning:
    """Rows that are applied but need review; ``link`` leads to them at ``url``. ``pairs`` are those
    among them that are decided here."""

    title: str
    text: str
    url: str
    link: str
    pairs: Sequence[RowPair] = ()


def row_warnings(
    session: Session, upload: ContactImport, notes: Sequence[ProblemKind]
) -> list[RowWarning]:
    """Return warnings about rows before they are applied: numbers that aren't in use, and contacts
    that are repeated in the file."""
    warnings = []
    if upload.action is not ContactAction.REMOVE and (rows := rows_of(notes, NOT_IN_USE)):
        title = ngettext("%(num)s number is not in use", "%(num)s numbers are not in use", rows)
        text = gettext(
            "No one has such a number in its country. The contacts are added, but campaigns don’t "
            "call them. Check the digits."
        )
        warnings.append(
            RowWarning(title, text, choice_url(upload, note=NOT_IN_USE), gettext("Show numbers"))
        )
    if rows := rows_of(notes, DUPLICATE):
        warnings.append(_duplicates_warning(session, upload, rows))
    return warnings


def _duplicates_warning(session: Session, upload: ContactImport, rows: int) -> RowWarning:
    title = ngettext("Duplicate in this file: %(num)s", "Duplicates in this file: %(num)s", rows)
    sentences, pairs = [], []
    last_row_wins = ""
    for row, stored in reports.first_notes(session, upload, DUPLICATE, SHOWN_DUPLICATES):
        message = translate_stored(stored)
        sentence = gettext("Row %(row)s: %(message)s", row=number(row), message=message)
        earlier = earlier_row(stored)
        if earlier:
            last_row_wins = gettext("The values of the last row win.")
        if earlier and rows <= MOST_PAIRS:
            pairs.append(RowPair(sentence, earlier, row))
        else:
            sentences.append(sentence)
    text = " ".join([*sentences, last_row_wins]).strip()
    url = choice_url(upload, note=DUPLICATE)
    return RowWarning(title, text, url, gettext("Show duplicates"), pairs)


def new_calls_message(session: Session, campaign: Campaign, upload: ContactImport) -> str:
    """Return how many contacts a running campaign will start to call when the rows are applied."""
    if (
        upload.action is ContactAction.REMOVE
        or not upload.created
        or campaign.status is not CampaignStatus.ACTIVE
        or (plan := outreach.stored_plan(session, campaign)) is None
    ):
        return ""
    organization = session.get_one(Organization, campaign.organization_id)
    opens_at = outreach.opens_at(session, plan, campaign, organization, utcnow())
    if opens_at is None or opens_at - utcnow() > SOON:
        return ngettext(
            "%(num)s new contact is called as soon as the plan allows.",
            "%(num)s new contacts are called as soon as the plan allows.",
            upload.created,
        )
    return ngettext(
        "%(num)s new contact is called as soon as the plan allows, perhaps within seconds.",
        "%(num)s new contacts are called as soon as the plan allows, the first perhaps within "
        "seconds.",
        upload.created,
    )


def doubtful_country(
    session: Session,
    upload: ContactImport,
    kinds: Sequence[ProblemKind],
    rows: Sequence[ShownRow],
) -> str:
    """Return the country as whose numbers the file was read if most failed rows, and more than were
    read well, have a number without a country code that has another length there; else nothing."""
    misfits = sum(
        kind.rows
        for kind in kinds
        if kind.code == "invalid_phone" and kind.reason in _OTHER_LENGTHS
    )
    fitting = upload.found.get("noteRows", {}).get(ASSUMED_COUNTRY, 0)
    failed = [row for row in rows if row.outcome == FAILED]
    without_code = sum(map(_lacks_country_code, failed))
    if misfits * 2 <= upload.failed or misfits <= fitting or without_code * 2 <= len(failed):
        return ""
    organization = session.get_one(Organization, upload.organization_id)
    return country_name(upload.read_options.get("region") or organization.default_region)


def _lacks_country_code(row: ShownRow) -> bool:
    """Return whether a number of the row was refused that may be a whole one of another country."""
    cells = [
        row.cells[problem.column_index].strip("( ")
        for problem in row.problems
        if problem.code == "invalid_phone" and problem.column_index is not None
    ]
    return any(
        not cell.startswith(("+", "00")) and sum(map(str.isdigit, cell)) >= _NATIONAL_DIGITS
        for cell in cells
    )


def rows_of(kinds: Sequence[ProblemKind], code: str) -> int:
    """Return the number of rows with a problem or note of this code."""
    return sum(kind.rows for kind in kinds if kind.code == code)
