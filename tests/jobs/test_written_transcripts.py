"""Transcripts and summaries that the installation has written by a model of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.database import Database
from app.jobs.write_transcript import add_summary, add_transcript
from app.models import CallTranscript, utcnow
from app.schemas.parsing import read
from app.schemas.voice import VoiceReport
from app.services.recordings import reports
from tests.fixtures.picture_server import PictureServer
from tests.fixtures.speech_model import SpeechModel
from tests.fixtures.voice_engine import WAV
from tests.fixtures.waiting import wait_for
from tests.fixtures.worker import Worker
from tests.jobs.test_recordings import RecordedCall

SEGMENTS = {
    "text": "Hello. Who is it?",
    "segments": [{"start": 0.0, "text": " Hello."}, {"start": 2.5, "text": " Who is it?\x00"}],
}
TURNS = [{"text": "Hello.", "at": 0.0}, {"text": "Who is it?", "at": 2.5}]


@pytest.fixture
def server() -> Iterator[PictureServer]:
    with PictureServer().open() as opened:
        yield opened


@pytest.fixture
def speech_model() -> Iterator[SpeechModel]:
    with SpeechModel().open() as opened:
        yield opened


@pytest.fixture
def recorded_call(
    fresh_database: Database, tmp_path: Path, server: PictureServer, speech_model: SpeechModel
) -> RecordedCall:
    found = RecordedCall(fresh_database, tmp_path, server)
    changes = {
        "transcriber": "openai",
        "transcriber_url": speech_model.url,
        "transcriber_model": "whisper-1",
        "transcriber_key": "sk-speech",
        "writer": "openai",
        "writer_url": speech_model.url,
        "writer_model": "gpt",
        "writer_key": "sk-speech",
        "summaries": True,
    }
    found.settings = found.settings.model_copy(update=changes)
    return found


def recorded(recorded_call: RecordedCall, server: PictureServer) -> None:
    report = read(VoiceReport, {"recordingUrl": server.serve("/1.wav", WAV)})
    with recorded_call.database.transaction() as session:
        reports.accept_report(session, recorded_call.call_id, report, "r1", utcnow())
    recorded_call.fetch()


def stored_transcript(recorded_call: RecordedCall) -> tuple[Any, str | None] | None:
    with recorded_call.database.transaction(read_only=True) as session:
        found = session.scalar(select(CallTranscript))
        return (found.turns, found.summary) if found else None


def test_a_recording_is_transcribed_and_summed_up(
    recorded_call: RecordedCall, server: PictureServer, speech_model: SpeechModel
) -> None:
    speech_model.transcribes(SEGMENTS)
    speech_model.sums_up(" They asked who calls. ")
    recorded(recorded_call, server)
    add_transcript(
        recorded_call.database, recorded_call.files, recorded_call.settings, recorded_call.call_id
    )
    add_summary(recorded_call.database, recorded_call.settings, recorded_call.call_id)
    assert stored_transcript(recorded_call) == (TURNS, "They asked who calls.")
    (first, upload), (second, chat) = speech_model.asked
    assert (first, second) == ("/v1/audio/transcriptions", "/v1/chat/completions")
    assert WAV in upload
    assert b'filename="call.wav"' in upload
    assert b"whisper-1" in upload
    assert b"Hello.\\nWho is it?" in chat
    assert speech_model.keys == {"Bearer sk-speech"}


def test_a_transcript_without_segments_is_one_turn(
    recorded_call: RecordedCall, server: PictureServer, speech_model: SpeechModel
) -> None:
    speech_model.transcribes({"text": "Hello. Who is it?"})
    recorded(recorded_call, server)
    add_transcript(
        recorded_call.database, recorded_call.files, recorded_call.settings, recorded_call.call_id
    )
    assert stored_transcript(recorded_call) == ([{"text": "Hello. Who is it?"}], None)


UTTERANCES = [
    {"start": 0.4, "transcript": "Hello.", "speaker": 0},
    {"start": 2.5, "transcript": "Who is it?", "speaker": 1},
]
CHANNELS = [{"alternatives": [{"transcript": "Hello. Who is it?"}, {"transcript": "Hallo"}]}]


def heard_by_deepgram(recorded_call: RecordedCall, server: PictureServer) -> Any:
    """Return the turns that are kept, and have them summed up."""
    changes = {"transcriber": "deepgram", "transcriber_model": "nova-3", "transcriber_key": "dg"}
    settings = recorded_call.settings.model_copy(update=changes)
    recorded(recorded_call, server)
    add_transcript(recorded_call.database, recorded_call.files, settings, recorded_call.call_id)
    add_summary(recorded_call.database, settings, recorded_call.call_id)
    return (stored_transcript(recorded_call) or ([],))[0]


def test_deepgram_distinguishes_the_speakers(
    recorded_call: RecordedCall, server: PictureServer, speech_model: SpeechModel
) -> None:
    speech_model.listens({"results": {"channels": CHANNELS, "utterances": UTTERANCES}})
    speech_model.sums_up("They asked who calls.")
    assert heard_by_deepgram(recorded_call, server) == [
        {"text": "Hello.", "at": 0.4, "voice": 1},
        {"text": "Who is it?", "at": 2.5, "voice": 2},
    ]
    (path, sound), (_, chat) = speech_model.asked
    assert path.startswith("/v1/listen?model=nova-3&")
    assert sound == WAV
    assert b"Speaker 1: Hello.\\nSpeaker 2: Who is it?" in chat
    assert speech_model.keys == {"Token dg", "Bearer sk-speech"}


@pytest.mark.parametrize("utterances", [None, [], "?", [7], [{"transcript": ""}]])
def test_without_utterances_the_best_text_of_deepgram_is_one_turn(
    recorded_call: RecordedCall, server: PictureServer, speech_model: SpeechModel, utterances: Any
) -> None:
    speech_model.listens({"results": {"channels": CHANNELS, "utterances": utterances}})
    assert heard_by_deepgram(recorded_call, server) == [{"text": "Hello. Who is it?"}]


def test_odd_times_and_speakers_of_deepgram_are_left_out(
    recorded_call: RecordedCall, server: PictureServer, speech_model: SpeechModel
) -> None:
    odd = [
        {"transcript": "One\x00.", "start": -1, "speaker": -1},
        {"transcript": "Two.", "start": "0", "speaker": True},
        {"transcript": 3, "start": 1, "speaker": 1},
    ]
    speech_model.listens({"results": {"utterances": odd}})
    assert heard_by_deepgram(recorded_call, server) == [{"text": "One."}, {"text": "Two."}]


@pytest.mark.parametrize(
    ("status", "reply"),
    [
        (401, {"err_code": "INVALID_AUTH"}),
        (500, {}),
        (200, []),
        (200, {"results": 5}),
        (200, {"results": {"channels": {}, "utterances": {}}}),
        (200, {"results": {"channels": [{"alternatives": []}, {"alternatives": 1}, 1]}}),
    ],
)
def test_a_useless_answer_of_deepgram_leaves_the_call_without_a_transcript(
    recorded_call: RecordedCall,
    server: PictureServer,
    speech_model: SpeechModel,
    status: int,
    reply: Any,
) -> None:
    speech_model.listens(reply, status)
    assert heard_by_deepgram(recorded_call, server) == []
    assert len(speech_model.asked) == 1


@pytest.mark.parametrize(
    ("status", "reply"),
    [(500, {}), (200, []), (200, {"text": ""}), (200, {"text": 5, "segments": [7]})],
)
def test_a_useless_answer_leaves_the_call_without_a_transcript(
    recorded_call: RecordedCall,
    server: PictureServer,
    speech_model: SpeechModel,
    status: int,
    reply: Any,
) -> None:
    speech_model.transcribes(reply, status)
    recorded(recorded_call, server)
    add_transcript(
        recorded_call.database, recorded_call.files, recorded_call.settings, recorded_call.call_id
    )
    add_summary(recorded_call.database, recorded_call.settings, recorded_call.call_id)
    assert stored_transcript(recorded_call) == ([], None)
    assert len(speech_model.asked) == 1


def test_a_transcript_of_the_voice_engine_is_not_written_again(
    recorded_call: RecordedCall, server: PictureServer, speech_model: SpeechModel
) -> None:
    recorded(recorded_call, server)
    sent = {"transcript": [{"speaker": "person", "text": "Hi."}], "summary": "Short."}
    with recorded_call.database.transaction() as session:
        reports.accept_report(
            session, recorded_call.call_id, read(VoiceReport, sent), "r2", utcnow()
        )
    add_transcript(
        recorded_call.database, recorded_call.files, recorded_call.settings, recorded_call.call_id
    )
    add_summary(recorded_call.database, recorded_call.settings, recorded_call.call_id)
    assert stored_transcript(recorded_call) == ([{"speaker": "person", "text": "Hi."}], "Short.")
    assert speech_model.asked == []


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_worker_fetches_transcribes_and_sums_up_without_being_asked(
    recorded_call: RecordedCall,
    server: PictureServer,
    speech_model: SpeechModel,
    make_worker: Callable[..., Worker],
) -> None:
    speech_model.transcribes(SEGMENTS)
    speech_model.sums_up("They asked who calls.")
    make_worker(
        PORTAL_WEBHOOK_ALLOW_PRIVATE="true",
        PORTAL_TRANSCRIBER="openai",
        PORTAL_TRANSCRIBER_URL=speech_model.url,
        PORTAL_TRANSCRIBER_MODEL="whisper-1",
        PORTAL_WRITER="openai",
        PORTAL_WRITER_URL=speech_model.url,
        PORTAL_WRITER_MODEL="gpt",
        PORTAL_SUMMARIES="true",
    ).start()
    report = read(VoiceReport, {"recordingUrl": server.serve("/1.wav", WAV)})
    with recorded_call.database.transaction() as session:
        reports.accept_report(session, recorded_call.call_id, report, "r1", utcnow())
    wait_for(lambda: stored_transcript(recorded_call) == (TURNS, "They asked who calls."))
