"""The back button on the response to a form: browsers would offer to send the form again. Such a
page names a URL for GET, and a script writes it into the browser's history when the page is left
(static/js/history.js)."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flask import current_app, request
from werkzeug.exceptions import HTTPException

from app.portal.web.blueprint import portal


@portal.app_template_global()
def address_again(path: str | None = None) -> str | None:
    """Return the URL, ``path`` or else the current one, of a page that is the response to a form;
    None for other pages, and if there is no URL for GET."""
    if request.method != "POST":
        return None
    address = path or request.full_path.rstrip("?")
    return address if page_at(address) else None


def page_at(path: str) -> tuple[str, Mapping[str, Any]] | None:
    """Return endpoint and values of the page at a path of the portal; None if there is none."""
    adapter = current_app.create_url_adapter(request)
    try:
        return adapter.match(urlsplit(path).path, method="GET") if adapter else None
    except HTTPException:
        return None
