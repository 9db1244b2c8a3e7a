"""Why a whole file can't be read: a stable code and a sentence that says what to do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

from app.errors import ValidationFailed

REFUSALS = {
    "empty_file": "The file is empty. Export it again and upload the new file.",
    "no_rows": "The file has a header and no rows below it, so there is nothing to upload.",
    "no_header": "Row {row} does not exist or is blank, so it cannot hold the column names.",
    "no_contact_column": (
        "No column holds phone numbers, email addresses or an external id. Choose one."
    ),
    "no_such_column": "There is no column “{name}”. The columns are: {columns}.",
    "unclosed_quote": (
        "A quotation mark opens in row {row}, among the column names, and does not close."
    ),
    "bad_quote": "A quotation mark among the column names in row {row} is out of place.",
    "undecodable_text": "The text is not {encoding}. Save the file as CSV UTF-8.",
    "encoding_unknown": "{encoding} is no text encoding that can be read here.",
    "not_text": "This is not a text file or workbook. Save the list as CSV or XLSX.",
    "unsupported_type": "This is {what}, not a contact file. Save the list as CSV or XLSX.",
    "content_mismatch": (
        "The file is called {name} and is {what}. Open it in a spreadsheet and save it as XLSX."
    ),
    "too_many_columns": "Row {row} has more than {limit} columns. Keep those that matter.",
    "duplicate_columns": (
        "Several columns are called “{name}”, and only one can count. Rename or remove the others."
    ),
    "field_too_long": "Row {row} has a cell of more than {limit:,} characters. Shorten it.",
    "nul_bytes": "The file holds NUL characters, so it is damaged or not text. Export it again.",
    "too_large": "The file is larger than {limit}. Split it, or save it as CSV.",
    "too_many_rows": "The file has more than {limit:,} rows. Split it into several files.",
    "zip_bomb": "The workbook unpacks to far more than a contact list holds. Save it as CSV.",
    "password_protected": "The workbook is protected by a password. Save it without one.",  # nosec B105 - a message
    "macro_file": "This is a workbook of macros, not a contact file. Save the list as XLSX.",
    "unreadable_workbook": "The workbook is damaged. Open it in a spreadsheet and save it again.",
    "unsafe_workbook": "The workbook holds XML that no spreadsheet writes. Save it as CSV.",
    "choose_sheet": "There is no sheet “{sheet}” with rows in it. The sheets are: {sheets}.",
}
"""Why a whole file is refused; ``{…}`` is filled in."""


class UnreadableFile(ValidationFailed):
    """The whole file is refused; ``row`` is the place if known, ``sheets`` those of a workbook that
    could be read instead."""

    sheets: tuple[str, ...] = ()

    def __init__(self, code: str, *, row: int | None = None, **facts: object):
        sentence = REFUSALS[code].format(row=row, **facts)
        super().__init__(sentence.replace("Row None", "A row"), code)
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
