"""The form that asks why an operator views a portal."""

from wtforms import StringField

from app.languages import lazy_gettext
from app.portal.web.fields import without_nul
from app.portal.web.forms import PortalForm
from app.services.users.viewing import LONGEST_REASON


class ReasonForm(PortalForm):
    reason = StringField(
        lazy_gettext("Reason"),
        description=lazy_gettext("The partner reads it, for example the number of a request."),
        filters=[without_nul],
        render_kw={"maxlength": LONGEST_REASON, "autocomplete": "off"},
    )
