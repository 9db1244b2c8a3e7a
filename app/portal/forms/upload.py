"""The forms of an upload: the file, and how it is read."""

from wtforms import FileField, Form, IntegerField, RadioField, SelectField
from wtforms.validators import NumberRange, Optional

from app.enums import ContactAction
from app.models import ContactImport
from app.services.imports.steps import Reading

MOST_HEADER_ROWS = 1000
ACTION_HINTS = {
    ContactAction.UPSERT: "People who are in the campaign are updated, the others are added.",
    ContactAction.UPDATE_ONLY: "Nobody is added; people who are not in the campaign are left out.",
    ContactAction.REMOVE: "People in the file leave the campaign; calls that wait are cancelled.",
}
ENCODINGS = [
    ("", "Found by itself"),
    ("utf-8", "UTF-8"),
    ("cp1252", "Windows (Western Europe)"),
    ("cp1250", "Windows (Central Europe)"),
    ("cp1251", "Windows (Cyrillic)"),
    ("latin-1", "Latin-1"),
    ("mac_roman", "Mac"),
    ("utf-16", "UTF-16"),
]
DELIMITERS = [
    ("", "Found by itself"),
    (",", "Comma"),
    (";", "Semicolon"),
    ("\t", "Tab"),
    ("|", "Vertical bar"),
]
DELIMITER_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class UploadForm(Form):
    file = FileField("Contact file")
    action = RadioField(
        "What is done with the people in it",
        choices=[
            (ContactAction.UPSERT.value, "Add and update"),
            (ContactAction.UPDATE_ONLY.value, "Update only"),
            (ContactAction.REMOVE.value, "Remove from the campaign"),
        ],
        default=ContactAction.UPSERT.value,
        validate_choice=True,
    )

    @property
    def chosen_action(self) -> ContactAction:
        return ContactAction(self.action.data)


class ReadingForm(Form):
    encoding = SelectField("Text encoding", choices=ENCODINGS)
    delimiter = SelectField("Separator", choices=DELIMITERS)
    sheet = SelectField("Sheet", validate_choice=False)
    header_row = IntegerField(
        "Row with the column names",
        [Optional(), NumberRange(0, MOST_HEADER_ROWS, f"A row number up to {MOST_HEADER_ROWS}.")],
    )

    @classmethod
    def showing(cls, upload: ContactImport) -> "ReadingForm":
        options = upload.read_options
        form = cls(
            data={
                "encoding": options.get("encoding") or "",
                "delimiter": options.get("delimiter") or "",
                "sheet": options.get("sheet") or "",
                "header_row": options.get("headerRow"),
            }
        )
        form.offer_sheets(upload)
        return form

    def offer_sheets(self, upload: ContactImport) -> None:
        sheets = upload.found.get("sheets") or []
        self.sheet.choices = [("", "Found by itself"), *((name, name) for name in sheets)]

    def to_reading(self) -> Reading:
        return Reading(
            encoding=self.encoding.data or None,
            delimiter=self.delimiter.data or None,
            header_row=self.header_row.data,
            sheet=self.sheet.data or None,
        )
