"""Recordings and transcripts of calls: who delivers them, and how long they are kept."""

from pydantic import Field, field_validator

from app.config.base import Foundation


class VoiceSettings(Foundation):
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

    @field_validator("voice_secret")
    @classmethod
    def _refuse_short_secret(cls, value: str) -> str:
        if value and len(value) < 32:
            message = "PORTAL_VOICE_SECRET needs at least 32 characters."
            raise ValueError(message)
        return value
