"""Customers' subscriptions at the payment processor: followed, replaced, and charged for usage."""

import logging
from uuid import UUID

from dbos import DBOS

from app.enums import SubscriptionStatus
from app.gateways.processors.base import ProcessorRefused, ProcessorUnavailable
from app.gateways.processors.stripe import InvoiceCharge
from app.jobs.context import WorkerContext, context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.jobs.sell_plans import account_of
from app.models import utcnow
from app.services.billing import charges
from app.services.billing.charges import DueCharge
from app.services.plans import paid_plans
from app.services.pricing import subscriptions

log = logging.getLogger(__name__)


@DBOS.workflow(name="follow_subscription")
@observe_job
def follow_subscription(subscription_id: str) -> None:
    """Query a reported subscription, and end those that it replaces."""
    _follow(subscription_id)


@DBOS.step(name="ask_for_subscription")
@retry_on_database_outage
def _follow(subscription_id: str) -> None:
    try:
        follow(context(), UUID(subscription_id))
    except ProcessorUnavailable as error:
        log.warning("a subscription was not followed: %s", error)


def follow(worker: WorkerContext, subscription_id: UUID) -> None:
    """Store the processor's state of a subscription, and change the organization's plan
    accordingly. Without an answer it is queried again at the next report, or tomorrow; at once if
    another answer was stored meanwhile.

    Raises `ProcessorUnavailable`.
    """
    with worker.database.transaction(read_only=True) as session:
        followed = subscriptions.to_follow(session, subscription_id)
    if followed is None:
        return
    try:
        subscription = account_of(worker, followed.partner_id).subscription(followed.reference)
    except ProcessorRefused as error:
        log.warning("a subscription was not followed: %s", error)
        return
    with worker.database.transaction() as session:
        is_stored = paid_plans.record_subscription(session, subscription_id, followed, subscription)
    if not is_stored:
        follow(worker, subscription_id)
    elif subscription and subscription.status is SubscriptionStatus.ACTIVE:
        for replaced in followed.replaced:
            _end(worker, replaced)


def _end(worker: WorkerContext, subscription_id: UUID) -> None:
    """End a subscription that the customer has replaced."""
    with worker.database.transaction(read_only=True) as session:
        replaced = subscriptions.to_follow(session, subscription_id)
    if replaced is None:
        return
    try:
        account_of(worker, replaced.partner_id).end_subscription(replaced.reference)
    except ProcessorRefused as error:
        log.warning("a replaced subscription was not ended: %s", error)
        return
    follow(worker, subscription_id)


def follow_due(worker: WorkerContext) -> None:
    """Query the subscriptions that weren't queried since yesterday, because reports can get lost.
    Without an answer the rest waits for the next run, so that no other periodic task waits."""
    last: UUID | None = None
    while True:
        with worker.database.transaction(read_only=True) as session:
            due = subscriptions.due(session, utcnow(), last)
        if not due:
            return
        try:
            for subscription_id in due:
                follow(worker, subscription_id)
        except ProcessorUnavailable as error:
            log.warning("subscriptions were not followed: %s", error)
            return
        last = due[-1]


def charge_due(worker: WorkerContext) -> None:
    """Add usage beyond the plans to the customers' next invoices. Charges that the processor
    refuses are sent again at the next run; without an answer, so is the rest."""
    last: UUID | None = None
    while True:
        with worker.database.transaction(read_only=True) as session:
            due = charges.due(session, utcnow(), last)
        if not due:
            return
        try:
            for each in due:
                _charge(worker, each)
        except ProcessorUnavailable as error:
            log.warning("usage was not charged: %s", error)
            return
        last = due[-1].statement_id


def _charge(worker: WorkerContext, due: DueCharge) -> None:
    """Charge an amount, unless an earlier attempt whose answer was lost has charged it."""
    item, problem = None, ""
    try:
        account = account_of(worker, due.partner_id)
        item = account.charged(due.customers, due.name, due.closed_at)
        if item is None and due.subscription:
            item = account.charge(_to_invoice_charge(due), due.name)
        elif item is None:
            problem = charges.ENDED
    except ProcessorRefused as error:
        problem = str(error)
    with worker.database.transaction() as session:
        charges.end(session, due.statement_id, item or "", problem)


def _to_invoice_charge(due: DueCharge) -> InvoiceCharge:
    description = f"Usage in {due.month:%B %Y}"
    if due.number is not None:
        description += f", statement {due.number:06}"
    return InvoiceCharge(due.customer, due.subscription, due.amount, due.currency, description)
