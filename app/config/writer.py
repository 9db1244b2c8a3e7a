"""Who writes the messages of a call."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from app.config.base import CommonSettings


class WriterSettings(CommonSettings):
    """The templates of each assistant, or a language model."""

    writer: Literal["template", "openai"] = "template"
    """Who writes the messages of calls that have instructions: the built-in templates, or a
    language model behind an OpenAI-compatible API."""
    writer_url: str = ""
    """Base address of the API, such as ``https://api.openai.com/v1``. Required with ``openai``."""
    writer_key: str = Field("", repr=False)
    """API key, if the server requires one."""
    writer_model: str = ""
    """Name of the model. Required with ``openai``."""
    writer_seconds: float = Field(8.0, gt=0, le=60)
    """How long a call waits for the model before the templates are used."""
    writer_characters: int = Field(600, ge=50, le=5000)
    """Maximum characters from the model in each message."""

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
