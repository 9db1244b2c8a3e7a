"""The operator's page of a partner, and the form that adds one."""

from typing import Any
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.calendar_months import month_of
from app.enums import Role
from app.errors import Conflict, ValidationFailed
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.models import Partner, utcnow
from app.portal.operator import blueprint
from app.portal.operator.forms import PartnerForm
from app.portal.operator.labels import domain_label, partner_status
from app.portal.operator.partner_views import users_label
from app.portal.spending.limit_bars import month_money
from app.portal.users.listing import STATUS_LABELS
from app.portal.web.blueprint import Page
from app.portal.web.current_user import sign_in_url
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_with
from app.portal.web.page_frame import read_frame
from app.portal.web.user_timezone import LAST_24_HOURS
from app.services import audit, destinations, overview, partners, spending, storage, users

MAX_ADMINISTRATORS = 50


@blueprint.get("/operator/partners/new")
def new_partner() -> str:
    return _new_page(PartnerForm())


@blueprint.post("/operator/partners/new")
def create_partner() -> Page:
    form = PartnerForm()
    with saving(form, lambda: _new_page(form)) as session:
        submission = FormSubmission(session)
        partner = partners.create_by_operator(session, caller(), form.to_partner())
        first_user, role = form.first_user(), Role.PARTNER_ADMIN
        invited = users.invite(
            session, caller(), user_type=role, partner_id=partner.id, **first_user
        )
        url = submission.finish(url_for("portal.operator.show_partner", partner_id=partner.id))
    message = gettext(
        "%(name)s added. %(email)s is invited.", name=partner.name, email=invited.email
    )
    return redirect_with(message, url)


@blueprint.get("/operator/partners/<uuid:partner_id>")
def show_partner(partner_id: UUID) -> str:
    with transaction(read_only=True) as session:
        read_frame(session, partner_id=partner_id)
        partner = partners.get(session, caller(), partner_id)
        return render_template(
            "portal/operator/partner.html",
            **_partner_context(partner),
            **_usage_context(session, partner),
            **_administrator_context(session, partner_id),
            changes=audit.latest_of_target(session, caller(), "partner", partner_id),
        )


def _partner_context(partner: Partner) -> dict[str, Any]:
    """Return the partner, its status and its addresses."""
    status, tone = partner_status(partner)
    return {
        "partner": partner,
        "status": status,
        "tone": tone,
        "domain_label": domain_label(partner),
        "sign_in_url": _public_url(sign_in_url(partner.slug)),
    }


def _usage_context(session: Session, partner: Partner) -> dict[str, Any]:
    """Return the partner's contents and usage, and the days that its links cover."""
    used = spending.spending_of(session, caller(), spending.LimitSubject(partner_id=partner.id))
    return {
        "counts": overview.overview_of(session, partner),
        "users": users_label(session, partner.id),
        "spent": month_money(used).use_label,
        "opened": len(destinations.opened_by_partner(session, partner.id)),
        "storage": storage.of_partner(session, caller(), partner.id, settings().storage_defaults),
        "month_start": month_of(utcnow().date()),
        "last_day": LAST_24_HOURS,
    }


def _administrator_context(session: Session, partner_id: UUID) -> dict[str, Any]:
    """Return the partner's administrators, the oldest first, and the words of their statuses."""
    filters = users.UserFilter(partner_id=partner_id, user_type=Role.PARTNER_ADMIN)
    page = users.search(session, caller(), filters, sort="created", limit=MAX_ADMINISTRATORS)
    return {"administrators": page.items, "statuses": STATUS_LABELS}


@blueprint.post("/operator/partners/<uuid:partner_id>/verify-domain")
def verify_domain(partner_id: UUID) -> Response:
    url = url_for("portal.operator.show_partner", partner_id=partner_id)
    try:
        with transaction() as session:
            domain = partners.verify_domain(session, caller(), partner_id).domain
    except (Conflict, ValidationFailed) as error:
        return redirect_with(f"{error.message} {gettext('Nothing was changed.')}", url, "warning")
    message = gettext("%(domain)s is verified. It shows the partner’s sign-in page.", domain=domain)
    return redirect_with(message, url)


def _new_page(form: PartnerForm) -> str:
    example_url = _public_url(sign_in_url("acme-voice"))
    return render_template("portal/operator/partner_new.html", form=form, example_url=example_url)


def _public_url(path: str) -> str:
    return settings().public_url.rstrip("/") + path
