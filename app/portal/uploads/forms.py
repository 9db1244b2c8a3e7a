"""The forms of an upload: choosing the file, and how to read it."""

from flask_wtf.file import FileField
from wtforms import IntegerField, RadioField, SelectChoice, SelectField
from wtforms.validators import NumberRange, Optional

from app.enums import ContactAction
from app.languages import gettext, lazy_gettext
from app.models import ContactImport
from app.phone import regions
from app.portal.web.fields import OnceField
from app.portal.web.forms import PortalForm
from app.services.imports.steps import ReadingChoices

MAX_HEADER_ROWS = 1000
ACTION_HINTS = {
    ContactAction.UPSERT: lazy_gettext("Existing contacts are updated, new ones are added."),
    ContactAction.UPDATE_ONLY: lazy_gettext("Existing contacts are updated. Others are left out."),
    ContactAction.REMOVE: lazy_gettext(
        "Contacts in the file are removed from the campaign. Waiting calls are cancelled."
    ),
}
ENCODING_LABELS = {
    "utf-8": "UTF-8",
    "cp1252": lazy_gettext("Windows (Western Europe)"),
    "cp1250": lazy_gettext("Windows (Central Europe)"),
    "cp1251": lazy_gettext("Windows (Cyrillic)"),
    "cp1253": lazy_gettext("Windows (Greek)"),
    "cp1254": lazy_gettext("Windows (Turkish)"),
    "latin-1": "Latin-1",
    "iso8859-2": lazy_gettext("Latin-2 (Central Europe)"),
    "koi8-r": lazy_gettext("KOI8-R (Cyrillic)"),
    "mac_roman": "Mac",
    "cp850": "MS-DOS",
    "cp866": lazy_gettext("MS-DOS (Cyrillic)"),
    "cp932": lazy_gettext("Shift-JIS (Japanese)"),
    "gb18030": lazy_gettext("GB 18030 (Chinese, simplified)"),
    "big5": lazy_gettext("Big5 (Chinese, traditional)"),
    "cp949": lazy_gettext("Windows (Korean)"),
    "utf-16": "UTF-16",
}
DELIMITERS = [
    SelectChoice("", lazy_gettext("Automatic")),
    SelectChoice(",", lazy_gettext("Comma")),
    SelectChoice(";", lazy_gettext("Semicolon")),
    SelectChoice("\t", lazy_gettext("Tab")),
    SelectChoice("|", lazy_gettext("Vertical bar")),
]
DELIMITER_LABELS = {
    ",": lazy_gettext("separated by commas"),
    ";": lazy_gettext("separated by semicolons"),
    "\t": lazy_gettext("separated by tabs"),
    "|": lazy_gettext("separated by vertical bars"),
}


class UploadForm(PortalForm):
    once = OnceField()
    file = FileField(lazy_gettext("Contact file"))
    action = RadioField(
        lazy_gettext("Action"),
        choices=[
            SelectChoice(ContactAction.UPSERT.value, lazy_gettext("Add and update")),
            SelectChoice(ContactAction.UPDATE_ONLY.value, lazy_gettext("Update only")),
            SelectChoice(ContactAction.REMOVE.value, lazy_gettext("Remove from the campaign")),
        ],
        default=ContactAction.UPSERT.value,
        validate_choice=True,
    )

    def selected_action(self) -> ContactAction:
        return ContactAction(self.action.data)


class ReadingForm(PortalForm):
    encoding = SelectField(
        lazy_gettext("Text encoding"),
        choices=[
            SelectChoice("", lazy_gettext("Automatic")),
            *(SelectChoice(name, words) for name, words in ENCODING_LABELS.items()),
        ],
    )
    delimiter = SelectField(lazy_gettext("Separator"), choices=DELIMITERS)
    sheet = SelectField(lazy_gettext("Sheet"), validate_choice=False)
    region = SelectField(
        lazy_gettext("Numbers without a country code are from"),
        choices=lambda: [
            SelectChoice("", gettext("The organization’s country")),
            *(SelectChoice(code, name) for code, name in regions()),
        ],
    )
    header_row = IntegerField(
        lazy_gettext("Row with the column names"),
        [
            Optional(),
            NumberRange(
                0,
                MAX_HEADER_ROWS,
                lazy_gettext("A row number up to %(most)s.", most=MAX_HEADER_ROWS),
            ),
        ],
    )

    @classmethod
    def showing(cls, upload: ContactImport) -> "ReadingForm":
        options = upload.read_options
        form = cls.from_object(
            encoding=options.get("encoding") or "",
            delimiter=options.get("delimiter") or "",
            sheet=options.get("sheet") or "",
            header_row=options.get("headerRow"),
            region=options.get("region") or "",
        )
        form.set_sheets(upload)
        return form

    def set_sheets(self, upload: ContactImport) -> None:
        sheets = upload.found.get("sheets") or []
        names = [SelectChoice(name, name) for name in sheets]
        self.sheet.choices = [SelectChoice("", gettext("Automatic")), *names]

    def to_reading(self) -> ReadingChoices:
        return ReadingChoices(
            encoding=self.encoding.data or None,
            delimiter=self.delimiter.data or None,
            header_row=self.header_row.data,
            sheet=self.sheet.data or None,
            region=self.region.data or None,
        )
