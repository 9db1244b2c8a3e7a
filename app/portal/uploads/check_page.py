"""The check screen of an upload."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import request, url_for
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, ContactAction
from app.errors import translate_stored
from app.languages import gettext, lazy_gettext, ngettext
from app.models import Campaign, ContactImport, Organization, utcnow
from app.phone import country_name
from app.portal.uploads.closed_countries import closed_countries_warning
from app.portal.uploads.forms import DELIMITER_LABELS, ENCODING_LABELS, ReadingForm
from app.portal.uploads.labels import (
    file_notes,
    fix_labels,
    ignored_label,
    kind_label,
    note_label,
    repair_text,
    repair_title,
    repaired_title,
)
from app.portal.uploads.sheet import columns_of, hidden_column, sheet_row
from app.portal.uploads.upload_pages import cancel_confirmation
from app.portal.web import lists
from app.portal.web.formats import number
from app.services import outreach
from app.services.contacts.results import CREATED, DELETED, FAILED, IGNORED, UPDATED
from app.services.imports import corrections, reports, uploads
from app.services.imports.changes import changes_of
from app.services.imports.kinds import COUNTRY_NOT_OPEN, DUPLICATE, NO_PHONE, NOT_IN_USE, UNCHANGED
from app.services.imports.mapping import ColumnTarget, HeaderMapping
from app.services.imports.records import earlier_row
from app.services.imports.reports import ProblemKind, ShownRow
from app.services.imports.summary import ASSUMED_COUNTRY
from app.validation.texts import whole_number


@dataclass(frozen=True, slots=True)
class FilterChip:
    label: str
    count: int
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class RowWarning:
    """Rows that are applied but need review; ``link`` leads to them at ``url``. Each of the
    ``pairs`` is two rows about the same contact, of which one can be kept alone."""

    title: str
    text: str
    url: str
    link: str
    pairs: tuple[tuple[int, int], ...] = ()


SHOWN_DUPLICATES = 3
SOON = timedelta(minutes=2)
_ROWS_TITLES = {
    None: lazy_gettext("Rows of the file"),
    CREATED: lazy_gettext("New contacts"),
    UPDATED: lazy_gettext("Contacts to update"),
    UNCHANGED: lazy_gettext("Unchanged contacts"),
    DELETED: lazy_gettext("Contacts to delete"),
    IGNORED: lazy_gettext("Ignored rows"),
    FAILED: lazy_gettext("Rows to fix"),
}
"""The heading of the rows by their outcome."""
_OTHER_LENGTHS = frozenset({"too_short", "too_long", "wrong_length"})
"""The reasons of numbers that may be of another country."""
_NATIONAL_DIGITS = 8
"""The digits that national numbers have at least in most countries."""
SubmittedCells = Mapping[int, Mapping[int, str]]
"""Submitted corrections: row number -> index of the column -> text."""
_CELL = re.compile(r"(?:cell|choice)-(\d{1,8})-(\d{1,4})", re.ASCII)
_ROW = re.compile(r"\d{1,8}", re.ASCII)


def submitted_cells() -> dict[int, dict[int, str]]:
    """Return the corrections in the form, changed or not. A number that was chosen follows the
    cell's field, and counts."""
    cells: dict[int, dict[int, str]] = {}
    for name, text in request.form.items():
        if match := _CELL.fullmatch(name):
            cells.setdefault(int(match[1]), {})[int(match[2])] = text
    return cells


def rows_left_out() -> set[int]:
    """Return the numbers of the rows that the form leaves out."""
    return {int(text) for text in request.form.getlist("left_out") if _ROW.fullmatch(text)}


@dataclass(frozen=True, slots=True)
class RowChoice:
    """The rows selected by the URL, by a kind of problem, a note or an outcome; None for all.
    ``kinds`` and ``notes`` are those of the upload."""

    kinds: Sequence[ProblemKind]
    notes: Sequence[ProblemKind]
    kind: ProblemKind | None
    note: ProblemKind | None
    outcome: str | None

    def title(self) -> str:
        return str(_ROWS_TITLES[FAILED if self.kind else None if self.note else self.outcome])

    def total(self, upload: ContactImport) -> int:
        if problem_kind := self.kind or self.note:
            return problem_kind.rows
        return uploads.figures_of(upload)[self.outcome] if self.outcome else upload.rows_total


def check_context(
    session: Session, upload: ContactImport, submitted: SubmittedCells | None = None
) -> dict[str, Any]:
    """Return the data of the check screen, by the filters in the URL; ``submitted`` holds refused
    corrections."""
    choice = _row_choice(session, upload)
    return {
        "title": _page_title(upload),
        **_filters(upload, choice),
        **_problems(session, upload, choice),
        **_rows(session, upload, choice, submitted or {}),
        **_about_file(session, upload),
        **_effects(session, upload),
    }


