"""Downloads a file from a host that a customer has chosen (`app.gateways.outside_http`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from app.errors import Sentence
from app.gateways import outside_http
from app.validation.urls import is_web_url

MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_STATUS = Sentence.gettext("%(host)s answered with status %(status)s.")
_BROKEN_OFF = Sentence.gettext("%(host)s broke off the download.")
_NO_ANSWER = Sentence.gettext("No answer from %(host)s (%(reason)s).")
_BAD_REDIRECT = Sentence.gettext("%(host)s redirects to an address that can’t be followed.")
_REDIRECTS_ON = Sentence.gettext("%(host)s redirects too often.")


class NotFetched(Exception):
    """Why there is no file, as a sentence; ``is_retryable`` if a later attempt may have one."""

    def __init__(self, message: str, *, is_retryable: bool):
        super().__init__(message)
        self.is_retryable = is_retryable


@dataclass(frozen=True, slots=True)
class Download:
    """The last answer, and the host that gave it."""

    host: str | None
    answer: outside_http.HttpAnswer

    def read_body(self) -> bytes:
        """Return the file, cut off behind the requested length. Raises `NotFetched`."""
        if self.answer.status != 200:
            raise NotFetched(_STATUS(host=self.host, status=self.answer.status), is_retryable=True)
        if self.answer.body is None:
            raise NotFetched(_BROKEN_OFF(host=self.host), is_retryable=True)
        return self.answer.body


def follow_redirects(
    url: str,
    headers: Mapping[str, str],
    *,
    secret_headers: Mapping[str, str],
    max_bytes: int,
    allow_private: bool,
    seconds: float | None = None,
) -> Download:
    """Request the file, and one byte more than it may have. Each redirect is checked like the first
    URL, and gets no ``secret_headers``. Raises `NotFetched`."""
    sent_headers: Mapping[str, str] = {**headers, **secret_headers}
    for _ in range(MAX_REDIRECTS + 1):
        host = urlsplit(url).hostname
        try:
            answer = outside_http.send_request(
                "GET",
                url,
                sent_headers,
                max_bytes=max_bytes + 1,
                allow_private=allow_private,
                seconds=seconds,
            )
        except outside_http.NoAnswer as reason:
            raise NotFetched(_NO_ANSWER(host=host, reason=reason), is_retryable=True) from None
        location = answer.headers.get("Location")
        if answer.status not in _REDIRECTS or location is None:
            return Download(host, answer)
        url, sent_headers = _target(url, location), headers
        if not is_web_url(url):
            raise NotFetched(_BAD_REDIRECT(host=host), is_retryable=False)
    raise NotFetched(_REDIRECTS_ON(host=host), is_retryable=False)


def _target(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return ""
