"""Shared by the pages of keys and clients."""

from typing import Any
from uuid import UUID

from flask import render_template
from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import gettext, lazy_gettext, lazy_pgettext
from app.portal.api_access.forms import RotateForm
from app.portal.api_access.labels import requests_shown
from app.services.credentials import request_log

REQUESTS_SHOWN = 25
STATUSES = {"in-use": lazy_gettext("In use"), "ended": lazy_pgettext("credentials", "Ended")}
IN_USE = {"in-use": True, "ended": False}
"""Filter value -> the service's argument; no value means both."""

ALREADY_SHOWN = lazy_gettext("Already done. The secret was shown once. Lost it? Rotate it.")
"""The message for a form that was sent twice."""

Crumbs = list[tuple[str, Any]]


def rotate_page(form: RotateForm, title: str, sentence: str, act: str, crumbs: Crumbs) -> str:
    """Show the form for a new secret next to the old one; the last of ``crumbs`` is the way
    back."""
    return render_template(
        "portal/api_access/rotate.html",
        title=title,
        sentence=sentence,
        crumbs=[*crumbs, (gettext("Rotate"), None)],
        form=form,
        submit_label=act,
        back=crumbs[-1][1],
    )


def last_requests(session: Session, credential_id: UUID) -> dict[str, Any]:
    """Return the last requests of a key or client for the template of its page."""
    rows = request_log.latest(session, caller(), credential_id, REQUESTS_SHOWN)
    return {
        "requests": requests_shown(rows),
        "max_requests": request_log.MAX_ROWS,
        "kept_days": request_log.RETENTION.days,
    }
