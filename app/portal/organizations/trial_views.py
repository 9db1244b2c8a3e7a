"""End the trial of an organization."""

from uuid import UUID

from flask import url_for
from werkzeug.wrappers import Response

from app.errors import Conflict
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.portal.web.blueprint import portal
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.messages import changing, redirect_with
from app.services import organizations

ENDING = (
    lazy_gettext(
        "It can call every number that its settings allow, also in campaigns and through the API."
    ),
    lazy_gettext(
        "Only the platform operator can put it back into trial mode, with the whole portal."
    ),
)


@portal.get("/organizations/<uuid:organization_id>/end-trial")
def organization_trial_end_confirm(organization_id: UUID) -> str:
    with transaction(read_only=True) as session:
        name = organizations.get(session, caller(), organization_id).name
    return ConfirmationPage(
        title=gettext("End the trial of %(name)s?", name=name),
        consequences=ENDING,
        act=gettext("End trial"),
        safe=gettext("Keep in trial"),
        safe_url=url_for("portal.organization", organization_id=organization_id),
        danger=False,
    ).page()


@portal.post("/organizations/<uuid:organization_id>/end-trial")
def organization_trial_end(organization_id: UUID) -> Response:
    url = url_for("portal.organization", organization_id=organization_id)
    with changing(url, Conflict, category="danger") as session:
        found = organizations.end_trial(session, caller(), organization_id)
    return redirect_with(gettext("The trial of %(name)s has ended.", name=found.name), url)
