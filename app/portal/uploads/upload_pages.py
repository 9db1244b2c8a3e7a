"""Shared by the pages of an upload."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from uuid import UUID

from flask import redirect, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import ContactAction, OrganizationStatus, RetentionKind
from app.errors import Conflict
from app.extensions import caller, settings
from app.languages import gettext, pgettext
from app.models import ContactImport, Partner, utcnow
from app.portal.uploads.campaign_labels import campaign_label
from app.portal.web.campaign_statuses import steps_of_planned
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import long_datetime
from app.portal.web.messages import changing
from app.portal.web.user_timezone import zone
from app.services import campaigns
from app.services.partners import retention_policy


def path_of(session: Session, upload: ContactImport) -> dict[str, Any]:
    """Return breadcrumbs and wizard steps of an upload's pages, and whether its organization takes
    new contacts."""
    campaign, organization, *_ = campaigns.get_with_plan(session, caller(), upload.campaign_id)
    campaign_url = url_for("portal.campaigns.show_campaign", campaign_id=campaign.id)
    choose = url_for("portal.uploads.new_upload", campaign_id=campaign.id)
    is_member = caller().organization_id is not None
    return {
        "campaign_name": campaign_label(campaign.name, None if is_member else organization.name),
        "crumbs": [
            (gettext("Campaigns"), url_for("portal.campaigns.list_campaigns")),
            (campaign.name, campaign_url),
            (pgettext("noun", "Upload"), None),
        ],
        "step_names": parts_of_upload(choose, upload.action),
        "steps_of_new": None
        if upload.action is ContactAction.REMOVE
        else steps_of_planned(session, campaign),
        "campaign_url": campaign_url,
        "takes_new": organization.status is not OrganizationStatus.ARCHIVED,
    }


def parts_of_upload(
    choose: str | None = None, action: ContactAction = ContactAction.UPSERT
) -> list[tuple[str, str | None]]:
    """Return the steps of an upload; ``choose`` is the URL of the first."""
    removes = action is ContactAction.REMOVE
    return [
        (gettext("Choose file"), choose),
        (gettext("Check"), None),
        (gettext("Remove contacts") if removes else gettext("Apply"), None),
    ]


def days_kept(session: Session, upload: ContactImport) -> int:
    """Return how many days the upload's partner keeps its rows after its end."""
    partner = session.get_one(Partner, upload.partner_id)
    return retention_policy.days_kept(partner, RetentionKind.UPLOADS, settings())


def cancel_confirmation(
    session: Session, upload: ContactImport, corrections: Sequence[str]
) -> ConfirmationPage:
    """Return the confirmation to cancel a checked upload, with its ``corrections`` in words."""
    until = long_datetime(utcnow() + timedelta(days=days_kept(session, upload)), zone())
    return ConfirmationPage(
        title=gettext("Cancel the upload of %(file)s?", file=upload.file_name),
        consequences=[
            *(
                [gettext("By hand: %(edits)s", edits=", ".join(corrections)) + "."]
                if corrections
                else []
            ),
            gettext("No row is applied. The campaign’s contacts stay unchanged."),
            gettext("The rows with the edits can be downloaded until %(time)s.", time=until),
        ],
        action_label=gettext("Cancel upload"),
        keep_label=gettext("Keep upload"),
        keep_url=url_for("portal.uploads.show_upload", upload_id=upload.id),
        action=url_for("portal.uploads.cancel_upload", upload_id=upload.id),
    )


def changing_upload(upload_id: UUID) -> AbstractContextManager[Session]:
    """A transaction for a step. If the state of the upload refuses it, its page says why."""
    return changing(url_for("portal.uploads.show_upload", upload_id=upload_id), Conflict)


def to_upload(upload_id: UUID, **params: Any) -> Response:
    """Redirect to the upload's page. ``params`` are parameters of the page and its ``_anchor``."""
    return redirect(url_for("portal.uploads.show_upload", upload_id=upload_id, **params), 303)


def rows_url(upload: ContactImport, rows: str) -> str:
    return url_for("portal.uploads.show_upload", upload_id=upload.id, rows=rows, _anchor="rows")


def choice_url(upload: ContactImport, kind: str | None = None, note: str | None = None) -> str:
    return url_for(
        "portal.uploads.show_upload", upload_id=upload.id, kind=kind, note=note, _anchor="rows"
    )
