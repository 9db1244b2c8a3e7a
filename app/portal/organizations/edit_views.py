"""Adding an organization, what it is called, and its plan and limits with what they would do."""

from collections.abc import Sequence
from uuid import UUID

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response
from wtforms import Form

from app.enums import Role, Tier
from app.errors import Conflict, NotFound, ValidationFailed
from app.extensions import caller, transaction
from app.policy import Permission
from app.portal.organizations.forms import PLACES, EditForm, NewForm, PlanForm
from app.portal.web.blueprint import portal
from app.portal.web.editing import Overtaken, Sending, overtaken, seen_version
from app.portal.web.form_problems import place_problems
from app.schemas.reading import read
from app.schemas.users import CreatePartialUserInput
from app.services import organizations, partners, users

Page = str | tuple[str, int] | Response
Problems = Sequence[tuple[str, str]]


@portal.get("/organizations/new")
def organization_new() -> Page:
    _refuse_operators()
    limit = current_user.partner.default_agent_limit
    start = {"tier": Tier.FREE.value, "agent_limit": limit, "user_limit": 1}
    return _new_page(NewForm(data=start))


@portal.post("/organizations/new")
def organization_create() -> Page:
    _refuse_operators()
    form = NewForm(request.form)
    if not form.validate():
        return _new_page(form), 422
    try:
        with transaction() as session:
            sending = Sending(session)
            if sending.earlier:
                return redirect(sending.earlier, 303)
            values = form.to_changes().sent()
            made = organizations.create(
                session,
                caller(),
                partners.own(caller()),
                name=form.name.data or "",
                **values,
            )
            email = form.typed_email
            if email:
                person = read(
                    CreatePartialUserInput,
                    {"email": email, "orgId": str(made.id), "name": form.person.data or None},
                )
                users.create_partial(session, caller(), person)
            url = sending.led_to(url_for("portal.organization", organization_id=made.id))
    except ValidationFailed as error:
        return _new_page(form, place_problems(form, error, PLACES)), 422
    invited = f" {email} is invited." if email else ""
    flash(f"{made.name} added.{invited}", "success")
    return redirect(url, 303)


@portal.get("/organizations/<uuid:organization_id>/edit")
def organization_edit(organization_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        return _edit_page(organization_id, EditForm.showing(found))


@portal.post("/organizations/<uuid:organization_id>/edit")
def organization_save(organization_id: UUID) -> Page:
    form = EditForm(request.form)
    try:
        with transaction() as session:
            saved = organizations.update(
                session,
                caller(),
                organization_id,
                form.to_changes(),
                name=form.name.data or "",
                expected_version=seen_version(),
            )
    except ValidationFailed as error:
        return _edit_page(organization_id, form, place_problems(form, error)), 422
    except Conflict as error:
        return _edit_page(organization_id, form, conflict=error), 409
    flash(f"{saved.name} saved.", "success")
    return redirect(url_for("portal.organization", organization_id=organization_id), 303)


@portal.get("/organizations/<uuid:organization_id>/plan")
def organization_plan(organization_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        form = PlanForm.showing(organizations.get(session, caller(), organization_id))
    return _plan_page(organization_id, form)


@portal.get("/organizations/<uuid:organization_id>/plan/check")
def organization_plan_check(organization_id: UUID) -> Page:
    """What the values of the address would do. Nothing is written before the next page's form."""
    form = PlanForm(request.args)
    try:
        if not form.validate():
            return _plan_page(organization_id, form), 422
        changes = form.to_changes()
    except ValidationFailed as error:
        return _plan_page(organization_id, form, place_problems(form, error, PLACES)), 422
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        effects = organizations.effects(
            session,
            caller(),
            organization_id,
            tier=changes.payment_tier,
            agent_limit=changes.agent_limit or 0,
            user_limit=changes.user_limit or 0,
        )
        return render_template(
            "portal/organizations/plan_check.html",
            organization=found,
            form=form,
            effects=effects,
            version=found.version,
        )


@portal.post("/organizations/<uuid:organization_id>/plan")
def organization_plan_save(organization_id: UUID) -> Page:
    form = PlanForm(request.form)
    if not form.validate():
        return _plan_page(organization_id, form), 422
    try:
        with transaction() as session:
            saved = organizations.update(
                session,
                caller(),
                organization_id,
                form.to_changes(),
                expected_version=seen_version(),
            )
    except ValidationFailed as error:
        return _plan_page(organization_id, form, place_problems(form, error, PLACES)), 422
    except Conflict as error:
        return _plan_page(organization_id, form, conflict=error), 409
    flash(f"Plan and limits of {saved.name} changed.", "success")
    return redirect(url_for("portal.organization", organization_id=organization_id), 303)


def _refuse_operators() -> None:
    """An operator has no partner for whom to add an organization."""
    if caller().partner_id is None:
        raise NotFound


def _new_page(form: NewForm, problems: Problems = ()) -> str:
    return render_template(
        "portal/organizations/new.html",
        form=form,
        problems=problems,
        may_invite=caller().may(Permission.USERS_WRITE)
        and Role.STANDARD in users.types_for(caller()),
    )


def _overtaken(
    session: Session, conflict: Conflict | None, typed: Form, stored: Form, organization_id: UUID
) -> Overtaken | None:
    if conflict is None:
        return None
    return overtaken(
        session, conflict, typed, stored, target_type="organization", target_id=organization_id
    )


def _edit_page(
    organization_id: UUID,
    form: EditForm,
    problems: Problems = (),
    *,
    conflict: Conflict | None = None,
) -> str:
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        said = _overtaken(session, conflict, form, EditForm.showing(found), found.id)
        return render_template(
            "portal/organizations/edit.html",
            organization=found,
            form=form,
            problems=problems,
            overtaken=said,
            version=found.version,
        )


def _plan_page(
    organization_id: UUID,
    form: PlanForm,
    problems: Problems = (),
    *,
    conflict: Conflict | None = None,
) -> str:
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        said = _overtaken(session, conflict, form, PlanForm.showing(found), found.id)
        return render_template(
            "portal/organizations/plan.html",
            organization=found,
            use=organizations.use_of(session, [found.id])[found.id],
            form=form,
            problems=problems,
            overtaken=said,
            version=found.version,
        )
