"""The fields of a company's data on statements."""

from wtforms import StringField, TextAreaField

from app.languages import lazy_gettext
from app.portal.web.forms import PortalForm
from app.services.billing_address import MAX_TAX_ID_LENGTH


class BillingAddressFields(PortalForm):
    """Problems of `validate_address` are shown at these fields."""

    billing_address = TextAreaField(lazy_gettext("Address on statements"))
    tax_id = StringField(
        lazy_gettext("Tax or registration number"),
        render_kw={"maxlength": MAX_TAX_ID_LENGTH, "spellcheck": "false", "autocomplete": "off"},
    )

    @property
    def submitted_address(self) -> tuple[str, str]:
        return self.billing_address.data or "", self.tax_id.data or ""
