"""Link and unlink a company account in the user's own account."""

from uuid import UUID

from flask import render_template, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.errors import Conflict
from app.extensions import caller, transaction
from app.gateways.openid import ProviderFailed
from app.languages import gettext
from app.portal.auth.company_accounts import leave
from app.portal.web.blueprint import Page, portal
from app.portal.web.current_user import refuse_operators
from app.portal.web.messages import changing, redirect_with
from app.services.identity_providers import accounts, requests


@portal.post("/account/company-accounts/<uuid:provider_id>/link")
def account_company_link(provider_id: UUID) -> Page:
    """Show the way to the provider: a form may not lead to another host."""
    refuse_operators()
    partner = current_user.partner
    with transaction(read_only=True) as session:
        provider = requests.of_partner(session, partner.id, provider_id)
    try:
        url = leave(partner, provider, user_id=current_user.id)
    except ProviderFailed:
        words = gettext("%(name)s doesn’t answer. Nothing was changed.", name=provider.name)
        return redirect_with(words, url_for("portal.account"), "error")
    return render_template("portal/account/link.html", provider=provider, url=url)


@portal.post("/account/company-accounts/<uuid:provider_id>/unlink")
def account_company_unlink(provider_id: UUID) -> Response:
    url = url_for("portal.account")
    with changing(url, Conflict, category="error") as session:
        accounts.unlink(session, caller(), provider_id)
    return redirect_with(gettext("The link was removed."), url)
