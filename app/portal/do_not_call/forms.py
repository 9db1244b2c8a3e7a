"""The form of numbers for a do-not-call list."""

from flask_wtf.file import FileField
from wtforms import HiddenField, TextAreaField

from app.languages import lazy_gettext
from app.portal.do_not_call.confirmation import DoNotCallReasonForm


class NumbersForm(DoNotCallReasonForm):
    """Lines or a file of numbers, or the checked lines."""

    numbers = TextAreaField(lazy_gettext("Numbers"))
    file = FileField(lazy_gettext("Or choose a file"))
    rows = HiddenField()
    from_file = HiddenField()
    """Whether the checked lines are those of a file."""
