"""Spending of an organization, an API key and the partner's own portal, and their budgets."""

from typing import Any
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.calendar_months import month_of
from app.extensions import caller, transaction
from app.languages import gettext
from app.languages.dates import NO_BREAK
from app.models import utcnow
from app.policy import Permission
from app.portal.access.missing_actions import may_or_note_missing
from app.portal.organizations.tabs import organization_page_data
from app.portal.spending import blueprint
from app.portal.spending.forms import BudgetForm, OrganizationSpendingForm, SpendingForm
from app.portal.spending.labels import spending_parts, test_money_message
from app.portal.spending.limit_bars import bars_of, budget_bar
from app.portal.spending.limit_pages import (
    limits_page,
    reserved_message,
    save_limits,
    stored_limits,
)
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_saved, redirect_with
from app.portal.web.navigation import may_open
from app.portal.web.page_frame import read_frame
from app.services import organizations, partners, spending, unusual_calls
from app.services.billing.carrier_sums import CarrierSums, carrier_sums
from app.services.billing.summing import are_adjusted, rounded_parts
from app.services.credentials import api_keys
from app.services.spending import LimitSubject, budgets

MAX_NEAR = 100
"""Maximum organizations near a limit on the page of the portal's spending."""
MAX_SHOWN = 50
"""Maximum organizations in its table, highest spending first."""


@blueprint.get("/organizations/<uuid:organization_id>/spending")
def edit_organization_spending(organization_id: UUID) -> Page:
    subject = LimitSubject(organization_id=organization_id)
    with transaction(read_only=True):
        return _organization_page(organization_id, stored_limits(subject, OrganizationSpendingForm))


@blueprint.post("/organizations/<uuid:organization_id>/spending")
def save_organization_spending(organization_id: UUID) -> Page:
    return save_limits(
        OrganizationSpendingForm(),
        LimitSubject(organization_id=organization_id),
        ("organization", organization_id),
        _organization_page,
        saved_url=url_for(
            "portal.spending.edit_organization_spending", organization_id=organization_id
        ),
    )


@blueprint.post("/organizations/<uuid:organization_id>/resume-calling")
def resume_calling(organization_id: UUID) -> Page:
    with transaction() as session:
        was_paused = unusual_calls.resume(session, caller(), organization_id)
    message = gettext("Calling resumed.") if was_paused else gettext("Calling wasn’t paused.")
    return redirect_with(
        message, url_for("portal.organizations.show_organization", organization_id=organization_id)
    )


@blueprint.get("/api-access/keys/<uuid:key_id>/spending")
def edit_key_spending(key_id: UUID) -> Page:
    with transaction(read_only=True):
        return _key_page(key_id, stored_limits(LimitSubject(api_key_id=key_id)))


@blueprint.post("/api-access/keys/<uuid:key_id>/spending")
def save_key_spending(key_id: UUID) -> Page:
    return save_limits(
        SpendingForm(),
        LimitSubject(api_key_id=key_id),
        ("api_key", key_id),
        _key_page,
        saved_url=url_for("portal.api_access.show_key", key_id=key_id),
    )


@blueprint.get("/settings/spending")
def show_partner_spending() -> str:
    with transaction(read_only=True) as session:
        read_frame(session, with_plans=False)
        subject = LimitSubject(partner_id=partners.own_partner_id(caller()))
        state = spending.spending_of(session, caller(), subject, ahead=True)
        near = spending.near_limits(session, caller(), MAX_NEAR)
        return render_template(
            "portal/spending/portal.html",
            **_spending_context(session, subject, state),
            **_organization_context(session, state),
            near=[each for each in near if each.organization_id is not None],
        )


def _organization_context(session: Session, state: spending.SpendingState) -> dict[str, Any]:
    """Return the spending of each organization, and of all others."""
    rows = spending.by_organization(session, caller(), MAX_SHOWN)
    amounts = [each.micros for each in rows]
    remainder = max(state.month_money.spent - sum(amounts), 0)
    rounded_amounts = rounded_parts([*amounts, remainder], state.currency)
    return {
        "by_organization": list(zip(rows, rounded_amounts, strict=False)),
        "others": rounded_amounts[-1],
        "are_adjusted": are_adjusted([*amounts, remainder], rounded_amounts, state.currency),
    }


def _organization_page(organization_id: UUID, form: SpendingForm) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        subject = LimitSubject(organization_id=organization_id)
        state = spending.spending_of(session, caller(), subject, ahead=True)
        return render_template(
            "portal/spending/organization.html",
            **organization_page_data(
                session, organization, "portal.spending.edit_organization_spending"
            ),
            **_spending_context(session, subject, state),
            form=form,
            reserves=reserved_message(session, state.currency),
            can_change=may_or_note_missing(Permission.PARTNER_WRITE),
        )


