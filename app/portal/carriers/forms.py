"""The forms of a carrier account: a Twilio account, or a SIP trunk."""

from wtforms import BooleanField, PasswordField, RadioField, SelectChoice, StringField

from app.gateways.carriers.sip.account import Trunk
from app.languages import lazy_gettext
from app.portal.web.fields import VersionField
from app.portal.web.forms import PortalForm
from app.services.carrier_accounts import AccountFields
from app.services.carrier_accounts.account_fields import (
    MAX_HOST_LENGTH,
    MAX_SECRET_LENGTH,
    MAX_USER_LENGTH,
)

NUMBER, USER = "number", "user"
TRANSPORTS = {"udp": "UDP", "tcp": "TCP", "tls": "TLS"}
_PLAIN_ATTRIBUTES = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
_HOST_ATTRIBUTES = _PLAIN_ATTRIBUTES | {"maxlength": MAX_HOST_LENGTH, "inputmode": "url"}


class CarrierAccountForm(PortalForm):
    version = VersionField()
    sid = StringField(
        lazy_gettext("Account SID"), render_kw={"maxlength": 34, "autocomplete": "off"}
    )
    token = PasswordField(
        lazy_gettext("Auth token"),
        render_kw={"maxlength": MAX_SECRET_LENGTH, "autocomplete": "off"},
    )

    @classmethod
    def showing(cls, sid: str, version: int) -> "CarrierAccountForm":
        return cls.from_object(sid=sid, version=version)

    def to_particulars(self) -> AccountFields:
        return AccountFields((self.token.data or "").strip(), sid=(self.sid.data or "").strip())


class SipTrunkForm(PortalForm):
    version = VersionField()
    address = StringField(lazy_gettext("Trunk"), render_kw=_HOST_ATTRIBUTES)
    user = StringField(
        lazy_gettext("User"), render_kw=_PLAIN_ATTRIBUTES | {"maxlength": MAX_USER_LENGTH}
    )
    password = PasswordField(
        lazy_gettext("Password"), render_kw={"maxlength": MAX_SECRET_LENGTH, "autocomplete": "off"}
    )
    transport = RadioField(
        lazy_gettext("Transport"),
        choices=[SelectChoice(*each) for each in TRANSPORTS.items()],
        default="udp",
    )
    registers = BooleanField(lazy_gettext("Register before each call"))
    caller = RadioField(
        lazy_gettext("Shown as the caller"),
        choices=[
            SelectChoice(NUMBER, lazy_gettext("The assistant’s number")),
            SelectChoice(USER, lazy_gettext("The user")),
        ],
        default=NUMBER,
    )
    domain = StringField(lazy_gettext("Domain"), render_kw=_HOST_ATTRIBUTES)
    proxy = StringField(lazy_gettext("Outbound proxy"), render_kw=_HOST_ATTRIBUTES)

    @classmethod
    def showing(cls, trunk: Trunk | None, version: int) -> "SipTrunkForm":
        caller = NUMBER if trunk is None or trunk.shows_number else USER
        return cls.from_object(trunk, caller=caller, version=version)

    def to_particulars(self) -> AccountFields:
        """Return the input; the service reports invalid values."""
        trunk = Trunk(
            address=(self.address.data or "").strip(),
            user=(self.user.data or "").strip(),
            domain=(self.domain.data or "").strip(),
            proxy=(self.proxy.data or "").strip(),
            transport=str(self.transport.data or ""),
            registers=bool(self.registers.data),
            shows_number=self.caller.data != USER,
        )
        return AccountFields((self.password.data or "").strip(), trunk=trunk)
