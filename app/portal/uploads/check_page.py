"""The check screen of an upload."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import request, url_for
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, ContactAction
from app.errors import in_language
from app.languages import gettext, lazy_gettext, ngettext
from app.models import Campaign, ContactImport, Organization, utcnow
from app.phone import country_name
from app.portal.uploads.forms import DELIMITER_WORDS, ENCODING_WORDS, ReadingForm
from app.portal.uploads.labels import (
    file_notes,
    fixes_words,
    ignored_words,
    kind_words,
    note_words,
    repair_text,
    repair_title,
    repaired_title,
)
from app.portal.uploads.sheet import columns_of, sheet_row
from app.portal.web import lists
from app.portal.web.formats import number
from app.services import outreach
from app.services.contacts.results import CREATED, DELETED, FAILED, IGNORED, UPDATED
from app.services.imports import corrections, reports, uploads
from app.services.imports.changes import changes_of
from app.services.imports.kinds import DUPLICATE, NO_PHONE, NOT_IN_USE, UNCHANGED
from app.services.imports.mapping import ColumnTarget, HeaderMapping
from app.services.imports.records import earlier_row
from app.services.imports.reports import ProblemKind
from app.validation.texts import whole_number


@dataclass(frozen=True, slots=True)
class FilterChip:
    words: str
    count: int
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class RowWarning:
    """Rows that are applied but need review; ``url`` shows only those. Each of the ``pairs`` is two
    rows about the same contact, of which one can be kept alone."""

    title: str
    text: str
    url: str
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
Typed = Mapping[int, Mapping[int, str]]
"""Submitted corrections: row number -> index of the column -> text."""
_CELL = re.compile(r"cell-(\d{1,8})-(\d{1,4})", re.ASCII)
_ROW = re.compile(r"\d{1,8}", re.ASCII)


def typed_cells() -> dict[int, dict[int, str]]:
    """Return the corrections in the form, changed or not."""
    typed: dict[int, dict[int, str]] = {}
    for name, text in request.form.items():
        if match := _CELL.fullmatch(name):
            typed.setdefault(int(match[1]), {})[int(match[2])] = text
    return typed


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
        if found := self.kind or self.note:
            return found.rows
        return uploads.figures_of(upload)[self.outcome] if self.outcome else upload.rows_total


def check_context(
    session: Session, upload: ContactImport, typed: Typed | None = None
) -> dict[str, Any]:
    """Return the data of the check screen, by the filters in the URL; ``typed`` holds refused
    corrections."""
    chosen = _chosen_rows(session, upload)
    return {
        **_filters(upload, chosen),
        **_problems(session, upload, chosen),
        **_rows(session, upload, chosen, typed or {}),
        **_about_file(session, upload),
        **_effects(session, upload),
    }


def _chosen_rows(session: Session, upload: ContactImport) -> RowChoice:
    kinds = reports.failed_kinds(session, upload)
    notes = reports.note_kinds(session, upload)
    kind = _chosen(kinds, request.args.get("kind"), with_reason=True)
    note = _chosen(notes, request.args.get("note"), with_reason=False)
    return RowChoice(kinds, notes, kind, note, _chosen_outcome(upload))


def _filters(upload: ContactImport, chosen: RowChoice) -> dict[str, Any]:
    """Return the links to other rows."""
    shows_failed = chosen.outcome == FAILED and not chosen.note
    is_part = chosen.total(upload) < upload.rows_total
    return {
        "kinds": _chips(upload, chosen.kinds, chosen.kind, shows_failed=shows_failed),
        "notes": [
            FilterChip(note_words(n), n.rows, _url(upload, note=n.code), chosen.note is n)
            for n in chosen.notes
        ],
        "filtered": chosen.kind or chosen.note,
        "outcome_urls": {
            name: rows_url(upload, name) if rows else ""
            for name, rows in uploads.figures_of(upload).items()
        },
        "all_url": rows_url(upload, "all") if is_part else "",
    }


def _problems(session: Session, upload: ContactImport, chosen: RowChoice) -> dict[str, Any]:
    """Return the problems of the rows, their repairs, and what was repaired."""
    by_hand = corrections.count_fixes(session, upload)
    mapping = _mapping(upload)
    no_phone = _rows_of(chosen.notes, NO_PHONE)
    return {
        "warned": _warned(session, upload, chosen.notes),
        "not_in_use": _rows_of(chosen.notes, NOT_IN_USE),
        "repairs": [
            {
                "reason": repair.reason,
                "rows": repair.rows,
                "title": repair_title(repair),
                "text": repair_text(repair),
                "url": _url(upload, kind=f"{repair.code}:{repair.reason}"),
            }
            for repair in reports.repairs(session, upload)
            if chosen.kind is None or chosen.kind.reason == repair.reason
        ],
        "repaired": [(reason, repaired_title(reason)) for reason in upload.repairs],
        "fixes": fixes_words(by_hand),
        "left_out": by_hand.left_out,
        "ignored": ignored_words(reports.ignored_kinds(session, upload)),
        "finds_contacts": mapping.finds_contacts,
        "no_phones": 0 if mapping.phones else _most_rows(upload, no_phone),
        "no_names": bool(mapping.metadata and upload.created) and not mapping.has_names,
    }


def _rows(
    session: Session, upload: ContactImport, chosen: RowChoice, typed: Typed
) -> dict[str, Any]:
    """Return the rows of a page as in the file, with the changes by applying them."""
    kind, note, place = chosen.kind, chosen.note, lists.place()
    page = reports.page(
        session,
        upload,
        outcome=chosen.outcome,
        code=kind.code if kind else None,
        reason=kind.reason if kind else None,
        note=note.code if note and not kind else None,
        after=whole_number(place.cursor, 8) or 0,
        limit=lists.PAGE_SIZE,
    )
    changes = changes_of(session, upload, page.rows)
    return {
        "rows_title": chosen.title(),
        "shown_total": chosen.total(upload),
        "columns": columns_of(upload, uploads.external_id_keys(session, upload)),
        "rows": [
            sheet_row(upload, row, typed.get(row.number, {}), changes.get(row.number))
            for row in page.rows
        ],
        "place": place,
        "next_url": place.next_url(str(page.next_number) if page.next_number else None),
    }


def _about_file(session: Session, upload: ContactImport) -> dict[str, Any]:
    """Return how the file was read, and an earlier upload of the same file."""
    return {
        "reading": ReadingForm.showing(upload),
        "read_as": _read_as(upload),
        "file_notes": file_notes(upload.found),
        "same": uploads.same_file(session, upload),
    }


def _effects(session: Session, upload: ContactImport) -> dict[str, Any]:
    """Return the consequences of applying the rows, and whether the campaign has changed
    meanwhile."""
    campaign = session.get_one(Campaign, upload.campaign_id)
    return {
        "called": _called(session, campaign, upload),
        "campaign_changed": campaign.revision != upload.campaign_revision,
    }


def _mapping(upload: ContactImport) -> HeaderMapping:
    return HeaderMapping(upload.columns, [ColumnTarget.parse(text) for text in upload.mapping])


def _chosen(
    kinds: Sequence[ProblemKind], wanted: str | None, *, with_reason: bool
) -> ProblemKind | None:
    for kind in kinds:
        if wanted == (f"{kind.code}:{kind.reason or ''}" if with_reason else kind.code):
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
    every = FilterChip(gettext("All"), upload.failed, _url(upload), shows_failed and not kind)
    return [
        every,
        *(
            FilterChip(
                kind_words(k),
                k.rows,
                _url(upload, kind=f"{k.code}:{k.reason or ''}"),
                k is kind,
            )
            for k in kinds
        ),
    ]


def _rows_of(kinds: Sequence[ProblemKind], code: str) -> int:
    return sum(kind.rows for kind in kinds if kind.code == code)


def _most_rows(upload: ContactImport, rows: int) -> int:
    """Return the number of rows if they are more than half of those to apply, else 0."""
    return rows if rows * 2 > uploads.rows_to_apply(upload) else 0


def _warned(
    session: Session, upload: ContactImport, notes: Sequence[ProblemKind]
) -> list[RowWarning]:
    """Return warnings about rows before they are applied: numbers that aren't in use, and contacts
    that are repeated in the file."""
    found = []
    if upload.action is not ContactAction.REMOVE and (rows := _rows_of(notes, NOT_IN_USE)):
        title = ngettext("%(num)s number is not in use", "%(num)s numbers are not in use", rows)
        text = gettext(
            "No one has such a number in its country. The contacts are added, but campaigns don’t "
            "call them. Check the digits."
        )
        found.append(RowWarning(title, text, _url(upload, note=NOT_IN_USE)))
    if rows := _rows_of(notes, DUPLICATE):
        title = ngettext(
            "Duplicate in this file: %(num)s", "Duplicates in this file: %(num)s", rows
        )
        first = reports.first_notes(session, upload, DUPLICATE, SHOWN_DUPLICATES)
        text = " ".join(
            gettext("Row %(row)s: %(message)s", row=number(row), message=in_language(message))
            for row, message in first
        )
        pairs = tuple((known, row) for row, message in first if (known := earlier_row(message)))
        if pairs:
            text = gettext("%(rows)s The values of the last row win.", rows=text)
        found.append(RowWarning(title, text, _url(upload, note=DUPLICATE), pairs))
    return found


def _called(session: Session, campaign: Campaign, upload: ContactImport) -> str:
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


def _chosen_outcome(upload: ContactImport) -> str | None:
    """Return the outcome whose rows are shown, None for all: those to fix, if there are any."""
    wanted = request.args.get("rows")
    if wanted in uploads.figures_of(upload):
        return wanted
    return FAILED if upload.failed and wanted != "all" else None


def rows_url(upload: ContactImport, rows: str) -> str:
    return url_for("portal.upload", upload_id=upload.id, rows=rows, _anchor="rows")


def _url(upload: ContactImport, kind: str | None = None, note: str | None = None) -> str:
    return url_for("portal.upload", upload_id=upload.id, kind=kind, note=note, _anchor="rows")


def _read_as(upload: ContactImport) -> str:
    found = upload.found
    parts = []
    # Translators: parts of "Read as UTF-8, separated by commas, column names in row 1."
    if found.get("sheet"):
        parts.append(gettext("sheet “%(name)s”", name=found["sheet"]))
    if found.get("encoding"):
        name = found["encoding"].removesuffix("-sig")
        parts.append(str(ENCODING_WORDS.get(name, name.upper())))
    if delimiter := found.get("delimiter"):
        separated = DELIMITER_WORDS.get(delimiter)
        parts.append(
            str(separated) if separated else gettext("separated by %(mark)s", mark=delimiter)
        )
    if upload.file_kind == "vcard":
        parts.append(gettext("each card as a row"))
    elif found.get("headerRow"):
        parts.append(gettext("column names in row %(row)s", row=found["headerRow"]))
    else:
        parts.append(gettext("no column names"))
    if region := upload.read_options.get("region"):
        country = country_name(region)
        parts.append(
            gettext("numbers without a country code as those of %(country)s", country=country)
        )
    return ", ".join(parts)
