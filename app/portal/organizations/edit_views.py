"""Add an organization, rename it, and change its plan and limits with a preview of the effects."""

from collections.abc import Mapping
from datetime import date, timedelta
from functools import partial
from uuid import UUID

from flask import render_template, request, url_for
from flask_login import current_user
from sqlalchemy.orm import Session
from wtforms import SelectChoice

from app.enums import Role, Tier
from app.errors import check_all, raise_problems
from app.extensions import caller, settings, transaction
from app.languages import gettext, ngettext
from app.models import Organization, utcnow
from app.policy import Permission
from app.portal.organizations import blueprint
from app.portal.organizations.forms import EditForm, NewForm, OrganizationPlanForm
from app.portal.organizations.labels import MEMBER_HINTS, added_message
from app.portal.organizations.limit_labels import used_label
from app.portal.web.blueprint import Page
from app.portal.web.current_user import local_path, refuse_operators
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving, saving_edit, showing_problems, stored_page
from app.portal.web.messages import redirect_with
from app.portal.web.page_frame import read_frame
from app.portal.web.plan_names import names_at, plan_names
from app.services import organizations, partners, pricing, users
from app.services.billing import statements
from app.services.billing.statements import Bill
from app.services.billing_address import validate_address
from app.services.organizations.updating import validate_name
from app.services.pricing import EditedPlan

FIRST_ROLES = (Role.OWNER, Role.STANDARD)


@blueprint.get("/organizations/new")
def new_organization() -> Page:
    refuse_operators()
    limit = current_user.partner.default_assistant_limit
    with transaction(read_only=True) as session:
        country = organizations.usual_country(session, caller(), partners.own_partner_id(caller()))
        start = {"tier": Tier.FREE.value, "assistant_limit": limit, "country": country}
        form = NewForm(data=start)
        form.set_choices(_first_roles())
        return _new_page(form)


@blueprint.post("/organizations/new")
def create_organization() -> Page:
    refuse_operators()
    form = NewForm()
    form.set_choices(_first_roles())
    with saving(form, lambda: _new_page(form)) as session:
        submission = FormSubmission(session)
        created = _create(session, form)
        url = submission.finish(
            url_for("portal.organizations.show_organization", organization_id=created.id)
        )
    return redirect_with(added_message(created.name, form.submitted_email), url)


def _create(session: Session, form: NewForm) -> Organization:
    """Create the organization, and invite its first user if the form names one."""
    raise_problems(
        organizations.duplicate_name_problems(
            session, partners.own_partner_id(caller()), form.submitted_name
        )
    )
    created = organizations.create(
        session,
        caller(),
        partners.own_partner_id(caller()),
        organizations.NewOrganization(
            form.name.data or "", country=form.selected_country(), **form.to_changes().sent()
        ),
        in_trial=settings().new_organizations_in_trial,
    )
    if form.submitted_email:
        users.invite(
            session,
            caller(),
            email=form.submitted_email,
            user_type=form.selected_role(),
            organization_id=created.id,
            name=form.first_user_name.data or None,
        )
    return created


@blueprint.get("/organizations/<uuid:organization_id>/edit")
def edit_organization(organization_id: UUID) -> Page:
    return stored_page(organization_id, _edit_page, _stored)


@blueprint.post("/organizations/<uuid:organization_id>/edit")
def save_organization(organization_id: UUID) -> Page:
    form = EditForm()
    with saving_edit(
        form, "organization", organization_id, _edit_page, _stored, validate=False
    ) as session:
        saved = _save(session, organization_id, form)
    url = url_for("portal.organizations.show_organization", organization_id=organization_id)
    return redirect_with(gettext("%(name)s saved.", name=saved.name), url)


def _save(session: Session, organization_id: UUID, form: EditForm) -> Organization:
    check_all(
        form.to_changes,
        lambda: validate_name(form.name.data or ""),
        lambda: validate_address(*form.submitted_address),
    )
    return organizations.update(
        session,
        caller(),
        organization_id,
        form.to_changes(),
        name=form.name.data or "",
        billing_address=validate_address(*form.submitted_address),
        expected_version=form.version.data,
    )


