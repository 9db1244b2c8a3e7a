"""Fetch the recording of a call from a voice engine or a carrier."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.errors import Sentence
from app.gateways.files.base import size_label
from app.gateways.outside_downloads import NotFetched, follow_redirects

SECONDS = 60.0
_BEGINNINGS = (
    (0, b"ID3", "audio/mpeg"),
    (8, b"WAVE", "audio/wav"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftyp", "audio/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "audio/webm"),
)
_TOO_LARGE = Sentence.gettext("The recording is larger than %(size)s.")
_NO_RECORDING = Sentence.gettext("%(host)s sent a file that is not a recording.")
_MP3_FRAMES = (0xFA, 0xF2, 0xE2)
"""The second byte of a frame of MPEG 1, 2 and 2.5, layer III, without its protection bit."""


@dataclass(frozen=True, slots=True)
class FetchedRecording:
    data: bytes
    content_type: str


def fetch(
    url: str, headers: Mapping[str, str], *, max_bytes: int, allow_private: bool
) -> FetchedRecording:
    """Fetch the file; only the first URL gets the ``headers``. Raises `NotFetched`."""
    download = follow_redirects(
        url,
        {"accept": "audio/*", "user-agent": "partner-portal-recordings/1"},
        secret_headers=headers,
        max_bytes=max_bytes,
        allow_private=allow_private,
        seconds=SECONDS,
    )
    data = download.read_body()
    if len(data) > max_bytes:
        raise NotFetched(_TOO_LARGE(size=size_label(max_bytes)), is_retryable=False)
    kind = content_type_of(data)
    if kind is None:
        raise NotFetched(_NO_RECORDING(host=download.host), is_retryable=False)
    return FetchedRecording(data, kind)


def content_type_of(data: bytes) -> str | None:
    """Return the type of a sound file by its first bytes; None for any other file."""
    for position, magic, kind in _BEGINNINGS:
        if data[position : position + len(magic)] == magic:
            return kind
    is_mpeg = len(data) > 2 and data[0] == 0xFF and data[1] & 0xFE in _MP3_FRAMES
    return "audio/mpeg" if is_mpeg else None
