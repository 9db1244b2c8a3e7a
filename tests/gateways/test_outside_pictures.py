"""Fetching a picture from a host that a customer has chosen."""

from collections.abc import Iterator

import pytest

from app.gateways import outside_http
from app.gateways.outside_downloads import NotFetched
from app.gateways.outside_pictures import FetchedPicture, fetch
from tests.fixtures.picture_server import PictureServer


@pytest.fixture
def server() -> Iterator[PictureServer]:
    with PictureServer().open() as opened:
        yield opened


def problem(url: str, *, allow_private: bool = True) -> str:
    with pytest.raises(NotFetched) as reason:
        fetch(url, None, max_bytes=1024 * 1024, allow_private=allow_private)
    return str(reason.value)


def test_a_picture_is_fetched_once_and_then_only_if_it_changed(server: PictureServer) -> None:
    url = server.serve("/logo.png", b"picture", etag='"1"')
    first = fetch(url, None, max_bytes=7, allow_private=True)
    assert first == FetchedPicture(b"picture", '"1"')
    assert fetch(url, '"1"', max_bytes=7, allow_private=True) == FetchedPicture(None, '"1"')
    assert fetch(url, '"0"', max_bytes=7, allow_private=True) == first


def test_letters_of_other_scripts_are_encoded(server: PictureServer) -> None:
    server.serve("/%C5%82ogo.png?v=%C5%81", b"picture")
    url = server.url("/łogo.png?v=Ł")
    assert fetch(url, None, max_bytes=99, allow_private=True).data == b"picture"


def test_a_redirect_is_followed_to_a_picture(server: PictureServer) -> None:
    server.serve("/new.png", b"picture")
    server.pages["/old.png"] = (301, {"Location": "/new.png"}, b"")
    found = fetch(server.url("/old.png"), None, max_bytes=99, allow_private=True)
    assert (found, server.asked) == (FetchedPicture(b"picture", None), ["/old.png", "/new.png"])


def test_a_file_that_is_no_picture_is_refused_with_a_reason(
    server: PictureServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.pages["/page"] = (200, {"Content-Type": "text/html"}, b"<svg>")
    server.pages["/loop"] = (302, {"Location": "/loop"}, b"")
    server.pages["/file"] = (302, {"Location": "file:///etc/passwd"}, b"")
    server.pages["/broken"] = (302, {"Location": "http://[1"}, b"")
    server.pages["/port"] = (302, {"Location": "http://127.0.0.1:99999/"}, b"")
    server.serve("/large.png", b"x" * (1024 * 1024 + 1))
    paths = ("/page", "/loop", "/file", "/broken", "/port", "/large.png", "/none.png")
    assert [problem(server.url(path)) for path in paths] == [
        "127.0.0.1 sent text/html, not a picture.",
        "127.0.0.1 redirects too often.",
        "127.0.0.1 redirects to an address that can’t be followed.",
        "127.0.0.1 redirects to an address that can’t be followed.",
        "127.0.0.1 redirects to an address that can’t be followed.",
        "The picture is over 1 MB.",
        "127.0.0.1 answered with status 404.",
    ]
    monkeypatch.setattr(outside_http, "WHOLE_SECONDS", 0.2)
    server.holds_seconds = 1.0
    assert problem(server.url("/large.png")) == (
        "No answer from 127.0.0.1 (no answer within 0.2 seconds)."
    )


def test_after_a_redirect_the_last_host_is_named(server: PictureServer) -> None:
    elsewhere = server.url("/none").replace("127.0.0.1", "localhost")
    server.pages["/moved"] = (302, {"Location": elsewhere}, b"")
    assert problem(server.url("/moved")) == "localhost answered with status 404."


def test_no_request_goes_to_a_private_address(server: PictureServer) -> None:
    url = server.serve("/logo.png", b"picture")
    reason = "No answer from 127.0.0.1 (the address of 127.0.0.1 is not public)."
    assert (problem(url, allow_private=False), server.asked) == (reason, [])


def test_a_redirect_to_a_private_address_is_not_followed(
    server: PictureServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "app.gateways.public_addresses.is_public", lambda address: str(address) == "127.0.0.1"
    )
    server.pages["/logo.png"] = (302, {"Location": "http://169.254.169.254/latest"}, b"")
    found = problem(server.url("/logo.png"), allow_private=False)
    assert found == "No answer from 169.254.169.254 (the address of 169.254.169.254 is not public)."
