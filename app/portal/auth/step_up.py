"""The page that asks for a fresh proof of who the user is, before a risky act."""

from flask import Response, make_response, render_template, request, url_for
from flask_login import current_user

from app.extensions import caller, transaction
from app.portal.auth.second_step_forms import StepUpForm
from app.services.factors import passkeys
from app.services.factors.passkeys import Site
from app.services.identity_providers import accounts

__all__ = ["StepUpForm", "site", "step_up_page"]


def site() -> Site:
    """Return the host and origin of the request's page: a passkey works at one host name."""
    return Site(request.host, f"{request.scheme}://{request.host}")


def step_up_page(form: StepUpForm, wanted: str, recovered: str, status: int) -> Response:
    """Ask for the password, or for the second factor of users who have one; users with neither sign
    in again with their company account. ``wanted`` is the page to go on to, ``recovered`` the
    sealed form to send."""
    user = current_user.user
    with transaction(read_only=True) as session:
        own_passkeys = passkeys.count(session, user.id, site().rp_id)
        linked = accounts.links_of(session, caller())
    page = render_template(
        "portal/auth/step_up.html",
        form=form,
        user=user,
        wanted=wanted,
        recovered=recovered,
        has_passkey=own_passkeys > 0,
        company_accounts=[link.provider for link in linked if link.identity],
        options_url=url_for("portal.passkey_options", purpose=passkeys.Purpose.STEP_UP),
    )
    return make_response(page, status)
