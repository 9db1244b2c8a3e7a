"""The page that requires a fresh proof of who the user is, before a risky action."""

from urllib.parse import urlsplit

from flask import Response, make_response, redirect, render_template, request, url_for
from flask_login import current_user

from app.extensions import caller, transaction
from app.languages import lazy_gettext
from app.policy.step_up import needs_proof
from app.portal.auth.form_recovery import of_seal
from app.portal.auth.second_step_forms import StepUpForm
from app.portal.search.pages import ACTIONS, PAGES
from app.portal.web.current_user import local_path, referring_path
from app.portal.web.history import page_at
from app.portal.web.navigation import OPERATOR_PLACES, PLACES
from app.services.factors import passkeys
from app.services.factors.passkeys import BrowserSite
from app.services.identity_providers import accounts

__all__ = ["StepUpForm", "site", "step_up_page"]


CONFIRMED = {
    "portal.account_app_remove_confirm": lazy_gettext("Remove app"),
    "portal.account_passkey_remove_confirm": lazy_gettext("Remove passkey"),
    "portal.api_client_revoke_confirm": lazy_gettext("Revoke client"),
    "portal.api_client_roll_confirm": lazy_gettext("Roll secret"),
    "portal.api_client_suspend_confirm": lazy_gettext("Suspend client"),
    "portal.api_key_roll_confirm": lazy_gettext("Roll key"),
    "portal.api_key_revoke_confirm": lazy_gettext("Revoke key"),
    "portal.api_webhook_edit": lazy_gettext("Edit webhook"),
    "portal.api_webhook_remove_confirm": lazy_gettext("Remove webhook"),
    "portal.api_webhook_roll_confirm": lazy_gettext("Roll secret"),
    "portal.call_erase_confirm": lazy_gettext("Erase for good"),
    "portal.contact_erase_confirm": lazy_gettext("Erase for good"),
    "portal.contact_remove_confirm": lazy_gettext("Remove contact"),
    "portal.directory_token_revoke_confirm": lazy_gettext("Revoke token"),
    "portal.directory_token_roll_confirm": lazy_gettext("Roll token"),
    "portal.do_not_call_remove_confirm": lazy_gettext("Remove from do-not-call list"),
    "portal.organization_archive_confirm": lazy_gettext("Archive organization"),
    "portal.portal_settings_company_remove_confirm": lazy_gettext("Remove company account"),
    "portal.upload_delete_data_confirm": lazy_gettext("Delete data"),
    "portal.user_deactivate_confirm": lazy_gettext("Deactivate user"),
    "portal.user_edit": lazy_gettext("Edit user"),
    "portal.user_erase_confirm": lazy_gettext("Erase for good"),
    "portal.user_reset_factors_confirm": lazy_gettext("Reset second factor"),
    "portal.user_role_confirm": lazy_gettext("Change role"),
    "portal.view_as_confirm": lazy_gettext("View as user"),
}
"""The names of actions on one record, which search doesn't find."""
FILES = {
    "portal.contact_file": lazy_gettext("Export"),
    "portal.export_file": lazy_gettext("Download"),
    "portal.list_export": lazy_gettext("Export"),
    "portal.list_export_selected": lazy_gettext("Export"),
    "portal.upload_failures": lazy_gettext("Download"),
    "portal.upload_file": lazy_gettext("Download"),
}
"""The names of actions that return a file: the browser stays on its page."""


def site() -> BrowserSite:
    """Return the host and origin of the request's page: a passkey works at one host name."""
    return BrowserSite(request.host, f"{request.scheme}://{request.host}")


def step_up_page(form: StepUpForm, wanted: str, recovered: str, status: int = 200) -> Response:
    """Ask for the password, or for the second factor of users who have one; users with neither sign
    in again with their company account. ``wanted`` is the page to continue with, ``recovered`` the
    sealed form to send. Cancelling returns to the previous page."""
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
        after_sign_in=url_for("portal.step_up", next=wanted) if _is_file(wanted) else wanted,
        action=_action_name(wanted, recovered),
        back=_back_path(wanted),
        has_passkey=own_passkeys > 0,
        company_accounts=[link.provider for link in linked if link.identity],
        options_url=url_for("portal.passkey_options", purpose=passkeys.PasskeyPurpose.STEP_UP),
    )
    return make_response(page, status)


def confirmed(wanted: str) -> Response:
    """Return the response to a user with a fresh proof: the ``wanted`` page; for a file, a page
    that starts its download and leads back."""
    if not _is_file(wanted):
        return make_response(redirect(wanted, 303))
    back = _back_path(wanted)
    html = render_template(
        "portal/auth/downloading.html", file=wanted, back=back, back_name=_place_at(back)
    )
    return make_response(html)


def _is_file(wanted: str) -> bool:
    page = page_at(wanted)
    return page is not None and page[0] in FILES


def _back_path(wanted: str) -> str:
    """Return the page that the user came from; the nearest parent of the ``wanted`` page if that
    isn't known or needs a proof too."""
    asked_again = request.form.get("back")
    path = local_path(asked_again) if asked_again else referring_path()
    if (asked_again or request.referrer) and _opens(path):
        return path
    above = urlsplit(wanted).path
    while above:
        above = above.rpartition("/")[0]
        if _opens(above):
            return above
    return "/"


def _place_at(path: str) -> str | None:
    """Return the name of the page in the navigation; None for a page below such a place."""
    page = page_at(path)
    places = [place for _, group in (*PLACES, *OPERATOR_PLACES) for place in group]
    return next((str(place.label) for place in places if page and place.endpoint == page[0]), None)


def _opens(path: str) -> bool:
    """Return whether the path is a page that needs no proof."""
    page = page_at(path)
    if page is None or page[0] in {"portal.step_up", "portal.step_up_confirm"}:
        return False
    return not needs_proof(*page)


def _action_name(wanted: str, recovered: str) -> str | None:
    """Return the name of the action that needs the proof: of the form to send, else of the page."""
    form = of_seal(recovered) if recovered else None
    page = page_at(form.path if form else wanted)
    if page is None:
        return None
    found_by_search = {each.endpoint: each.label for each in (*PAGES, *ACTIONS)}
    labels = found_by_search | CONFIRMED | FILES
    return labels.get(page[0])