@blueprint.get("/organizations/<uuid:organization_id>/plan")
def choose_plan(organization_id: UUID) -> Page:
    """Show the form. ``assistants`` and ``users`` in the URL are initial limits, ``back`` the page
    to return to instead of the organization."""
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        read_frame(session, partner_id=organization.partner_id)
        form = OrganizationPlanForm.showing(organization)
        for name, field in {"assistants": form.assistant_limit, "users": form.user_limit}.items():
            field.data = request.args.get(name, field.data, type=int)
        return _plan_page(organization_id, form)


@blueprint.get("/organizations/<uuid:organization_id>/plan/check")
def check_plan(organization_id: UUID) -> Page:
    """Show the effects of the URL's values. Nothing is written before the next page's form."""
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
    form = OrganizationPlanForm.from_address(organization.version)
    with showing_problems(form, partial(_plan_page, organization_id, form)):
        changes = form.to_changes()
    with transaction(read_only=True) as session:
        effects = organizations.plan_effects(session, caller(), organization_id, changes)
    context = {"organization": organization, "form": form, "effects": effects, "back": _back_path()}
    return render_template("portal/organizations/plan_check.html", **context)


@blueprint.post("/organizations/<uuid:organization_id>/plan")
def save_plan(organization_id: UUID) -> Page:
    form = OrganizationPlanForm()
    with saving_edit(form, "organization", organization_id, _plan_page, _stored_plan) as session:
        changes, version = form.to_changes(), form.version.data
        saved = organizations.update(
            session, caller(), organization_id, changes, expected_version=version
        )
    message = gettext("Plan and limits of %(name)s changed.", name=saved.name)
    return redirect_with(
        message, url_for("portal.organizations.show_organization", organization_id=organization_id)
    )


def _stored(session: Session, organization_id: UUID) -> EditForm:
    return EditForm.showing(organizations.get(session, caller(), organization_id))


def _stored_plan(session: Session, organization_id: UUID) -> OrganizationPlanForm:
    return OrganizationPlanForm.showing(organizations.get(session, caller(), organization_id))


def _first_roles() -> list[Role]:
    """Return the roles that the caller may give the first user, the highest first."""
    may_invite = caller().may(Permission.USERS_WRITE)
    return [role for role in FIRST_ROLES if may_invite and role in users.types_for(caller())]


def _new_page(form: NewForm) -> str:
    with transaction(read_only=True):
        form.tier.choices = _plan_choices(plan_names())
        return render_template(
            "portal/organizations/new.html",
            form=form,
            in_trial=settings().new_organizations_in_trial,
            role_hints=MEMBER_HINTS,
        )


def _plan_choices(names: Mapping[Tier, str]) -> list[SelectChoice]:
    """Return the plans, each with the users that it includes."""
    return [
        SelectChoice(tier.value, _plan_label(name, organizations.USUAL_USER_LIMITS[tier]))
        for tier, name in names.items()
    ]


def _plan_label(name: str, num: int) -> str:
    return ngettext("%(plan)s, %(num)s user", "%(plan)s, %(num)s users", num, plan=name)


def _edit_page(organization_id: UUID, form: EditForm) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        return render_template(
            "portal/organizations/edit.html", organization=organization, form=form
        )


def _plan_page(organization_id: UUID, form: OrganizationPlanForm) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        form.tier.choices = _plan_choices(names_at(organization.partner_id))
        return render_template(
            "portal/organizations/plan.html",
            organization=organization,
            use=organizations.usage_of(session, [organization.id])[organization.id],
            form=form,
            used=used_label(statements.as_if(session, [organization])[organization.id].usage),
            choices=_priced_plans(session, organization),
            back=_back_path(),
        )


def _priced_plans(
    session: Session, organization: Organization
) -> list[tuple[EditedPlan, Bill, date | None]]:
    """Return the plans that cost something, each with the bill of this month and the last day of
    its free trial."""
    plans = pricing.published(session, organization.partner_id)
    priced = [plan for plan in plans if plan.terms.cost or plan.terms.unit]
    bills = [
        statements.as_if(session, [organization], tier=plan.tier)[organization.id]
        for plan in priced
    ]
    return [(plan, bill, _free_until(bill)) for plan, bill in zip(priced, bills, strict=True)]


def _free_until(bill: Bill) -> date | None:
    """Return the last day of the plan's free trial; None after it."""
    is_free = bill.charged_from > utcnow().date()
    return bill.charged_from - timedelta(days=1) if is_free else None


def _back_path() -> str | None:
    """Return the page from which the change of a plan started; None for the organization."""
    path = request.values.get("back")
    return local_path(path) if path else None
