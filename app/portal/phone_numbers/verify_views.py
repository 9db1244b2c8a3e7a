"""Verification calls to numbers that an organization wants to call from.
`app.portal.verified_numbers` has the page for the code."""

from flask import render_template, url_for
from werkzeug.wrappers import Response

from app.enums import VerificationPurpose
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import Organization, utcnow
from app.portal.phone_numbers import blueprint
from app.portal.verified_numbers.calling import STATUS_BADGES, NumberForm, call_with_code
from app.portal.web import organization_picker
from app.portal.web.blueprint import Page
from app.services import verified_numbers
from app.services.tenancy import refuse_archived

PURPOSE = VerificationPurpose.CALLER_ID


@blueprint.get("/numbers/verify")
def new_verification() -> Page:
    with transaction(read_only=True) as session:
        organization = organization_picker.organization_of_url(session)
        if organization is None:
            back_link = (gettext("Phone numbers"), url_for("portal.phone_numbers.list_numbers"))
            return organization_picker.choose_page(session, gettext("Verify a number"), back_link)
        refuse_archived(organization)
    return _page(organization, NumberForm())


@blueprint.post("/numbers/verify")
def place_verification_call() -> Response:
    form = NumberForm()
    organization = organization_picker.required_organization_of_url()
    return call_with_code(organization.id, form, PURPOSE, lambda: _page(organization, form))


def _page(organization: Organization, form: NumberForm) -> str:
    with transaction(read_only=True) as session:
        rows = verified_numbers.listing(session, caller(), organization.id, PURPOSE)
    return render_template(
        "portal/phone_numbers/verify.html",
        organization=organization,
        form=form,
        rows=[(row, verified_numbers.status_of(row, utcnow())) for row in rows],
        badges=STATUS_BADGES,
    )
