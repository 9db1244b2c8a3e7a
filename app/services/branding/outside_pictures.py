"""Fetching pictures of a brand from other hosts, in steps for the worker; and their state."""

import hashlib
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import ImageType
from app.errors import NotFound
from app.models import OutsidePicture, Partner, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services.branding.images import EncodedPicture
from app.services.partners.outside_pictures import enqueue_fetch


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """The picture to fetch; ``etag`` is that of the stored copy."""

    kind: ImageType
    url: str
    etag: str | None


def refresh_due(session: Session) -> int:
    """Queue fetching the pictures that are due: a day after the last time, an hour after a problem.
    Returns how many are queued."""
    due = session.scalars(OutsidePicture.due(OutsidePicture.problem.is_not(None))).all()
    for picture in due:
        enqueue_fetch(session, picture)
    return len(due)


def retry(session: Session, caller: Caller, partner: Partner, kind: ImageType) -> None:
    """Have a picture fetched again. Raises `NotFound` if the brand has none elsewhere."""
    caller.require(Permission.BRANDING_WRITE)
    picture = next(
        (candidate for candidate in partner.outside_pictures if candidate.kind is kind), None
    )
    if picture is None:
        raise NotFound
    picture.problem = picture.checked_at = None
    enqueue_fetch(session, picture)


def begin(session: Session, partner_id: UUID, kind: ImageType) -> PictureRequest | None:
    """Return what to fetch; None if the brand has no such picture any more."""
    picture = session.get(OutsidePicture, (partner_id, kind))
    return PictureRequest(kind, picture.url, picture.etag) if picture else None


def store_result(
    session: Session,
    partner_id: UUID,
    request: PictureRequest,
    outcome: EncodedPicture | str | None,
    etag: str | None = None,
) -> None:
    """Store the result: the picture, the problem as a sentence, or None if it has not changed. A
    problem leaves the copy as it is. A result for an earlier URL is ignored."""
    picture = session.get(OutsidePicture, (partner_id, request.kind), with_for_update=True)
    if picture is None or picture.url != request.url:
        return
    picture.checked_at = utcnow()
    picture.problem = outcome if isinstance(outcome, str) else None
    if isinstance(outcome, EncodedPicture):
        picture.etag = etag
        picture.sha256 = hashlib.sha256(outcome.data).hexdigest()
        picture.content_type, picture.size = outcome.content_type, len(outcome.data)
        picture.width, picture.height, picture.data = outcome.width, outcome.height, outcome.data
    session.flush()
