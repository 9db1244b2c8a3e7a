"""Pages and fragments: whether htmx requests a part of a page, and the response to it."""

from collections.abc import Sequence
from typing import Any

from flask import Response, make_response, render_template, request

from app.portal.web.blueprint import Page


def is_from_htmx() -> bool:
    """Return whether a script of the page sent the request; the page stays open."""
    return "HX-Request" in request.headers


def wants_fragment() -> bool:
    """Return whether a part of the page is requested; a boosted link or form requests all of it."""
    return is_from_htmx() and "HX-Boosted" not in request.headers


def render_page(page: str, fragment: str, **context: Any) -> str:
    """Render the page, or only its ``fragment`` if that is requested."""
    return render_template(fragment if wants_fragment() else page, **context)


def render_checked(template: str, problems: Sequence[object], **context: Any) -> Page:
    """Render a page with the ``problems`` of its URL; with status 422 if there are any."""
    page = render_template(template, problems=problems, **context)
    return (page, 422) if problems else page


def htmx_command(name: str, value: str, status: int = 204) -> Response:
    """Return a response without content that commands htmx, such as ``HX-Redirect``."""
    response = make_response("", status)
    response.headers[name] = value
    return response
