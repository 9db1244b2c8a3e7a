"""The words of the upload screens: states, kinds of problems, proposed repairs."""

from app.enums import ContactAction, ImportState
from app.portal.formats import number, phone, plural
from app.services.imports.browsing import Kind, Repair

STATE_NAMES = {
    ImportState.UPLOADED: "Waiting",
    ImportState.READING: "Checking",
    ImportState.CHECKED: "To be applied",
    ImportState.APPLYING: "Applying",
    ImportState.DONE: "Applied",
    ImportState.FAILED: "Failed",
    ImportState.CANCELLED: "Cancelled",
}
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
KINDS = {
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
    ("invalid_phone", "too_short"): "Phone too short",
    ("invalid_phone", "too_long"): "Phone too long",
    ("invalid_phone", "letters"): "Letters in the phone",
    ("invalid_phone", "country_missing"): "Country code missing",
    ("invalid_phone", "country_unknown"): "Country code unknown",
    ("invalid_phone", None): "Not a phone number",
    ("invalid_email", None): "E-mail not an address",
    ("several_phones", None): "Several phones in one cell",
    ("several_emails", None): "Several e-mails in one cell",
    ("missing_identifier", None): "No phone or e-mail",
    ("value_too_long", None): "Text too long",
    ("too_many_metadata_keys", None): "Too much information",
    ("unknown_external_id_key", None): "External id unknown here",
    ("external_id_pair_incomplete", None): "External id incomplete",
    ("ambiguous_match", None): "Belongs to several people",
    ("not_found", None): "Not in the campaign",
    ("do_not_contact", None): "On the do-not-call list",
    ("column_count", None): "Cells out of place",
    ("cell_error", None): "Formula error",
    ("control_characters", None): "Control characters",
}
NOTES = {
    "placeholder_value": "Counted as empty",
    "several_phones": "Further phone kept as information",
    "several_emails": "Further e-mail kept as information",
    "phone_dropped": "Other phone used",
    "email_dropped": "Other e-mail used",
    "extension_dropped": "Kept without extension",
    "implausible_phone": "Number not in use",
    "repaired": "Repaired",
}
IGNORED = {
    "status_ended": (
        "person whose status has ended outreach",
        "people whose status has ended outreach",
    ),
    "not_in_campaign": ("person who is not in the campaign", "people who are not in the campaign"),
}
FILE_NOTES = {
    "encoding_guessed": "The text encoding was guessed: look at names with accents.",
    "other_sheets": "The workbook has other sheets, which were not read.",
    "hidden_sheet": "The sheet is hidden in the workbook.",
    "title_rows": "Rows above the column names were left out.",
    "unnamed_column": "A column without a name got one.",
    "duplicate_columns": "Columns with the same name got a number.",
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
    "look_alikes": ("number holds look-alike characters", "numbers hold look-alike characters"),
}
_REPAIRED = ("number can be repaired", "numbers can be repaired")


def kind_words(kind: Kind) -> str:
    """The chip of a kind of problem."""
    words = KINDS.get((kind.code, kind.reason)) or KINDS.get((kind.code, None))
    return words or (kind.reason or kind.code).replace("_", " ").capitalize()


def note_words(kind: Kind) -> str:
    """The chip of a kind of note."""
    return NOTES.get(kind.code) or kind.code.replace("_", " ").capitalize()


def ignored_words(kinds: list[Kind]) -> str:
    """39 people whose status has ended outreach; empty for none."""
    return ", ".join(plural(kind.rows, *IGNORED[kind.code]) for kind in kinds)


def repair_title(repair: Repair) -> str:
    """96 numbers have lost their leading zero"""
    return plural(repair.rows, *_REPAIRS.get(repair.reason, _REPAIRED))


def repaired_title(reason: str) -> str:
    """What was repaired, for the result of doing so."""
    return KINDS.get(("excel_damaged_phone", reason), reason).lower()


def repair_text(repair: Repair) -> str:
    """What would happen, by the first of the rows."""
    return (
        f"In row {number(repair.row_number)}, {repair.value.strip()} would become "
        f"{phone(repair.repaired)}. Nothing is repaired unless you say so."
    )


def sum_words(counts: list[int], total: int) -> str:
    """3,906 + 455 + 0 + 39 + 412 = 4,812 rows in the file."""
    return f"{' + '.join(number(count) for count in counts)} = {plural(total, 'row')} in the file."
