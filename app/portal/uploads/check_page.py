"""The check screen of an upload."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import request
from sqlalchemy.orm import Session

from app.languages import gettext, lazy_gettext, ngettext
from app.models import Campaign, ContactImport
from app.phone import country_name
from app.portal.uploads.check_warnings import (
    doubtful_country,
    new_calls_message,
    row_warnings,
    rows_of,
)
from app.portal.uploads.closed_countries import closed_countries_warning
from app.portal.uploads.forms import DELIMITER_LABELS, ENCODING_LABELS, ReadingForm
from app.portal.uploads.labels import (
    apply_message,
    correction_labels,
    file_notes,
    ignored_label,
    kind_label,
    note_label,
    repair_text,
    repair_title,
    repaired_title,
    rows_summary,
)
from app.portal.uploads.sheet import columns_of, hidden_column, sheet_row
from app.portal.uploads.upload_pages import cancel_confirmation, choice_url, rows_url
from app.portal.web import lists
from app.portal.web.formats import number
from app.services.contacts.results import CREATED, DELETED, FAILED, IGNORED, UPDATED
from app.services.imports import corrections, reports, uploads
from app.services.imports.changes import changes_of
from app.services.imports.kinds import COUNTRY_NOT_OPEN, NO_PHONE, NOT_IN_USE, UNCHANGED
from app.services.imports.mapping import ColumnTarget, HeaderMapping
from app.services.imports.reports import ProblemKind
from app.validation.texts import whole_number


@dataclass(frozen=True, slots=True)
class FilterChip:
    label: str
    count: int
    url: str
    current: bool


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
    session: Session,
    upload: ContactImport,
    page_data: Mapping[str, Any],
    submitted: SubmittedCells | None = None,
) -> dict[str, Any]:
    """Return the data of the check screen besides ``page_data``, that of every page of an upload,
    by the filters in the URL; ``submitted`` holds refused corrections."""
    choice = _row_choice(session, upload)
    return {
        "title": _page_title(upload),
        **_apply_bar(upload, choice, page_data),
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


def _apply_bar(
    upload: ContactImport, choice: RowChoice, page_data: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what can be applied, and whether nothing can be before the rows that the user chose to
    fix here."""
    takes_new = page_data["takes_new"]
    corrects = page_data["corrects"] and upload.failed and takes_new
    saves_first = bool(corrects and not page_data["changes"])
    return {
        "saves_first": saves_first,
        "apply_message": apply_message(
            upload,
            rows_of(choice.notes, NOT_IN_USE),
            takes_new=takes_new,
            saves_first=saves_first,
        ),
    }


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
            FilterChip(note_label(n), n.rows, choice_url(upload, note=n.code), choice.note is n)
            for n in choice.notes
        ],
        "outcome_urls": {
            name: rows_url(upload, name) if rows else ""
            for name, rows in uploads.figures_of(upload).items()
        },
        "all_url": rows_url(upload, "all") if is_part else "",
    }


def _problems(session: Session, upload: ContactImport, choice: RowChoice) -> dict[str, Any]:
    """Return the problems of the rows, their repairs, and what was repaired."""
    by_hand = corrections.count_corrections(session, upload)
    by_hand_labels = correction_labels(by_hand)
    mapping = _mapping(upload)
    no_phone = rows_of(choice.notes, NO_PHONE)
    return {
        "closed_countries": closed_countries_warning(session, upload)
        if rows_of(choice.notes, COUNTRY_NOT_OPEN)
        else None,
        "warned": row_warnings(session, upload, choice.notes),
        "repairs": [
            {
                "reason": repair.reason,
                "rows": repair.rows,
                "title": repair_title(repair),
                "text": repair_text(repair),
                "url": choice_url(upload, kind=f"{repair.code}:{repair.reason}"),
            }
            for repair in reports.repairs(session, upload)
            if choice.kind is None or choice.kind.reason == repair.reason
        ],
        "repaired": [(reason, repaired_title(reason)) for reason in upload.repairs],
        "by_hand": by_hand_labels,
        "cancelling": (
            cancel_confirmation(session, upload, by_hand_labels)
            if by_hand_labels or upload.repairs
            else None
        ),
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
    total = choice.total(upload)
    return {
        "doubtful_country": doubtful_country(session, upload, choice.kinds, page.rows),
        "rows_title": choice.title(),
        "rows_summary": rows_summary([row.number for row in rows], total) if rows else "",
        "columns": columns_of(upload, uploads.external_id_keys(session, upload)),
        "hidden_column": hidden_column(upload, rows),
        "rows": rows,
        "position": position,
        "next_url": position.next_url(str(page.next_number) if page.next_number else None),
    }


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
        "called": new_calls_message(session, campaign, upload),
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
    all_chip = FilterChip(
        gettext("All"), upload.failed, choice_url(upload), shows_failed and not kind
    )
    return [
        all_chip,
        *(
            FilterChip(
                kind_label(k),
                k.rows,
                choice_url(upload, kind=f"{k.code}:{k.reason or ''}"),
                k is kind,
            )
            for k in kinds
        ),
    ]


def _rows_if_majority(upload: ContactImport, rows: int) -> int:
    """Return the number of rows if they are more than half of those to apply, else 0."""
    return rows if rows * 2 > uploads.rows_to_apply(upload) else 0


def _requested_outcome(upload: ContactImport) -> str | None:
    """Return the outcome whose rows are shown, None for all: those to fix, if there are any."""
    requested = request.args.get("rows")
    if requested in uploads.figures_of(upload):
        return requested
    return FAILED if upload.failed and requested != "all" else None


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
