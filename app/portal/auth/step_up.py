"""The page that requires a fresh proof of who the user is, before a risky action."""

from urllib.parse import urlsplit

from flask import Response, make_response, redirect, render_template, request, url_for
from flask_login import current_user

from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.policy.step_up import needs_proof
from app.portal.auth.form_recovery import of_seal
from app.portal.auth.second_step_forms import StepUpForm
from app.portal.search.pages import ACTIONS, PAGES
from app.portal.web.current_user import local_path, referring_path
from app.portal.web.history import page_at
from app.portal.web.sidebar_entries import OPERATOR_SIDEBAR, PARTNER_SIDEBAR
from app.services.factors import passkeys
from app.services.factors.passkeys import BrowserSite
from app.services.identity_providers import accounts

__all__ = ["StepUpForm", "site", "step_up_page"]


CONFIRMED = {
    "portal.account.confirm_remove_app": lazy_gettext("Remove app"),
    "portal.account.confirm_remove_passkey": lazy_gettext("Remove passkey"),
    "portal.api_access.confirm_revoke_client": lazy_gettext("Revoke client"),
    "portal.api_access.confirm_rotate_client_secret": lazy_gettext("Rotate secret"),
    "portal.api_access.confirm_suspend_client": lazy_gettext("Suspend client"),
    "portal.api_access.confirm_rotate_key": lazy_gettext("Rotate key"),
    "portal.api_access.confirm_revoke_key": lazy_gettext("Revoke key"),
    "portal.webhooks.edit_webhook": lazy_gettext("Edit webhook"),
    "portal.webhooks.confirm_remove_webhook": lazy_gettext("Remove webhook"),
    "portal.webhooks.confirm_rotate_webhook_secret": lazy_gettext("Rotate secret"),
    "portal.personal_data.confirm_erase_call": lazy_gettext("Erase for good"),
    "portal.personal_data.confirm_erase_contact": lazy_gettext("Erase for good"),
    "portal.contacts.confirm_remove_contact": lazy_gettext("Remove contact"),
    "portal.scim.confirm_revoke_token": lazy_gettext("Revoke token"),
    "portal.scim.confirm_rotate_token": lazy_gettext("Rotate token"),
    "portal.do_not_call.confirm_remove_number": lazy_gettext("Remove from do-not-call list"),
    "portal.organizations.confirm_archive_organization": lazy_gettext("Archive organization"),
    "portal.identity_providers.confirm_remove_provider": lazy_gettext("Remove company account"),
    "portal.uploads.confirm_delete_upload_data": lazy_gettext("Delete data"),
    "portal.users.confirm_deactivate_user": lazy_gettext("Deactivate user"),
    "portal.users.edit_user": lazy_gettext("Edit user"),
    "portal.personal_data.confirm_erase_user": lazy_gettext("Erase for good"),
    "portal.users.confirm_reset_factors": lazy_gettext("Reset second factor"),
    "portal.users.confirm_change_role": lazy_gettext("Change role"),
    "portal.view_as.confirm_view_as_user": lazy_gettext("View as user"),
}
"""The names of actions on one record, which search doesn't find."""
FILES = {
    "portal.contacts.download_contacts": lazy_gettext("Export"),
    "portal.record_lists.download_export": lazy_gettext("Download"),
    "portal.record_lists.export_list": lazy_gettext("Export"),
    "portal.record_lists.export_selected": lazy_gettext("Export"),
    "portal.uploads.download_failed_rows": lazy_gettext("Download"),
    "portal.uploads.download_file": lazy_gettext("Download"),
}
"""The names of actions that return a file: the browser stays on its page."""


def site() -> BrowserSite:
    """Return the host and origin of the request's page: a passkey works at one host name."""
    return BrowserSite(request.host, f"{request.scheme}://{request.host}")


def step_up_page(form: StepUpForm, next_url: str, recovered: str, status: int = 200) -> Response:
    """Ask for the password, or for the second factor of users who have one; users with neither sign
    in again with their company account. ``next_url`` is the page to continue with, ``recovered``
    the sealed form to send. Cancelling returns to the previous page."""
    user = current_user.user
    with transaction(read_only=True) as session:
        passkey_count = passkeys.count(session, user.id, site().rp_id)
        links = accounts.links_of(session, caller())
    page = render_template(
        "portal/auth/step_up.html",
        title=gettext("Confirm it’s you")
        if user.second_factor_at or not user.password_hash
        else gettext("Confirm your password"),
        form=form,
        user=user,
        next_url=next_url,
        recovered=recovered,
        after_sign_in=url_for("portal.auth.show_step_up", next=next_url)
        if _is_file(next_url)
        else next_url,
        action=_action_name(next_url, recovered),
        back=_back_path(next_url),
        has_passkey=passkey_count > 0,
        company_accounts=[link.provider for link in links if link.identity],
        options_url=url_for(
            "portal.auth.passkey_sign_in_options", purpose=passkeys.PasskeyPurpose.STEP_UP
        ),
    )
    return make_response(page, status)


def confirmed(next_url: str) -> Response:
    """Return the response to a user with a fresh proof: the ``next_url`` page; for a file, a page
    that starts its download and leads back."""
    if not _is_file(next_url):
        return make_response(redirect(next_url, 303))
    back_url = _back_path(next_url)
    html = render_template(
        "portal/auth/downloading.html", file=next_url, back=back_url, back_name=_nav_label(back_url)
    )
    return make_response(html)


def _is_file(url: str) -> bool:
    page = page_at(url)
    return page is not None and page[0] in FILES


def _back_path(next_url: str) -> str:
    """Return the page that the user came from; the nearest parent of the ``next_url`` page if that
    isn't known or needs a proof too."""
    submitted_back = request.form.get("back")
    path = local_path(submitted_back) if submitted_back else referring_path()
    if (submitted_back or request.referrer) and _needs_no_proof(path):
        return path
    parent = urlsplit(next_url).path
    while parent:
        parent = parent.rpartition("/")[0]
        if _needs_no_proof(parent):
            return parent
    return "/"


def _nav_label(path: str) -> str | None:
    """Return the name of the page in the navigation; None for a page below an entry."""
    page = page_at(path)
    nav_items = [
        nav_item for _, group in (*PARTNER_SIDEBAR, *OPERATOR_SIDEBAR) for nav_item in group
    ]
    return next(
        (str(nav_item.label) for nav_item in nav_items if page and nav_item.endpoint == page[0]),
        None,
    )


def _needs_no_proof(path: str) -> bool:
    """Return whether the path is a page that needs no proof."""
    page = page_at(path)
    if page is None or page[0] in {"portal.auth.show_step_up", "portal.auth.check_step_up"}:
        return False
    return not needs_proof(*page)


def _action_name(next_url: str, recovered: str) -> str | None:
    """Return the name of the action that needs the proof: of the form to send, else of the page."""
    form = of_seal(recovered) if recovered else None
    page = page_at(form.path if form else next_url)
    if page is None:
        return None
    search_labels = {each.endpoint: each.label for each in (*PAGES, *ACTIONS)}
    labels = search_labels | CONFIRMED | FILES
    return labels.get(page[0])
