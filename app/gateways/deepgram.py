"""Transcribe a recording through Deepgram's API, which distinguishes the speakers.

https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded
"""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

from app.gateways.conversation_model import (
    ConversationModel,
    SpeechSegment,
    plain_text,
    post,
    seconds_after,
)

_WANTED = {
    "detect_language": "true",
    "diarize_model": "latest",
    "smart_format": "true",
    "utterances": "true",
}


def transcribe(model: ConversationModel, sound: bytes, content_type: str) -> list[SpeechSegment]:
    """Return the text of the recording, with the number of the speaker. Raises `ModelUnusable`."""
    query = urlencode({"model": model.name, **_WANTED})
    reply = post(model, f"/listen?{query}", sound, content_type, scheme="Token")
    results = reply.get("results")
    if not isinstance(results, dict):
        return []
    return _with_text(_utterances(results)) or _with_text(_channels(results))


def _with_text(segments: Iterable[SpeechSegment]) -> list[SpeechSegment]:
    return [segment for segment in segments if segment.text]


def _utterances(results: dict[str, Any]) -> Iterator[SpeechSegment]:
    for each in _dicts_in(results.get("utterances")):
        text, start = plain_text(each.get("transcript")), seconds_after(each.get("start"))
        yield SpeechSegment(text, start, _speaker_number(each.get("speaker")))


def _channels(results: dict[str, Any]) -> Iterator[SpeechSegment]:
    """Return the whole text of each channel, for an answer without utterances."""
    for channel in _dicts_in(results.get("channels")):
        for best in _dicts_in(channel.get("alternatives"))[:1]:
            yield SpeechSegment(plain_text(best.get("transcript")))


def _speaker_number(value: Any) -> int | None:
    """Return the number of a speaker from 1; Deepgram counts from 0."""
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return int(value) + 1 if is_number else None


def _dicts_in(value: Any) -> list[dict[str, Any]]:
    items = value if isinstance(value, list) else []
    return [each for each in items if isinstance(each, dict)]