def _spending_context(
    session: Session, subject: LimitSubject, state: spending.SpendingState
) -> dict[str, Any]:
    """Return the spending, with its limits, its budget and the carriers' charges."""
    carrier = carrier_of_month(session, subject.organization_id)
    return {
        "spending": state,
        "bars": bars_of(state),
        "budget": budget_bar(budgets.budget_of(session, caller(), subject)),
        "carrier": carrier,
        "spending_parts": spending_parts(carrier),
        "test_money": test_money_message(carrier),
        "today": utcnow().date(),
    }


def carrier_of_month(session: Session, organization_id: UUID | None) -> CarrierSums | None:
    """Return the carrier costs as the pages of costs count them, for users who may see these."""
    if not may_open(caller(), "portal.billing.show_costs"):
        return None
    return carrier_sums(session, caller(), month_of(utcnow().date()), organization_id)


def _key_page(key_id: UUID, form: SpendingForm) -> str:
    with transaction(read_only=True) as session:
        key = api_keys.get(session, caller(), key_id)
    return limits_page(
        LimitSubject(api_key_id=key_id),
        form,
        title=gettext("Spending of %(name)s", name=key.name),
        sentence=gettext(
            "Limits of live calls that this key requests. "
            "Those of its organization and of the portal count too."
        ),
        crumbs=[
            (gettext("API access"), url_for("portal.api_access.list_keys")),
            (key.name, url_for("portal.api_access.show_key", key_id=key.id)),
            (gettext("Spending"), None),
        ],
    )


@blueprint.get("/organizations/<uuid:organization_id>/budget")
def edit_organization_budget(organization_id: UUID) -> Page:
    return _form_page(LimitSubject(organization_id=organization_id))


@blueprint.post("/organizations/<uuid:organization_id>/budget")
def save_organization_budget(organization_id: UUID) -> Page:
    return _submit(LimitSubject(organization_id=organization_id))


@blueprint.get("/settings/spending/budget")
def edit_partner_budget() -> Page:
    return _form_page(LimitSubject(partner_id=partners.own_partner_id(caller())))


@blueprint.post("/settings/spending/budget")
def save_partner_budget() -> Page:
    return _submit(LimitSubject(partner_id=partners.own_partner_id(caller())))


def _form_page(subject: LimitSubject) -> str:
    with transaction(read_only=True) as session:
        return _page(_stored(session, subject), subject)


def _submit(subject: LimitSubject) -> Page:
    form = BudgetForm()
    target_id = subject.organization_id or partners.own_partner_id(caller())
    with saving(
        form,
        lambda: _page(form, subject),
        stored=lambda session: _stored(session, subject),
        target=("organization" if subject.organization_id else "partner", target_id),
    ) as session:
        changed = budgets.change(
            session,
            caller(),
            subject,
            form.budget.micros,
            levels=form.selected_levels(),
            recipients=form.addresses,
            expected_version=form.version.data,
        )
    with transaction(read_only=True) as session:
        budget = budgets.budget_of(session, caller(), subject)
    saved = gettext("Budget saved.")
    if budget.reached_level is not None:
        saved += " " + gettext(
            "An alert is sent within minutes: the level of %(level)s is already reached.",
            level=f"{budget.reached_level}{NO_BREAK}%",
        )
    return redirect_saved(saved, _spending_url(subject), changed)


def _stored(session: Session, subject: LimitSubject) -> BudgetForm:
    return BudgetForm.showing(budgets.budget_of(session, caller(), subject))


def _spending_url(subject: LimitSubject) -> str:
    if subject.organization_id is None:
        return url_for("portal.spending.show_partner_spending")
    return url_for(
        "portal.spending.edit_organization_spending", organization_id=subject.organization_id
    )


def _page(form: BudgetForm, subject: LimitSubject) -> str:
    crumbs = [
        (gettext("Settings"), url_for("portal.settings.edit_settings")),
        (gettext("Spending"), _spending_url(subject)),
    ]
    title = gettext("Budget of your portal")
    with transaction(read_only=True) as session:
        budget = budgets.budget_of(session, caller(), subject)
        carrier = carrier_of_month(session, subject.organization_id)
        if subject.organization_id is not None:
            organization = organizations.get(session, caller(), subject.organization_id)
            title = gettext("Budget of %(name)s", name=organization.name)
            crumbs[:1] = [
                (gettext("Organizations"), url_for("portal.organizations.list_organizations")),
                (
                    organization.name,
                    url_for(
                        "portal.organizations.show_organization",
                        organization_id=subject.organization_id,
                    ),
                ),
            ]
    return render_template(
        "portal/spending/budget.html",
        title=title,
        form=form,
        currency=budget.currency,
        spent=budget.spent,
        bar=budget_bar(budget),
        test_money=test_money_message(carrier),
        crumbs=[*crumbs, (gettext("Budget"), None)],
        back=_spending_url(subject),
    )