def _page_title(upload: ContactImport) -> str:
    """Return how many rows need fixing, or what can be applied."""
    if upload.failed:
        return ngettext(
            "%(num)s of %(rows)s needs fixing",
            "%(num)s of %(rows)s need fixing",
            upload.failed,
            rows=ngettext("%(num)s row", "%(num)s rows", upload.rows_total),
        )
    to_apply = uploads.rows_to_apply(upload)
    if unchanged := uploads.unchanged_rows(upload):
        if changes := to_apply - unchanged:
            return ngettext(
                "%(num)s change can be applied", "%(num)s changes can be applied", changes
            )
        return gettext("Nothing to apply")
    if to_apply == upload.rows_total and to_apply > 1:
        return gettext("All %(rows)s rows can be applied", rows=number(to_apply))
    return ngettext("%(num)s row can be applied", "%(num)s rows can be applied", to_apply)


def _row_choice(session: Session, upload: ContactImport) -> RowChoice:
    kinds = reports.failed_kinds(session, upload)
    notes = reports.note_kinds(session, upload)
    kind = _find_kind(kinds, request.args.get("kind"), with_reason=True)
    note = _find_kind(notes, request.args.get("note"), with_reason=False)
    return RowChoice(kinds, notes, kind, note, _requested_outcome(upload))


def _filters(upload: ContactImport, choice: RowChoice) -> dict[str, Any]:
    """Return the links to other rows."""
    shows_failed = choice.outcome == FAILED and not choice.note
    is_part = choice.total(upload) < upload.rows_total
    return {
        "kinds": _chips(upload, choice.kinds, choice.kind, shows_failed=shows_failed),
        "notes": [
            FilterChip(note_label(n), n.rows, _url(upload, note=n.code), choice.note is n)
            for n in choice.notes
        ],
        "filtered": choice.kind or choice.note,
        "outcome_urls": {
            name: rows_url(upload, name) if rows else ""
            for name, rows in uploads.figures_of(upload).items()
        },
        "all_url": rows_url(upload, "all") if is_part else "",
    }


def _problems(session: Session, upload: ContactImport, choice: RowChoice) -> dict[str, Any]:
    """Return the problems of the rows, their repairs, and what was repaired."""
    by_hand = corrections.count_fixes(session, upload)
    fixes = fix_labels(by_hand)
    mapping = _mapping(upload)
    no_phone = _rows_of(choice.notes, NO_PHONE)
    return {
        "closed_countries": closed_countries_warning(session, upload)
        if _rows_of(choice.notes, COUNTRY_NOT_OPEN)
        else None,
        "warned": _row_warnings(session, upload, choice.notes),
        "not_in_use": _rows_of(choice.notes, NOT_IN_USE),
        "repairs": [
            {
                "reason": repair.reason,
                "rows": repair.rows,
                "title": repair_title(repair),
                "text": repair_text(repair),
                "url": _url(upload, kind=f"{repair.code}:{repair.reason}"),
            }
            for repair in reports.repairs(session, upload)
            if choice.kind is None or choice.kind.reason == repair.reason
        ],
        "repaired": [(reason, repaired_title(reason)) for reason in upload.repairs],
        "fixes": fixes,
        "cancelling": cancel_confirmation(upload, fixes) if fixes or upload.repairs else None,
        "left_out": by_hand.left_out,
        "ignored": ignored_label(reports.ignored_kinds(session, upload)),
        "finds_contacts": mapping.finds_contacts,
        "no_phones": 0 if mapping.phones else _rows_if_majority(upload, no_phone),
        "no_names": bool(mapping.metadata and upload.created) and not mapping.has_names,
    }


def _rows(
    session: Session, upload: ContactImport, choice: RowChoice, submitted: SubmittedCells
) -> dict[str, Any]:
    """Return the rows of a page as in the file, with the changes by applying them."""
    kind, note, position = choice.kind, choice.note, lists.current_position()
    page = reports.page(
        session,
        upload,
        outcome=choice.outcome,
        code=kind.code if kind else None,
        reason=kind.reason if kind else None,
        note=note.code if note and not kind else None,
        after=whole_number(position.cursor, 8) or 0,
        limit=lists.PAGE_SIZE,
    )
    changes = changes_of(session, upload, page.rows)
    rows = [
        sheet_row(upload, row, submitted.get(row.number, {}), changes.get(row.number))
        for row in page.rows
    ]
    return {
        "doubtful_country": _doubtful_country(session, upload, choice, page.rows),
        "rows_title": choice.title(),
        "shown_total": choice.total(upload),
        "columns": columns_of(upload, uploads.external_id_keys(session, upload)),
        "hidden_column": hidden_column(upload, rows),
        "rows": rows,
        "position": position,
        "next_url": position.next_url(str(page.next_number) if page.next_number else None),
    }


