"""Suspend, resume, archive and restore an organization, and end its trial. Suspending and archiving
need a confirmation."""

from collections.abc import Callable
from uuid import UUID

from flask import redirect, request, url_for
from werkzeug.wrappers import Response

from app.errors import Conflict
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.models import Organization
from app.portal.organizations import blueprint
from app.portal.organizations.labels import (
    archive_confirmation,
    archived_message,
    suspend_confirmation,
)
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.messages import changing, redirect_with
from app.services import organizations
from app.services.organizations import ActiveItems


@blueprint.get("/organizations/<uuid:organization_id>/suspend")
def confirm_suspend_organization(organization_id: UUID) -> str:
    return _confirm_page(organization_id, suspend_confirmation)


def _confirm_page(
    organization_id: UUID,
    confirmation_of: Callable[[Organization, ActiveItems], ConfirmationPage],
) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        confirmation = confirmation_of(organization, organizations.reach_of(session, organization))
    return confirmation.page(template="portal/organizations/confirm_with_reason.html")


@blueprint.post("/organizations/<uuid:organization_id>/suspend")
def suspend_organization(organization_id: UUID) -> Response:
    with transaction() as session:
        organizations.suspend(session, caller(), organization_id, reason=request.form.get("reason"))
    return redirect(
        url_for("portal.organizations.show_organization", organization_id=organization_id), 303
    )


@blueprint.post("/organizations/<uuid:organization_id>/reactivate")
def reactivate_organization(organization_id: UUID) -> Response:
    with transaction() as session:
        organization = organizations.reactivate(session, caller(), organization_id)
    return redirect_with(
        gettext(
            "%(name)s reactivated. Its users can sign in and its keys work again.",
            name=organization.name,
        ),
        url_for("portal.organizations.show_organization", organization_id=organization_id),
    )


@blueprint.get("/organizations/<uuid:organization_id>/archive")
def confirm_archive_organization(organization_id: UUID) -> str:
    return _confirm_page(organization_id, archive_confirmation)


@blueprint.post("/organizations/<uuid:organization_id>/archive")
def archive_organization(organization_id: UUID) -> Response:
    with transaction() as session:
        reason = request.form.get("reason")
        stopped = organizations.archive(session, caller(), organization_id, reason=reason)
        organization = organizations.get(session, caller(), organization_id)
    message = archived_message(organization.name, stopped)
    return redirect_with(
        message, url_for("portal.organizations.show_organization", organization_id=organization_id)
    )


@blueprint.post("/organizations/<uuid:organization_id>/restore")
def restore_organization(organization_id: UUID) -> Response:
    with transaction() as session:
        organization = organizations.restore(session, caller(), organization_id)
    message = gettext("%(name)s restored. Its users can sign in again.", name=organization.name)
    return redirect_with(
        message, url_for("portal.organizations.show_organization", organization_id=organization_id)
    )


ENDING = (
    lazy_gettext(
        "It can call every number that its settings allow, also in campaigns and through the API."
    ),
    lazy_gettext(
        "Only the platform operator can turn trial mode on again, for all organizations of the "
        "portal."
    ),
)


@blueprint.get("/organizations/<uuid:organization_id>/end-trial")
def confirm_end_trial(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        name = organizations.get(session, caller(), organization_id).name
    return ConfirmationPage(
        title=gettext("End trial mode of %(name)s?", name=name),
        consequences=ENDING,
        action_label=gettext("End trial mode"),
        keep_label=gettext("Keep in trial mode"),
        keep_url=url_for("portal.organizations.show_organization", organization_id=organization_id),
        danger=False,
    ).page()


@blueprint.post("/organizations/<uuid:organization_id>/end-trial")
def end_trial(organization_id: UUID) -> Response:
    url = url_for("portal.organizations.show_organization", organization_id=organization_id)
    with changing(url, Conflict, tone="danger") as session:
        organization = organizations.end_trial(session, caller(), organization_id)
    return redirect_with(
        gettext("The trial mode of %(name)s has ended.", name=organization.name), url
    )
