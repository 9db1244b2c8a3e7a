"""The partner's own Stripe account: connected, tested, removed, and its plans sent again."""

from functools import partial

from flask import redirect, url_for
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.extensions import caller, settings, transaction
from app.languages import gettext, lazy_gettext
from app.portal.pricing import blueprint
from app.portal.pricing.forms import ProcessorAccountForm
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.forms import saving
from app.portal.web.fragments import render_page
from app.portal.web.messages import changing, redirect_with
from app.services import partners
from app.services.pricing import accounts, selling


@blueprint.get("/pricing/stripe")
def edit_stripe_account() -> str:
    """Show the account; while a test runs, its fragment reloads itself."""
    return _page(None)


@blueprint.post("/pricing/stripe")
def save_stripe_account() -> Page:
    form = ProcessorAccountForm()
    partner_id, page = partners.own_partner_id(caller()), partial(_page, form)
    with saving(
        form, page, stored=_stored, target=("partner", partner_id), validate=False
    ) as session:
        accounts.save(
            session,
            caller(),
            settings().secret_keys,
            partner_id,
            form.to_keys(),
            may_connect=bool(settings().stripe_key),
            expected_version=form.version.data,
        )
    message = gettext("Stripe account saved. Its connection is being tested.")
    return redirect_with(message, url_for("portal.pricing.edit_stripe_account"))


@blueprint.post("/pricing/stripe/test")
def test_stripe_connection() -> Page:
    with transaction() as session:
        accounts.enqueue_test(session, caller(), partners.own_partner_id(caller()))
    return redirect(url_for("portal.pricing.edit_stripe_account"), 303)


@blueprint.post("/pricing/stripe/send")
def send_plans_to_stripe() -> Page:
    """Send the published plans to Stripe again."""
    url = url_for("portal.pricing.show_pricing")
    with changing(url, Conflict) as session:
        selling.send_again(session, caller(), partners.own_partner_id(caller()))
    return redirect_with(gettext("The plans are being sent to Stripe."), url)


DISCONNECTING = (
    lazy_gettext("Customers can’t upgrade through Stripe any more."),
    lazy_gettext("Products, prices and subscriptions stay in your Stripe account."),
    lazy_gettext("Subscriptions that end don’t change plans here, and usage isn’t charged."),
    lazy_gettext("The stored keys are deleted."),
)


@blueprint.get("/pricing/stripe/remove")
def confirm_remove_stripe_account() -> str:
    return ConfirmationPage(
        gettext("Disconnect Stripe?"),
        DISCONNECTING,
        gettext("Disconnect Stripe"),
        gettext("Keep connected"),
        url_for("portal.pricing.edit_stripe_account"),
    ).page()


@blueprint.post("/pricing/stripe/remove")
def remove_stripe_account() -> Page:
    with transaction() as session:
        accounts.remove(session, caller(), partners.own_partner_id(caller()))
    return redirect_with(
        gettext("Stripe is disconnected."), url_for("portal.pricing.edit_stripe_account")
    )


def _stored(session: Session) -> ProcessorAccountForm:
    account = accounts.find(session, caller(), partners.own_partner_id(caller()))
    return ProcessorAccountForm.showing(account)


def _page(form: ProcessorAccountForm | None) -> str:
    partner_id = partners.own_partner_id(caller())
    with transaction(read_only=True) as session:
        account = accounts.find(session, caller(), partner_id)
    return render_page(
        "portal/pricing/stripe.html",
        "portal/pricing/_connection.html",
        form=form or ProcessorAccountForm.showing(account),
        account=account,
        is_testing=account is not None and account.is_running,
        may_connect=bool(settings().stripe_key),
        is_local=settings().is_local,
        callback=f"{settings().public_url.rstrip('/')}/processor/stripe/{partner_id}",
    )
