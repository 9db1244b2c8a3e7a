"""The words of the upload screens: states, kinds of problems, proposed repairs."""

from collections.abc import Mapping
from typing import Any

from app.enums import ContactAction, ImportState
from app.models import ContactImport
from app.portal.web.formats import number, phone, plural
from app.services.imports.corrections import FixCounts
from app.services.imports.kinds import ERRORS, WARNINGS
from app.services.imports.reports import Kind, Repair

STATE_NAMES = {
    ImportState.UPLOADED: "Waiting",
    ImportState.READING: "Checking",
    ImportState.CHECKED: "Ready to apply",
    ImportState.APPLYING: "Applying",
    ImportState.DONE: "Applied",
    ImportState.FAILED: "Failed",
    ImportState.CANCELLED: "Cancelled",
}
UNDO_NAMES = {"undoing": "Undoing", "undone": "Undone", "stopped": "Undo stopped"}
UNDO_TONES = {"undoing": "info", "undone": "plain", "stopped": "danger"}
STATES = {state.value: words for state, words in STATE_NAMES.items()} | {"undone": "Undone"}
"""The filters of a list of uploads."""
STATE_TONES = {
    ImportState.UPLOADED: "neutral",
    ImportState.READING: "info",
    ImportState.CHECKED: "warning",
    ImportState.APPLYING: "info",
    ImportState.DONE: "success",
    ImportState.FAILED: "danger",
    ImportState.CANCELLED: "plain",
}
ACTION_NAMES = {
    ContactAction.UPSERT: "Add and update",
    ContactAction.UPDATE_ONLY: "Update only",
    ContactAction.REMOVE: "Remove",
}
REASONS = {
    ("excel_damaged_phone", "rounded"): "Rounded by the spreadsheet",
    ("excel_damaged_phone", "scientific"): "Written as a power of ten",
    ("excel_damaged_phone", "decimals"): "Turned into a decimal",
    ("excel_damaged_phone", "leading_zero_lost"): "Leading zero lost",
    ("excel_damaged_phone", "plus_lost"): "Plus sign lost",
    ("excel_damaged_phone", "zero_or_plus_lost"): "Zero or plus lost",
    ("excel_damaged_phone", "apostrophe"): "Apostrophe beside the number",
    ("excel_damaged_phone", "date"): "Turned into a date",
    ("excel_damaged_phone", "hashes"): "Only # signs saved",
    ("excel_damaged_phone", "thousands"): "Turned into an amount",
    ("excel_damaged_phone", "calculated"): "Turned into a calculation",
    ("excel_damaged_phone", "invisible_marks"): "Invisible marks",
    ("excel_damaged_phone", "look_alikes"): "Characters that look like digits",
    ("undecodable_text", "twice_encoded"): "Text in a wrong encoding",
    ("invalid_phone", "too_short"): "Phone too short",
    ("invalid_phone", "area_code_missing"): "Area code missing",
    ("invalid_phone", "too_long"): "Phone too long",
    ("invalid_phone", "letters"): "Letters in the phone",
    ("invalid_phone", "country_missing"): "Country code missing",
    ("invalid_phone", "country_unknown"): "Country code unknown",
}
IGNORED = {
    "status_ended": (
        "contact whose status ended outreach",
        "contacts whose status ended outreach",
    ),
    "not_in_campaign": (
        "contact that is not in the campaign",
        "contacts that are not in the campaign",
    ),
    "left_out": ("row that was left out by hand", "rows that were left out by hand"),
}
_REPAIRS = {
    "leading_zero_lost": (
        "number has lost its leading zero",
        "numbers have lost their leading zero",
    ),
    "plus_lost": ("number has lost its plus sign", "numbers have lost their plus sign"),
    "decimals": ("number was turned into a decimal", "numbers were turned into decimals"),
    "apostrophe": ("number has an apostrophe beside it", "numbers have an apostrophe beside them"),
    "scientific": ("number was written as a power of ten", "numbers were written as powers of ten"),
    "thousands": ("number was turned into an amount", "numbers were turned into amounts"),
    "invisible_marks": ("number holds invisible marks", "numbers hold invisible marks"),
    "twice_encoded": ("text is in a wrong encoding", "texts are in a wrong encoding"),
    "look_alikes": ("number holds look-alike characters", "numbers hold look-alike characters"),
}
_REPAIRED = ("number can be fixed", "numbers can be fixed")


def status_badge(upload: ContactImport) -> tuple[str, str]:
    """Return the state of an upload as the word and tone of its badge."""
    if upload.undo_state is not None:
        return UNDO_NAMES[upload.undo_state], UNDO_TONES[upload.undo_state]
    return STATE_NAMES[upload.state], STATE_TONES[upload.state]


def fixes_words(fixes: FixCounts) -> list[str]:
    """7 cells fixed, 2 rows left out"""
    found = []
    if fixes.cells:
        found.append(f"{plural(fixes.cells, 'cell')} fixed")
    if fixes.left_out:
        found.append(f"{plural(fixes.left_out, 'row')} left out")
    return found


def kind_words(kind: Kind) -> str:
    reason = REASONS.get((kind.code, kind.reason or ""))
    return reason or ERRORS[kind.code].title


def note_words(kind: Kind) -> str:
    return WARNINGS[kind.code].title


def file_notes(found: Mapping[str, Any]) -> list[str]:
    """Return notes about the whole file, with the number of rows; ``found`` is how the upload was
    read."""
    rows = found.get("noteRows", {})
    sentences = ((kind, WARNINGS[kind].rule) for kind in found.get("notes", ()))
    return [
        f"{sentence.removesuffix('.')} ({plural(rows[kind], 'row')})."
        if rows.get(kind)
        else sentence
        for kind, sentence in sentences
    ]


def ignored_words(kinds: list[Kind]) -> str:
    """39 contacts whose status ended outreach; empty for none."""
    return ", ".join(plural(kind.rows, *IGNORED[kind.code]) for kind in kinds)


def repair_title(repair: Repair) -> str:
    """96 numbers have lost their leading zero"""
    return plural(repair.rows, *_REPAIRS.get(repair.reason, _REPAIRED))


def repaired_title(reason: str) -> str:
    titles = {name: title for (_, name), title in REASONS.items()}
    return titles.get(reason, reason).lower()


def repaired_value(reason: str | None, repair: str) -> str:
    """Return what a cell would become: repairs are phone numbers, except for repaired texts."""
    return repair if reason == "twice_encoded" else phone(repair)


def repair_text(repair: Repair) -> str:
    return (
        f"In row {number(repair.row_number)}, {repair.value.strip()} would become "
        f"{repaired_value(repair.reason, repair.repaired)}. Nothing is fixed until you confirm."
    )


def sum_words(counts: list[int], total: int) -> str:
    """3,906 + 455 + 0 + 39 + 412 = 4,812 rows in the file."""
    return f"{' + '.join(number(count) for count in counts)} = {plural(total, 'row')} in the file."
