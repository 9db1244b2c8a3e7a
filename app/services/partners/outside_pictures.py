"""Pictures of the brand on other hosts: listing them, and queueing their fetching."""

import re

from sqlalchemy.orm import Session

from app.enums import ImageType
from app.gateways.job_queue import enqueue_picture
from app.models import OutsidePicture, Partner, new_id, utcnow

_STORED = re.compile(r"/brand/images/([0-9a-f]{64})\Z")


def stored_hash(url: str) -> str | None:
    """Return the content hash of an uploaded picture's URL; None for a picture elsewhere."""
    match = _STORED.search(url)
    return match.group(1) if match else None


def path_of(sha256: str) -> str:
    return f"/brand/images/{sha256}"


def shown_path(partner: Partner, kind: ImageType, url: str | None) -> str | None:
    """Return the path at which pages find the picture of a URL: the uploaded one, or the copy of
    one on another host; None without a copy."""
    if url is None:
        return None
    sha256 = stored_hash(url)
    if sha256 is None:
        copy = copy_of(partner, kind, url)
        sha256 = copy.sha256 if copy else None
    return path_of(sha256) if sha256 else None


def copy_of(partner: Partner, kind: ImageType, url: str | None) -> OutsidePicture | None:
    pictures = partner.outside_pictures
    return next(
        (picture for picture in pictures if picture.kind is kind and picture.url == url), None
    )


def track(session: Session, partner: Partner) -> None:
    """Queue fetching new pictures of the brand on other hosts, and delete those no longer used."""
    urls = {image.type: image.image_url for image in reversed(partner.site_images)}
    if partner.logo_img_url:
        urls[ImageType.LOGO] = partner.logo_img_url
    urls = {kind: url for kind, url in urls.items() if stored_hash(url) is None}
    for picture in list(partner.outside_pictures):
        if urls.get(picture.kind) == picture.url:
            del urls[picture.kind]
        else:
            partner.outside_pictures.remove(picture)
    session.flush()
    for kind, url in urls.items():
        picture = OutsidePicture(kind=kind, url=url)
        partner.outside_pictures.append(picture)
        enqueue_fetch(session, picture)


def enqueue_fetch(session: Session, picture: OutsidePicture) -> None:
    """Queue fetching the picture."""
    picture.asked_at = utcnow()
    session.flush()
    enqueue_picture(session, picture.partner_id, picture.kind.value, new_id())
