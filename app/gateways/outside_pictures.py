"""Fetch a picture from a host that a customer has chosen."""

from dataclasses import dataclass

from app.gateways.outside_downloads import NotFetched, follow_redirects

_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class FetchedPicture:
    """``data`` is None if the host says that the picture with the known ETag is still current."""

    data: bytes | None
    etag: str | None


def fetch(url: str, etag: str | None, *, max_bytes: int, allow_private: bool) -> FetchedPicture:
    """Fetch the picture, unless it still has this ETag. Raises `NotFetched`."""
    headers = {"accept": "image/*", "user-agent": "partner-portal-pictures/1"}
    if etag is not None:
        headers["if-none-match"] = etag
    download = follow_redirects(
        url, headers, secret_headers={}, max_bytes=max_bytes, allow_private=allow_private
    )
    if download.answer.status == _NOT_MODIFIED and etag is not None:
        return FetchedPicture(None, etag)
    data, answer_headers = download.read_body(), download.answer.headers
    kind = answer_headers.get_content_type()
    if not kind.startswith("image/"):
        message = f"{download.host} sent {kind[:100]}, not a picture."
        raise NotFetched(message, is_retryable=False)
    if len(data) > max_bytes:
        message = f"The picture is over {max_bytes // 1024 // 1024} MB."
        raise NotFetched(message, is_retryable=False)
    tag = answer_headers.get("ETag", "")
    return FetchedPicture(data, tag if 0 < len(tag) <= 200 and tag.isprintable() else None)
