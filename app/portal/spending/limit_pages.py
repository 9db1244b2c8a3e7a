"""What the pages that change spending limits share."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from flask import render_template
from sqlalchemy.orm import Session

from app.extensions import caller, settings, transaction
from app.languages import gettext, ngettext
from app.portal.spending.forms import SpendingForm
from app.portal.spending.uses import bars_of
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_saved
from app.services import spending
from app.services.money_words import micros
from app.services.spending import LimitSubject


def stored_limits(session: Session, subject: LimitSubject) -> SpendingForm:
    return SpendingForm.showing(spending.spending_of(session, caller(), subject))


def reserved_words(session: Session, currency: str) -> str:
    """What is reserved before a call is placed, and what that costs."""
    minutes = settings().longest_call_minutes
    least, most = (micros(each, currency) for each in spending.price_range(session, minutes))
    if least == most:
        return ngettext(
            "Before a call is placed, the price of %(num)s minute is reserved: %(price)s. What "
            "the call doesn’t use is released when it ends.",
            "Before a call is placed, the price of %(num)s minutes is reserved: %(price)s. What "
            "the call doesn’t use is released when it ends.",
            minutes,
            price=least,
        )
    return ngettext(
        "Before a call is placed, the price of %(num)s minute is reserved: %(least)s to %(most)s, "
        "depending on the number. What the call doesn’t use is released when it ends.",
        "Before a call is placed, the price of %(num)s minutes is reserved: %(least)s to %(most)s, "
        "depending on the number. What the call doesn’t use is released when it ends.",
        minutes,
        least=least,
        most=most,
    )


def limits_page(subject: LimitSubject, form: SpendingForm, **words: Any) -> str:
    """The page of a key or a partner; ``words`` are its title, sentence and breadcrumbs."""
    with transaction(read_only=True) as session:
        used = spending.spending_of(session, caller(), subject, ahead=True)
        reserves = reserved_words(session, used.currency)
    return render_template(
        "portal/spending/edit.html",
        form=form,
        spending=used,
        bars=bars_of(used),
        reserves=reserves,
        **words,
    )


def save_limits(
    subject: LimitSubject,
    form: SpendingForm,
    page: Callable[[], str],
    *,
    target: tuple[str, UUID],
    saved_url: str,
    stored: Callable[[Session, LimitSubject], SpendingForm] = stored_limits,
) -> Page:
    """Save the sent limits and redirect to ``saved_url``, or show ``page`` with the errors."""
    with saving(
        form, page, stored=lambda session: stored(session, subject), target=target
    ) as session:
        changed = spending.change(
            session, caller(), subject, form.to_limits(), expected_version=form.version.data
        )
    return redirect_saved(gettext("Spending limits saved."), saved_url, changed)
