"""Recordings and transcripts of calls: who delivers or writes them, and how long they are kept."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from app.config.base import CommonSettings


class VoiceSettings(CommonSettings):
    """Without a secret, reports of voice engines are refused."""

    voice_secret: str = Field("", repr=False)
    """From it comes the secret with which the voice engine of each assistant signs transcripts,
    summaries and recordings (``flask voice secret``). At least 32 random characters. Without it:
    none are accepted."""
    recording_bytes: int = Field(32 * 1024 * 1024, ge=1024)
    """Largest recording that is fetched."""
    recording_days: int = Field(90, ge=1)
    """How long recordings are kept."""
    transcript_days: int = Field(365, ge=1)
    """How long transcripts and summaries are kept."""
    twilio_record: bool = False
    """Twilio records answered calls. Make sure that the law of the called regions allows it, and
    that the messages say so."""

    transcriber: Literal["none", "openai", "deepgram"] = "none"
    """Whether recordings of calls without a transcript are transcribed, by a model behind an
    OpenAI-compatible API or by Deepgram."""
    transcriber_url: str = ""
    """Base address of the API, such as ``https://api.openai.com/v1`` or
    ``https://api.deepgram.com/v1``. Required with a transcriber."""
    transcriber_key: str = Field("", repr=False)
    """API key, if the server requires one."""
    transcriber_model: str = ""
    """Name of the model, such as ``whisper-1`` or ``nova-3``. Required with a transcriber."""
    transcriber_seconds: float = Field(300.0, gt=0, le=1800)
    """How long to wait for a transcript."""
    summaries: bool = False
    """The language model of PORTAL_WRITER summarizes transcripts without a summary."""
    summary_seconds: float = Field(60.0, gt=0, le=600)
    """How long to wait for a summary."""

    @field_validator("voice_secret")
    @classmethod
    def _refuse_short_secret(cls, value: str) -> str:
        if value and len(value) < 32:
            message = "PORTAL_VOICE_SECRET needs at least 32 characters."
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _refuse_unusable_transcriber(self) -> Self:
        if self.transcriber == "none":
            return self
        parts = urlsplit(self.transcriber_url)
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or not self.transcriber_model
        ):
            message = (
                f"PORTAL_TRANSCRIBER={self.transcriber} needs PORTAL_TRANSCRIBER_URL, written "
                "https://host/v1, and PORTAL_TRANSCRIBER_MODEL."
            )
            raise ValueError(message)
        is_near = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if self.env == "production" and parts.scheme == "http" and not is_near:
            message = "PORTAL_TRANSCRIBER_URL must start with https:// in production."
            raise ValueError(message)
        return self
