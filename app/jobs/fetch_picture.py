"""Fetching a picture of a brand from another host, as a durable workflow.

A worker that dies leaves the picture to the next one, which fetches it again.
"""

import logging
from uuid import UUID

from dbos import DBOS

from app.config import Settings
from app.database import Database
from app.enums import ImageType
from app.errors import ValidationFailed
from app.gateways.outside_downloads import NotFetched
from app.gateways.outside_pictures import fetch
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.services.branding import images, outside_pictures
from app.services.branding.images import EncodedPicture

log = logging.getLogger(__name__)

FAILED = "The picture could not be fetched. Try again."


@DBOS.workflow(name="fetch_picture")
@observe_job
def fetch_picture(partner_id: str, kind: str) -> None:
    """Fetch the picture and keep a copy."""
    fetch_and_store_picture(partner_id, kind)


@DBOS.step(name="fetch_and_keep_picture")
@retry_on_database_outage
def fetch_and_store_picture(partner_id: str, kind: str) -> None:
    update_copy(context().database, context().settings, UUID(partner_id), ImageType(kind))


def update_copy(database: Database, settings: Settings, partner_id: UUID, kind: ImageType) -> None:
    """Fetch and encode the picture without an open transaction, and store the result."""
    with database.transaction(read_only=True) as session:
        picture = outside_pictures.begin(session, partner_id, kind)
    if picture is None:
        return
    etag = None
    outcome: EncodedPicture | str | None
    try:
        fetched = fetch(
            picture.url,
            picture.etag,
            max_bytes=images.MAX_BYTES,
            allow_private=settings.webhook_allow_private,
        )
        etag = fetched.etag
        outcome = images.encode(fetched.data, kind, kind) if fetched.data is not None else None
    except NotFetched as reason:
        outcome = str(reason)
    except ValidationFailed as error:
        outcome = error.problems[0].message
    except Exception:
        log.exception("a picture could not be fetched")
        outcome = FAILED
    with database.transaction() as session:
        outside_pictures.store_result(session, partner_id, picture, outcome, etag)
