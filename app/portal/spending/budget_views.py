"""Budgets of an organization and of the partner's own portal."""

from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, transaction
from app.languages import gettext
from app.portal.spending.forms import BudgetForm
from app.portal.spending.uses import budget_bar
from app.portal.spending.views import carrier_of_month
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_saved
from app.services import organizations, partners
from app.services.spending import LimitSubject, budgets


@portal.get("/organizations/<uuid:organization_id>/budget")
def organization_budget(organization_id: UUID) -> Page:
    return _form_page(LimitSubject(organization_id=organization_id))


@portal.post("/organizations/<uuid:organization_id>/budget")
def organization_budget_save(organization_id: UUID) -> Page:
    return _save(LimitSubject(organization_id=organization_id))


@portal.get("/settings/spending/budget")
def portal_settings_budget() -> Page:
    return _form_page(LimitSubject(partner_id=partners.own(caller())))


@portal.post("/settings/spending/budget")
def portal_settings_budget_save() -> Page:
    return _save(LimitSubject(partner_id=partners.own(caller())))


def _form_page(subject: LimitSubject) -> str:
    with transaction(read_only=True) as session:
        form = _stored(session, subject)
    return _page(form, subject)


def _save(subject: LimitSubject) -> Page:
    form = BudgetForm()
    whose = subject.organization_id or partners.own(caller())
    with saving(
        form,
        lambda: _page(form, subject),
        stored=lambda session: _stored(session, subject),
        target=("organization" if subject.organization_id else "partner", whose),
    ) as session:
        changed = budgets.change(
            session,
            caller(),
            subject,
            form.budget.micros,
            levels=form.chosen_levels,
            recipients=form.addresses,
            expected_version=form.version.data,
        )
    with transaction(read_only=True) as session:
        found = budgets.budget_of(session, caller(), subject)
    saved = gettext("Budget saved.")
    if found.is_alerting:
        saved += " " + gettext("An alert is sent within minutes: a level is reached already.")
    return redirect_saved(saved, _spending_url(subject), changed)


def _stored(session: Session, subject: LimitSubject) -> BudgetForm:
    return BudgetForm.showing(budgets.budget_of(session, caller(), subject))


def _spending_url(subject: LimitSubject) -> str:
    if subject.organization_id is None:
        return url_for("portal.portal_settings_spending")
    return url_for("portal.organization_spending", organization_id=subject.organization_id)


def _page(form: BudgetForm, subject: LimitSubject) -> str:
    crumbs = [
        (gettext("Settings"), url_for("portal.portal_settings")),
        (gettext("Spending"), _spending_url(subject)),
    ]
    title = gettext("Budget of your portal")
    with transaction(read_only=True) as session:
        found = budgets.budget_of(session, caller(), subject)
        carrier = carrier_of_month(session, subject.organization_id)
        if subject.organization_id is not None:
            named = organizations.get(session, caller(), subject.organization_id)
            title = gettext("Budget of %(name)s", name=named.name)
            crumbs[:1] = [
                (gettext("Organizations"), url_for("portal.organizations")),
                (
                    named.name,
                    url_for("portal.organization", organization_id=subject.organization_id),
                ),
            ]
    return render_template(
        "portal/spending/budget.html",
        title=title,
        form=form,
        currency=found.currency,
        spent=found.spent,
        bar=budget_bar(found),
        carrier=carrier,
        crumbs=[*crumbs, (gettext("Budget"), None)],
        back=_spending_url(subject),
    )
