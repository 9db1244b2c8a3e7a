"""Why a whole file can't be read: a stable code and a sentence that says what to do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

from app.errors import Sentence, ValidationFailed

_REFUSALS = {
    "empty_file": Sentence.gettext("The file is empty. Export it again and upload the new file."),
    "no_rows": Sentence.gettext(
        "The file has a header and no rows below it, so there is nothing to upload."
    ),
    "no_header": Sentence.gettext(
        "Row %(row)s does not exist or is blank, so it cannot hold the column names."
    ),
    "no_contact_column": Sentence.gettext(
        "No column holds phone numbers, email addresses or an external id. Choose one."
    ),
    "no_such_column": Sentence.gettext(
        "There is no column “%(name)s”. The columns are: %(columns)s."
    ),
    "unclosed_quote": Sentence.gettext(
        "A quotation mark opens in row %(row)s, among the column names, and does not close."
    ),
    "bad_quote": Sentence.gettext(
        "A quotation mark among the column names in row %(row)s is out of place."
    ),
    "undecodable_text": Sentence.gettext(
        "The text is not %(encoding)s. Save the file as CSV UTF-8."
    ),
    "encoding_unknown": Sentence.gettext("%(encoding)s isn't a supported text encoding."),
    "not_text": Sentence.gettext(
        "This is not a text file or workbook. Save the list as CSV or XLSX."
    ),
    "unsupported_type": Sentence.gettext(
        "This is %(what_words)s, not a contact file. Save the list as CSV or XLSX."
    ),
    "content_mismatch": Sentence.gettext(
        "The file is called %(name)s and is %(what_words)s. Open it in a spreadsheet and save it "
        "as XLSX."
    ),
    "too_many_columns": Sentence.gettext(
        "Row %(row)s has more than %(limit)s columns. Keep those that matter."
    ),
    "duplicate_columns": Sentence.gettext(
        "Several columns are called “%(name)s”, and only one can count. Rename or remove the "
        "others."
    ),
    "field_too_long": Sentence.gettext(
        "Row %(row)s has a cell of more than %(limit)s characters. Shorten it."
    ),
    "nul_bytes": Sentence.gettext(
        "The file holds NUL characters, so it is damaged or not text. Export it again."
    ),
    "too_large": Sentence.gettext(
        "The file is larger than %(limit_words)s. Split it, or save it as CSV."
    ),
    "too_many_rows": Sentence.gettext(
        "The file has more than %(limit)s rows. Split it into several files."
    ),
    "zip_bomb": Sentence.gettext(
        "The workbook unpacks to far more than a contact list holds. Save it as CSV."
    ),
    "password_protected": Sentence.gettext(
        "The workbook is protected by a password. Save it without one."
    ),
    "macro_file": Sentence.gettext(
        "This is a workbook of macros, not a contact file. Save the list as XLSX."
    ),
    "unreadable_workbook": Sentence.gettext(
        "The workbook is damaged. Open it in a spreadsheet and save it again."
    ),
    "unsafe_workbook": Sentence.gettext(
        "The workbook holds XML that no spreadsheet writes. Save it as CSV."
    ),
    "choose_sheet": Sentence.gettext(
        "There is no sheet “%(sheet)s” with rows in it. The sheets are: %(sheets)s."
    ),
}
REFUSALS = {code: sentence.outline for code, sentence in _REFUSALS.items()}
"""Why a whole file is refused, with ``{…}`` for what is filled in."""
_SOME_ROW = {
    "too_many_columns": Sentence.gettext(
        "A row has more than %(limit)s columns. Keep those that matter."
    ),
    "field_too_long": Sentence.gettext(
        "A row has a cell of more than %(limit)s characters. Shorten it."
    ),
}
"""The sentences for a row whose number is not known."""
# Translators: kinds of files, in "This is a picture, not a contact file."
KINDS = {
    "a program": Sentence.gettext("a program"),
    "a picture": Sentence.gettext("a picture"),
    "a compressed file": Sentence.gettext("a compressed file"),
    "a database": Sentence.gettext("a database"),
    "a sound or a film": Sentence.gettext("a sound or a film"),
    "a sound": Sentence.gettext("a sound"),
    "a PDF": Sentence.gettext("a PDF"),
    "a text document": Sentence.gettext("a text document"),
    "a JSON file": Sentence.gettext("a JSON file"),
    "an address book in LDIF": Sentence.gettext("an address book in LDIF"),
    "a calendar": Sentence.gettext("a calendar"),
    "a web archive or a mail": Sentence.gettext("a web archive or a mail"),
    "a SYLK file": Sentence.gettext("a SYLK file"),
    "a web page": Sentence.gettext("a web page"),
    "an XML file": Sentence.gettext("an XML file"),
    "a binary workbook (XLSB)": Sentence.gettext("a binary workbook (XLSB)"),
    "a presentation": Sentence.gettext("a presentation"),
    "a Numbers document": Sentence.gettext("a Numbers document"),
    "an OpenDocument file": Sentence.gettext("an OpenDocument file"),
    "an archive or another kind of document": Sentence.gettext(
        "an archive or another kind of document"
    ),
    "a document of the old kind": Sentence.gettext("a document of the old kind"),
    "a damaged old document": Sentence.gettext("a damaged old document"),
}
"""Names of files that aren't contact files."""


class UnreadableFile(ValidationFailed):
    """The whole file is refused; ``row`` is the place if known, ``sheets`` those of a workbook that
    could be read instead. ``what`` among the ``values`` is a key of `KINDS`."""

    sheets: tuple[str, ...] = ()

    def __init__(self, code: str, *, row: int | None = None, **values: object):
        template = _SOME_ROW.get(code, _REFUSALS[code]) if row is None else _REFUSALS[code]
        limit, what = values.get("limit"), values.get("what")
        if isinstance(limit, int):
            values["limit"] = f"{limit:,}"
        if isinstance(what, str):
            values["what_words"] = KINDS[what]()
        super().__init__(template(row=row, limit_words=limit, **values), code)
        self.row = row

    @classmethod
    def with_message(cls, code: str, row: int | None, message: str) -> Self:
        """Return a refusal whose message was written before."""
        error = cls.__new__(cls)
        ValidationFailed.__init__(error, message, code)
        error.row = row
        return error


@contextmanager
def reading_one_of(sheets: Sequence[str]) -> Iterator[None]:
    """Name these sheets in an error that is raised inside."""
    try:
        yield
    except UnreadableFile as refused:
        refused.sheets = tuple(sheets)
        raise
