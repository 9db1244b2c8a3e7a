"""The answer to a form can't be asked for again by going back: browsers ask about sending the form
once more instead. Such a page says where its form stands, and a script writes that into the
browser's history when the page is left (static/js/going_back.js)."""

from urllib.parse import urlsplit

from flask import Flask, current_app, request
from werkzeug.exceptions import HTTPException


def address_again(path: str | None = None) -> str | None:
    """The address, ``path`` or else the present one, of the page that answers a form; None for a
    page that no form led to, and where nothing can be asked for by GET."""
    if request.method != "POST":
        return None
    address = path or request.full_path.rstrip("?")
    try:
        current_app.create_url_adapter(request).match(urlsplit(address).path, method="GET")  # type: ignore[union-attr]  # there is one within a request
    except HTTPException:
        return None
    return address


def register(app: Flask) -> None:
    app.jinja_env.globals["address_again"] = address_again
