"""The user's own second factors: authenticator app, passkeys and recovery codes."""

from collections.abc import Sequence
from uuid import UUID

from flask import abort, g, redirect, render_template, request, url_for
from flask import session as browser_session
from flask_login import current_user
from markupsafe import Markup
from werkzeug.wrappers import Response

from app.enums import Proof
from app.errors import Conflict, NotFound
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.models import Passkey
from app.portal.account import blueprint
from app.portal.account.devices import device_label
from app.portal.auth.login_manager import CHALLENGE_KEY
from app.portal.auth.second_step_forms import AppForm, PasskeyForm, submitted_code
from app.portal.auth.step_up import site
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.current_user import session_token
from app.portal.web.forms import saving
from app.portal.web.messages import changing, redirect_with
from app.services.auth import sessions
from app.services.factors import authenticator_apps, own_factors, passkeys
from app.services.tenancy import lock_own_user


@blueprint.get("/account/factors")
def show_factors() -> str:
    return _page(PasskeyForm.from_object())


@blueprint.post("/account/factors/app")
def start_app_setup() -> Response:
    """Create a secret, which the next page shows."""
    with changing(url_for("portal.account.show_factors"), Conflict, tone="danger") as session:
        own_factors.begin_app(session, caller(), settings())
    return redirect(url_for("portal.account.show_app_setup"), 303)


@blueprint.get("/account/factors/app")
def show_app_setup() -> str:
    return _app_page(AppForm.from_object())


@blueprint.post("/account/factors/app/confirm")
def check_app_code() -> Page:
    form = AppForm()
    with saving(form, lambda: _app_page(form), validate=False) as session:
        codes = own_factors.confirm_app(session, caller(), submitted_code(form), settings())
        sessions.record_proof(session, session_token() or "", Proof.APP)
    return _codes_or_redirect(gettext("Authenticator app added."), codes)


@blueprint.get("/account/factors/app/remove")
def confirm_remove_app() -> Page:
    with transaction(read_only=True) as session:
        factors = own_factors.of_user(session, current_user.user)
    if not (factors.has_app and factors.can_remove_one):
        return redirect(url_for("portal.account.show_factors"), 303)
    return _app_removal_confirmation(factors).page()


@blueprint.post("/account/factors/app/remove")
def remove_app() -> Response:
    url = url_for("portal.account.show_factors")
    with changing(url, Conflict, tone="danger") as session:
        own_factors.remove_app(session, caller())
    return redirect_with(gettext("Authenticator app removed."), url)


@blueprint.post("/account/factors/passkeys/options")
def passkey_registration_options() -> Response | tuple[str, int]:
    """Return the options for the browser's dialog that creates a passkey, as JSON."""
    with transaction() as session:
        user = lock_own_user(session, caller())
        registration = passkeys.ask_to_register(session, user, site(), g.brand.spoken_name)
    browser_session[CHALLENGE_KEY] = registration.challenge
    return Response(registration.options, mimetype="application/json")


@blueprint.post("/account/factors/passkeys")
def add_passkey() -> Page:
    form = PasskeyForm()
    challenge = browser_session.pop(CHALLENGE_KEY, "")
    with saving(form, lambda: _page(form), shows=(Conflict,)) as session:
        answer = form.answer.data or ""
        name = (form.name.data or "").strip() or device_label(request.user_agent.string)
        codes = own_factors.add_passkey(session, caller(), site(), challenge, answer, name)
        sessions.record_proof(session, session_token() or "", Proof.PASSKEY)
    return _codes_or_redirect(gettext("Passkey added."), codes)


@blueprint.get("/account/factors/passkeys/<uuid:passkey_id>/remove")
def confirm_remove_passkey(passkey_id: UUID) -> str:
    with transaction(read_only=True) as session:
        factors = own_factors.of_user(session, current_user.user)
    passkey = next((each for each in factors.passkeys if each.id == passkey_id), None)
    if passkey is None or not factors.can_remove_one:
        raise NotFound
    return _passkey_removal_confirmation(factors, passkey).page()


