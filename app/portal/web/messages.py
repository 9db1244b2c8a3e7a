"""Redirects that show a message on the page they lead to."""

from flask import flash, redirect
from werkzeug.wrappers import Response

from app.languages import gettext


def redirect_with(message: str, url: str, category: str = "success") -> Response:
    """Redirect to the URL, where the message is shown once."""
    flash(message, category)
    return redirect(url, 303)


def redirect_saved(message: str, url: str, changed: object) -> Response:
    """Redirect with the message, or with the one that the form ``changed`` nothing."""
    return redirect_with(message if changed else gettext("Nothing was changed."), url)
