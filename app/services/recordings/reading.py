"""Reading the recording and the transcript of a call."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import RecordingStatus
from app.errors import NotFound
from app.languages import gettext
from app.models import Call, CallRecording, CallTranscript
from app.policy.caller import Caller
from app.services import calls
from app.services.recordings.samples import SAMPLE

_EXTENSIONS = {
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "audio/mp4": "m4a",
    "audio/webm": "webm",
}


@dataclass(frozen=True, slots=True)
class RecordingWithTranscript:
    """The stored recording, transcript and summary of a call."""

    recording: CallRecording | None
    transcript: CallTranscript | None

    @property
    def is_sample(self) -> bool:
        """Whether it is a sample, in which no one has spoken (`samples`)."""
        return self.transcript is not None and self.transcript.report_id == SAMPLE


def of_call(session: Session, call: Call) -> RecordingWithTranscript:
    """Return the recording and transcript of a call that came from its loader: one query."""
    query = (
        select(CallRecording, CallTranscript)
        .select_from(Call)
        .outerjoin(CallRecording, CallRecording.call_id == Call.id)
        .outerjoin(CallTranscript, CallTranscript.call_id == Call.id)
    )
    return RecordingWithTranscript(*session.execute(query.where(Call.id == call.id)).one())


def extension_of(content_type: str) -> str:
    """Return the extension of a file name."""
    return _EXTENSIONS.get(content_type, "bin")


def file_of(session: Session, caller: Caller, call_id: UUID) -> CallRecording:
    """Return the recording of a call that has a file. Raises `NotFound` (``call_not_found``,
    ``recording_not_found``)."""
    recording = of_call(session, calls.get(session, caller, call_id)).recording
    if recording is None or recording.status is not RecordingStatus.STORED:
        raise NotFound(gettext("There is no recording of this call."), "recording_not_found")
    return recording
