"""The sample conversation of a call on the simulated carrier: no one speaks there."""

from typing import Literal
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CarrierKind
from app.errors import Sentence
from app.models import Call, CallAttempt, CallTranscript, utcnow
from app.schemas.voice import TranscriptTurn, VoiceReport
from app.services.recordings import reports

SAMPLE = "sample"
"""The id of the sample's report."""
_SUMMARY = Sentence.gettext("The person asked to be called again on Monday.")
_TURNS: tuple[tuple[Literal["assistant", "person"], Sentence], ...] = (
    ("assistant", Sentence.gettext("Hello, this is a sample conversation. Do you have a moment?")),
    ("person", Sentence.gettext("Not now. Please call again on Monday.")),
    ("assistant", Sentence.gettext("I will. Goodbye.")),
)
_SECONDS_A_TURN = 2


def report_sample(session: Session, attempt_id: UUID) -> None:
    """Report a sample as a voice engine would, for an ended call of the simulated carrier that a
    person answered; not if the call has a transcript."""
    attempt = session.get_one(CallAttempt, attempt_id)
    call = session.get_one(Call, attempt.call_id)
    if attempt.carrier is not CarrierKind.SIMULATOR or call.answered_by is not AnsweredBy.HUMAN:
        return
    present = select(CallTranscript.id).where(CallTranscript.call_id == call.id)
    if reports.assistant_of(session, call.id) is None or session.scalar(present) is not None:
        return
    reports.accept_report(session, call.id, sample(), SAMPLE, utcnow())


def sample() -> VoiceReport:
    turns = [
        TranscriptTurn(speaker=speaker, text=str(text), at=number * _SECONDS_A_TURN)
        for number, (speaker, text) in enumerate(_TURNS)
    ]
    return VoiceReport(transcript=turns, summary=str(_SUMMARY))
