"""The form that puts numbers on the do-not-call list."""

from flask_wtf.file import FileField
from wtforms import StringField, TextAreaField

from app.languages import lazy_gettext
from app.portal.web.forms import PortalForm
from app.services.do_not_call import Sheet, SheetLine

MOST_REASON = 500


class NumbersForm(PortalForm):
    numbers = TextAreaField(lazy_gettext("Numbers"))
    file = FileField(lazy_gettext("Or a file"))
    reason = StringField(
        lazy_gettext("Reason"), render_kw={"maxlength": MOST_REASON, "autocomplete": "off"}
    )


class ReasonForm(PortalForm):
    reason = StringField(
        lazy_gettext("Reason"), render_kw={"maxlength": MOST_REASON, "autocomplete": "off"}
    )


def as_text(sheet: Sheet) -> str:
    """Return the lines of the file for the form, so that the file need not be chosen again."""
    lines = sorted([*sheet.good, *sheet.bad], key=lambda line: line.number)
    return "\n".join(_written(line) for line in lines)


def _written(line: SheetLine) -> str:
    return f"{line.written}\t{line.reason}" if line.reason else line.written
