"""The forms of an upload: choosing the file, and how to read it."""

from flask_wtf.file import FileField
from wtforms import IntegerField, RadioField, SelectChoice, SelectField
from wtforms.validators import NumberRange, Optional

from app.enums import ContactAction
from app.models import ContactImport
from app.phone import regions
from app.portal.web.fields import OnceField
from app.portal.web.forms import PortalForm
from app.services.imports.steps import ReadingChoices

MOST_HEADER_ROWS = 1000
ACTION_HINTS = {
    ContactAction.UPSERT: "Existing contacts are updated, new ones are added.",
    ContactAction.UPDATE_ONLY: "Existing contacts are updated. Others are left out.",
    ContactAction.REMOVE: (
        "Contacts in the file are removed from the campaign. Waiting calls are cancelled."
    ),
}
ENCODING_WORDS = {
    "utf-8": "UTF-8",
    "cp1252": "Windows (Western Europe)",
    "cp1250": "Windows (Central Europe)",
    "cp1251": "Windows (Cyrillic)",
    "cp1253": "Windows (Greek)",
    "cp1254": "Windows (Turkish)",
    "latin-1": "Latin-1",
    "iso8859-2": "Latin-2 (Central Europe)",
    "koi8-r": "KOI8-R (Cyrillic)",
    "mac_roman": "Mac",
    "cp850": "MS-DOS",
    "cp866": "MS-DOS (Cyrillic)",
    "cp932": "Shift-JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese, simplified)",
    "big5": "Big5 (Chinese, traditional)",
    "cp949": "Windows (Korean)",
    "utf-16": "UTF-16",
}
DELIMITERS = [
    SelectChoice("", "Automatic"),
    SelectChoice(",", "Comma"),
    SelectChoice(";", "Semicolon"),
    SelectChoice("\t", "Tab"),
    SelectChoice("|", "Vertical bar"),
]
DELIMITER_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class UploadForm(PortalForm):
    once = OnceField()
    file = FileField("Contact file")
    action = RadioField(
        "Action",
        choices=[
            SelectChoice(ContactAction.UPSERT.value, "Add and update"),
            SelectChoice(ContactAction.UPDATE_ONLY.value, "Update only"),
            SelectChoice(ContactAction.REMOVE.value, "Remove from the campaign"),
        ],
        default=ContactAction.UPSERT.value,
        validate_choice=True,
    )

    @property
    def chosen_action(self) -> ContactAction:
        return ContactAction(self.action.data)


class ReadingForm(PortalForm):
    encoding = SelectField(
        "Text encoding",
        choices=[
            SelectChoice("", "Automatic"),
            *(SelectChoice(name, words) for name, words in ENCODING_WORDS.items()),
        ],
    )
    delimiter = SelectField("Separator", choices=DELIMITERS)
    sheet = SelectField("Sheet", validate_choice=False)
    region = SelectField(
        "Numbers without a country code are from",
        choices=[
            SelectChoice("", "The organization’s country"),
            *(SelectChoice(code, name) for code, name in regions()),
        ],
    )
    header_row = IntegerField(
        "Row with the column names",
        [Optional(), NumberRange(0, MOST_HEADER_ROWS, f"A row number up to {MOST_HEADER_ROWS}.")],
    )

    @classmethod
    def showing(cls, upload: ContactImport) -> "ReadingForm":
        options = upload.read_options
        form = cls.from_object(
            data={
                "encoding": options.get("encoding") or "",
                "delimiter": options.get("delimiter") or "",
                "sheet": options.get("sheet") or "",
                "header_row": options.get("headerRow"),
                "region": options.get("region") or "",
            }
        )
        form.offer_sheets(upload)
        return form

    def offer_sheets(self, upload: ContactImport) -> None:
        sheets = upload.found.get("sheets") or []
        names = [SelectChoice(name, name) for name in sheets]
        self.sheet.choices = [SelectChoice("", "Automatic"), *names]

    def to_reading(self) -> ReadingChoices:
        return ReadingChoices(
            encoding=self.encoding.data or None,
            delimiter=self.delimiter.data or None,
            header_row=self.header_row.data,
            sheet=self.sheet.data or None,
            region=self.region.data or None,
        )
