"""The partner's company details, their mapping to the contract's fields, and the sign-in policy."""

from collections.abc import Mapping
from typing import Any

from wtforms import (
    BooleanField,
    EmailField,
    Field,
    RadioField,
    SelectField,
    StringField,
    TextAreaField,
    URLField,
)

from app.enums import SecondFactorFor
from app.languages import LANGUAGES, gettext, lazy_gettext, locale
from app.portal.web.billing_fields import BillingAddressFields
from app.portal.web.fields import VersionField, lines_of, typed_number
from app.portal.web.forms import PortalForm
from app.schemas.base import wire_name
from app.services.partners.sign_in_policy import SignInPolicy
from app.services.payment_terms import MAX_CHARACTERS
from app.validation.texts import whole_number

MAX_DIGITS = 18
"""Maximum digits of a number that is read, so that its limit can be named."""

SECOND_FACTOR_GROUPS = {
    SecondFactorFor.NONE: lazy_gettext("No one"),
    SecondFactorFor.STAFF: lazy_gettext("Your staff"),
    SecondFactorFor.ALL: lazy_gettext("All users"),
}

PAYMENT_TEXTS = {code: f"payment_text_{code}" for code in LANGUAGES}
"""The fields of the payment instructions by language."""
ADDED = (
    "language",
    "sender_email",
    "billing_address",
    "tax_id",
    "payment_instructions",
    *PAYMENT_TEXTS.values(),
    "payment_days",
)
"""The fields that aren't in the contract."""
CONFIRM = "confirm_domain"
"""The field that only confirms a change, and isn't stored."""


def _text_field(label: str, **more: Any) -> StringField:
    return StringField(label, render_kw={"maxlength": 200, **more})


def _email_field(label: str) -> EmailField:
    return EmailField(label, render_kw={"maxlength": 254, "spellcheck": "false"})


def _url_field(label: str) -> URLField:
    return URLField(label, render_kw={"maxlength": 2000})


def _instructions_field() -> TextAreaField:
    return TextAreaField(
        lazy_gettext("Payment instructions"),
        render_kw={"maxlength": MAX_CHARACTERS, "rows": 4, "autocomplete": "off"},
    )


class PortalSettingsForm(BillingAddressFields):
    """Fields of the contract have its names in snake case; blank is null."""

    version = VersionField()
    partner_name = _text_field(lazy_gettext("Company name"), required=True)
    partner_type = _text_field(lazy_gettext("Kind of partnership"))
    language = SelectField(lazy_gettext("Language of your users"), validate_choice=False)
    domain = _text_field(lazy_gettext("Portal domain"), spellcheck="false", inputmode="url")
    confirm_domain = BooleanField(lazy_gettext("Change the domain"))
    email_domain = _text_field(lazy_gettext("Email domain"), spellcheck="false")
    support_email = _email_field(lazy_gettext("Support"))
    sender_email = _email_field(lazy_gettext("Sender of your emails"))
    notification_email = _email_field(lazy_gettext("Notices about your customers"))
    tracking_email = _email_field(lazy_gettext("Figures and reports"))
    billing_email = _email_field(lazy_gettext("Invoices to you"))
    collection_email = _email_field(lazy_gettext("Payments from your customers"))
    payment_instructions = _instructions_field()
    payment_text_en = _instructions_field()
    payment_text_de = _instructions_field()
    payment_text_es = _instructions_field()
    payment_text_fr = _instructions_field()
    payment_days = StringField(
        lazy_gettext("Days until due"),
        render_kw={"inputmode": "numeric", "maxlength": 3, "autocomplete": "off"},
    )
    payment_method_id = _text_field(
        lazy_gettext("Reference of your payment method"), spellcheck="false"
    )
    default_service = _text_field(lazy_gettext("Service of new assistants"))
    default_assistant_limit = StringField(
        lazy_gettext("Assistants of a new organization"),
        render_kw={"inputmode": "numeric", "required": True},
    )
    purchase_link = _url_field(lazy_gettext("Upgrade page"))
    partner_redirect_link = _url_field(lazy_gettext("Page after signing out"))
    allowed_query_params = TextAreaField(
        lazy_gettext("URL parameters kept after sign-in"), render_kw={"spellcheck": "false"}
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.language.choices = [("", gettext("Automatic")), *LANGUAGES.items()]
        names = locale().languages
        for code, field in self.payment_texts.items():
            field.label.text = gettext("Payment instructions in %(language)s", language=names[code])

    @property
    def payment_texts(self) -> dict[str, Field]:
        """Return the fields of the payment instructions by the codes of their languages."""
        return {code: self[name] for code, name in PAYMENT_TEXTS.items()}

    @classmethod
    def showing(
        cls, resource: Mapping[str, Any], version: int, **added: str | None
    ) -> "PortalSettingsForm":
        """Return the form filled with a partner in the contract's names, and with the fields that
        aren't in it."""
        form = cls.from_object(version=version)
        for field in form:
            if field.name == CONFIRM:
                continue
            if field.name in ADDED:
                field.data = added[field.name] or ""
                continue
            value = resource[wire_name(field.name)]
            if isinstance(value, dict):
                value = "\n".join(value)
            field.data = "" if value is None else str(value)
        return form

    def to_changes(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return the form as fields of the contract. URL parameters kept after sign-in keep their
        ``stored`` values."""
        values: dict[str, Any] = {
            wire_name(field.name): (field.data or "").strip() or None
            for field in self
            if field.name not in (*ADDED, CONFIRM)
        }
        values["partnerName"] = values["partnerName"] or ""
        limit = values["defaultAgentLimit"] or ""
        number = whole_number(limit, MAX_DIGITS)
        values["defaultAgentLimit"] = limit if number is None else number
        stored_params = stored["allowedQueryParams"] or {}
        params = {
            name: stored_params.get(name, True) for name in lines_of(self.allowed_query_params)
        }
        was_null = stored["allowedQueryParams"] is None
        values["allowedQueryParams"] = None if was_null and not params else params
        return values


class SignInPolicyForm(PortalForm):
    """Blank numbers are the limits of the installation."""

    version = VersionField()
    second_factor_for = RadioField(lazy_gettext("Second factor required for"))
    session_hours = StringField(
        lazy_gettext("Sign in again after"), render_kw={"inputmode": "numeric"}
    )
    idle_minutes = StringField(
        lazy_gettext("Sign out after no use for"), render_kw={"inputmode": "numeric"}
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.second_factor_for.choices = [
            (group.value, name) for group, name in SECOND_FACTOR_GROUPS.items()
        ]

    def policy(self) -> SignInPolicy:
        """Return the input; None for a blank number, -1 for an invalid one."""
        return SignInPolicy(
            SecondFactorFor(self.second_factor_for.data),
            typed_number(self.session_hours.data),
            typed_number(self.idle_minutes.data),
        )
