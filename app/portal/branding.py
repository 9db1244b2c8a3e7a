"""The branding studio: draft, live preview, publish, history."""

from typing import Any

from flask import g, make_response, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response
from wtforms import SelectChoice

from app.enums import ImageType
from app.errors import ValidationFailed
from app.extensions import caller, settings, transaction
from app.models import BrandVersion, Partner
from app.portal.blueprint import portal
from app.portal.errors import WORDS
from app.portal.forms.branding import BrandingForm
from app.portal.forms.sign_in import SignInForm
from app.portal.page_context import page_brand
from app.security_headers import allow_framing_by_ourselves
from app.services import agents, partners
from app.services.branding import drafts, images
from app.services.branding.brand import of_content
from app.services.branding.contrast_report import contrast_report

Page = str | tuple[str, int] | Response

SURFACES = (
    ("sign-in", "Sign-in page", "Before signing in"),
    ("portal", "Portal", "Signed in"),
    ("error", "Error page", "A page that is not there"),
)
VIEWS = (("light", "Light"), ("dark", "Dark"), ("phone", "Phone"))
MOST_CHAT_AGENTS = 200


@portal.get("/branding")
def branding() -> Page:
    with transaction(read_only=True) as session:
        studio = _Studio(session)
        return studio.page(BrandingForm.showing(studio.content))


@portal.post("/branding")
def branding_save() -> Page:
    """Keeps what the form says in the draft. Typing sends it too, and gets the preview back."""
    form = BrandingForm(request.form)
    try:
        with transaction() as session:
            partner = partners.get(session, caller(), partners.own(caller()))
            drafts.save(session, caller(), partner, form.to_changes())
    except ValidationFailed as error:
        if request.headers.get("HX-Request"):
            # Half a colour is typed: the preview waits for the rest of it.
            return Response(status=204)
        rest = form.show_problems(error.problems)
        with transaction(read_only=True) as session:
            return _Studio(session).page(form, rest), 422
    if request.headers.get("HX-Request"):
        with transaction(read_only=True) as session:
            return _Studio(session).fragment(form)
    return redirect(url_for("portal.branding", saved=1), 303)


@portal.post("/branding/nearest-shade")
def branding_use_nearest() -> Response:
    """Takes the nearest shade that carries white text as the brand colour of the draft."""
    with transaction() as session:
        studio = _Studio(session)
        nearest = contrast_report(of_content(studio.partner, studio.content).colour).nearest
        if nearest:
            form = BrandingForm.showing(studio.content)
            form.colour.data = nearest
            drafts.save(session, caller(), studio.partner, form.to_changes())
    return redirect(url_for("portal.branding", saved=1), 303)


@portal.post("/branding/publish")
def branding_publish() -> Response:
    with transaction() as session:
        drafts.publish(session, caller(), partners.get(session, caller(), partners.own(caller())))
    return redirect(url_for("portal.branding", published=1), 303)


@portal.post("/branding/discard")
def branding_discard() -> Response:
    with transaction() as session:
        drafts.discard(session, caller(), partners.get(session, caller(), partners.own(caller())))
    return redirect(url_for("portal.branding", discarded=1), 303)


@portal.post("/branding/images/<any(logo, favicon, hero):kind>")
def branding_image(kind: str) -> Page:
    """Uploads a picture into the draft, in place of the one of its kind."""
    file: FileStorage | None = request.files.get("picture")
    data = file.stream.read(images.MAX_BYTES + 1) if file else b""
    try:
        with transaction() as session:
            partner = partners.get(session, caller(), partners.own(caller()))
            image = images.store(
                session, caller(), partner.id, ImageType(kind), data=data, field=kind
            )
            address = url_for("portal.brand_image", sha256=image.sha256)
            url = settings().public_url.rstrip("/") + address
            drafts.set_image(session, caller(), partner, ImageType(kind), url)
    except ValidationFailed as error:
        with transaction(read_only=True) as session:
            studio = _Studio(session)
            problems = [(f"{kind}-picture", error.message)]
            form = BrandingForm.showing(studio.content)
            return studio.page(form, problems, {kind: error.message}), 422
    return redirect(url_for("portal.branding", saved=1), 303)


@portal.post("/branding/images/<any(logo, favicon, hero):kind>/remove")
def branding_image_remove(kind: str) -> Response:
    with transaction() as session:
        partner = partners.get(session, caller(), partners.own(caller()))
        drafts.set_image(session, caller(), partner, ImageType(kind), None)
    return redirect(url_for("portal.branding", saved=1), 303)


@portal.get("/branding/preview/<any('sign-in', portal, error):surface>")
def branding_preview(surface: str) -> Response:
    """A surface as the draft would show it: the real templates with the draft's style sheet."""
    allow_framing_by_ourselves()
    with transaction(read_only=True) as session:
        studio = _Studio(session)
        g.brand = of_content(studio.partner, studio.content)
    theme = "dark" if request.args.get("view") == "dark" else "light"
    context = {"brand": page_brand(g.brand, theme)}
    if surface == "sign-in":
        form = SignInForm()
        # A preview must not draw the focus, and the page, to itself.
        form.email.render_kw = {}
        html = render_template("portal/sign_in/form.html", form=form, **context)
    elif surface == "error":
        words = WORDS[404]
        html = render_template(
            "errors/error.html", status=404, words=words, text=words.text, **context
        )
    else:
        html = render_template("portal/branding/preview/portal.html", **context)
    response = make_response(html)
    response.headers["Cache-Control"] = "no-store"
    return response


class _Studio:
    """What the studio shows: the draft where there is one, else what is published."""

    def __init__(self, session: Session):
        self.partner: Partner = partners.get(session, caller(), partners.own(caller()))
        self.draft: BrandVersion | None = drafts.draft_of(session, self.partner)
        self.versions = drafts.history(session, self.partner)
        published = drafts.published_content(self.partner, caller())
        self.content: dict[str, Any] = self.draft.content if self.draft else published
        self.changes = (
            drafts.changed_fields(self.partner, caller(), self.draft) if self.draft else []
        )
        self.agents = agents.with_organizations(session, caller(), MOST_CHAT_AGENTS)

    def page(
        self,
        form: BrandingForm,
        problems: list[tuple[str, str]] | None = None,
        picture_problems: dict[str, str] | None = None,
    ) -> str:
        return render_template(
            "portal/branding/page.html",
            problems=problems or [],
            picture_problems=picture_problems or {},
            **self._context(form),
        )

    def fragment(self, form: BrandingForm) -> str:
        return render_template("portal/branding/_typed.html", **self._context(form))

    def _context(self, form: BrandingForm) -> dict[str, Any]:
        form.chat_agent_id.choices = [
            SelectChoice("", "Nobody"),
            *(SelectChoice(str(a.id), f"{a.name}, {name}") for a, name in self.agents),
        ]
        shown = of_content(self.partner, self.content)
        return {
            "form": form,
            "draft": self.draft,
            "changes": self.changes,
            "versions": self.versions,
            "shown": page_brand(shown),
            "report": contrast_report(shown.colour),
            "surfaces": SURFACES,
            "views": VIEWS,
            "view": request.args.get("view")
            if request.args.get("view") in dict(VIEWS)
            else "light",
            "version_token": int(self.draft.updated_at.timestamp() * 1000) if self.draft else 0,
        }
