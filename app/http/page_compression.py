"""Compress pages, except where the length of an answer could reveal a secret."""

import gzip

from flask import Flask, Response, request

SMALLEST = 1000
"""Bytes: what is smaller fits into one packet anyway."""
LEVEL = 5
ASKED_BY_OURSELVES = frozenset({"same-origin", "none"})


def compress_pages(app: Flask) -> None:
    """HTML is compressed where the browser says that one of our own pages, or the person, asked.

    A page holds both a CSRF token and words of its address. Another site that could have it asked
    for again and again, and see the length of each compressed answer, would learn the token letter
    by letter (BREACH); what other sites ask for is therefore sent as it is. JSON is left alone.
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
