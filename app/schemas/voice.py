"""What the voice engine of an assistant reports about a call (docs/voice-engines.md)."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.schemas.base import Input
from app.schemas.checks import Omittable, refusal
from app.schemas.fields import LongWords, WebUrl, Words

MAX_TURNS = 2000
MAX_CALL_SECONDS = 24 * 3600


class TranscriptTurn(Input):
    """What one side said. ``at`` is in seconds after the call was answered."""

    speaker: Literal["assistant", "person"]
    text: Words
    at: Omittable[Annotated[float, Field(ge=0, le=MAX_CALL_SECONDS, strict=False)]] = None


class VoiceReport(Input):
    """At least one part; a part that is absent stays as it is."""

    transcript: Omittable[Annotated[list[TranscriptTurn], Field(max_length=MAX_TURNS)]] = None
    summary: Omittable[LongWords] = None
    recording_url: Omittable[Annotated[WebUrl, Field(max_length=2000)]] = None

    @model_validator(mode="after")
    def _refuse_nothing(self) -> Self:
        if self.transcript is None and self.summary is None and self.recording_url is None:
            raise refusal("required", "Send a transcript, a summary or a recordingUrl.")
        return self
