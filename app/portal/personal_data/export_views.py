"""Requesting an export of the data about a user, a contact or someone who was called."""

from collections.abc import Callable
from uuid import UUID

from flask import url_for
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.extensions import caller
from app.languages import gettext
from app.portal.web.blueprint import Page, portal
from app.portal.web.messages import changing, redirect_with
from app.portal.web.user_timezone import zone
from app.services.personal_data import exporting, subjects
from app.services.personal_data.subjects import DataSubject


@portal.post("/users/<uuid:user_id>/data-export")
def user_data_export(user_id: UUID) -> Page:
    def of_user(session: Session) -> DataSubject:
        return subjects.user(session, caller(), user_id)

    return _requested(of_user)


@portal.post("/campaigns/<uuid:campaign_id>/contacts/<uuid:contact_id>/data-export")
def contact_data_export(campaign_id: UUID, contact_id: UUID) -> Page:
    def of_contact(session: Session) -> DataSubject:
        return subjects.contact(session, caller(), campaign_id, contact_id)

    return _requested(of_contact, campaign=campaign_id)


@portal.post("/calls/<uuid:call_id>/data-export")
def call_data_export(call_id: UUID) -> Page:
    def of_call(session: Session) -> DataSubject:
        return subjects.of_call(session, caller(), call_id)

    return _requested(of_call, call=call_id)


def _requested(load: Callable[[Session], DataSubject], **of: UUID) -> Page:
    url = url_for("portal.exports")
    with changing(url, Conflict) as session:
        exporting.request(session, caller(), load(session), zone(), **of)
    return redirect_with(gettext("The export is being prepared. You get an email."), url)
