"""The operator's spending limits of partners, and the call rates."""

from functools import partial
from uuid import UUID

from flask import Response, render_template, request, url_for

from app.errors import Conflict
from app.extensions import caller, transaction
from app.languages import gettext, ngettext
from app.portal.spending import blueprint
from app.portal.spending.forms import RatesForm, SpendingForm
from app.portal.spending.labels import rates_message
from app.portal.spending.limit_bars import nearest
from app.portal.spending.limit_pages import limits_page, save_limits, stored_limits
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving
from app.portal.web.lists import csv_file
from app.portal.web.messages import redirect_with
from app.services import partners, spending
from app.services.money_format import micros
from app.services.spending import LimitSubject, rates
from app.services.spending.rates import CallPrice, RateChanges

MAX_SHOWN = 20
"""Maximum changed rates on the page that reviews a file."""


@blueprint.get("/operator/spending")
def show_installation_spending() -> Page:
    return _list_page(RatesForm.from_object())


@blueprint.get("/operator/spending/rates.csv")
def download_rates() -> Response:
    with transaction(read_only=True) as session:
        return csv_file("call-rates", [rates.to_csv(rates.listing(session)).encode()])


@blueprint.post("/operator/spending/rates")
def import_rates() -> Page:
    """Show the changes of the file; its text, sent again from that page, replaces the rates."""
    form, confirmed = RatesForm(), request.form.get("text")
    page, is_new = partial(_list_page, form), confirmed is None
    with saving(form, page, validate=is_new, shows=(Conflict,)) as session:
        if confirmed is None:
            return _review_page(rates.preview(session, caller(), form.file.data.read()))
        count = rates.replace(session, caller(), confirmed.encode())
    message = ngettext("%(num)s call rate imported.", "%(num)s call rates imported.", count)
    return redirect_with(message, url_for("portal.spending.show_installation_spending"))


@blueprint.get("/operator/spending/<uuid:partner_id>")
def edit_partner_limits(partner_id: UUID) -> Page:
    with transaction(read_only=True):
        return _partner_page(partner_id, stored_limits(LimitSubject(partner_id=partner_id)))


@blueprint.post("/operator/spending/<uuid:partner_id>")
def save_partner_limits(partner_id: UUID) -> Page:
    return save_limits(
        SpendingForm(),
        LimitSubject(partner_id=partner_id),
        ("partner", partner_id),
        _partner_page,
        saved_url=url_for("portal.spending.show_installation_spending"),
    )


def _partner_page(partner_id: UUID, form: SpendingForm) -> str:
    with transaction(read_only=True) as session:
        name = partners.get(session, caller(), partner_id).name
    return limits_page(
        LimitSubject(partner_id=partner_id),
        form,
        title=gettext("Spending of %(name)s", name=name),
        sentence=gettext("Limits of all live calls of the partner’s organizations together."),
        crumbs=[
            (gettext("Spending"), url_for("portal.spending.show_installation_spending")),
            (name, None),
        ],
    )


def _review_page(changes: RateChanges) -> str:
    rows: list[tuple[CallPrice | None, CallPrice | None]] = [
        *changes.changed,
        *((None, rate) for rate in changes.added),
        *((rate, None) for rate in changes.removed),
    ]
    return render_template(
        "portal/spending/rates_review.html",
        changes=changes,
        rows=rows[:MAX_SHOWN],
        count=len(rows),
        text=rates.to_csv(changes.after),
    )


def _list_page(form: RatesForm) -> str:
    with transaction(read_only=True) as session:
        rate_rows = rates.listing(session)
        partners_use, end = spending.of_partners(session, caller())
        are_imported = rates.are_imported(session)
    return render_template(
        "portal/spending/operator.html",
        form=form,
        rows=[
            (
                partner,
                micros(used.day_money.spent, used.currency),
                micros(used.month_money.spent, used.currency),
                nearest(used),
            )
            for partner, used in partners_use
        ],
        totals=(
            micros(sum(used.day_money.spent for _, used in partners_use), rate_rows[0].currency),
            micros(sum(used.month_money.spent for _, used in partners_use), rate_rows[0].currency),
        ),
        count=len(rate_rows),
        currency=rate_rows[0].currency,
        rates_message=rates_message(
            len(rate_rows), rate_rows[0].currency, are_imported=are_imported
        ),
        end=end,
    )
