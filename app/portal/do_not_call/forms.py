"""The form that puts numbers on the do-not-call list."""

from flask_wtf.file import FileField
from wtforms import StringField, TextAreaField

from app.languages import lazy_gettext
from app.portal.web.forms import PortalForm

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
