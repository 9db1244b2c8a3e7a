"""Responses with stored files: recordings and exports."""

import io

from flask import redirect, request, send_file
from werkzeug.wrappers import Response

from app.extensions import files


def send_stored(key: str, content_type: str, name: str, *, is_saved: bool) -> Response:
    """Send a stored file, or the part of it that a player requests. Caches don't store it.

    A file that the user saves (``is_saved``) comes from the bucket itself if the settings say so;
    the content security policy keeps players to our own origin. Raises FileNotFoundError.
    """
    store = files()
    file = store.open(key)
    link = store.link(key, name, content_type) if is_saved else None
    if link is not None:
        file.close()
        response = redirect(link, 303)
    else:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        response = send_file(
            file,
            content_type,
            as_attachment=is_saved,
            download_name=name,
            conditional=False,
            etag=key,
            max_age=None,
        )
        response.content_type = content_type  # Werkzeug adds a second charset
        response.content_length = size
        response.make_conditional(request, accept_ranges=True, complete_length=size)
    response.headers["Cache-Control"] = "private, no-store"
    return response
