"""The branding studio: the draft with its live preview, saved, published or discarded; its
pictures, uploaded, removed and fetched again."""

from typing import cast

from flask import make_response, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from app.enums import ImageType
from app.errors import CHANGED_MEANWHILE, Conflict, NotFound, TooLarge, ValidationFailed
from app.extensions import caller, settings, transaction
from app.models import Partner
from app.portal.branding import blueprint
from app.portal.branding.forms import BrandingForm, Way
from app.portal.branding.labels import PICTURE_FIELDS
from app.portal.branding.studio import BrandingStudio, given_view
from app.portal.web.blueprint import Page
from app.portal.web.forms import seen_version
from app.portal.web.fragments import is_from_htmx, wants_fragment
from app.services import partners
from app.services.branding import drafts, images, outside_pictures, versions
from app.services.branding.brand import DARK_LOGO, of_content
from app.services.branding.colour_pairs import offered_shades


@blueprint.get("/branding")
def show_branding() -> Page:
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        form = BrandingForm.showing(studio.content)
        kind = request.args.get("too_large")
        if kind is None or kind not in {picture.kind for picture in PICTURE_FIELDS}:
            return studio.page(form)
        message = str(images.TOO_LARGE)
        form.problems = [(f"{kind}-picture", message)]
        return studio.page(form, {kind: message})


@blueprint.post("/branding")
def save_branding() -> Page:
    """Save the form in the draft. Typing sends it too, and updates the preview."""
    form = BrandingForm()
    try:
        saved = _save(form)
    except (ValidationFailed, Conflict) as error:
        return _handle_refusal(form, error)
    if wants_fragment():
        form.version.data = saved
        with transaction(read_only=True) as session:
            return BrandingStudio(session).fragment(form)
    return redirect(url_for("portal.branding.show_branding", saved=1, **given_view()), 303)


@blueprint.post(
    "/branding/rows/<any(further_colours, header_links, social_links):rows>/<int:index>"
    "/<any(up, down, remove):way>"
)
def move_or_remove_row(rows: str, index: int, way: str) -> Page:
    """Move or remove a row of a list, and keep all other input."""
    form = BrandingForm()
    form.rearrange(rows, index, cast(Way, way))
    try:
        _save(form)
    except (ValidationFailed, Conflict) as error:
        return _handle_refusal(BrandingForm(), error)
    return redirect(
        url_for("portal.branding.show_branding", saved=1, _anchor=rows, **given_view()), 303
    )


@blueprint.post("/branding/shade")
def use_shade() -> Response:
    """Use one of the suggested shades as the brand colour of the draft."""
    shade = request.form.get("shade", "")
    with transaction() as session:
        partner = partners.get_own(session, caller())
        content = drafts.content_of(session, caller(), partner)
        if shade not in offered_shades(of_content(partner, content).colour):
            raise NotFound
        form = BrandingForm.showing(content)
        form.colour.data = shade
        drafts.save(session, caller(), partner, form.to_changes(content))
    return redirect(url_for("portal.branding.show_branding", saved=1), 303)


@blueprint.post("/branding/review")
def save_and_review() -> Page:
    """Save the form in the draft, then show what publishing would change."""
    form = BrandingForm()
    try:
        _save(form)
    except (ValidationFailed, Conflict) as error:
        return _handle_refusal(form, error)
    return redirect(url_for("portal.branding.review_branding"), 303)


@blueprint.get("/branding/review")
def review_branding() -> str:
    with transaction(read_only=True) as session:
        return _review_page(session)


@blueprint.post("/branding/publish")
def publish_branding() -> Page:
    """Publish the draft as it was reviewed."""
    try:
        with transaction() as session:
            partner = partners.get_own(session, caller())
            drafts.publish(session, caller(), partner, expected_version=seen_version())
    except Conflict as error:
        with transaction(read_only=True) as session:
            return _review_page(session, error.message), 409
    return redirect(url_for("portal.branding.show_branding", published=1), 303)


@blueprint.get("/branding/discard")
def confirm_discard_branding() -> str:
    with transaction(read_only=True) as session:
        return BrandingStudio(session).discard_confirmation.page()


@blueprint.post("/branding/discard")
def discard_branding() -> Response:
    with transaction() as session:
        drafts.discard(session, caller(), partners.get_own(session, caller()))
    return redirect(url_for("portal.branding.show_branding", discarded=1), 303)


def _review_page(session: Session, problem: str = "") -> str:
    studio = BrandingStudio(session)
    published = drafts.published_content(session, caller(), studio.partner)
    return render_template(
        "portal/branding/review.html",
        problem=problem,
        rows=studio.rows(versions.differences(published, studio.content)),
        **studio.head(),
    )


