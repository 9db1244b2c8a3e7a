"""The form that changes the domain of a partner."""

from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, transaction
from app.languages import gettext
from app.portal.operator.forms import DomainForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import saving_edit, stored_page
from app.portal.web.messages import redirect_saved
from app.services import partners


@portal.get("/operator/partners/<uuid:partner_id>/domain")
def operator_partner_domain(partner_id: UUID) -> str:
    return stored_page(partner_id, _page, _stored)


@portal.post("/operator/partners/<uuid:partner_id>/domain")
def operator_partner_domain_save(partner_id: UUID) -> Page:
    form = DomainForm()
    with saving_edit(form, "partner", partner_id, _page, _stored, validate=False) as session:
        was = partners.get(session, caller(), partner_id).domain
        saved = partners.change_domain(
            session, caller(), partner_id, form.domain.data, expected_version=form.version.data
        )
        changed = saved.domain != was
    words = gettext("Domain saved.")
    return redirect_saved(words, url_for("portal.operator_partner", partner_id=partner_id), changed)


def _stored(session: Session, partner_id: UUID) -> DomainForm:
    return DomainForm.from_object(partners.get(session, caller(), partner_id))


def _page(partner_id: UUID, form: DomainForm) -> str:
    with transaction(read_only=True) as session:
        return render_template(
            "portal/operator/partner_domain.html",
            partner=partners.get(session, caller(), partner_id),
            form=form,
        )
