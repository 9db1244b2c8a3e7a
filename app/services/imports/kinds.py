"""The words for everything that can be wrong with a row or worth knowing: three closed lists.

The check, its screens, the downloads and ``docs/contact-files.md`` use these kinds. Why a whole
file is refused is in `app.contact_files.errors`.
"""

from typing import NamedTuple


class Words(NamedTuple):
    """The title of a kind, and its rule as users read it."""

    title: str
    rule: str


ERRORS = {
    "missing_identifier": Words(
        "No phone or email",
        "A row needs a phone number or an email address, or the external id of a contact that is "
        "there.",
    ),
    "invalid_phone": Words(
        "Not a phone number",
        "No phone column of the row has a valid number. The message says what is wrong.",
    ),
    "invalid_email": Words("Email not an address", "Enter an email like name@example.com."),
    "value_too_long": Words(
        "Text too long",
        "Names hold 100 characters, emails 254, statuses 64, metadata 1,000. Nothing is cut.",
    ),
    "key_too_long": Words(
        "Metadata name too long", "The name of a metadata value holds 64 characters."
    ),
    "too_many_metadata_keys": Words(
        "Too much metadata", "A contact holds 50 metadata values, those stored included."
    ),
    "invalid_metadata": Words("Metadata not text", "Metadata are texts, numbers or yes and no."),
    "unknown_external_id_key": Words(
        "External id unknown here", "No assistant of the campaign defines this external id."
    ),
    "external_id_pair_incomplete": Words(
        "External id incomplete", "An external id needs its name and its value."
    ),
    "ambiguous_match": Words(
        "Matches several contacts",
        "The row's phone, email and external id belong to different contacts: nothing is written.",
    ),
    "not_found": Words("Not in the campaign", "There is no contact to remove."),
    "do_not_contact": Words(
        "On the do-not-call list", "The organization refuses contacts that are on its list."
    ),
    "column_count": Words(
        "Cells out of place",
        "The row has more filled cells than there are columns, so a value may be under the wrong "
        "name.",
    ),
    "unclosed_quote": Words(
        "Quotation mark not closed",
        "A quotation mark opens in the row and never closes. The rows below are read as they are.",
    ),
    "bad_quote": Words(
        "Quotation mark out of place", "A quotation mark inside a quoted value has to be doubled."
    ),
    "undecodable_text": Words(
        "Text not readable",
        "Some bytes of the row are not in the file's encoding, or a name was saved in a wrong one "
        "(MÃ¼ller): then a repair is proposed.",
    ),
    "control_characters": Words("Control characters", "A cell has control characters."),
    "excel_damaged_phone": Words(
        "Damaged by a spreadsheet",
        "The number was rounded, turned into a date or an amount, or lost its 0 or +. A repair is "
        "proposed where nothing is lost, and made only when a user accepts it.",
    ),
    "several_phones": Words(
        "Several phones in one cell",
        "Several numbers in one cell, also those that Google parts by :::, are an error: which "
        "one to call is not guessed.",
    ),
    "several_emails": Words(
        "Several emails in one cell", "Several addresses in one cell are an error."
    ),
    "phone_extension": Words(
        "Extension not readable", "The cell announces an extension and does not give it in digits."
    ),
    "formula_without_value": Words(
        "Formula without value",
        "A cell that the contact needs holds a formula whose result was not saved.",
    ),
    "cell_error": Words("Formula error", "The spreadsheet shows an error such as #REF! there."),
    "placeholder_value": Words(
        "Filler in place of a number",
        "A number such as 000-000-0000 or 123-456-7890 was typed to fill the cell.",
    ),
}
IGNORED = {
    "status_ended": Words(
        "Outreach has ended", "The status ends outreach, so the contact is not added."
    ),
    "not_in_campaign": Words("Not in the campaign", "“Update only” adds no contacts."),
    "left_out": Words("Left out by hand", "Left out on the check screen."),
}
WARNINGS = {
    "duplicate": Words(
        "Same contact again",
        "An earlier row is the same contact; rows are applied in order, this one as an update.",
    ),
    "duplicate_phone": Words(
        "Phone shared with another row",
        "An earlier row has this number with another email or external id; both become one "
        "contact.",
    ),
    "duplicate_email": Words(
        "Email shared with another row",
        "An earlier row has this address with another phone or external id; both become one "
        "contact.",
    ),
    "extension_dropped": Words(
        "Kept without extension",
        "The number is stored, its extension becomes the metadata phoneExtension.",
    ),
    "several_phones": Words(
        "Other phone kept as metadata",
        "Of several phone columns the first valid number counts, the others become metadata.",
    ),
    "several_emails": Words(
        "Other email kept as metadata",
        "Of several email columns the first valid address counts, the others become metadata.",
    ),
    "no_phone": Words(
        "No phone to call", "The new contact has no phone number, so it can't be called."
    ),
    "phone_dropped": Words(
        "Other phone used", "This number can't be used; that of another column is."
    ),
    "email_dropped": Words(
        "Other email used", "This address can't be used; that of another column is."
    ),
    "encoding_guessed": Words(
        "Encoding guessed",
        "The text encoding was guessed: look at names with letters beyond A to Z, and choose "
        "another encoding where they look wrong.",
    ),
    "other_sheets": Words(
        "Other sheets", "The workbook has other visible sheets, which were not read."
    ),
    "hidden_sheet": Words("Hidden sheet", "The sheet that was read is hidden in the workbook."),
    "hidden_rows": Words(
        "Hidden rows",
        "Rows that are hidden in the spreadsheet, by a filter or by hand, are read too.",
    ),
    "hidden_columns": Words(
        "Hidden columns", "Columns that are hidden in the spreadsheet are read too."
    ),
    "footer_rows": Words(
        "Footer left out",
        "Totals, copyright and the like at the end of the file are counted as skipped.",
    ),
    "title_rows": Words("Title left out", "Rows above the column names were left out."),
    "unnamed_column": Words(
        "Column without a name", "A column without a name is called by its letter."
    ),
    "duplicate_columns": Words(
        "Columns of the same name", "Of columns with the same name the later ones got a number."
    ),
    "extra_cells": Words(
        "Empty cells too many", "The row has more cells than the header; those are empty."
    ),
    "missing_cells": Words(
        "Cells missing at the end", "The row has fewer cells than the header; they count as empty."
    ),
    "placeholder_value": Words(
        "Counted as empty", "“N/A”, “-”, “none” and the like count as empty."
    ),
    "characters_removed": Words(
        "Invisible marks removed",
        "Invisible characters were removed from a name, a number or an address.",
    ),
    "characters_replaced": Words(
        "Characters replaced",
        "Digits of other scripts and full-width characters were written as 0 to 9 and a to z.",
    ),
    "assumed_country": Words(
        "Country assumed",
        "Numbers without a country code were read as numbers of the organization's country.",
    ),
    "implausible_phone": Words(
        "Number not in use", "The number could exist, but its country has none like it."
    ),
    "text_around_value": Words(
        "Text beside the value",
        "The cell holds exactly one number or address with words around it, which are left out; "
        "the whole cell becomes metadata.",
    ),
    "macros_ignored": Words("Macros ignored", "The workbook's macros were not run."),
    "content_mismatch": Words(
        "Not what the name says", "The file is of another kind than its name says, and was read."
    ),
    "formula_without_value": Words(
        "Formula without value", "A formula in a metadata value has no result: left out."
    ),
    "key_too_long": Words(
        "Column name shortened", "A column name of more than 64 characters was cut to be a key."
    ),
    "do_not_call": Words(
        "Asked not to be called",
        "A column says that the person must not be called: the contact is kept and never called.",
    ),
    "do_not_call_unclear": Words(
        "Perhaps asked not to be called",
        "A do-not-call column says neither yes nor no: the number is not called.",
    ),
    "repaired": Words("Repaired", "The damage was undone because a user accepted the fix."),
}
