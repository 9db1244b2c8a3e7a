"""Settings of the portal: what of the partner is no part of a brand's versions."""

from typing import Any
from urllib.parse import urlsplit

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.errors import Conflict, ValidationFailed
from app.extensions import caller, settings, transaction
from app.models import Partner
from app.portal.settings.forms import PortalSettingsForm
from app.portal.web.blueprint import portal
from app.portal.web.current_user import sign_in_url
from app.portal.web.editing import Overtaken, overtaken, seen_version
from app.schemas.partners import UpdatePartnerInput
from app.schemas.reading import read
from app.services import partners

Page = str | tuple[str, int] | Response


@portal.get("/settings")
def portal_settings() -> Page:
    with transaction(read_only=True) as session:
        partner = _partner(session)
        return _page(partner, PortalSettingsForm.showing(_resource(partner)))


@portal.post("/settings")
def portal_settings_save() -> Page:
    form = PortalSettingsForm(request.form)
    try:
        with transaction() as session:
            partner = _partner(session)
            changes = read(UpdatePartnerInput, form.to_changes(_resource(partner)))
            partners.update(session, caller(), partner.id, changes, expected_version=seen_version())
    except ValidationFailed as error:
        rest = form.show_problems(error.problems)
        with transaction(read_only=True) as session:
            return _page(_partner(session), form, rest), 422
    except Conflict as error:
        with transaction(read_only=True) as session:
            partner = _partner(session)
            stored = PortalSettingsForm.showing(_resource(partner))
            found = overtaken(
                session, error, form, stored, target_type="partner", target_id=partner.id
            )
            return _page(partner, form, found=found), 409
    return redirect(url_for("portal.portal_settings", saved=1), 303)


def _partner(session: Session) -> Partner:
    return partners.get(session, caller(), partners.own(caller()))


def _resource(partner: Partner) -> dict[str, Any]:
    return partners.to_resource(partner, caller()).model_dump(mode="json", by_alias=True)


def _page(
    partner: Partner,
    form: PortalSettingsForm,
    problems: list[tuple[str, str]] | None = None,
    found: Overtaken | None = None,
) -> str:
    public = settings().public_url.rstrip("/")
    return render_template(
        "portal/settings/page.html",
        form=form,
        partner=partner,
        problems=problems or [],
        found=found,
        host=urlsplit(public).hostname,
        neutral_url=public + sign_in_url(partner.slug),
    )
