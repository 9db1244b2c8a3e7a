"""What every part of the settings builds on."""

from typing import Literal

from pydantic_settings import BaseSettings, SettingsConfigDict


class Foundation(BaseSettings):
    """Environment names carry ``PORTAL_``, but for those that have a name of their own."""

    model_config = SettingsConfigDict(
        env_prefix="PORTAL_", frozen=True, extra="ignore", hide_input_in_errors=True
    )

    env: Literal["development", "production", "test"] = "development"
    public_url: str = "http://127.0.0.1:8000"
    """Where this installation is reached from outside."""
