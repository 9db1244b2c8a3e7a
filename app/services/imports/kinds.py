"""The words for problems and notes of rows: three closed lists.

The check, its screens, the downloads and ``docs/contact-files.md`` use these kinds. Refusals of
whole files are in `app.contact_files.errors`.
"""

from typing import NamedTuple

from app.languages import lazy_gettext


class KindTexts(NamedTuple):
    """The title of a kind, and its rule as users read it."""

    title: str
    rule: str


DUPLICATE, NOT_IN_USE, NO_PHONE = "duplicate", "implausible_phone", "no_phone"
ON_DO_NOT_CALL_LIST = "on_do_not_call_list"
COUNTRY_NOT_OPEN = "country_not_open"
UNCHANGED = "unchanged"
"""The code of an updated row whose contact has its values already."""
ERRORS = {
    "missing_identifier": KindTexts(
        lazy_gettext("No phone or email"),
        lazy_gettext(
            "A row needs a phone number, an email address, or the external ID of an existing "
            "contact."
        ),
    ),
    "invalid_phone": KindTexts(
        lazy_gettext("Not a phone number"),
        lazy_gettext(
            "No phone column of the row has a valid number. The message says what is wrong."
        ),
    ),
    "invalid_email": KindTexts(
        lazy_gettext("Email not an address"), lazy_gettext("Enter an email like name@example.com.")
    ),
    "value_too_long": KindTexts(
        lazy_gettext("Text too long"),
        lazy_gettext(
            "Names hold 100 characters, emails 254, statuses 64, metadata 1,000. Nothing is cut."
        ),
    ),
    "key_too_long": KindTexts(
        lazy_gettext("Metadata name too long"),
        lazy_gettext("The name of a metadata value holds 64 characters."),
    ),
    "too_many_metadata_keys": KindTexts(
        lazy_gettext("Too much metadata"),
        lazy_gettext("A contact holds 50 metadata values, those stored included."),
    ),
    "invalid_metadata": KindTexts(
        lazy_gettext("Metadata not text"),
        lazy_gettext("Metadata are texts, numbers or yes and no."),
    ),
    "unknown_external_id_key": KindTexts(
        lazy_gettext("External ID unknown here"),
        lazy_gettext("No assistant of the campaign defines this external ID."),
    ),
    "external_id_pair_incomplete": KindTexts(
        lazy_gettext("External ID incomplete"),
        lazy_gettext("An external ID needs its name and its value."),
    ),
    "ambiguous_match": KindTexts(
        lazy_gettext("Matches several contacts"),
        lazy_gettext(
            "The row's phone, email and external ID belong to different contacts: nothing is "
            "written."
        ),
    ),
    "not_found": KindTexts(
        lazy_gettext("Not in the campaign"), lazy_gettext("There is no contact to remove.")
    ),
    "do_not_contact": KindTexts(
        lazy_gettext("On the do-not-call list"),
        lazy_gettext("The organization refuses contacts that are on its list."),
    ),
    "column_count": KindTexts(
        lazy_gettext("Cells out of place"),
        lazy_gettext(
            "The row has more filled cells than there are columns, so a value may be under the "
            "wrong name."
        ),
    ),
    "unclosed_quote": KindTexts(
        lazy_gettext("Quotation mark not closed"),
        lazy_gettext(
            "A quotation mark opens in the row and never closes. The rows below are read as they "
            "are."
        ),
    ),
    "bad_quote": KindTexts(
        lazy_gettext("Quotation mark out of place"),
        lazy_gettext("A quotation mark inside a quoted value has to be doubled."),
    ),
    "undecodable_text": KindTexts(
        lazy_gettext("Text not readable"),
        lazy_gettext(
            "Some bytes of the row are not in the file's encoding, or a name was saved in a wrong "
            "one (MÃ¼ller). In that case, a fix is suggested."
        ),
    ),
    "control_characters": KindTexts(
        lazy_gettext("Control characters"), lazy_gettext("A cell has control characters.")
    ),
    "excel_damaged_phone": KindTexts(
        lazy_gettext("Damaged by a spreadsheet"),
        lazy_gettext(
            "The number was rounded, turned into a date or an amount, or lost its 0 or +. If it "
            "can be restored, a fix is suggested. It is applied only when a user accepts it."
        ),
    ),
    "several_phones": KindTexts(
        lazy_gettext("Several phones in one cell"),
        lazy_gettext(
            "Several numbers in one cell are an error, even if Google separates them by :::. The "
            "portal doesn't guess which one to call."
        ),
    ),
    "several_emails": KindTexts(
        lazy_gettext("Several emails in one cell"),
        lazy_gettext("Several addresses in one cell are an error."),
    ),
    "phone_extension": KindTexts(
        lazy_gettext("Extension not readable"),
        lazy_gettext("The cell has an extension that isn't written in digits."),
    ),
    "formula_without_value": KindTexts(
        lazy_gettext("Formula without value"),
        lazy_gettext("A cell that the contact needs holds a formula whose result was not saved."),
    ),
    "cell_error": KindTexts(
        lazy_gettext("Formula error"),
        lazy_gettext("The spreadsheet shows an error such as #REF! there."),
    ),
    "placeholder_value": KindTexts(
        lazy_gettext("Filler in place of a number"),
        lazy_gettext("A number such as 000-000-0000 or 123-456-7890 was typed to fill the cell."),
    ),
}
IGNORED = {
    "status_ended": KindTexts(
        lazy_gettext("Outreach has ended"),
        lazy_gettext("The status ends outreach, so the contact is not added."),
    ),
    "not_in_campaign": KindTexts(
        lazy_gettext("Not in the campaign"), lazy_gettext("“Update only” adds no contacts.")
    ),
    "left_out": KindTexts(
        lazy_gettext("Left out by hand"), lazy_gettext("Left out on the check screen.")
    ),
}
WARNINGS = {
    DUPLICATE: KindTexts(
        lazy_gettext("Same contact again"),
        lazy_gettext(
            "An earlier row is the same contact; rows are applied in order, this one as an update."
        ),
    ),
    "duplicate_phone": KindTexts(
        lazy_gettext("Phone shared with another row"),
        lazy_gettext(
            "An earlier row has this number with another email or external ID; both become one "
            "contact."
        ),
    ),
    "duplicate_email": KindTexts(
        lazy_gettext("Email shared with another row"),
        lazy_gettext(
            "An earlier row has this address with another phone or external ID; both become one "
            "contact."
        ),
    ),
    "extension_dropped": KindTexts(
        lazy_gettext("Kept without extension"),
        lazy_gettext("The number is stored, its extension becomes the metadata phoneExtension."),
    ),
    "several_phones": KindTexts(
        lazy_gettext("Other phone kept as metadata"),
        lazy_gettext(
            "If there are several phone columns, the first valid number is used and the others "
            "become metadata."
        ),
    ),
    "several_emails": KindTexts(
        lazy_gettext("Other email kept as metadata"),
        lazy_gettext(
            "If there are several email columns, the first valid address is used and the others "
            "become metadata."
        ),
    ),
    NO_PHONE: KindTexts(
        lazy_gettext("No phone to call"),
        lazy_gettext("The new contact has no phone number, so it can't be called."),
    ),
    "phone_dropped": KindTexts(
        lazy_gettext("Other phone used"),
        lazy_gettext("This number can't be used; that of another column is."),
    ),
    "email_dropped": KindTexts(
        lazy_gettext("Other email used"),
        lazy_gettext("This address can't be used; that of another column is."),
    ),
    "encoding_guessed": KindTexts(
        lazy_gettext("Encoding guessed"),
        lazy_gettext(
            "The text encoding was guessed: look at names with letters beyond A to Z, and choose "
            "another encoding where they look wrong."
        ),
    ),
    "other_sheets": KindTexts(
        lazy_gettext("Other sheets"),
        lazy_gettext("The workbook has other visible sheets, which were not read."),
    ),
    "hidden_sheet": KindTexts(
        lazy_gettext("Hidden sheet"),
        lazy_gettext("The sheet that was read is hidden in the workbook."),
    ),
    "hidden_rows": KindTexts(
        lazy_gettext("Hidden rows"),
        lazy_gettext(
            "Rows that are hidden in the spreadsheet, by a filter or by hand, are read too."
        ),
    ),
    "hidden_columns": KindTexts(
        lazy_gettext("Hidden columns"),
        lazy_gettext("Columns that are hidden in the spreadsheet are read too."),
    ),
    "footer_rows": KindTexts(
        lazy_gettext("Footer left out"),
        lazy_gettext(
            "Totals, copyright and the like at the end of the file are counted as skipped."
        ),
    ),
    "title_rows": KindTexts(
        lazy_gettext("Title left out"), lazy_gettext("Rows above the column names were left out.")
    ),
    "unnamed_column": KindTexts(
        lazy_gettext("Column without a name"),
        lazy_gettext("A column without a name is called by its letter."),
    ),
    "duplicate_columns": KindTexts(
        lazy_gettext("Columns of the same name"),
        lazy_gettext("Columns with the same name were numbered from the second one on."),
    ),
    "extra_cells": KindTexts(
        lazy_gettext("Extra empty cells"),
        lazy_gettext("The row has more cells than the header; those are empty."),
    ),
    "missing_cells": KindTexts(
        lazy_gettext("Cells missing at the end"),
        lazy_gettext("The row has fewer cells than the header; they count as empty."),
    ),
    "placeholder_value": KindTexts(
        lazy_gettext("Counted as empty"),
        lazy_gettext("“N/A”, “-”, “none” and the like count as empty."),
    ),
    "characters_removed": KindTexts(
        lazy_gettext("Invisible marks removed"),
        lazy_gettext("Invisible characters were removed from a name, a number or an address."),
    ),
    "characters_replaced": KindTexts(
        lazy_gettext("Characters replaced"),
        lazy_gettext(
            "Digits of other scripts and full-width characters were written as 0 to 9 and a to z."
        ),
    ),
    "assumed_country": KindTexts(
        lazy_gettext("Country assumed"),
        lazy_gettext(
            "Numbers without a country code were read as numbers of the organization’s country."
        ),
    ),
    NOT_IN_USE: KindTexts(
        lazy_gettext("Number not in use"),
        lazy_gettext(
            "The number has a valid length, but no number like it is in use in its country. It is "
            "stored and never called."
        ),
    ),
    ON_DO_NOT_CALL_LIST: KindTexts(
        lazy_gettext("On the do-not-call list"),
        lazy_gettext(
            "The number is on the organization's do-not-call list: the contact is stored and never "
            "called."
        ),
    ),
    COUNTRY_NOT_OPEN: KindTexts(
        lazy_gettext("Country not open for calls"),
        lazy_gettext(
            "The number's country isn't open for calls: the contact is stored, and not called "
            "until it is."
        ),
    ),
    "text_around_value": KindTexts(
        lazy_gettext("Extra text in the cell"),
        lazy_gettext(
            "The cell holds exactly one number or address with words around it, which are left "
            "out; the whole cell becomes metadata."
        ),
    ),
    "macros_ignored": KindTexts(
        lazy_gettext("Macros ignored"), lazy_gettext("The workbook's macros were not run.")
    ),
    "content_mismatch": KindTexts(
        lazy_gettext("File type doesn’t match"),
        lazy_gettext("The file type doesn't match the file name. The file was read anyway."),
    ),
    "formula_without_value": KindTexts(
        lazy_gettext("Formula without value"),
        lazy_gettext("A formula in a metadata value has no result: left out."),
    ),
    "key_too_long": KindTexts(
        lazy_gettext("Column name shortened"),
        lazy_gettext("A column name of more than 64 characters was cut to be a key."),
    ),
    "do_not_call": KindTexts(
        lazy_gettext("Asked not to be called"),
        lazy_gettext(
            "A column says that the person must not be called: the contact is kept and never "
            "called."
        ),
    ),
    "do_not_call_unclear": KindTexts(
        lazy_gettext("Perhaps asked not to be called"),
        lazy_gettext("A do-not-call column says neither yes nor no: the number is not called."),
    ),
    "repaired": KindTexts(
        lazy_gettext("Repaired"),
        lazy_gettext("The damage was undone because a user accepted the fix."),
    ),
}
