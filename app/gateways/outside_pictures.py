"""Fetch a picture from a host that a customer has chosen (`app.gateways.outside_http`)."""

from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from app.gateways import outside_http

MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class FetchedPicture:
    """``data`` is None if the host says that the picture with the known ETag is still current."""

    data: bytes | None
    etag: str | None


class PictureNotFetched(Exception):
    """Why there is no picture, as a sentence."""


def fetch(url: str, etag: str | None, *, max_bytes: int, allow_private: bool) -> FetchedPicture:
    """Fetch the picture, unless it still has this ETag. Each redirect is checked like the first
    URL. Raises `PictureNotFetched`."""
    answer = _follow_redirects(url, etag, max_bytes=max_bytes, allow_private=allow_private)
    host = urlsplit(url).hostname
    if answer.status == _NOT_MODIFIED and etag is not None:
        return FetchedPicture(None, etag)
    if answer.status != 200:
        message = f"{host} answered with status {answer.status}."
        raise PictureNotFetched(message)
    kind = answer.headers.get_content_type()
    if not kind.startswith("image/"):
        message = f"{host} sent {kind[:100]}, not a picture."
        raise PictureNotFetched(message)
    if answer.body is None:
        message = f"{host} broke off the download."
        raise PictureNotFetched(message)
    if len(answer.body) > max_bytes:
        message = f"The picture is over {max_bytes // 1024 // 1024} MB."
        raise PictureNotFetched(message)
    tag = answer.headers.get("ETag", "")
    return FetchedPicture(answer.body, tag if 0 < len(tag) <= 200 and tag.isprintable() else None)


def _follow_redirects(
    url: str, etag: str | None, *, max_bytes: int, allow_private: bool
) -> outside_http.HttpAnswer:
    headers = {"accept": "image/*", "user-agent": "partner-portal-pictures/1"}
    if etag is not None:
        headers["if-none-match"] = etag
    for _ in range(MAX_REDIRECTS + 1):
        try:
            answer = outside_http.send_request(
                "GET", url, headers, max_bytes=max_bytes + 1, allow_private=allow_private
            )
        except outside_http.NoAnswer as reason:
            reason_text = str(reason)
            message = f"{reason_text[0].upper()}{reason_text[1:]}."
            raise PictureNotFetched(message) from None
        location = answer.headers.get("Location")
        if answer.status not in _REDIRECTS or location is None:
            return answer
        try:
            url = urljoin(url, location)
            parts = urlsplit(url)
            is_web = parts.scheme in ("http", "https") and parts.port != 0
        except ValueError:
            is_web = False
        if not is_web:
            message = "It redirects to an address that can’t be followed."
            raise PictureNotFetched(message)
    message = f"It redirects more than {MAX_REDIRECTS} times."
    raise PictureNotFetched(message)
