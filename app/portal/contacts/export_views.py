"""The contacts of a campaign as a file."""

from functools import partial
from uuid import UUID

from flask import stream_with_context
from werkzeug.wrappers import Response

from app.extensions import caller, transaction
from app.portal.web.blueprint import portal
from app.portal.web.downloads import csv_file
from app.services import campaigns
from app.services.imports import export


@portal.get("/campaigns/<uuid:campaign_id>/contacts.csv")
def contact_file(campaign_id: UUID) -> Response:
    """All of them, oldest first; the file imports again to the same contacts."""
    with transaction(read_only=True) as session:
        campaign = campaigns.get(session, caller(), campaign_id)
        columns = export.columns_of(session, campaign)
    name = "".join(c if c.isalnum() and c.isascii() else "-" for c in campaign.name).strip("-")
    parts = export.parts(partial(transaction, read_only=True), columns)
    return csv_file(f"contacts-of-{name or 'campaign'}", stream_with_context(parts))
