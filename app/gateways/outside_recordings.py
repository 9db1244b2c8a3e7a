"""Fetch the recording of a call from a voice engine or a carrier (`app.gateways.outside_http`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from app.errors import Sentence
from app.gateways import outside_http
from app.gateways.files.base import size_label
from app.validation.urls import is_web_url

MAX_REDIRECTS = 3
SECONDS = 60.0
_REDIRECTS = (301, 302, 303, 307, 308)
_BEGINNINGS = (
    (0, b"ID3", "audio/mpeg"),
    (8, b"WAVE", "audio/wav"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftyp", "audio/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "audio/webm"),
)
_STATUS = Sentence.gettext("%(host)s answered with status %(status)s.")
_BROKEN_OFF = Sentence.gettext("%(host)s broke off the download.")
_TOO_LARGE = Sentence.gettext("The recording is larger than %(size)s.")
_NO_RECORDING = Sentence.gettext("%(host)s sent a file that is not a recording.")
_NO_ANSWER = Sentence.gettext("No answer from %(host)s (%(reason)s).")
_BAD_REDIRECT = Sentence.gettext("The recording’s address redirects to one that can’t be followed.")
_REDIRECTS_ON = Sentence.gettext("The recording’s address redirects too often.")
_MP3_FRAMES = (0xFA, 0xF2, 0xE2)
"""The second byte of a frame of MPEG 1, 2 and 2.5, layer III, without its protection bit."""


@dataclass(frozen=True, slots=True)
class FetchedRecording:
    data: bytes
    content_type: str


class RecordingNotFetched(Exception):
    """Why there is no recording, as a sentence; ``again`` if a later attempt may have one."""

    def __init__(self, message: str, *, again: bool):
        super().__init__(message)
        self.again = again


def fetch(
    url: str, headers: Mapping[str, str], *, max_bytes: int, allow_private: bool
) -> FetchedRecording:
    """Fetch the file. Each redirect is checked like the first URL, and gets no ``headers``. Raises
    `PictureNotFetched`."""
    answer = _follow_redirects(url, headers, max_bytes, allow_private)
    host = urlsplit(url).hostname
    if answer.status != 200:
        raise RecordingNotFetched(_STATUS(host=host, status=answer.status), again=True)
    if answer.body is None:
        raise RecordingNotFetched(_BROKEN_OFF(host=host), again=True)
    if len(answer.body) > max_bytes:
        raise RecordingNotFetched(_TOO_LARGE(size=size_label(max_bytes)), again=False)
    kind = content_type_of(answer.body)
    if kind is None:
        raise RecordingNotFetched(_NO_RECORDING(host=host), again=False)
    return FetchedRecording(answer.body, kind)


def content_type_of(data: bytes) -> str | None:
    """Return the type of a sound file by its first bytes; None for any other file."""
    for position, magic, kind in _BEGINNINGS:
        if data[position : position + len(magic)] == magic:
            return kind
    is_mpeg = len(data) > 2 and data[0] == 0xFF and data[1] & 0xFE in _MP3_FRAMES
    return "audio/mpeg" if is_mpeg else None


def _follow_redirects(
    url: str, headers: Mapping[str, str], max_bytes: int, allow_private: bool
) -> outside_http.HttpAnswer:
    request_headers = {"accept": "audio/*", "user-agent": "partner-portal-recordings/1", **headers}
    for _ in range(MAX_REDIRECTS + 1):
        try:
            answer = outside_http.send_request(
                "GET",
                url,
                request_headers,
                max_bytes=max_bytes + 1,
                allow_private=allow_private,
                seconds=SECONDS,
            )
        except outside_http.NoAnswer as reason:
            host = urlsplit(url).hostname
            raise RecordingNotFetched(_NO_ANSWER(host=host, reason=reason), again=True) from None
        location = answer.headers.get("Location")
        if answer.status not in _REDIRECTS or location is None:
            return answer
        request_headers = {
            name: value for name, value in request_headers.items() if name not in headers
        }
        try:
            url = urljoin(url, location)
        except ValueError:
            url = ""
        if not is_web_url(url):
            raise RecordingNotFetched(_BAD_REDIRECT(), again=False)
    raise RecordingNotFetched(_REDIRECTS_ON(), again=False)