@blueprint.post("/account/factors/passkeys/<uuid:passkey_id>/remove")
def remove_passkey(passkey_id: UUID) -> Response:
    url = url_for("portal.account.show_factors")
    with changing(url, Conflict, tone="danger") as session:
        own_factors.remove_passkey(session, caller(), passkey_id)
    return redirect_with(gettext("Passkey removed."), url)


@blueprint.post("/account/factors/recovery-codes")
def create_recovery_codes() -> Page:
    with changing(url_for("portal.account.show_factors"), Conflict, tone="danger") as session:
        codes = own_factors.new_recovery_codes(session, caller())
    return _codes_or_redirect(
        gettext("New recovery codes made. The old ones no longer work."), codes
    )


def _app_removal_confirmation(factors: own_factors.UserFactors) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.account.remove_app"),
        title=gettext("Remove the authenticator app?"),
        consequences=(
            gettext("Its codes no longer work, here and at your next sign-in."),
            *_removal_consequences(factors),
        ),
        action_label=gettext("Remove app"),
        keep_label=gettext("Keep it"),
        keep_url=url_for("portal.account.show_factors"),
        crumbs=_parent_crumbs(),
    )


def _passkey_removal_confirmation(
    factors: own_factors.UserFactors, passkey: Passkey
) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.account.remove_passkey", passkey_id=passkey.id),
        title=gettext("Remove the passkey %(name)s?", name=passkey.name),
        consequences=(gettext("It no longer signs you in."), *_removal_consequences(factors)),
        action_label=gettext("Remove passkey"),
        keep_label=gettext("Keep it"),
        keep_url=url_for("portal.account.show_factors"),
        crumbs=_parent_crumbs(),
    )


def _parent_crumbs() -> list[tuple[str, str]]:
    """Return the breadcrumbs above a confirmation about a second factor."""
    return [
        (gettext("Your account"), url_for("portal.account.show_account")),
        (gettext("Second factor"), url_for("portal.account.show_factors")),
    ]


def _removal_consequences(factors: own_factors.UserFactors) -> Sequence[str]:
    """Return the factors that are left when one is removed."""
    if int(factors.has_app) + len(factors.passkeys) > 1:
        return (gettext("Your other second factor stays on."),)
    return (
        gettext("Your second factor is then off: you sign in with your password alone."),
        gettext("Your recovery codes no longer work."),
    )


def _codes_or_redirect(message: str, codes: Sequence[str] | None) -> Page:
    """Show new recovery codes, which is possible only now, or go back to the factors."""
    if codes is None:
        return redirect_with(message, url_for("portal.account.show_factors"))
    return render_template("portal/account/recovery_codes.html", codes=codes, done=message)


def _page(form: PasskeyForm) -> str:
    with transaction(read_only=True) as session:
        factors = own_factors.of_user(session, current_user.user)
    return render_template(
        "portal/account/factors.html",
        user=current_user.user,
        factors=factors,
        removing_app=_app_removal_confirmation(factors),
        form=form,
        site=site(),
        options_url=url_for("portal.account.passkey_registration_options"),
    )


def _app_page(form: AppForm) -> str:
    """Return the page with the secret; redirect if none waits for its first code."""
    import segno

    with transaction(read_only=True) as session:
        secret = authenticator_apps.waiting_secret(
            session, current_user.user.id, settings().secret_keys
        )
    if secret is None:
        abort(redirect(url_for("portal.account.show_factors"), 303))
    link = authenticator_apps.link(
        secret, issuer=g.brand.spoken_name, account=current_user.user.email
    )
    picture = segno.make(link, error="m").svg_inline(
        border=4, dark="#000", light="#fff", omitsize=True
    )
    return render_template(
        "portal/account/app.html",
        form=form,
        link=link,
        secret=" ".join(secret[start : start + 4] for start in range(0, len(secret), 4)),
        picture=Markup(picture),  # noqa: S704 - drawn here, from squares only
    )
