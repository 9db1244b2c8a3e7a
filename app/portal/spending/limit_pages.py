"""Shared by the pages that change spending limits."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from flask import render_template
from sqlalchemy.orm import Session

from app.extensions import caller, settings, transaction
from app.languages import gettext, ngettext
from app.portal.spending.forms import SpendingForm
from app.portal.spending.limit_bars import bars_of
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving_edit
from app.portal.web.messages import redirect_saved
from app.services import spending
from app.services.money_format import micros
from app.services.spending import LimitSubject


def stored_limits(subject: LimitSubject, kind: type[SpendingForm] = SpendingForm) -> SpendingForm:
    """Return the form of this kind, filled with the limits."""
    with transaction(read_only=True) as session:
        return kind.showing(spending.spending_of(session, caller(), subject))


def reserved_message(session: Session, currency: str) -> str:
    """Return the reservation before each call, and its amount."""
    minutes = settings().longest_call_minutes
    lowest, highest = (micros(each, currency) for each in spending.price_range(session, minutes))
    if lowest == highest:
        return ngettext(
            "Before a call is placed, the price of %(num)s minute is reserved: %(price)s. What "
            "the call doesn’t use is released when it ends.",
            "Before a call is placed, the price of %(num)s minutes is reserved: %(price)s. What "
            "the call doesn’t use is released when it ends.",
            minutes,
            price=lowest,
        )
    return ngettext(
        "Before a call is placed, the price of %(num)s minute is reserved: %(least)s to %(most)s, "
        "depending on the number. What the call doesn’t use is released when it ends.",
        "Before a call is placed, the price of %(num)s minutes is reserved: %(least)s to %(most)s, "
        "depending on the number. What the call doesn’t use is released when it ends.",
        minutes,
        least=lowest,
        most=highest,
    )


def limits_page(subject: LimitSubject, form: SpendingForm, **texts: Any) -> str:
    """Return the page of a key or a partner; ``texts`` are its title, sentence and breadcrumbs."""
    with transaction(read_only=True) as session:
        used = spending.spending_of(session, caller(), subject, ahead=True)
        reserves = reserved_message(session, used.currency)
    return render_template(
        "portal/spending/edit.html",
        form=form,
        spending=used,
        bars=bars_of(used),
        reserves=reserves,
        **texts,
    )


def save_limits(
    form: SpendingForm,
    subject: LimitSubject,
    target: tuple[str, UUID],
    page: Callable[[UUID, SpendingForm], str],
    saved_url: str,
) -> Page:
    """Save the sent limits and redirect to ``saved_url``, or show the ``page`` of the form with the
    errors. ``target`` is the record's name in the audit log."""

    def stored(session: Session, _id: UUID) -> SpendingForm:
        return form.showing(spending.spending_of(session, caller(), subject))

    with saving_edit(form, *target, page, stored) as session:
        changed = spending.change(
            session, caller(), subject, form.to_limits(), expected_version=form.version.data
        )
    return redirect_saved(gettext("Spending limits saved."), saved_url, changed)
