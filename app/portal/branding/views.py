"""The branding studio: the draft with its live preview, saved, published or discarded."""

from typing import cast

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.errors import CHANGED_MEANWHILE, Conflict, NotFound, ValidationFailed
from app.extensions import caller, transaction
from app.portal.branding.forms import BrandingForm, Way
from app.portal.branding.labels import PICTURE_FIELDS
from app.portal.branding.studio import BrandingStudio, given_view
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import seen_version
from app.portal.web.fragments import wants_fragment
from app.services import partners
from app.services.branding import drafts, images, versions
from app.services.branding.brand import of_content
from app.services.branding.colour_pairs import offered_shades


@portal.get("/branding")
def branding() -> Page:
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        form = BrandingForm.showing(studio.content)
        kind = request.args.get("too_large")
        if kind is None or kind not in {picture.kind for picture in PICTURE_FIELDS}:
            return studio.page(form)
        message = str(images.TOO_LARGE)
        form.problems = [(f"{kind}-picture", message)]
        return studio.page(form, {kind: message})


@portal.post("/branding")
def branding_save() -> Page:
    """Save the form in the draft. Typing sends it too, and gets the preview back."""
    form = BrandingForm()
    try:
        saved = _save(form)
    except (ValidationFailed, Conflict) as error:
        return _refused(form, error)
    if wants_fragment():
        form.version.data = saved
        with transaction(read_only=True) as session:
            return BrandingStudio(session).fragment(form)
    return redirect(url_for("portal.branding", saved=1, **given_view()), 303)


@portal.post(
    "/branding/rows/<any(further_colours, header_links, social_links):rows>/<int:index>"
    "/<any(up, down, remove):way>"
)
def branding_rearrange(rows: str, index: int, way: str) -> Page:
    """Move or remove a row of a list, and keep everything else that was typed."""
    form = BrandingForm()
    form.rearrange(rows, index, cast(Way, way))
    try:
        _save(form)
    except (ValidationFailed, Conflict) as error:
        return _refused(BrandingForm(), error)
    return redirect(url_for("portal.branding", saved=1, _anchor=rows, **given_view()), 303)


@portal.post("/branding/shade")
def branding_use_shade() -> Response:
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
    return redirect(url_for("portal.branding", saved=1), 303)


@portal.post("/branding/review", endpoint="branding_review_post")
def branding_save_and_review() -> Page:
    """Save the form in the draft, then show what publishing would change."""
    form = BrandingForm()
    try:
        _save(form)
    except (ValidationFailed, Conflict) as error:
        return _refused(form, error)
    return redirect(url_for("portal.branding_review"), 303)


@portal.get("/branding/review")
def branding_review() -> str:
    with transaction(read_only=True) as session:
        return _review(session)


@portal.post("/branding/publish")
def branding_publish() -> Page:
    """Publish the draft as it was reviewed."""
    try:
        with transaction() as session:
            partner = partners.get_own(session, caller())
            drafts.publish(session, caller(), partner, expected_version=seen_version())
    except Conflict as error:
        with transaction(read_only=True) as session:
            return _review(session, error.message), 409
    return redirect(url_for("portal.branding", published=1), 303)


@portal.get("/branding/discard")
def branding_discard_confirm() -> str:
    with transaction(read_only=True) as session:
        return render_template("portal/branding/discard.html", **BrandingStudio(session).head())


@portal.post("/branding/discard")
def branding_discard() -> Response:
    with transaction() as session:
        drafts.discard(session, caller(), partners.get_own(session, caller()))
    return redirect(url_for("portal.branding", discarded=1), 303)


def _review(session: Session, problem: str = "") -> str:
    studio = BrandingStudio(session)
    published = drafts.published_content(studio.partner, caller())
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


def _refused(form: BrandingForm, error: ValidationFailed | Conflict) -> Page:
    """Show the studio with what was typed: invalid, or changed by another user meanwhile."""
    typing = wants_fragment()
    if isinstance(error, ValidationFailed):
        form.apply_errors(error)
        if typing:
            # Half a colour is typed: the preview waits for the rest of it.
            html = render_template("portal/branding/_live_errors.html", form=form)
            return Response(html, headers={"HX-Reswap": "none"})
        with transaction(read_only=True) as session:
            return BrandingStudio(session).page(form), 422
    if error.code != CHANGED_MEANWHILE:
        raise error
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        changes = form.to_changes(studio.content) if "product_name" in request.form else {}
        shown = form if changes else BrandingForm.showing(studio.content)
        shown.conflict = studio.conflict_with(changes)
        if typing:
            return studio.fragment(shown)
        shown.version.data = drafts.fingerprint(studio.content)
        return studio.page(shown), 409
