"""Fetching the recording of a call from a host that a voice engine has named."""

from collections.abc import Iterator

import pytest

from app.gateways.outside_downloads import NotFetched
from app.gateways.outside_recordings import FetchedRecording, content_type_of, fetch
from tests.fixtures.picture_server import PictureServer
from tests.fixtures.voice_engine import WAV


@pytest.fixture
def server() -> Iterator[PictureServer]:
    with PictureServer().open() as opened:
        yield opened


def problem(url: str, *, allow_private: bool = True) -> tuple[str, bool]:
    with pytest.raises(NotFetched) as reason:
        fetch(url, {}, max_bytes=1024 * 1024, allow_private=allow_private)
    return str(reason.value), reason.value.is_retryable


def test_a_recording_is_fetched_through_a_redirect(server: PictureServer) -> None:
    server.serve("/1.wav", WAV, kind="application/octet-stream")
    server.pages["/old"] = (302, {"Location": "/1.wav"}, b"")
    found = fetch(server.url("/old"), {}, max_bytes=len(WAV), allow_private=True)
    assert (found, server.asked) == (FetchedRecording(WAV, "audio/wav"), ["/old", "/1.wav"])


def test_a_file_that_is_no_recording_is_refused_with_a_reason(server: PictureServer) -> None:
    server.serve("/page", b"<html>RIFF", kind="audio/mpeg")
    server.serve("/large", WAV + bytes(1024 * 1024))
    server.pages["/loop"] = (302, {"Location": "/loop"}, b"")
    server.pages["/file"] = (302, {"Location": "file:///etc/passwd"}, b"")
    server.pages["/broken"] = (302, {"Location": "http://[1"}, b"")
    paths = ("/page", "/large", "/loop", "/file", "/broken", "/none")
    assert [problem(server.url(path)) for path in paths] == [
        ("127.0.0.1 sent a file that is not a recording.", False),
        ("The recording is larger than 1\u00a0MB.", False),
        ("127.0.0.1 redirects too often.", False),
        ("127.0.0.1 redirects to an address that can’t be followed.", False),
        ("127.0.0.1 redirects to an address that can’t be followed.", False),
        ("127.0.0.1 answered with status 404.", True),
    ]


def test_after_a_redirect_the_last_host_is_named(server: PictureServer) -> None:
    elsewhere = server.url("/none").replace("127.0.0.1", "localhost")
    server.pages["/moved"] = (302, {"Location": elsewhere}, b"")
    assert problem(server.url("/moved")) == ("localhost answered with status 404.", True)


def test_no_request_goes_to_a_private_address(server: PictureServer) -> None:
    url = server.serve("/1.wav", WAV)
    words = ("No answer from 127.0.0.1 (the address of 127.0.0.1 is not public).", True)
    assert (problem(url, allow_private=False), server.asked) == (words, [])


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (WAV, "audio/wav"),
        (b"ID3\x04", "audio/mpeg"),
        (b"\xff\xfb\x90\x00", "audio/mpeg"),
        (b"\xff\xf3\x44\xc4", "audio/mpeg"),
        (b"OggS\x00", "audio/ogg"),
        (b"fLaC\x00", "audio/flac"),
        (b"\x00\x00\x00\x20ftypM4A ", "audio/mp4"),
        (b"\x1a\x45\xdf\xa3\x01", "audio/webm"),
        (b"\xff\xfe\x00h", None),
        (b"<svg>", None),
        (b"", None),
    ],
)
def test_the_first_bytes_of_a_recording_decide_its_type(data: bytes, kind: str | None) -> None:
    assert content_type_of(data) == kind
