"""The form that asks an operator why they view a portal."""

from wtforms import StringField
from wtforms.validators import InputRequired

from app.languages import lazy_gettext
from app.portal.web.fields import without_nul
from app.portal.web.forms import PortalForm
from app.services.users.viewing import MAX_REASON_LENGTH


class ViewReasonForm(PortalForm):
    reason = StringField(
        lazy_gettext("Reason"),
        description=lazy_gettext("The partner reads it, for example the number of a request."),
        validators=[InputRequired()],
        filters=[without_nul],
        render_kw={"maxlength": MAX_REASON_LENGTH, "autocomplete": "off"},
    )
