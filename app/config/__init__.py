"""Typed settings, read once from the environment. docs/configuration.md is generated from them."""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import AwareDatetime, BeforeValidator, Field, ValidationError, model_validator

import app
from app.config import database_urls
from app.config.audit import AuditSettings
from app.config.backups import BackupSettings
from app.config.calls import CallSettings
from app.config.carriers import CarrierSettings
from app.config.domains import DomainSettings
from app.config.files import FileSettings, folder_of
from app.config.limits import LimitSettings
from app.config.mail import MailSettings
from app.config.production import refusals
from app.config.spending import SpendingSettings
from app.config.telemetry import TelemetrySettings
from app.config.trial import TrialSettings
from app.config.voice import VoiceSettings
from app.config.writer import WriterSettings
from app.enums import CarrierKind

ROOT = app.ROOT


def _date_or_time(value: object) -> object:
    """Accept a plain date (midnight UTC) where a moment is expected."""
    if isinstance(value, str) and len(value) == len("2026-07-01"):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_date_or_time)]


class BaseAddresses(NamedTuple):
    """The base URLs of the contract (docs/decisions/json-api.md#addresses)."""

    base: str
    auth: str
    phone: str
    public_api: str


class Settings(
    LimitSettings,
    TrialSettings,
    MailSettings,
    DomainSettings,
    CarrierSettings,
    WriterSettings,
    VoiceSettings,
    SpendingSettings,
    AuditSettings,
    FileSettings,
    BackupSettings,
    TelemetrySettings,
):
    """Everything that differs between installations. Environment variables begin with
    ``PORTAL_``."""

    database_url: str = Field("", validation_alias="DATABASE_URL")
    """``postgresql://…``, to run on more than one machine. Without it: SQLite in the instance
    folder. Several servers are separated by commas:
    ``postgresql://portal:…@a:5432,b:5432/portal?target_session_attrs=read-write``."""
    replica_database_url: str = ""
    """A standby of PostgreSQL at which reports, usage, the overview and exports of lists are read.
    Without it, or if it doesn't answer: the primary."""
    replica_lag_seconds: float = Field(10.0, gt=0)
    """How old the rows of the replica may be. What users have just written they always see."""
    instance_dir: Path = app.INSTANCE
    """Folder of this host: the embedded database, files without ``PORTAL_FILES_URL``, the ledgers
    of SIP calls (never in a bucket), the generated secret key and demo credentials."""
    secret_key: str = ""
    """Signs cookies; encrypts token signing keys, webhook secrets and the secrets of carrier
    accounts. At least 32 random characters in production. Without it: generated at the first
    start."""
    previous_secret_key: str = Field("", repr=False)
    """The old secret key during a key change. Data encrypted with it stays readable and is
    encrypted again with the current key."""
    places_file: Path | None = None
    """A database of places in MaxMind's format, such as ``/srv/places/GeoLite2-City.mmdb``. Users
    see the city and country of each signed-in browser. Without it: its address alone."""
    base_url: str = ""
    """Own address of the Partner API. Without it: the public address. An
    own address changes printed links and the audience of tokens."""
    auth_url: str = ""
    """Own address of the token endpoint. Without it: the public address."""
    phone_url: str = ""
    """Own address of the Legacy API. Without it: ``/phone`` at the public
    address."""
    public_api_url: str = ""
    """Own address of the Campaigns API. Without it: the public address."""

    legacy_retirement: Moment = datetime(2026, 7, 1, tzinfo=UTC)
    """From this date the legacy calling API answers 410, except to clients with an extension."""
    legacy_deprecated: Moment = datetime(2026, 1, 1, tzinfo=UTC)
    """Date in the ``Deprecation`` header of the legacy calling API."""

    processor: Literal["price_list", "stripe"] = "price_list"
    """Price source: the built-in list, or Stripe, which needs the extra ``stripe``."""
    stripe_key: str = ""
    """Secret or restricted key that can read prices and products. Required with ``stripe``."""
    stripe_api_url: str = ""
    """Another address for the Stripe API, such as a test server. Without it: Stripe's own."""

    webhook_allow_private: bool = False
    """For tests: webhooks may use private addresses and http, and pictures of brands private
    addresses. Refused in production."""
    webhook_pace: float = Field(1.0, gt=0)
    """Factor for the pauses between delivery attempts of a webhook; below 1 is faster."""

    stop_delay_seconds: int = Field(0, ge=0, le=60)
    """After SIGTERM a web process serves on for this long while ``/readyz`` and ``/readyz/web``
    answer 503: longer than load balancers need to notice."""
    planned_web_processes: int = Field(2, ge=0)
    """Web processes on all machines together. ``flask doctor`` compares the connections that they
    and the workers can open with what PostgreSQL allows."""
    planned_workers: int = Field(1, ge=0)
    """Workers on all machines together, as above."""
    worker_heartbeat_seconds: float = Field(2.0, gt=0)
    """How often a worker reports that it is alive."""
    worker_dead_after_seconds: float = Field(10.0, gt=0)
    """Another worker takes over the calls of a worker that is silent for this long."""
    worker_livez_port: int = Field(0, ge=0, le=65535)
    """Port on which a worker answers ``GET /livez``; each worker of a machine needs its own. 0
    means none."""
    worker_livez_host: str = "127.0.0.1"
    """Address for this port, such as ``0.0.0.0`` for a probe from another machine."""
    worker_queues: str = ""
    """Names of queues with commas between them, such as ``imports,exports``: the worker does the
    work of these alone. Without it: of all. Each queue needs a worker."""
    queue_poll_seconds: float = Field(10.0, gt=0)
    """How often an idle worker checks the queue for work. It is also woken for each piece of work,
    so this counts only when a wake-up is lost."""
    engine_retention_days: int = Field(7, ge=1)
    """How long finished work stays in the tables of the queue."""

    @model_validator(mode="after")
    def _refuse_unsafe_production(self) -> Self:
        if self.env != "production":
            return self
        addresses = {
            "PORTAL_PUBLIC_URL": self.public_url or "missing",
            "PORTAL_BASE_URL": self.base_url,
            "PORTAL_AUTH_URL": self.auth_url,
            "PORTAL_PHONE_URL": self.phone_url,
            "PORTAL_PUBLIC_API_URL": self.public_api_url,
            "PORTAL_STRIPE_API_URL": self.stripe_api_url,
            "PORTAL_FILES_ENDPOINT": self.files_endpoint,
            "TWILIO_API_URL": self.twilio_api_url,
        }
        tests_only = {
            "PORTAL_WEBHOOK_ALLOW_PRIVATE": self.webhook_allow_private,
            "PORTAL_SIP_ALLOW_PRIVATE": self.sip_allow_private,
        }
        refused = list(refusals(self.secret_key, self.token_seconds, addresses, tests_only))
        if refused:
            raise ValueError("\n".join(refused))
        return self

    @model_validator(mode="after")
    def _refuse_summaries_without_model(self) -> Self:
        if self.summaries and self.writer != "openai":
            message = "PORTAL_SUMMARIES needs PORTAL_WRITER=openai."
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _refuse_places_without_file(self) -> Self:
        if self.places_file is not None and not self.places_file.is_file():
            message = f"PORTAL_PLACES_FILE: {self.places_file} isn't a file."
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _refuse_processor_without_key(self) -> Self:
        if self.processor == "stripe" and not self.stripe_key:
            message = "PORTAL_STRIPE_KEY must be set where PORTAL_PROCESSOR is stripe."
            raise ValueError(message)
        return self

    @property
    def call_settings(self) -> CallSettings:
        return CallSettings(
            carrier=CarrierKind(self.carrier),
            calls_at_once=self.calls_per_organization,
            calls_per_second=self.carrier_calls_per_second,
            trial_limits=self.trial_limits,
            max_call_minutes=self.longest_call_minutes,
            expiry_hours=self.call_expiry_hours,
            worker_silent_after=self.worker_silent_seconds,
        )

    @property
    def addresses(self) -> BaseAddresses:
        """Return the external URL of each area of the contract, without a trailing slash."""
        return self.addresses_at(self.public_url.rstrip("/"))

    def addresses_at(self, public: str) -> BaseAddresses:
        """As `addresses`, under another public URL; the configured URL of an area stays."""
        return BaseAddresses(
            base=self.base_url.rstrip("/") or public,
            auth=self.auth_url.rstrip("/") or public,
            phone=self.phone_url.rstrip("/") or f"{public}/phone",
            public_api=self.public_api_url.rstrip("/") or public,
        )

    @property
    def worker_queue_names(self) -> tuple[str, ...]:
        """Return the queues of this worker; empty means all."""
        return tuple(name.strip() for name in self.worker_queues.split(",") if name.strip())

    @property
    def public_host(self) -> str:
        """Return the host name of the public URL."""
        return urlsplit(self.public_url).hostname or "localhost"

    @property
    def is_local(self) -> bool:
        """Return whether the public URL leads to this machine only, so that public DNS has no
        records for it; an installation's own DNS server may."""
        return self.public_host in ("localhost", "127.0.0.1", "::1") and not self.dns_servers

    @property
    def worker_silent_seconds(self) -> float:
        """Return the seconds without a worker's report after which the calling service is shown as
        offline."""
        return 3 * self.worker_heartbeat_seconds

    @property
    def assets_dir(self) -> Path:
        """Return the folder of style sheets and scripts of all versions that serve side by side."""
        return self.instance_dir / "assets"

    @property
    def templates_dir(self) -> Path:
        """Return the folder of compiled templates."""
        return self.instance_dir / "templates"

    @property
    def effective_database_url(self) -> str:
        """Return the configured database, else SQLite in the instance folder."""
        if not self.database_url:
            return f"sqlite:///{self.instance_dir / 'portal.db'}"
        return database_urls.parse(self.database_url).render_as_string(hide_password=False)

    @property
    def replica_url(self) -> str:
        """Return the replica's URL, with a short timeout."""
        parsed = database_urls.parse(self.replica_database_url)
        return parsed.update_query_dict(
            {"connect_timeout": "2"} | dict(parsed.query)
        ).render_as_string(hide_password=False)

    @property
    def files_folder(self) -> Path | None:
        """Return the folder of uploads, recordings and exports; None if they are in a bucket."""
        if not self.files_url:
            return self.instance_dir / "uploads"
        return folder_of(self.files_url)

    @property
    def effective_secret_key(self) -> str:
        """Return the configured key, else one generated at the first start and kept in the instance
        folder."""
        if self.secret_key:
            return self.secret_key
        path = self.instance_dir / "secret.key"
        if not path.exists():
            self.instance_dir.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(f".{secrets.token_hex(8)}")  # threads may race
            temporary.touch(mode=0o600)
            temporary.write_text(secrets.token_urlsafe(48))
            with suppress(FileExistsError):  # another process was first: its key is used
                path.hardlink_to(temporary)
            temporary.unlink()
        return path.read_text()

    @property
    def secret_keys(self) -> tuple[str, ...]:
        """Return the keys that stored secrets may be encrypted with; the first encrypts new
        ones."""
        keys = (self.effective_secret_key, self.previous_secret_key)
        return tuple(key for key in keys if key)


def read_settings() -> Settings:
    """Return the settings of the environment. Ends the program, with one sentence for each invalid
    setting."""
    try:
        return Settings()
    except ValidationError as error:
        raise SystemExit("\n".join(map(_problem_message, error.errors()))) from None


def _problem_message(problem: Mapping[str, Any]) -> str:
    refusal = problem.get("ctx", {}).get("error")
    if refusal is not None:
        return str(refusal)
    name = str(problem["loc"][0])
    variable = name if name.isupper() else f"PORTAL_{name.upper()}"
    return f"{variable} can't be used: {problem['msg']}."
