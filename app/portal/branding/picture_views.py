"""Logo, favicon and sign-in picture: upload into the draft, check, remove."""

from flask import redirect, request, url_for
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from app.enums import ImageType
from app.errors import TooLarge, ValidationFailed
from app.extensions import caller, settings, transaction
from app.portal.branding.forms import BrandingForm
from app.portal.branding.studio import Studio
from app.portal.web.blueprint import Page, portal
from app.services import partners
from app.services.branding import drafts, images


@portal.post("/branding/images/<any(logo, favicon, hero):kind>")
def branding_image(kind: str) -> Page:
    """Upload a picture into the draft, replacing the one of its kind."""
    file: FileStorage | None = request.files.get("picture")
    data = file.stream.read(images.MAX_BYTES + 1) if file else b""
    try:
        encoded = images.encode(data, ImageType(kind), field=kind)
        with transaction() as session:
            partner = partners.get(session, caller(), partners.own(caller()))
            image = images.store(
                session,
                caller(),
                partner.id,
                ImageType(kind),
                encoded,
                settings().storage_defaults,
            )
            address = url_for("portal.brand_image", sha256=image.sha256)
            url = settings().public_url.rstrip("/") + address
            drafts.set_image(session, caller(), partner, ImageType(kind), url)
    except (ValidationFailed, TooLarge) as error:
        with transaction(read_only=True) as session:
            studio = Studio(session)
            form = BrandingForm.showing(studio.content)
            form.problems = [(f"{kind}-picture", error.message)]
            status = 413 if isinstance(error, TooLarge) else 422
            return studio.page(form, {kind: error.message}), status
    return redirect(url_for("portal.branding", saved=1), 303)


@portal.post("/branding/images/<any(logo, favicon, hero):kind>/remove")
def branding_image_remove(kind: str) -> Response:
    with transaction() as session:
        partner = partners.get(session, caller(), partners.own(caller()))
        drafts.set_image(session, caller(), partner, ImageType(kind), None)
    return redirect(url_for("portal.branding", saved=1), 303)
