"""What the pages that change spending limits share."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from flask import render_template
from sqlalchemy.orm import Session

from app.errors import Conflict, ValidationFailed
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.portal.spending.forms import SpendingForm
from app.portal.spending.uses import bars_of
from app.portal.web.blueprint import Page
from app.portal.web.forms import refused
from app.portal.web.messages import redirect_saved
from app.services import spending
from app.services.spending import Subject


def stored_limits(session: Session, subject: Subject) -> SpendingForm:
    return SpendingForm.showing(spending.of(session, caller(), subject))


def limits_page(subject: Subject, form: SpendingForm, **words: Any) -> str:
    """The page of a key or a partner; ``words`` are its title, sentence and breadcrumbs."""
    with transaction(read_only=True) as session:
        used = spending.of(session, caller(), subject)
    return render_template(
        "portal/spending/edit.html",
        form=form,
        spending=used,
        bars=bars_of(used),
        longest_minutes=settings().longest_call_minutes,
        **words,
    )


def save_limits(
    subject: Subject,
    form: SpendingForm,
    page: Callable[[], str],
    *,
    target: tuple[str, UUID],
    saved_url: str,
    stored: Callable[[Session, Subject], SpendingForm] = stored_limits,
) -> Page:
    """Save the sent limits and redirect to ``saved_url``, or show ``page`` with the errors."""
    if not form.validate():
        return page(), 422
    try:
        with transaction() as session:
            changed = spending.change(
                session, caller(), subject, form.to_limits(), expected_version=form.version.data
            )
    except (ValidationFailed, Conflict) as error:
        return refused(
            error, form, page, stored=lambda session: stored(session, subject), target=target
        )
    return redirect_saved(gettext("Spending limits saved."), saved_url, changed)
