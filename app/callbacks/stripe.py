"""Stripe's reports about a partner's account, at a URL of that partner.

A paid checkout changes the organization's plan at once. Any other report only triggers a look-up:
prices and subscriptions are read from Stripe. A report without a fresh, genuine signature gets 403,
whether the partner has an account or not.
"""

from uuid import UUID

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from app.callbacks.refusals import answer_in_json
from app.database.scope import INSTALLATION
from app.errors import Forbidden
from app.extensions import settings, transaction
from app.gateways.processors.stripe import read_event
from app.services.plans import paid_plans
from app.services.pricing import accounts, selling, subscriptions

MAX_BODY_BYTES = 256 * 1024
PAID = ("checkout.session.completed", "checkout.session.async_payment_succeeded")

blueprint = Blueprint("stripe", __name__, url_prefix="/processor/stripe")
answer_in_json(blueprint)


@blueprint.post("/<uuid:partner_id>")
def report(partner_id: UUID) -> ResponseReturnValue:
    """Accept a report: of a checkout, or of a changed subscription, price or product."""
    request.max_content_length = MAX_BODY_BYTES
    with transaction(read_only=True, scope=INSTALLATION) as session:
        keys = accounts.open_account_keys(session, settings().secret_keys, partner_id)
    signature = request.headers.get("Stripe-Signature", "")
    secret = keys.webhook_secret if keys else ""
    event = read_event(request.get_data(), signature, secret) if secret else None
    if event is None:
        message = "The signature is not Stripe's."
        raise Forbidden(message, "bad_signature")
    with transaction(scope=INSTALLATION) as session:
        if event.type in PAID:
            paid_plans.record_paid(session, partner_id, event.reference, event.subscription)
        elif event.subscription:
            subscriptions.enqueue_reported(session, partner_id, event.subscription)
        elif event.type.startswith(("price.", "product.")):
            selling.enqueue_price_check(session, partner_id)
    return "", 204
