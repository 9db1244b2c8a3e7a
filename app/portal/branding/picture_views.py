"""Logos, favicon and sign-in picture: upload into the draft, check, remove, fetch again."""

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from app.enums import ImageType
from app.errors import Conflict, TooLarge, ValidationFailed
from app.extensions import caller, settings, transaction
from app.models import Partner
from app.portal.branding.forms import BrandingForm
from app.portal.branding.studio import BrandingStudio, given_view
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import seen_version
from app.portal.web.fragments import is_from_htmx
from app.services import partners
from app.services.branding import drafts, images, outside_pictures
from app.services.branding.brand import DARK_LOGO

KINDS = f"any(logo, '{DARK_LOGO}', favicon, hero)"


@portal.get("/branding/images")
def branding_pictures() -> str:
    """Return the pictures of the studio, which ask again while one of them is being fetched."""
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        return studio.pictures_fragment(BrandingForm.showing(studio.content))


@portal.post(f"/branding/images/<{KINDS}:kind>")
def branding_image(kind: str) -> Page:
    """Upload a picture into the draft, replacing the one of its kind."""
    file: FileStorage | None = request.files.get("picture")
    data = file.stream.read(images.MAX_BYTES + 1) if file else b""
    seen = seen_version()
    try:
        _store(kind, images.encode(data, _type_of(kind), field=kind), seen)
    except (ValidationFailed, TooLarge, Conflict) as error:
        page = _refused(kind, error.message, seen)
        if is_from_htmx():
            return page
        return page, 413 if isinstance(error, TooLarge) else 422
    return redirect(url_for("portal.branding", saved=1, **given_view()), 303)


@portal.post(f"/branding/images/<{KINDS}:kind>/remove")
def branding_image_remove(kind: str) -> Response:
    with transaction() as session:
        partner = partners.get_own(session, caller())
        _set(session, partner, kind, None)
    return redirect(url_for("portal.branding", saved=1), 303)


@portal.post("/branding/images/<any(logo, favicon, hero):kind>/retry")
def branding_image_retry(kind: str) -> Response:
    """Have a picture on another host fetched again."""
    with transaction() as session:
        partner = partners.get_own(session, caller())
        outside_pictures.retry(session, caller(), partner, ImageType(kind))
    return redirect(url_for("portal.branding", _anchor=f"{kind}-picture"), 303)


def _type_of(kind: str) -> ImageType:
    return ImageType.LOGO if kind == DARK_LOGO else ImageType(kind)


def _store(kind: str, encoded: images.EncodedPicture, seen: int | None) -> None:
    with transaction() as session:
        partner = partners.get_own(session, caller())
        limits = settings().storage_defaults
        image = images.store(session, caller(), partner.id, _type_of(kind), encoded, limits)
        address = url_for("portal.brand_image", sha256=image.sha256)
        _set(session, partner, kind, settings().public_url.rstrip("/") + address, seen)


def _refused(kind: str, problem: str, seen: int | None) -> str:
    """Return the studio with the problem of a picture, for the version that its user has seen."""
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        form = BrandingForm.showing(studio.content)
        if seen is not None:
            form.version.data = seen
        form.problems = [(f"{kind}-picture", problem)]
        return studio.page(form, {kind: problem})


def _set(
    session: Session, partner: Partner, kind: str, url: str | None, seen: int | None = None
) -> None:
    if kind == DARK_LOGO:
        drafts.set_dark_logo(session, caller(), partner, url, expected_version=seen)
    else:
        drafts.set_image(session, caller(), partner, ImageType(kind), url, expected_version=seen)
