"""Compress pages, except where the length of a response could reveal a secret."""

import gzip

from flask import Flask, Response, request

SMALLEST = 1000
"""Bytes below which a response isn't compressed: it fits into one packet anyway."""
LEVEL = 5
ASKED_BY_OURSELVES = frozenset({"same-origin", "none"})


def compress_pages(app: Flask) -> None:
    """Compress HTML if the browser reports that one of our own pages, or the user, made the
    request.

    A page holds both a CSRF token and words of its URL. Another site that could have it requested
    again and again, and see the length of each compressed response, would learn the token letter by
    letter (BREACH); requests from other sites are therefore answered uncompressed. JSON is left
    alone.
    """

    @app.after_request
    def _compress(response: Response) -> Response:
        if response.mimetype != "text/html" or response.is_streamed:
            return response
        response.vary.update(("Accept-Encoding", "Sec-Fetch-Site"))
        if (
            request.headers.get("Sec-Fetch-Site") in ASKED_BY_OURSELVES
            and request.accept_encodings.quality("gzip") > 0
            and "Content-Encoding" not in response.headers
            and len(body := response.get_data()) >= SMALLEST
        ):
            response.set_data(gzip.compress(body, LEVEL, mtime=0))
            response.headers["Content-Encoding"] = "gzip"
        return response
