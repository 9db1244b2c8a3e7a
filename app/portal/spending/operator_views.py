"""The operator's spending limits of partners, and the call rates."""

from uuid import UUID

from flask import Response, flash, redirect, render_template, url_for
from sqlalchemy.orm import Session

from app.errors import Conflict, ValidationFailed
from app.extensions import caller, settings, transaction
from app.portal.spending.forms import RatesForm, SpendingForm
from app.portal.spending.uses import bars_of, money, nearest
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import refused
from app.services import partners, spending
from app.services.spending import Subject, rates


@portal.get("/operator/spending")
def operator_spending() -> Page:
    return _list_page(RatesForm.from_object())


@portal.get("/operator/spending/rates.csv")
def operator_spending_rates() -> Response:
    with transaction(read_only=True) as session:
        content = rates.written(rates.listing(session))
    named = {"Content-Disposition": 'attachment; filename="call-rates.csv"'}
    return Response(content, mimetype="text/csv", headers=named)


@portal.post("/operator/spending/rates")
def operator_spending_rates_import() -> Page:
    form = RatesForm()
    if not form.validate():
        return _list_page(form), 422
    try:
        with transaction() as session:
            count = rates.replace(session, caller(), form.file.data.read())
    except (ValidationFailed, Conflict) as error:
        form.apply_errors(error)
        return _list_page(form), 422
    flash(f"{count:,} call rates imported.", "success")
    return redirect(url_for("portal.operator_spending"), 303)


@portal.get("/operator/spending/<uuid:partner_id>")
def operator_partner_spending(partner_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        form = _stored(session, partner_id)
    return _partner_page(partner_id, form)


@portal.post("/operator/spending/<uuid:partner_id>")
def operator_partner_spending_save(partner_id: UUID) -> Page:
    form = SpendingForm()
    if not form.validate():
        return _partner_page(partner_id, form), 422
    try:
        with transaction() as session:
            changed = spending.change(
                session,
                caller(),
                Subject(partner_id=partner_id),
                form.to_limits(),
                expected_version=form.version.data,
            )
    except (ValidationFailed, Conflict) as error:
        return refused(
            error,
            form,
            lambda: _partner_page(partner_id, form),
            stored=lambda session: _stored(session, partner_id),
            target=("partner", partner_id),
        )
    flash("Spending limits saved." if changed else "Nothing was changed.", "success")
    return redirect(url_for("portal.operator_spending"), 303)


def _stored(session: Session, partner_id: UUID) -> SpendingForm:
    return SpendingForm.showing(spending.of(session, caller(), Subject(partner_id=partner_id)))


def _partner_page(partner_id: UUID, form: SpendingForm) -> str:
    with transaction(read_only=True) as session:
        name = partners.get(session, caller(), partner_id).name
        used = spending.of(session, caller(), Subject(partner_id=partner_id))
    return render_template(
        "portal/spending/edit.html",
        title=f"Spending of {name}",
        sentence="Limits of all live calls of the partner’s organizations together.",
        crumbs=[("Spending", url_for("portal.operator_spending")), (name, None)],
        form=form,
        spending=used,
        bars=bars_of(used),
        longest_minutes=settings().longest_call_minutes,
    )


def _list_page(form: RatesForm) -> str:
    with transaction(read_only=True) as session:
        rows = [
            (partner, money(used.day_money.spent, used.currency), nearest(used))
            for partner, used in spending.of_partners(session, caller())
        ]
        listed = rates.listing(session)
        is_imported = rates.are_imported(session)
    return render_template(
        "portal/spending/operator.html",
        form=form,
        rows=rows,
        count=len(listed),
        currency=listed[0].currency,
        is_imported=is_imported,
    )
