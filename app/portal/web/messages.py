"""Redirects that show a message on their target page."""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import abort, flash, redirect
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.errors import DomainError
from app.extensions import transaction
from app.languages import gettext


@contextmanager
def changing(
    url: str, *refusals: type[DomainError], category: str = "warning"
) -> Iterator[Session]:
    """Open a transaction for the action of a button. A refusal ends the request: it redirects to
    the URL, where its message is shown once."""
    try:
        with transaction() as session:
            yield session
    except refusals as error:
        abort(redirect_with(error.message, url, category))


def redirect_with(message: str, url: str, category: str = "success") -> Response:
    """Redirect to the URL, where the message is shown once."""
    flash(message, category)
    return redirect(url, 303)


def redirect_saved(message: str, url: str, changed: object) -> Response:
    """Redirect with the message, or with the one for a form without changes unless it is
    ``changed``."""
    return redirect_with(message if changed else gettext("Nothing was changed."), url)
