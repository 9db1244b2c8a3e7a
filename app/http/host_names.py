"""A request whose ``Host`` header isn't a host name is refused with 400.

With such a header, Werkzeug and Flask fail in the middle of a request, outside of every error
handler. So the name is checked first, and the refusal uses the installation's own name.
"""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, request
from werkzeug.exceptions import BadRequest

_LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"(({_LABEL}\.)*{_LABEL}\.?|\[[0-9A-Fa-f:.]{{2,45}}\])?(:[0-9]{{0,5}})?")
MAX_LENGTH = 260
"""Characters of the header: 253 of a name, a dot and a port."""
_REFUSED = "portal.host_refused"


def is_host(value: str) -> bool:
    """Return whether a ``Host`` header is valid: a name, an IP address or nothing, with or without
    a port."""
    if len(value) > MAX_LENGTH or not _HOST.fullmatch(value):
        return False
    try:
        value.encode("ascii").decode("idna")  # as Werkzeug does to show a URL
    except UnicodeError:
        return False
    return True


class HostNames:
    """WSGI middleware: replace an invalid ``Host`` header by ``own_host`` and mark the request."""

    def __init__(self, application: Any, own_host: str):
        self._application = application
        self._own_host = own_host

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if not is_host(environ.get("HTTP_HOST", "")):
            environ["HTTP_HOST"] = self._own_host
            environ[_REFUSED] = True
        answer: Iterable[bytes] = self._application(environ, start_response)
        return answer


def refuse_malformed_hosts(app: Flask, public_url: str) -> None:
    """Answer 400, in the shape of the area, to a request whose host isn't a host name."""
    app.wsgi_app = HostNames(app.wsgi_app, urlsplit(public_url).netloc)  # type: ignore[method-assign]  # middleware

    @app.before_request
    def _refuse() -> None:
        if request.environ.get(_REFUSED):
            message = "The Host header is not a host name."
            raise BadRequest(message)
