"""The words of the upload screens: statuses, kinds of problems, proposed repairs."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from app.enums import ContactAction, ImportStatus
from app.languages import gettext, lazy_gettext, lazy_pgettext, ngettext
from app.models import ContactImport
from app.portal.web.formats import number, phone
from app.services.imports import uploads
from app.services.imports.corrections import CorrectionCounts
from app.services.imports.kinds import ERRORS, WARNINGS
from app.services.imports.reports import ProblemKind, SuggestedRepair
from app.services.imports.statuses import UploadStatus, status_of
from app.services.imports.summary import ASSUMED_COUNTRY

STATUS_LABELS = {
    UploadStatus.UPLOADED: lazy_gettext("Waiting"),
    UploadStatus.READING: lazy_gettext("Checking"),
    UploadStatus.CHECKED: lazy_gettext("Ready to apply"),
    UploadStatus.TO_FIX: lazy_gettext("To fix"),
    UploadStatus.APPLYING: lazy_gettext("Applying"),
    UploadStatus.DONE: lazy_gettext("Applied"),
    UploadStatus.ROWS_FAILED: lazy_gettext("Rows failed"),
    UploadStatus.FAILED: lazy_gettext("Failed"),
    UploadStatus.CANCELLED: lazy_pgettext("upload", "Cancelled"),
    UploadStatus.UNDOING: lazy_gettext("Undoing"),
    UploadStatus.UNDONE: lazy_gettext("Undone"),
    UploadStatus.UNDO_STOPPED: lazy_gettext("Undo stopped"),
}
"""The filters of a list of uploads."""
STATUS_TONES = {
    UploadStatus.UPLOADED: "neutral",
    UploadStatus.READING: "info",
    UploadStatus.CHECKED: "info",
    UploadStatus.TO_FIX: "warning",
    UploadStatus.APPLYING: "info",
    UploadStatus.DONE: "success",
    UploadStatus.ROWS_FAILED: "warning",
    UploadStatus.FAILED: "danger",
    UploadStatus.CANCELLED: "plain",
    UploadStatus.UNDOING: "info",
    UploadStatus.UNDONE: "plain",
    UploadStatus.UNDO_STOPPED: "danger",
}
ACTION_NAMES = {
    ContactAction.UPSERT: lazy_gettext("Add and update"),
    ContactAction.UPDATE_ONLY: lazy_gettext("Update only"),
    ContactAction.REMOVE: lazy_gettext("Remove"),
}
REASONS = {
    ("excel_damaged_phone", "rounded"): lazy_gettext("Rounded by the spreadsheet"),
    ("excel_damaged_phone", "scientific"): lazy_gettext("Written as a power of ten"),
    ("excel_damaged_phone", "decimals"): lazy_gettext("Turned into a decimal"),
    ("excel_damaged_phone", "leading_zero_lost"): lazy_gettext("Leading zero lost"),
    ("excel_damaged_phone", "plus_lost"): lazy_gettext("Plus sign lost"),
    ("excel_damaged_phone", "zero_or_plus_lost"): lazy_gettext("Zero or plus lost"),
    ("excel_damaged_phone", "double_zero"): lazy_gettext("00 instead of +"),
    ("excel_damaged_phone", "apostrophe"): lazy_gettext("Extra apostrophe"),
    ("excel_damaged_phone", "date"): lazy_gettext("Turned into a date"),
    ("excel_damaged_phone", "hashes"): lazy_gettext("Only # signs saved"),
    ("excel_damaged_phone", "thousands"): lazy_gettext("Turned into an amount"),
    ("excel_damaged_phone", "calculated"): lazy_gettext("Turned into a calculation"),
    ("excel_damaged_phone", "invisible_marks"): lazy_gettext("Invisible marks"),
    ("excel_damaged_phone", "look_alikes"): lazy_gettext("Characters that look like digits"),
    ("undecodable_text", "twice_encoded"): lazy_gettext("Text in a wrong encoding"),
    ("invalid_phone", "too_short"): lazy_gettext("Phone too short"),
    ("invalid_phone", "area_code_missing"): lazy_gettext("Area code missing"),
    ("invalid_phone", "too_long"): lazy_gettext("Phone too long"),
    ("invalid_phone", "letters"): lazy_gettext("Letters in the phone"),
    ("invalid_phone", "country_missing"): lazy_gettext("Country code missing"),
    ("invalid_phone", "country_unknown"): lazy_gettext("Country code unknown"),
}
IGNORED = {
    "status_ended": lambda n: ngettext(
        "%(num)s contact whose status ended outreach",
        "%(num)s contacts whose status ended outreach",
        n,
    ),
    "not_in_campaign": lambda n: ngettext(
        "%(num)s contact that is not in the campaign",
        "%(num)s contacts that are not in the campaign",
        n,
    ),
    "left_out": lambda n: ngettext(
        "%(num)s row that was left out by hand", "%(num)s rows that were left out by hand", n
    ),
}
_REPAIR_TITLES = {
    "leading_zero_lost": lambda n: ngettext(
        "%(num)s number has lost its leading zero",
        "%(num)s numbers have lost their leading zero",
        n,
    ),
    "plus_lost": lambda n: ngettext(
        "%(num)s number has lost its plus sign", "%(num)s numbers have lost their plus sign", n
    ),
    "double_zero": lambda n: ngettext(
        "%(num)s number starts with 00 instead of +",
        "%(num)s numbers start with 00 instead of +",
        n,
    ),
    "decimals": lambda n: ngettext(
        "%(num)s number was turned into a decimal", "%(num)s numbers were turned into decimals", n
    ),
    "apostrophe": lambda n: ngettext(
        "%(num)s number has an extra apostrophe",
        "%(num)s numbers have an extra apostrophe",
        n,
    ),
    "scientific": lambda n: ngettext(
        "%(num)s number was written as a power of ten",
        "%(num)s numbers were written as powers of ten",
        n,
    ),
    "thousands": lambda n: ngettext(
        "%(num)s number was turned into an amount", "%(num)s numbers were turned into amounts", n
    ),
    "invisible_marks": lambda n: ngettext(
        "%(num)s number holds invisible marks", "%(num)s numbers hold invisible marks", n
    ),
    "twice_encoded": lambda n: ngettext(
        "%(num)s text is in a wrong encoding", "%(num)s texts are in a wrong encoding", n
    ),
    "look_alikes": lambda n: ngettext(
        "%(num)s number holds look-alike characters",
        "%(num)s numbers hold look-alike characters",
        n,
    ),
}
_REPAIRED_TITLES = {
    "leading_zero_lost": lazy_gettext("Fixed: leading zero lost"),
    "plus_lost": lazy_gettext("Fixed: plus sign lost"),
    "double_zero": lazy_gettext("Fixed: 00 instead of +"),
    "decimals": lazy_gettext("Fixed: turned into a decimal"),
    "apostrophe": lazy_gettext("Fixed: apostrophe removed"),
    "scientific": lazy_gettext("Fixed: written as a power of ten"),
    "thousands": lazy_gettext("Fixed: turned into an amount"),
    "invisible_marks": lazy_gettext("Fixed: invisible marks"),
    "twice_encoded": lazy_gettext("Fixed: text in a wrong encoding"),
    "look_alikes": lazy_gettext("Fixed: characters that look like digits"),
}


def status_badge(upload: ContactImport) -> tuple[str, str]:
    """Return the status of an upload as the words and tone of its badge, with the rows to fix."""
    status = status_of(upload)
    label = str(STATUS_LABELS[status])
    if status is UploadStatus.TO_FIX:
        label = ngettext("%(num)s to fix", "%(num)s to fix", upload.failed)
    elif status is UploadStatus.ROWS_FAILED:
        label = ngettext("%(num)s row failed", "%(num)s rows failed", upload.failed)
    return label, STATUS_TONES[status]


def correction_labels(counts: CorrectionCounts) -> list[str]:
    """Return the corrections: 7 cells changed, 2 rows left out."""
    labels = []
    if counts.cells:
        labels.append(ngettext("%(num)s cell changed", "%(num)s cells changed", counts.cells))
    if counts.left_out:
        labels.append(ngettext("%(num)s row left out", "%(num)s rows left out", counts.left_out))
    return labels


def kind_label(kind: ProblemKind) -> str:
    reason = REASONS.get((kind.code, kind.reason or ""))
    return str(reason if reason is not None else ERRORS[kind.code].title)


def note_label(kind: ProblemKind) -> str:
    return str(WARNINGS[kind.code].title)


def file_notes(upload: ContactImport) -> list[str]:
    """Return notes about the whole file, with the number of rows. The country of numbers without a
    country code is one only if no user has chosen it."""
    rows = upload.found.get("noteRows", {})
    hidden = {ASSUMED_COUNTRY} if upload.read_options.get("region") else set()
    return [
        _file_note(str(WARNINGS[kind].rule), rows.get(kind))
        for kind in upload.found.get("notes", ())
        if kind not in hidden
    ]


def _file_note(rule: str, rows: int | None) -> str:
    if not rows:
        return rule
    rows_label = ngettext("%(num)s row", "%(num)s rows", rows)
    return gettext("%(note)s (%(rows)s).", note=rule.removesuffix("."), rows=rows_label)


def ignored_label(kinds: list[ProblemKind]) -> str:
    """Return ignored contacts: 39 contacts whose status ended outreach; empty for none."""
    return ", ".join(IGNORED[kind.code](kind.rows) for kind in kinds)


def repair_title(repair: SuggestedRepair) -> str:
    """Return the title of a repair: 96 numbers have lost their leading zero."""
    if repair.reason in _REPAIR_TITLES:
        return _REPAIR_TITLES[repair.reason](repair.rows)
    return ngettext("%(num)s number can be fixed", "%(num)s numbers can be fixed", repair.rows)


def repaired_title(reason: str) -> str:
    """Return the title of a done repair: Fixed: leading zero lost."""
    return (
        str(_REPAIRED_TITLES[reason])
        if reason in _REPAIRED_TITLES
        else gettext("Fixed: %(kind)s", kind=reason)
    )


def repaired_value(reason: str | None, repair: str) -> str:
    """Return the value of a cell after a repair: phone numbers, except for repaired texts."""
    return repair if reason == "twice_encoded" else phone(repair)


def repair_text(repair: SuggestedRepair) -> str:
    return gettext(
        "In row %(row)s, %(value)s would become %(repaired)s. Nothing is fixed until you confirm.",
        row=number(repair.row_number),
        value=repair.value.strip(),
        repaired=repaired_value(repair.reason, repair.repaired),
    )


def working_title(upload: ContactImport) -> str:
    """Return the title of an upload while the worker checks or applies it."""
    if upload.status is not ImportStatus.APPLYING:
        return gettext("Checking the file")
    return ngettext("Applying %(num)s row", "Applying %(num)s rows", uploads.rows_to_apply(upload))


def result_title(upload: ContactImport) -> str:
    """Return the title of an upload that was applied, or stopped meanwhile."""
    applied = upload.rows_applied
    if upload.status is not ImportStatus.DONE:
        to_apply = uploads.rows_to_apply(upload)
        return gettext(
            "Stopped after %(done)s of %(rows)s",
            done=number(applied),
            rows=ngettext("%(num)s row", "%(num)s rows", to_apply),
        )
    if not applied:
        return gettext("No row was applied")
    if not uploads.unchanged_rows(upload):
        return ngettext("%(num)s row applied", "%(num)s rows applied", applied)
    changes = uploads.changing_rows(upload)
    if not changes:
        return gettext("Nothing was changed")
    return ngettext("%(num)s change applied", "%(num)s changes applied", changes)


def outcome_message(upload: ContactImport, remaining: int) -> str:
    """Return the result: 17 contacts added, 2 updated, 1 row not applied."""
    failed = upload.failed + remaining
    unchanged = uploads.unchanged_rows(upload)
    updated = upload.updated - unchanged
    figures = [
        (
            upload.created,
            ngettext("%(num)s contact added", "%(num)s contacts added", upload.created),
        ),
        (updated, ngettext("%(num)s updated", "%(num)s updated", updated)),
        (unchanged, ngettext("%(num)s unchanged", "%(num)s unchanged", unchanged)),
        (upload.deleted, ngettext("%(num)s removed", "%(num)s removed", upload.deleted)),
        (upload.ignored, ngettext("%(num)s ignored", "%(num)s ignored", upload.ignored)),
        (failed, ngettext("%(num)s row not applied", "%(num)s rows not applied", failed)),
    ]
    return f"{', '.join(label for count, label in figures if count)}."


def apply_message(
    upload: ContactImport, not_in_use: int, *, takes_new: bool, saves_first: bool
) -> Markup:
    """Return how many rows of a checked file can be applied, or what comes first; ``not_in_use`` is
    the number of rows with such a phone."""
    if not takes_new:
        message = gettext("The organization is archived. Restore it first.")
    elif saves_first:
        message = gettext("Fix the rows, then save and check them.")
    elif unchanged := uploads.unchanged_rows(upload):
        message = _changes_message(uploads.rows_to_apply(upload) - unchanged, unchanged)
    else:
        message = _good_rows_message(upload, uploads.rows_to_apply(upload), not_in_use)
    return Markup(message)  # noqa: S704 - from a catalogue, with numbers


def _changes_message(changes: int, unchanged: int) -> str:
    if not changes:
        return ngettext(
            "<strong>Nothing to apply:</strong> %(num)s contact is unchanged.",
            "<strong>Nothing to apply:</strong> %(num)s contacts are unchanged.",
            unchanged,
        )
    return ngettext(
        "<strong>%(num)s change</strong> can be applied now, %(contacts)s unchanged.",
        "<strong>%(num)s changes</strong> can be applied now, %(contacts)s unchanged.",
        changes,
        contacts=ngettext("%(num)s contact", "%(num)s contacts", unchanged),
    )


def _good_rows_message(upload: ContactImport, to_apply: int, not_in_use: int) -> str:
    if not to_apply:
        return gettext("<strong>No row</strong> of the file can be applied as it is.")
    if not_in_use:
        good = to_apply - not_in_use
        return gettext(
            "<strong>%(good)s</strong> and %(rows)s with a number not in use can be applied now.",
            good=ngettext("%(num)s good row", "%(num)s good rows", good),
            rows=ngettext("%(num)s row", "%(num)s rows", not_in_use),
        )
    if upload.failed:
        return ngettext(
            "<strong>%(num)s good row</strong> can be applied now, %(others)s later.",
            "<strong>%(num)s good rows</strong> can be applied now, %(others)s later.",
            to_apply,
            others=ngettext("%(num)s row", "%(num)s rows", upload.failed),
        )
    return ngettext(
        "<strong>%(num)s good row</strong> can be applied now.",
        "<strong>%(num)s good rows</strong> can be applied now.",
        to_apply,
    )


def rows_summary(numbers: Sequence[int], total: int) -> str:
    """Return which rows of the file a page shows, of how many that match."""
    all_rows = ngettext("%(num)s row", "%(num)s rows", total)
    if len(numbers) == 1:
        return gettext(
            "Row %(number)s of the file, %(shown)s of %(rows)s",
            number=number(numbers[0]),
            shown=number(1),
            rows=all_rows,
        )
    return gettext(
        "Rows %(first)s to %(last)s of the file, %(shown)s of %(rows)s",
        first=number(numbers[0]),
        last=number(numbers[-1]),
        shown=number(len(numbers)),
        rows=all_rows,
    )


def sum_message(counts: Iterable[int], total: int) -> str:
    """Return the sum: 3,906 + 455 + 0 + 39 + 412 = 4,812 rows in the file."""
    return ngettext(
        "%(sum)s = %(num)s row in the file.",
        "%(sum)s = %(num)s rows in the file.",
        total,
        sum=" + ".join(number(count) for count in counts),
    )