def _doubtful_country(
    session: Session, upload: ContactImport, choice: RowChoice, rows: Sequence[ShownRow]
) -> str:
    """Return the country as whose numbers the file was read if most failed rows, and more than were
    read well, have a number without a country code that has another length there; else nothing."""
    misfits = sum(
        kind.rows
        for kind in choice.kinds
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


def _about_file(session: Session, upload: ContactImport) -> dict[str, Any]:
    """Return how the file was read, and an earlier upload of the same file."""
    return {
        "reading": ReadingForm.showing(upload),
        "read_as": _reading_label(upload),
        "file_notes": file_notes(upload),
        "same_file": uploads.same_file(session, upload),
    }


def _effects(session: Session, upload: ContactImport) -> dict[str, Any]:
    """Return the consequences of applying the rows, and whether the campaign has changed
    meanwhile."""
    campaign = session.get_one(Campaign, upload.campaign_id)
    return {
        "called": _new_calls_message(session, campaign, upload),
        "campaign_changed": campaign.revision != upload.campaign_revision,
    }


def _mapping(upload: ContactImport) -> HeaderMapping:
    return HeaderMapping(upload.columns, [ColumnTarget.parse(text) for text in upload.mapping])


def _find_kind(
    kinds: Sequence[ProblemKind], code: str | None, *, with_reason: bool
) -> ProblemKind | None:
    for kind in kinds:
        if code == (f"{kind.code}:{kind.reason or ''}" if with_reason else kind.code):
            return kind
    return None


def _chips(
    upload: ContactImport,
    kinds: Sequence[ProblemKind],
    kind: ProblemKind | None,
    *,
    shows_failed: bool,
) -> list[FilterChip]:
    if not kinds:
        return []
    all_chip = FilterChip(gettext("All"), upload.failed, _url(upload), shows_failed and not kind)
    return [
        all_chip,
        *(
            FilterChip(
                kind_label(k),
                k.rows,
                _url(upload, kind=f"{k.code}:{k.reason or ''}"),
                k is kind,
            )
            for k in kinds
        ),
    ]


def _rows_of(kinds: Sequence[ProblemKind], code: str) -> int:
    return sum(kind.rows for kind in kinds if kind.code == code)


def _rows_if_majority(upload: ContactImport, rows: int) -> int:
    """Return the number of rows if they are more than half of those to apply, else 0."""
    return rows if rows * 2 > uploads.rows_to_apply(upload) else 0


def _row_warnings(
    session: Session, upload: ContactImport, notes: Sequence[ProblemKind]
) -> list[RowWarning]:
    """Return warnings about rows before they are applied: numbers that aren't in use, and contacts
    that are repeated in the file."""
    warnings = []
    if upload.action is not ContactAction.REMOVE and (rows := _rows_of(notes, NOT_IN_USE)):
        title = ngettext("%(num)s number is not in use", "%(num)s numbers are not in use", rows)
        text = gettext(
            "No one has such a number in its country. The contacts are added, but campaigns don’t "
            "call them. Check the digits."
        )
        warnings.append(
            RowWarning(title, text, _url(upload, note=NOT_IN_USE), gettext("Show numbers"))
        )
    if rows := _rows_of(notes, DUPLICATE):
        title = ngettext(
            "Duplicate in this file: %(num)s", "Duplicates in this file: %(num)s", rows
        )
        first = reports.first_notes(session, upload, DUPLICATE, SHOWN_DUPLICATES)
        text = " ".join(
            gettext("Row %(row)s: %(message)s", row=number(row), message=translate_stored(message))
            for row, message in first
        )
        pairs = tuple((earlier, row) for row, message in first if (earlier := earlier_row(message)))
        if pairs:
            text = gettext("%(rows)s The values of the last row win.", rows=text)
        warnings.append(
            RowWarning(title, text, _url(upload, note=DUPLICATE), gettext("Show duplicates"), pairs)
        )
    return warnings


def _new_calls_message(session: Session, campaign: Campaign, upload: ContactImport) -> str:
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


def _requested_outcome(upload: ContactImport) -> str | None:
    """Return the outcome whose rows are shown, None for all: those to fix, if there are any."""
    requested = request.args.get("rows")
    if requested in uploads.figures_of(upload):
        return requested
    return FAILED if upload.failed and requested != "all" else None


def rows_url(upload: ContactImport, rows: str) -> str:
    return url_for("portal.uploads.show_upload", upload_id=upload.id, rows=rows, _anchor="rows")


def _url(upload: ContactImport, kind: str | None = None, note: str | None = None) -> str:
    return url_for(
        "portal.uploads.show_upload", upload_id=upload.id, kind=kind, note=note, _anchor="rows"
    )


def _reading_label(upload: ContactImport) -> str:
    reading = upload.found
    details = []
    # Translators: parts of "Read as UTF-8, separated by commas, column names in row 1."
    if reading.get("sheet"):
        details.append(gettext("sheet “%(name)s”", name=reading["sheet"]))
    if reading.get("encoding"):
        name = reading["encoding"].removesuffix("-sig")
        details.append(str(ENCODING_LABELS.get(name, name.upper())))
    if delimiter := reading.get("delimiter"):
        separated = DELIMITER_LABELS.get(delimiter)
        details.append(
            str(separated) if separated else gettext("separated by %(mark)s", mark=delimiter)
        )
    if upload.file_kind == "vcard":
        details.append(gettext("each card as a row"))
    elif reading.get("headerRow"):
        details.append(gettext("column names in row %(row)s", row=reading["headerRow"]))
    else:
        details.append(gettext("no column names"))
    if region := upload.read_options.get("region"):
        country = country_name(region)
        details.append(
            gettext("numbers without a country code as those of %(country)s", country=country)
        )
    return ", ".join(details)
