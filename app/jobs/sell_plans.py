"""Work with a partner's account at the payment processor, as durable workflows.

Each starts again if its worker died: prices are created with idempotency keys.
"""

import logging
from collections.abc import Callable, Sequence
from uuid import UUID

from dbos import DBOS

from app.enums import Tier
from app.gateways.processors import open_account
from app.gateways.processors.base import (
    PaymentProcessor,
    PriceReference,
    ProcessorRefused,
    ProcessorUnavailable,
)
from app.gateways.processors.stripe import PlanForSale, StripeProcessor
from app.jobs.context import WorkerContext, context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.services.pricing import accounts, checkouts, refresh, selling

log = logging.getLogger(__name__)

NO_KEY = "The stored key can’t be read. Enter it again."
UNREACHABLE = "Stripe could not be reached. Try again in some minutes."


@DBOS.workflow(name="test_processor_account")
@observe_job
def test_processor_account(partner_id: str) -> None:
    """Test the keys of an account, and store the result."""
    _step(check_account, partner_id)


@DBOS.workflow(name="send_plans")
@observe_job
def send_plans(partner_id: str) -> None:
    """Make the account sell the partner's published plans."""
    _step(sell, partner_id)


@DBOS.workflow(name="check_prices")
@observe_job
def check_prices(partner_id: str) -> None:
    """Query the prices of the partner's plans."""
    _step(refresh_partner, partner_id)


@DBOS.workflow(name="check_price")
@observe_job
def check_price(partner_id: str, price_id: str, tier: str) -> None:
    """Query a price that isn't in the partner's plans yet."""
    _ask_for_price(partner_id, price_id, tier)


@DBOS.workflow(name="open_checkout")
@observe_job
def open_checkout(checkout_id: str) -> None:
    """Request the page of a checkout."""
    _step(request_checkout_url, checkout_id)


@DBOS.step(name="ask_payment_processor")
@retry_on_database_outage
def _run(name: str, identifier: str) -> None:
    STEPS[name](context(), UUID(identifier))


@DBOS.step(name="ask_for_price")
@retry_on_database_outage
def _ask_for_price(partner_id: str, price_id: str, tier: str) -> None:
    fetch_price(context(), UUID(partner_id), PriceReference(Tier(tier), price_id, ""))


def _step(work: Callable[[WorkerContext, UUID], None], identifier: str) -> None:
    _run(work.__name__, identifier)


def check_account(worker: WorkerContext, partner_id: UUID) -> None:
    with worker.database.transaction(read_only=True) as session:
        test = accounts.begin_test(session, worker.settings.secret_keys, partner_id)
    if test is None:
        return
    message = "Stripe accepts the key."
    try:
        _open(worker, test.keys).check()
        works = True
    except (ProcessorRefused, ProcessorUnavailable) as error:
        works, message = False, _problem_message(error)
    with worker.database.transaction() as session:
        accounts.end_test(session, partner_id, test, works=works, message=message)


def sell(worker: WorkerContext, partner_id: UUID) -> None:
    """Sell each visible plan and archive the prices of hidden ones; keep what was done before a
    problem."""
    with worker.database.transaction(read_only=True) as session:
        offer = selling.to_send(session, partner_id)
    if offer is None:
        return
    ids: dict[Tier, selling.Ids] = {}
    problem = ""
    try:
        account = account_of(worker, partner_id)
        for plan in offer.plans:
            terms = plan.terms
            sale = PlanForSale(
                plan.name,
                terms.cost,
                terms.currency,
                terms.interval.value,
                plan.product_id,
                plan.price_id,
            )
            ids[plan.tier] = account.sell(sale, f"{offer.version_id}:{plan.tier}")
        for price_id in offer.archived:
            account.archive(price_id)
    except (ProcessorRefused, ProcessorUnavailable) as error:
        problem = _problem_message(error)
    with worker.database.transaction() as session:
        selling.record_ids(session, offer.version_id, ids, problem)
    refresh_partner(worker, partner_id)


def refresh_partner(worker: WorkerContext, partner_id: UUID) -> None:
    with worker.database.transaction(read_only=True) as session:
        references = selling.references(session, partner_id)
    _refresh(worker, partner_id, references)


def fetch_price(worker: WorkerContext, partner_id: UUID, reference: PriceReference) -> None:
    _refresh(worker, partner_id, [reference])


def _refresh(worker: WorkerContext, partner_id: UUID, references: Sequence[PriceReference]) -> None:
    try:
        prices = processor_of(worker, partner_id).prices(references)
    except (ProcessorRefused, ProcessorUnavailable) as error:
        log.warning("prices were not refreshed: %s", error)
        return
    with worker.database.transaction() as session:
        refresh.store_prices(session, partner_id, references, prices)


def request_checkout_url(worker: WorkerContext, checkout_id: UUID) -> None:
    with worker.database.transaction(read_only=True) as session:
        checkout = checkouts.checkout_request(session, checkout_id)
    if checkout is None:
        return
    url, problem = "", ""
    try:
        account = account_of(worker, checkout.partner_id)
        if checkout.customer:
            url = account.customer_page(checkout.customer, checkout.back_url)
        else:
            reference = str(checkout_id)
            url = account.checkout(
                checkout.price_id, reference, checkout.trial_days, checkout.back_url
            )
    except (ProcessorRefused, ProcessorUnavailable) as error:
        log.warning("a checkout was not opened: %s", error)
        problem = "The checkout could not be opened. Try again later."
    with worker.database.transaction() as session:
        checkouts.store_checkout_page(session, checkout_id, url, problem)


def processor_of(worker: WorkerContext, partner_id: UUID) -> PaymentProcessor:
    """Return the partner's account, else the installation's processor."""
    with worker.database.transaction(read_only=True) as session:
        is_connected = accounts.is_connected(session, partner_id)
    return account_of(worker, partner_id) if is_connected else worker.processor


def account_of(worker: WorkerContext, partner_id: UUID) -> StripeProcessor:
    """Return the partner's own account. Raises `ProcessorRefused` if the keys can't be read."""
    with worker.database.transaction(read_only=True) as session:
        keys = accounts.open_account_keys(session, worker.settings.secret_keys, partner_id)
    return _open(worker, keys)


def _open(worker: WorkerContext, keys: accounts.AccountKeys | None) -> StripeProcessor:
    if keys is None:
        raise ProcessorRefused(NO_KEY)
    return open_account(worker.settings, keys.secret, keys.account_id)


def _problem_message(error: ProcessorRefused | ProcessorUnavailable) -> str:
    return str(error) if isinstance(error, ProcessorRefused) else UNREACHABLE


STEPS = {
    work.__name__: work for work in (check_account, sell, refresh_partner, request_checkout_url)
}
