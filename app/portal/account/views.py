"""The user's own account: name, time zone, theme, password, company account, browsers, mails."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from flask import abort, g, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response
from wtforms.fields import Field

from app.errors import Conflict, ValidationFailed
from app.extensions import caller, password_checks, settings, transaction
from app.gateways.openid import ProviderFailed
from app.languages import best_tag, gettext, language_name, ngettext
from app.models import User
from app.portal.account import blueprint
from app.portal.account.devices import device_label, is_phone, session_label
from app.portal.account.forms import DetailsForm, MailsForm, OwnPasswordForm
from app.portal.auth.company_accounts import begin_sign_in_at_provider
from app.portal.auth.login_manager import sign_in_user
from app.portal.auth.step_up_views import check_password
from app.portal.web.blueprint import Page
from app.portal.web.current_user import referring_path, refuse_operators, session_token
from app.portal.web.forms import saving, showing_problems
from app.portal.web.i18n import set_request_language
from app.portal.web.messages import changing, redirect_with
from app.services import notifications
from app.services.auth import password_rules
from app.services.identity_providers import accounts, requests
from app.services.users import account as own
from app.services.users import email_changes

MAX_PAGES = 10_000


@blueprint.get("/account")
def show_account() -> str:
    return _page()


@blueprint.post("/account")
def save_account() -> Page:
    form = DetailsForm(present=current_user.timezone)
    target = ("user", current_user.id)
    with saving(form, lambda: _page(details=form), stored=_stored, target=target) as session:
        own.update(session, caller(), **form.to_details(), expected_version=form.version.data)
    set_request_language(form.language.data, g.brand.language)
    return redirect_with(gettext("Details saved."), url_for("portal.account.show_account"))


@blueprint.post("/account/timezone")
def save_timezone() -> Response:
    """Store the time zone of the browser, which a page offers once."""
    with changing(referring_path(), ValidationFailed, tone="danger") as session:
        own.choose_timezone(session, caller(), request.form.get("timezone", ""))
    return redirect(referring_path(), 303)


@blueprint.post("/account/password")
def change_password() -> Page:
    proven, password_hash = _checked_passwords()
    with transaction() as session:
        user = own.change_password(session, caller(), proven, password_hash)
    signed_in = current_user.signed_in
    sign_in_user(user, signed_in.record.factor, signed_in.origin)
    message = gettext("Password changed. All other browsers were signed out.")
    return redirect_with(message, url_for("portal.account.show_account"))


@blueprint.post("/account/mails")
def save_mail_preferences() -> Response:
    form = MailsForm()
    news = bool(form.news.data) if caller().partner_id else None
    with transaction() as session:
        own.choose_mails(session, caller(), form.to_preferences(), news=news)
    return redirect_with(gettext("Email choices saved."), url_for("portal.account.show_account"))


@blueprint.post("/account/sessions/<name>/end")
def end_session(name: str) -> Response:
    with transaction() as session:
        ended = own.end_session(session, caller(), name)
    message = (
        gettext("Browser signed out.") if ended else gettext("That browser was already signed out.")
    )
    return redirect_with(message, url_for("portal.account.show_account"))


@blueprint.post("/account/sessions/end-others")
def end_other_sessions() -> Response:
    with transaction() as session:
        count = own.end_other_sessions(session, caller(), session_token())
    message = (
        ngettext("%(num)s other browser signed out.", "%(num)s other browsers signed out.", count)
        if count
        else gettext("No other browser was signed in.")
    )
    return redirect_with(message, url_for("portal.account.show_account"))


@blueprint.post("/account/email-change/cancel")
def cancel_email_change() -> Response:
    with transaction() as session:
        own.cancel_email_change(session, caller())
    return redirect_with(gettext("Email change cancelled."), url_for("portal.account.show_account"))


def _checked_passwords() -> tuple[str | None, str]:
    """Return the hashes of the current password and of the new one. Problems of either end the
    request, so that they are shown together."""
    form = OwnPasswordForm()
    form.validate()
    page = partial(_page, password=form)
    with showing_problems(form, page, validate=False):
        proven = _call_for_field(form, form.current_password, check_password)
        password_hash = _call_for_field(form, form.password, _new_hash)
    if form.errors or password_hash is None:
        abort(make_response(page(), 422))
    return proven, password_hash


def _call_for_field(
    form: OwnPasswordForm, field: Field, act: Callable[[str], str | None]
) -> str | None:
    """Return the result of ``act`` for the field; None, with the error at the field, if it is
    refused. Raises `RateLimited`."""
    if field.errors:
        return None
    try:
        return act(field.data or "")
    except ValidationFailed as error:
        form.apply_errors(error)
        return None


def _new_hash(password: str) -> str:
    """Return the hash of the new password. Raises `RateLimited` and `ValidationFailed`."""
    with transaction(read_only=True) as session:
        personal_words = password_rules.known_words(session, own.get(session, caller()))
    return password_rules.hash_new(password, known=personal_words, checks=password_checks())


def _stored(session: Session) -> DetailsForm:
    current_user.user = own.get(session, caller())
    return DetailsForm.showing(current_user.user)


def _page(
    *,
    details: DetailsForm | None = None,
    password: OwnPasswordForm | None = None,
) -> str:
    user: User = current_user.user
    page = max(1, min(request.args.get("page", 1, type=int), MAX_PAGES))
    with transaction(read_only=True) as session:
        signed_in = own.open_sessions(
            session, caller(), session_token(), idle=settings().session_idle, page=page
        )
        email_change = email_changes.pending(session, user)
        company_accounts = accounts.links_of(session, caller())
        return render_template(
            "portal/account/page.html",
            user=user,
            details=details or DetailsForm.showing(user),
            password=password or OwnPasswordForm.from_object(),
            mails=MailsForm.showing(user),
            offered=notifications.offered_mails(caller()),
            sessions=signed_in.items,
            session_count=signed_in.count,
            newer_url=url_for("portal.account.show_account", page=page - 1) if page > 1 else None,
            older_url=url_for("portal.account.show_account", page=page + 1)
            if signed_in.has_next
            else None,
            email_change=email_change,
            company_accounts=company_accounts,
            device_label=device_label,
            is_phone=is_phone,
            session_label=session_label,
            mail_language=language_name(best_tag((g.brand.language,))),
        )


@blueprint.post("/account/company-accounts/<uuid:provider_id>/link")
def link_company_account(provider_id: UUID) -> Page:
    """Show the link to the provider: a form may not redirect to another host."""
    refuse_operators()
    partner = current_user.partner
    with transaction(read_only=True) as session:
        provider = requests.of_partner(session, partner.id, provider_id)
    try:
        url = begin_sign_in_at_provider(partner, provider, user_id=current_user.id)
    except ProviderFailed:
        message = gettext("%(name)s doesn’t answer. Nothing was changed.", name=provider.name)
        return redirect_with(message, url_for("portal.account.show_account"), "danger")
    return render_template("portal/account/link.html", provider=provider, url=url)


@blueprint.post("/account/company-accounts/<uuid:provider_id>/unlink")
def unlink_company_account(provider_id: UUID) -> Response:
    url = url_for("portal.account.show_account")
    with changing(url, Conflict, tone="danger") as session:
        accounts.unlink(session, caller(), provider_id)
    return redirect_with(gettext("The link was removed."), url)
