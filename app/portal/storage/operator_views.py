"""The operator's list of used storage, and the limit of each partner."""

from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.portal.storage.forms import LimitForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import saving_edit, stored_page
from app.portal.web.messages import redirect_saved
from app.services import partners, storage


@portal.get("/operator/storage")
def operator_storage() -> str:
    with transaction(read_only=True) as session:
        found = storage.of_partners(session, caller(), settings().storage_defaults)
        return render_template(
            "portal/storage/partners.html",
            partners=found,
            total=sum(usage.used for _, usage in found),
            uploads=storage.largest_uploads(session, caller()),
        )


@portal.get("/operator/storage/<uuid:partner_id>")
def operator_partner_storage(partner_id: UUID) -> str:
    return stored_page(partner_id, _page, _stored)


@portal.post("/operator/storage/<uuid:partner_id>")
def operator_partner_storage_save(partner_id: UUID) -> Page:
    form = LimitForm()
    with saving_edit(form, "partner", partner_id, _page, _stored) as session:
        changed = storage.change_partner_limit(
            session, caller(), partner_id, form.limit, expected_version=form.version.data
        )
    words = gettext("Storage limit saved.")
    return redirect_saved(words, url_for("portal.operator_storage"), changed)


def _stored(session: Session, partner_id: UUID) -> LimitForm:
    found = partners.get(session, caller(), partner_id)
    return LimitForm.showing(found.storage_limit, found.version)


def _page(partner_id: UUID, form: LimitForm) -> str:
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
