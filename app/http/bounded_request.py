"""Requests with a size limit that also holds for chunked bodies, which have no Content-Length."""

from typing import IO, cast

from flask import Request
from werkzeug.utils import cached_property
from werkzeug.wsgi import LimitedStream


class _WholeBody(LimitedStream):
    """Raises `RequestEntityTooLarge` for a body over the limit; werkzeug's own class truncates
    it."""

    def readall(self) -> bytes:
        body = super().readall()
        if self.is_exhausted and self._stream.read(1):
            self.on_exhausted()
        return body


class BoundedRequest(Request):
    """A request whose body has at most ``max_content_length`` bytes, however it is sent."""

    @cached_property
    def stream(self) -> IO[bytes]:
        limit = self.max_content_length
        is_chunked = self.content_length is None and "wsgi.input_terminated" in self.environ
        if limit is None or not is_chunked:
            return super().stream
        return cast(IO[bytes], _WholeBody(self.input_stream, limit, is_max=True))
