"""Settings, read once from the environment, typed; the table in the README is made from them."""

import os
import re
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import AwareDatetime, BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.emails import is_email

ROOT = Path(__file__).resolve().parent.parent


def _date_or_time(value: object) -> object:
    """Accepts a plain date (midnight UTC) where a moment is asked for."""
    if isinstance(value, str) and len(value) == len("2026-07-01"):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_date_or_time)]


_SIP_HOST = re.compile(r"([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?)?")
_SIP_PASSWORD = re.compile(r"[!-:=?-~]*")


class Addresses(NamedTuple):
    """The base addresses of the contract (decisions, section 1)."""

    base: str
    auth: str
    phone: str
    public_api: str


class Settings(BaseSettings):
    """Everything that differs between installations. Environment names carry ``PORTAL_``."""

    model_config = SettingsConfigDict(
        env_prefix="PORTAL_", frozen=True, extra="ignore", hide_input_in_errors=True
    )

    env: Literal["development", "production", "test"] = "development"
    database_url: str = Field("", validation_alias="DATABASE_URL")
    instance_dir: Path = ROOT / "instance"
    secret_key: str = ""
    previous_secret_key: str = Field("", repr=False)
    """What was encrypted with it is still read, and encrypted anew when it is used."""
    public_url: str = "http://127.0.0.1:8000"
    base_url: str = ""
    auth_url: str = ""
    phone_url: str = ""
    public_api_url: str = ""
    """Areas with a host of their own; it changes what is printed and the audience of tokens."""

    legacy_retirement: Moment = datetime(2026, 7, 1, tzinfo=UTC)
    legacy_deprecated: Moment = datetime(2026, 1, 1, tzinfo=UTC)

    rate_per_second: int = Field(100, ge=1)
    rate_burst: int = Field(200, ge=1)
    failed_sign_ins: int = Field(20, ge=1)
    max_contacts: int = Field(10_000, ge=1)
    max_contacts_bytes: int = Field(8 * 1024 * 1024, ge=1024)
    max_body_bytes: int = Field(1024 * 1024, ge=1024)
    max_upload_bytes: int = Field(256 * 1024 * 1024, ge=1024)
    max_import_rows: int = Field(1_000_000, ge=1)
    undo_days: int = Field(7, ge=1)
    upload_days: int = Field(30, ge=1)
    """How long the rows of an upload that has ended are kept; at least as long as its undo."""
    token_seconds: int = Field(3600, ge=1)
    session_hours: int = Field(12, ge=1)

    smtp_url: str = ""
    mail_from: str = ""

    processor: Literal["price_list", "stripe"] = "price_list"
    stripe_key: str = ""
    stripe_api_url: str = ""

    carrier: Literal["simulator", "sip", "twilio"] = "simulator"
    simulator_pace: float = Field(1.0, gt=0)
    """Factor on every duration of the simulated line; tests set it far below 1."""
    twilio_account_sid: str = Field("", validation_alias="TWILIO_ACCOUNT_SID")
    twilio_auth_token: str = Field("", validation_alias="TWILIO_AUTH_TOKEN", repr=False)
    twilio_api_url: str = Field("", validation_alias="TWILIO_API_URL")
    sip_trunk: str = ""
    sip_user: str = Field("", pattern=r"^[\w.+@-]*$")
    sip_password: str = Field("", repr=False)
    sip_domain: str = ""
    sip_proxy: str = ""
    sip_transport: Literal["udp", "tcp", "tls"] = "udp"
    sip_register: bool = False
    sip_probe: bool = True
    """Whether the trunk is asked with OPTIONS, or for a connection, before each call."""
    sip_caller_id: Literal["number", "user"] = "number"
    sip_rtp_ports: str = Field("16384-32767", pattern=r"^\d{4,5}-\d{4,5}$")
    sip_ring_seconds: float = Field(30.0, gt=0, le=180)
    sip_voice: str = Field("en-us", pattern=r"^[a-z][\w+-]*$")
    sip_sounds: Path | None = None
    sip_baresip: str = "baresip"
    sip_espeak: str = "espeak-ng"
    carrier_request_seconds: float = Field(10.0, gt=0)
    carrier_settle_seconds: float = Field(12.0, gt=0)
    """How long after a request at the latest the carrier's list shows the call."""
    carrier_poll_seconds: float = Field(15.0, gt=0)
    carrier_silence_seconds: float = Field(110.0, gt=0)
    """How long a carrier that doesn't answer is asked what became of an attempt."""
    carrier_calls_per_second: float = Field(0, ge=0)
    """How many live calls a second a carrier is given by all workers together; 0 is no limit."""
    calls_per_organization: int = Field(5, ge=1)
    call_expiry_hours: int = Field(24, ge=1)

    writer: Literal["template", "openai"] = "template"
    writer_url: str = ""
    writer_key: str = Field("", repr=False)
    writer_model: str = ""
    writer_seconds: float = Field(8.0, gt=0, le=60)
    writer_characters: int = Field(600, ge=50, le=5000)

    webhook_allow_private: bool = False
    """Lets webhooks go to private addresses, and unencrypted; for tests."""
    webhook_pace: float = Field(1.0, gt=0)
    """Factor on the gaps between the attempts of a webhook; tests set it far below 1."""

    worker_heartbeat_seconds: float = Field(2.0, gt=0)
    worker_dead_after_seconds: float = Field(10.0, gt=0)
    """A worker silent for so long has its calls taken over by another."""
    queue_poll_seconds: float = Field(0.2, gt=0)
    engine_retention_days: int = Field(7, ge=1)

    @model_validator(mode="after")
    def _refuse_unsafe_production(self) -> Self:
        if self.env == "production":
            if len(self.secret_key) < 32:
                message = "PORTAL_SECRET_KEY must be set to at least 32 characters in production."
                raise ValueError(message)
            if not self.public_url.startswith("https://"):
                message = "PORTAL_PUBLIC_URL must start with https:// in production."
                raise ValueError(message)
            if self.webhook_allow_private:
                message = (
                    "PORTAL_WEBHOOK_ALLOW_PRIVATE is for tests; it can't be set in production."
                )
                raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _refuse_unusable_mail(self) -> Self:
        parts = urlsplit(self.smtp_url)
        if self.smtp_url and (parts.scheme not in ("smtp", "smtps") or not parts.hostname):
            message = "PORTAL_SMTP_URL is written smtp://user:password@host:587 or smtps://host."
            raise ValueError(message)
        if self.mail_from and not is_email(self.mail_from):
            message = "PORTAL_MAIL_FROM must be an e-mail address alone: name@example.com."
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _refuse_processor_without_key(self) -> Self:
        if self.processor == "stripe" and not self.stripe_key:
            message = "PORTAL_STRIPE_KEY must be set where PORTAL_PROCESSOR is stripe."
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _refuse_unusable_carrier(self) -> Self:
        if self.carrier == "twilio" and not (self.twilio_account_sid and self.twilio_auth_token):
            message = (
                "TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN must be set where PORTAL_CARRIER is "
                "twilio."
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
        programs = {
            "baresip": ("PORTAL_SIP_BARESIP", self.sip_baresip, "baresip-core"),
            "espeak-ng": ("PORTAL_SIP_ESPEAK", self.sip_espeak, "espeak-ng"),
        }
        for name, (variable, program, package) in programs.items():
            if shutil.which(program) is None:
                message = (
                    f"Calls over SIP need {name}, which is not installed: install the package "
                    f"{package} (Debian, Ubuntu), or name the program in {variable}."
                )
                raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _refuse_unusable_writer(self) -> Self:
        if self.writer == "template":
            return self
        parts = urlsplit(self.writer_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not self.writer_model:
            message = (
                "PORTAL_WRITER=openai needs PORTAL_WRITER_URL, written https://host/v1, and "
                "PORTAL_WRITER_MODEL."
            )
            raise ValueError(message)
        is_near = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if self.env == "production" and parts.scheme == "http" and not is_near:
            message = "PORTAL_WRITER_URL must start with https:// in production."
            raise ValueError(message)
        if not self.writer_key.isascii() or not self.writer_key.isprintable():
            message = "PORTAL_WRITER_KEY holds characters that no key has."
            raise ValueError(message)
        return self

    @property
    def addresses(self) -> Addresses:
        """Where each area of the contract is reached from outside, without a final slash."""
        public = self.public_url.rstrip("/")
        return Addresses(
            base=self.base_url.rstrip("/") or public,
            auth=self.auth_url.rstrip("/") or public,
            phone=self.phone_url.rstrip("/") or f"{public}/phone",
            public_api=self.public_api_url.rstrip("/") or public,
        )

    @property
    def effective_mail_from(self) -> str:
        """The address that mail comes from, else one at the public address's host."""
        host = urlsplit(self.public_url).hostname or ""
        named = any(c.isalpha() for c in host) and ":" not in host
        return self.mail_from or f"no-reply@{host if named else 'localhost'}"

    @property
    def effective_database_url(self) -> str:
        """The database asked for, else SQLite under the instance folder."""
        return self.database_url or f"sqlite:///{self.instance_dir / 'portal.db'}"

    @property
    def effective_secret_key(self) -> str:
        """The key asked for, else one made at the first start and kept in the instance folder."""
        if self.secret_key:
            return self.secret_key
        path = self.instance_dir / "secret.key"
        if not path.exists():
            self.instance_dir.mkdir(parents=True, exist_ok=True)
            own = path.with_suffix(f".{os.getpid()}")
            own.touch(mode=0o600)
            own.write_text(secrets.token_urlsafe(48))
            with suppress(FileExistsError):  # another process was first: its key counts
                path.hardlink_to(own)
            own.unlink()
        return path.read_text()

    @property
    def secret_keys(self) -> tuple[str, ...]:
        """What stored secrets may be encrypted with; the first is used for new ones."""
        keys = (self.effective_secret_key, self.previous_secret_key)
        return tuple(key for key in keys if key)


def read_settings() -> Settings:
    """The settings of the environment. Ends the program, with one sentence for each of them that
    can't be used."""
    try:
        return Settings()
    except ValidationError as error:
        raise SystemExit("\n".join(map(_sentence, error.errors()))) from None


def _sentence(problem: Mapping[str, Any]) -> str:
    refusal = problem.get("ctx", {}).get("error")
    if refusal is not None:
        return str(refusal)
    name = str(problem["loc"][0])
    variable = name if name.isupper() else f"PORTAL_{name.upper()}"
    return f"{variable} can't be used: {problem['msg']}."
