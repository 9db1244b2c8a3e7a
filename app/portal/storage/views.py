"""Used storage: the caller's own, that of one organization with its limit, and for operators the
list and limit of partners."""

from typing import Any
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.enums import RetentionKind
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.models import Partner
from app.policy import Permission
from app.portal.storage import blueprint
from app.portal.storage.forms import StorageLimitForm
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving_edit, stored_page
from app.portal.web.messages import redirect_saved
from app.services import organizations, partners, storage
from app.services.imports import deletion
from app.services.partners import retention_policy


@blueprint.get("/storage")
def show_storage() -> str:
    with transaction(read_only=True) as session:
        return render_template(
            "portal/storage/page.html",
            **_usage_context(session),
            can_be_deleted=deletion.can_be_deleted,
            uploads=storage.largest_uploads(session, caller()),
            kept_days=_kept_days(partners.get_own(session, caller())),
        )


def _usage_context(session: Session) -> dict[str, Any]:
    """Return the storage of the caller's organization, or of the partner and its organizations."""
    defaults, actor = settings().storage_defaults, caller()
    if actor.organization_id is not None:
        organization = organizations.get(session, actor, actor.organization_id)
        usage = storage.of_organization(session, organization, defaults)
        return {"usage": usage, "of_partner": False, "organizations": []}
    partner_id = partners.own_partner_id(actor)
    return {
        "usage": storage.of_partner(session, actor, partner_id, defaults),
        "of_partner": True,
        "organizations": storage.of_organizations(session, actor, partner_id, defaults),
    }


@blueprint.get("/organizations/<uuid:organization_id>/storage")
def edit_organization_storage(organization_id: UUID) -> str:
    return stored_page(organization_id, _page, _stored)


@blueprint.post("/organizations/<uuid:organization_id>/storage")
def save_organization_storage(organization_id: UUID) -> Page:
    form = StorageLimitForm()
    with saving_edit(form, "organization", organization_id, _page, _stored) as session:
        changed = storage.change_organization_limit(
            session, caller(), organization_id, form.limit, expected_version=form.version.data
        )
    return redirect_saved(
        gettext("Storage limit saved."),
        url_for("portal.storage.edit_organization_storage", organization_id=organization_id),
        changed,
    )


def _kept_days(partner: Partner) -> int:
    return retention_policy.days_kept(partner, RetentionKind.UPLOADS, settings())


def _stored(session: Session, organization_id: UUID) -> StorageLimitForm:
    organization = organizations.get(session, caller(), organization_id)
    return StorageLimitForm.showing(organization.storage_limit, organization.version)


def _page(organization_id: UUID, form: StorageLimitForm) -> str:
    defaults, actor = settings().storage_defaults, caller()
    may_limit = actor.organization_id is None and actor.may(Permission.ORGANIZATIONS_WRITE)
    with transaction(read_only=True) as session:
        organization = organizations.get(session, actor, organization_id)
        return render_template(
            "portal/storage/organization.html",
            organization=organization,
            usage=storage.of_organization(session, organization, defaults),
            can_be_deleted=deletion.can_be_deleted,
            uploads=storage.largest_uploads(session, actor, organization_id=organization_id),
            kept_days=_kept_days(partners.get(session, actor, organization.partner_id)),
            form=form if may_limit else None,
            default=defaults.organization,
        )


@blueprint.get("/operator/storage")
def show_installation_storage() -> str:
    with transaction(read_only=True) as session:
        usages = storage.of_partners(session, caller(), settings().storage_defaults)
        return render_template(
            "portal/storage/partners.html",
            partners=usages,
            total=sum(usage.used for _, usage in usages),
            uploads=storage.largest_uploads(session, caller()),
        )


@blueprint.get("/operator/storage/<uuid:partner_id>")
def edit_partner_storage(partner_id: UUID) -> str:
    return stored_page(partner_id, _partner_page, _stored_of_partner)


@blueprint.post("/operator/storage/<uuid:partner_id>")
def save_partner_storage(partner_id: UUID) -> Page:
    form = StorageLimitForm()
    with saving_edit(form, "partner", partner_id, _partner_page, _stored_of_partner) as session:
        changed = storage.change_partner_limit(
            session, caller(), partner_id, form.limit, expected_version=form.version.data
        )
    message = gettext("Storage limit saved.")
    return redirect_saved(message, url_for("portal.storage.show_installation_storage"), changed)


def _stored_of_partner(session: Session, partner_id: UUID) -> StorageLimitForm:
    partner = partners.get(session, caller(), partner_id)
    return StorageLimitForm.showing(partner.storage_limit, partner.version)


def _partner_page(partner_id: UUID, form: StorageLimitForm) -> str:
    defaults = settings().storage_defaults
    with transaction(read_only=True) as session:
        return render_template(
            "portal/storage/partner.html",
            partner=partners.get(session, caller(), partner_id),
            usage=storage.of_partner(session, caller(), partner_id, defaults),
            organizations=storage.of_organizations(session, caller(), partner_id, defaults),
            uploads=storage.largest_uploads(session, caller(), partner_id=partner_id),
            form=form,
            default=defaults.partner,
        )
