"""Settings, read once from the environment, typed; the table in the README is made from them."""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AwareDatetime, BeforeValidator, Field, ValidationError, model_validator

from app.config.carriers import CarrierSettings
from app.config.limits import LimitSettings
from app.config.mail import MailSettings
from app.config.writer import WriterSettings

ROOT = Path(__file__).resolve().parents[2]


def _date_or_time(value: object) -> object:
    """Accepts a plain date (midnight UTC) where a moment is asked for."""
    if isinstance(value, str) and len(value) == len("2026-07-01"):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_date_or_time)]


class Addresses(NamedTuple):
    """The base addresses of the contract (decisions, section 1)."""

    base: str
    auth: str
    phone: str
    public_api: str


class Settings(LimitSettings, MailSettings, CarrierSettings, WriterSettings):
    """Everything that differs between installations. Environment names carry ``PORTAL_``."""

    database_url: str = Field("", validation_alias="DATABASE_URL")
    instance_dir: Path = ROOT / "instance"
    secret_key: str = ""
    previous_secret_key: str = Field("", repr=False)
    """What was encrypted with it is still read, and encrypted anew when it is used."""
    base_url: str = ""
    auth_url: str = ""
    phone_url: str = ""
    public_api_url: str = ""
    """Areas with a host of their own; it changes what is printed and the audience of tokens."""

    legacy_retirement: Moment = datetime(2026, 7, 1, tzinfo=UTC)
    legacy_deprecated: Moment = datetime(2026, 1, 1, tzinfo=UTC)

    processor: Literal["price_list", "stripe"] = "price_list"
    stripe_key: str = ""
    stripe_api_url: str = ""

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
            for kind in ("webhook", "sip"):
                if getattr(self, f"{kind}_allow_private"):
                    name = f"PORTAL_{kind.upper()}_ALLOW_PRIVATE"
                    message = f"{name} is for tests; it can't be set in production."
                    raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _refuse_processor_without_key(self) -> Self:
        if self.processor == "stripe" and not self.stripe_key:
            message = "PORTAL_STRIPE_KEY must be set where PORTAL_PROCESSOR is stripe."
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
