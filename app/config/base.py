"""The base class of all settings."""

from typing import Literal

from pydantic_settings import BaseSettings, SettingsConfigDict


class CommonSettings(BaseSettings):
    """Environment names start with ``PORTAL_`` unless a field has a ``validation_alias``."""

    model_config = SettingsConfigDict(
        env_prefix="PORTAL_",
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
    )

    env: Literal["development", "production", "test"] = "development"
    """``production`` requires a secret key and an https address; settings for tests are refused."""
    public_url: str = "http://127.0.0.1:8000"
    """Address of this installation for browsers, scripts and carrier callbacks."""
