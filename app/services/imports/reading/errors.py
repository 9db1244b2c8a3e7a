"""Why a file cannot be read: a stable code and a sentence that says what to do."""

from app.errors import ValidationFailed

SENTENCES = {
    "empty_file": "The file is empty. Export it again and upload the new file.",
    "no_rows": "The file has a header and no rows below it, so there is nothing to upload.",
    "no_header": "Row {row} does not exist or is blank, so it cannot hold the column names.",
    "unsupported_type": "This is {what}, not a contact file. Save the list as CSV or XLSX.",
    "not_text": "This is not a text file or workbook. Save the list as CSV or XLSX.",
    "nul_bytes": "The file holds NUL characters, so it is damaged or not text. Export it again.",
    "encoding_unknown": "{encoding} is no text encoding that can be read here.",
    "undecodable_text": "The text is not {encoding}. Save the file as CSV UTF-8.",
    "too_many_columns": "Row {row} has more than {limit} columns. Keep those that matter.",
    "too_many_rows": "The file has more than {limit:,} rows. Split it into several files.",
    "field_too_long": "Row {row} has a cell of more than {limit:,} characters. Shorten it.",
    "zip_bomb": "The workbook unpacks to far more than a contact list holds. Save it as CSV.",
    "unsafe_workbook": "The workbook holds XML that no spreadsheet writes. Save it as CSV.",
    "unreadable_workbook": "The workbook is damaged. Open it in a spreadsheet and save it again.",
    "password_protected": "The workbook is protected by a password. Save it without one.",
    "choose_sheet": "There is no sheet “{sheet}” to read. The sheets are: {sheets}.",
}


class UnreadableFile(ValidationFailed):
    """The whole file is refused; ``row`` names the place where that is known."""

    def __init__(self, code: str, *, row: int | None = None, **facts: object):
        super().__init__(SENTENCES[code].format(row=row, **facts), code)
        self.row = row
