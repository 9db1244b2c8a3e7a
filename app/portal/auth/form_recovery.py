"""Recovers the input of a form whose session or token had expired.

It is sent back to the browser, sealed, in a page that lets the user sign in or send it again. The
seal contains the form's URL, so only forms of our own pages can be recovered.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from flask import Response, current_app, g, make_response, render_template, request, url_for
from flask_login import current_user
from itsdangerous import BadSignature, URLSafeTimedSerializer

from app.portal.auth.forms import SignInForm

MAX_CHARACTERS = 200_000
RECOVERABLE_SECONDS = 12 * 3600
SECRETS = frozenset(
    {"password", "again", "current_password", "secret", "token", "webhook_secret", "client_secret"}
)
"""Names of fields that are never sent back, which include every password field of the portal."""


@dataclass(frozen=True, slots=True)
class RecoveredForm:
    """A form as it was sent: its URL, its values, and whether a file must be chosen again."""

    path: str
    fields: tuple[tuple[str, str], ...]
    had_file: bool

    @property
    def seal(self) -> str:
        return _sealer().dumps([self.path, self.fields, self.had_file])


def of_request() -> RecoveredForm | None:
    """Return the form of the current request; None if it is too large to be recovered."""
    fields = tuple(
        (name, value)
        for name, value in request.form.items(multi=True)
        if name not in SECRETS and name != "csrf_token"
    )
    if sum(len(name) + len(value) for name, value in fields) > MAX_CHARACTERS:
        return None
    path = request.full_path.rstrip("?")
    return RecoveredForm(path, fields, any(file.filename for file in request.files.values()))


def of_seal(seal: str) -> RecoveredForm | None:
    """Return the sealed form; None for anything else, and if it is too old."""
    try:
        path, fields, had_file = _sealer().loads(seal, max_age=RECOVERABLE_SECONDS)
    except BadSignature:
        return None
    return RecoveredForm(path, tuple((name, value) for name, value in fields), had_file)


def is_from_ourselves() -> bool:
    """Return whether one of our own pages sent the request, according to the browser."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None:
        return site == "same-origin"
    return origin is not None and urlsplit(origin).netloc == request.host


def sign_in_page(recovered: RecoveredForm, form: SignInForm | None = None) -> Response:
    """Show that the session has ended, with a sign-in form."""
    action = url_for("portal.auth.sign_in_again", slug=g.brand.slug or None)
    page = render_template(
        "portal/auth/ended.html",
        form=form or SignInForm.from_object(),
        recovered=recovered,
        action=action,
    )
    return make_response(page, 401)


def send_again_page(recovered: RecoveredForm, *, status: int, signed_in: bool) -> Response:
    """Show a button that sends the same form again, with a new token, and who is signed in."""
    page = render_template(
        "portal/auth/send_again.html",
        recovered=recovered,
        signed_in=signed_in,
        email=current_user.email if signed_in else None,
    )
    return make_response(page, status)


def confirmed_page(recovered: RecoveredForm) -> Response:
    """Send the form of a user who has just confirmed their identity; with a button if there is no
    script, or if a file must be chosen again."""
    return make_response(render_template("portal/auth/confirmed.html", recovered=recovered))


def _sealer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt="kept form")
