"""The carrier of live calls: simulated, a SIP trunk or Twilio."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from app.config.base import CommonSettings

_SIP_HOST = re.compile(r"([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?)?")
_SIP_PASSWORD = re.compile(r"[!-:=?-~]*")


class CarrierSettings(CommonSettings):
    """Twilio and a trunk can be set in addition to the carrier in use, so that their active calls
    are followed to the end."""

    carrier: Literal["simulator", "sip", "twilio"] = "simulator"
    """Carrier of live calls. Calls made with test keys always use the simulated carrier."""
    simulator_pace: float = Field(1.0, gt=0)
    """Factor for all durations of the simulated carrier; below 1 is faster."""
    twilio_account_sid: str = Field("", validation_alias="TWILIO_ACCOUNT_SID")
    """Twilio account that places the calls. Required with ``twilio``. Needs the extra
    ``twilio``."""
    twilio_auth_token: str = Field("", validation_alias="TWILIO_AUTH_TOKEN", repr=False)
    """Auth token of the Twilio account. Required with ``twilio``."""
    twilio_api_url: str = Field("", validation_alias="TWILIO_API_URL")
    """Another base address for the Twilio API, such as a test server. Without it: Twilio's own."""
    sip_trunk: str = ""
    """The trunk: ``host`` or ``host:port``. Required with ``sip``."""
    sip_user: str = Field("", pattern=r"^[\w.+@-]*$")
    """User of the account, if the trunk requires one. Set it together with the password."""
    sip_password: str = Field("", repr=False)
    """Password of the account, if the trunk requires one."""
    sip_domain: str = ""
    """Domain of the portal's SIP address. Without it: the trunk."""
    sip_proxy: str = ""
    """Outbound proxy for all SIP traffic. Without it: none."""
    sip_transport: Literal["udp", "tcp", "tls"] = "udp"
    """Transport of the signaling; ``tls`` needs baresip 1.1, which checks certificates."""
    sip_register: bool = False
    """Whether each call registers with the trunk first."""
    sip_probe: bool = True
    """Whether the trunk is checked with OPTIONS, or for a connection, before each call."""
    sip_caller_id: Literal["number", "user"] = "number"
    """User in the ``From`` header: the assistant's number, or the user of the account."""
    sip_rtp_ports: str = Field("16384-32767", pattern=r"^\d{4,5}-\d{4,5}$")
    """UDP ports for sound."""
    sip_ring_seconds: float = Field(30.0, gt=0, le=180)
    """How long a SIP call rings."""
    sip_voice: str = Field("en-us", pattern=r"^[a-z][\w+-]*$")
    """Voice of espeak-ng."""
    sip_sounds: Path | None = None
    """Folder with recordings to play instead of the synthetic voice."""
    sip_baresip: str = "baresip"
    """Name or path of the baresip program."""
    sip_espeak: str = "espeak-ng"
    """Name or path of the espeak-ng program."""
    sip_allow_private: bool = False
    """For tests: trunks of partners and voice addresses may be private. Refused in production."""
    carrier_request_seconds: float = Field(10.0, gt=0)
    """How long to wait for a carrier's answer to a request."""
    carrier_settle_seconds: float = Field(12.0, gt=0)
    """How long after a request a new call can be missing from the carrier's list."""
    carrier_poll_seconds: float = Field(15.0, gt=0)
    """How often the carrier is queried for the status of an active call."""
    carrier_silence_seconds: float = Field(110.0, gt=0)
    """How long a silent carrier is queried about an attempt before the call ends as ``unknown``."""
    silent_call_minutes: float = Field(5.0, gt=0)
    """An active call about which the carrier gives no answer for this long no longer counts as one
    of its organization's simultaneous calls."""
    carrier_calls_per_second: float = Field(0, ge=0)
    """Live calls per second for each carrier, over all workers together; 0 means no limit."""
    calls_per_organization: int = Field(5, ge=1)
    """Simultaneous calls of one organization. An organization can set a lower limit."""
    longest_call_minutes: int = Field(60, ge=1, le=240)
    """A call ends this long after it was answered; if the carrier gives no answer until then, as
    ``unknown``. Spending limits reserve the price of a call of this length before it is placed."""
    call_expiry_hours: int = Field(24, ge=1)
    """A call that could not be placed within this time expires."""

    @model_validator(mode="after")
    def _refuse_unusable_carrier(self) -> Self:
        if self.carrier == "twilio" and not (self.twilio_account_sid and self.twilio_auth_token):
            message = (
                "TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN must be set where PORTAL_CARRIER is "
                "twilio."
            )
            raise ValueError(message)
        if self.twilio_account_sid and self.twilio_auth_token and find_spec("twilio") is None:
            message = (
                "Calls over Twilio need the extra twilio, which is not installed: install the "
                "packages of requirements-twilio.lock, or remove TWILIO_ACCOUNT_SID."
            )
            raise ValueError(message)
        parts = urlsplit(self.twilio_api_url)
        if self.twilio_api_url and (parts.scheme not in ("http", "https") or not parts.hostname):
            message = "TWILIO_API_URL is written https://host or http://host:port."
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _refuse_unusable_trunk(self) -> Self:
        for name in ("trunk", "domain", "proxy"):
            if not _SIP_HOST.fullmatch(getattr(self, f"sip_{name}")):
                message = f"PORTAL_SIP_{name.upper()} is written host or host:port."
                raise ValueError(message)
        if not _SIP_PASSWORD.fullmatch(self.sip_password):
            message = (
                "PORTAL_SIP_PASSWORD can't hold spaces, semicolons, angle brackets or letters "
                "beyond ASCII: baresip has no way to write them."
            )
            raise ValueError(message)
        if bool(self.sip_user) != bool(self.sip_password):
            message = "PORTAL_SIP_USER and PORTAL_SIP_PASSWORD must be set together, or neither."
            raise ValueError(message)
        if self.sip_register and not self.sip_user:
            message = "PORTAL_SIP_USER must be set where PORTAL_SIP_REGISTER is on."
            raise ValueError(message)
        if self.carrier != "sip":
            return self
        if not self.sip_trunk:
            message = "PORTAL_SIP_TRUNK must be set where PORTAL_CARRIER is sip."
            raise ValueError(message)
        for name, program, variable, package in self._sip_programs:
            if shutil.which(program) is None:
                message = (
                    f"Calls over SIP need {name}, which is not installed: install the package "
                    f"{package} (Debian, Ubuntu), or name the program in {variable}."
                )
                raise ValueError(message)
        return self

    @property
    def can_call_over_sip(self) -> bool:
        """Return whether the programs for SIP calls are installed."""
        return all(shutil.which(program) for _, program, _, _ in self._sip_programs)

    @property
    def _sip_programs(self) -> tuple[tuple[str, str, str, str], ...]:
        """Return each program with its path, the setting of the path, and its package."""
        return (
            ("baresip", self.sip_baresip, "PORTAL_SIP_BARESIP", "baresip-core"),
            ("espeak-ng", self.sip_espeak, "PORTAL_SIP_ESPEAK", "espeak-ng"),
        )
