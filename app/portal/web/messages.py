"""Messages that the next page shows once, and redirects with one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import flask
from flask import abort, redirect
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.errors import DomainError
from app.extensions import transaction
from app.languages import gettext

Tone = Literal["success", "info", "warning", "danger"]
"""The tones of the template ``components/result.html``."""


@contextmanager
def changing(url: str, *refusals: type[DomainError], tone: Tone = "warning") -> Iterator[Session]:
    """Open a transaction for the action of a button. A refusal ends the request: it redirects to
    the URL, where its message is shown once."""
    try:
        with transaction() as session:
            yield session
    except refusals as error:
        abort(redirect_with(error.message, url, tone))


def flash(message: str, tone: Tone) -> None:
    """Show the message once, on the next page."""
    flask.flash(message, tone)


def redirect_with(message: str, url: str, tone: Tone = "success") -> Response:
    """Redirect to the URL, where the message is shown once."""
    flash(message, tone)
    return redirect(url, 303)


def redirect_saved(message: str, url: str, changed: object) -> Response:
    """Redirect with the message, or with the one for a form without changes unless it is
    ``changed``."""
    return redirect_with(message if changed else gettext("Nothing was changed."), url)
