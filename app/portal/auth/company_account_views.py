"""Sign in with a company account: to the provider and back."""

import logging
from uuid import UUID

from flask import redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.database.scope import of_tenant
from app.enums import Proof
from app.errors import DomainError, NotFound
from app.extensions import transaction
from app.gateways.openid import CodeRefused, ProviderDown, ProviderFailed
from app.http.request_id import request_id
from app.languages import gettext
from app.models import IdentityProvider, Partner
from app.portal.auth import blueprint
from app.portal.auth.company_accounts import (
    AnswerRefused,
    VerifiedAnswer,
    begin_sign_in_at_provider,
    provider_of_page,
    verify_provider_answer,
)
from app.portal.auth.views import sign_in_and_redirect
from app.portal.web.blueprint import Page
from app.portal.web.current_user import local_path, sign_in_url
from app.portal.web.messages import flash
from app.services.identity_providers import accounts, tokens
from app.services.identity_providers.accounts import NotAdmitted
from app.services.identity_providers.tokens import TokenRefused

log = logging.getLogger(__name__)


@blueprint.get("/p/<slug>/sso/<uuid:provider_id>/start")
def start_company_sign_in(slug: str, provider_id: UUID) -> Page:
    partner, provider = provider_of_page(slug, provider_id)
    next_path = local_path(request.args.get("next"))
    needs_fresh_sign_in = "again" in request.args
    if current_user.is_authenticated and not needs_fresh_sign_in:
        return redirect(next_path, 303)
    try:
        return redirect(
            begin_sign_in_at_provider(
                partner, provider, next_path=next_path, needs_fresh_sign_in=needs_fresh_sign_in
            ),
            303,
        )
    except ProviderFailed as error:
        return _render_unavailable(partner, provider, error)


@blueprint.get("/p/<slug>/sso/<uuid:provider_id>/callback")
def complete_company_sign_in(slug: str, provider_id: UUID) -> Page:
    """Handle the provider's answer: sign in, or link the account of the user who requested it."""
    partner, provider = provider_of_page(slug, provider_id)
    try:
        return _finish(partner, provider, verify_provider_answer(partner, provider))
    except NotAdmitted as error:
        return _render_not_admitted(partner, provider, error.reason)
    except (AnswerRefused, CodeRefused, TokenRefused) as error:
        return _render_refused(partner, provider, error.reason)
    except ProviderFailed as error:
        return _render_unavailable(partner, provider, error)


def _finish(partner: Partner, provider: IdentityProvider, answer: VerifiedAnswer) -> Response:
    finish = _sign_in if answer.redeemed_request.user_id is None else _link
    return finish(partner, provider, answer)


def _sign_in(partner: Partner, provider: IdentityProvider, answer: VerifiedAnswer) -> Response:
    with transaction(scope=of_tenant(partner.id, None)) as session:
        admitted = accounts.find_or_create_user(
            session, provider, answer.claims, ip=request.remote_addr, request_id=request_id()
        )
    return sign_in_and_redirect(
        admitted.user,
        Proof.COMPANY_ACCOUNT,
        notify=not admitted.linked_now,  # the mail about the link replaces it
        next_path=answer.redeemed_request.next_path,
        origin=answer.origin(provider.id),
    )


def _link(partner: Partner, provider: IdentityProvider, answer: VerifiedAnswer) -> Response:
    """Link the account, if the user who requested it is still signed in here."""
    if not current_user.is_authenticated or current_user.id != answer.redeemed_request.user_id:
        raise AnswerRefused("session")
    try:
        with transaction(scope=of_tenant(partner.id, None)) as session:
            accounts.link(session, provider, current_user.caller, answer.claims)
    except NotFound:
        raise AnswerRefused("session") from None
    except DomainError as error:
        flash(error.message, "danger")
    else:
        flash(gettext("%(name)s is linked to your account.", name=provider.name), "success")
    return redirect(url_for("portal.account.show_account"), 303)


def _record_refusal(partner: Partner, provider: IdentityProvider, reason: str) -> None:
    log.warning("a company account of provider %s was refused: %s", provider.id, reason)
    with transaction(scope=of_tenant(partner.id, None)) as session:
        accounts.record_refused(session, provider, request.remote_addr, request_id())


def _render_unavailable(
    partner: Partner, provider: IdentityProvider, error: ProviderFailed
) -> Page:
    log.warning("the identity provider %s can't be used: %s", provider.id, error)
    status = 503 if isinstance(error, ProviderDown) else 502
    texts = (
        gettext("%(name)s doesn’t answer", name=provider.name),
        gettext("Nothing was changed. Try again in a moment, or sign in with your password."),
        gettext(
            "If your company requires %(name)s, ask a partner admin of your portal. "
            "Partner admins can always sign in with their password.",
            name=provider.name,
        ),
    )
    return _page(partner, provider, texts), status


def _render_refused(partner: Partner, provider: IdentityProvider, reason: str) -> Page:
    _record_refusal(partner, provider, reason)
    texts = (
        gettext("You are not signed in"),
        gettext("%(name)s cancelled the sign-in.", name=provider.name)
        if reason == "declined"
        else gettext("The answer of %(name)s was not accepted.", name=provider.name),
        gettext("It may be too old or from another browser window. Start the sign-in again."),
    )
    needs_fresh_sign_in = (
        reason == tokens.TOO_OLD
    )  # else the provider may rely on the same old session
    return _page(partner, provider, texts, needs_fresh_sign_in=needs_fresh_sign_in), 400


def _render_not_admitted(partner: Partner, provider: IdentityProvider, reason: str) -> Page:
    _record_refusal(partner, provider, reason)
    inactive = reason == "not_active"
    texts = (
        gettext("You are not signed in"),
        gettext("The user of this company account is not active.")
        if inactive
        else gettext("This account of %(name)s isn’t linked to a user.", name=provider.name),
        gettext("Ask an administrator of your portal.")
        if inactive
        else gettext(
            "Sign in with your password, then link it in your account. "
            "If you have no user here, ask an administrator."
        ),
    )
    return _page(partner, provider, texts), 403


def _page(
    partner: Partner,
    provider: IdentityProvider,
    texts: tuple[str, str, str],
    *,
    needs_fresh_sign_in: bool = False,
) -> str:
    title, text, advice = texts
    start = "portal.auth.start_company_sign_in"
    return render_template(
        "portal/auth/company_account.html",
        title=title,
        text=text,
        advice=advice,
        sign_in_url=sign_in_url(partner.slug),
        start_url=url_for(
            start,
            slug=partner.slug,
            provider_id=provider.id,
            again=1 if needs_fresh_sign_in else None,
        ),
    )
