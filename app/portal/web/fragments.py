"""Whether a request wants a page or a part of it: what htmx asks for and how it is answered."""

from typing import Any

from flask import Response, make_response, render_template, request


def is_from_htmx() -> bool:
    """Whether a script of the page sent the request, which stays open behind the answer."""
    return "HX-Request" in request.headers


def wants_fragment() -> bool:
    """Whether a part of the page is asked for; a boosted link or form asks for all of it."""
    return is_from_htmx() and "HX-Boosted" not in request.headers


def render_page(page: str, fragment: str, **context: Any) -> str:
    """Render the page, or only its ``fragment`` where that is asked for."""
    return render_template(fragment if wants_fragment() else page, **context)


def htmx_order(name: str, value: str, status: int = 204) -> Response:
    """An answer without content that tells htmx what to do, such as ``HX-Redirect``."""
    response = make_response("", status)
    response.headers[name] = value
    return response