def _save(form: BrandingForm) -> int:
    """Save the draft; return its version."""
    with transaction() as session:
        partner = partners.get_own(session, caller())
        content = drafts.content_of(session, caller(), partner)
        draft = drafts.save(
            session,
            caller(),
            partner,
            form.to_changes(content),
            expected_version=form.version.data,
        )
        return drafts.fingerprint(draft.content)


def _handle_refusal(form: BrandingForm, error: ValidationFailed | Conflict) -> Page:
    """Show the studio with the input: invalid, or changed by another user meanwhile."""
    is_fragment = wants_fragment()
    if isinstance(error, ValidationFailed):
        form.apply_errors(error)
        if is_fragment:
            # While a colour is incomplete, the preview waits for the rest of it.
            html = render_template("portal/branding/_live_errors.html", form=form)
            return make_response(html, {"HX-Reswap": "none"})
        with transaction(read_only=True) as session:
            return BrandingStudio(session).page(form), 422
    if error.code != CHANGED_MEANWHILE:
        raise error
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        changes = form.to_changes(studio.content) if "product_name" in request.form else {}
        visible_form = form if changes else BrandingForm.showing(studio.content)
        visible_form.conflict = studio.conflict_with(changes)
        if is_fragment:
            return studio.fragment(visible_form)
        visible_form.version.data = drafts.fingerprint(studio.content)
        return studio.page(visible_form), 409


KINDS = f"any(logo, '{DARK_LOGO}', favicon, hero)"


@blueprint.get("/branding/images")
def list_images() -> str:
    """Return the pictures of the studio, which reload while one of them is being fetched."""
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        return studio.pictures_fragment(BrandingForm.showing(studio.content))


@blueprint.post(f"/branding/images/<{KINDS}:kind>")
def upload_image(kind: str) -> Page:
    """Upload a picture into the draft, replacing the one of its kind."""
    version = seen_version()
    try:
        _store_picture(kind, _encode_picture(kind), version)
    except (ValidationFailed, TooLarge, Conflict) as error:
        page = _picture_problem_page(kind, error.message, version)
        if is_from_htmx():
            return page
        return page, 413 if isinstance(error, TooLarge) else 422
    return redirect(url_for("portal.branding.show_branding", saved=1, **given_view()), 303)


@blueprint.post(f"/branding/images/<{KINDS}:kind>/remove")
def remove_image(kind: str) -> Response:
    with transaction() as session:
        partner = partners.get_own(session, caller())
        _set_picture(session, partner, kind, None)
    return redirect(url_for("portal.branding.show_branding", saved=1), 303)


@blueprint.post("/branding/images/<any(logo, favicon, hero):kind>/retry")
def retry_image(kind: str) -> Response:
    """Have a picture on another host fetched again."""
    with transaction() as session:
        partner = partners.get_own(session, caller())
        outside_pictures.retry(session, caller(), partner, ImageType(kind))
    return redirect(url_for("portal.branding.show_branding", _anchor=f"{kind}-picture"), 303)


def _type_of(kind: str) -> ImageType:
    return ImageType.LOGO if kind == DARK_LOGO else ImageType(kind)


def _encode_picture(kind: str) -> images.EncodedPicture:
    """Return the picture that was sent. Raises `ValidationFailed` and `TooLarge`."""
    file: FileStorage | None = request.files.get("picture")
    data = file.stream.read(images.MAX_BYTES + 1) if file else b""
    return images.encode(data, _type_of(kind), field=kind)


def _store_picture(kind: str, encoded: images.EncodedPicture, version: int | None) -> None:
    with transaction() as session:
        partner = partners.get_own(session, caller())
        limits = settings().storage_defaults
        image = images.store(
            session, caller(), partner.id, _type_of(kind), encoded, limits, name=kind
        )
        address = url_for("portal.brand_image", sha256=image.sha256)
        _set_picture(session, partner, kind, settings().public_url.rstrip("/") + address, version)


def _picture_problem_page(kind: str, problem: str, version: int | None) -> str:
    """Return the studio with the problem of a picture, for the version that the user has seen."""
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        form = BrandingForm.showing(studio.content)
        if version is not None:
            form.version.data = version
        form.problems = [(f"{kind}-picture", problem)]
        return studio.page(form, {kind: problem})


def _set_picture(
    session: Session, partner: Partner, kind: str, url: str | None, version: int | None = None
) -> None:
    if kind == DARK_LOGO:
        drafts.set_dark_logo(session, caller(), partner, url, expected_version=version)
    else:
        drafts.set_image(session, caller(), partner, ImageType(kind), url, expected_version=version)
