"""Webhooks through the real worker process to a real receiver, which is the judge."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.enums import DeliveryStatus, WebhookEvent
from app.jobs import send_webhook
from app.jobs.context import WorkerContext
from app.jobs.engine import WEBHOOKS_PER_ENDPOINT
from app.models import Webhook, WebhookDelivery
from app.policy.caller import system_caller
from app.services import webhooks
from app.services.webhooks import deliveries, publishing
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.receiver import Receiver
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.worker import (
    CallingOrganization,
    Worker,
    create_calling_organization,
    outcome,
    wait_until,
)
from tests.matrix import rotating

OPERATOR = system_caller("tests")
KEY = SECRET_KEY


backend = runs_on(rotating("database of webhooks", BACKENDS))


@pytest.fixture
def open_receiver() -> Iterator[Callable[[], Receiver]]:
    with ExitStack() as opened:
        yield lambda: opened.enter_context(Receiver().open())


@pytest.fixture
def calling_organization(fresh_database: Database) -> CallingOrganization:
    return create_calling_organization(fresh_database)


@pytest.fixture
def worker(make_worker: Callable[..., Worker]) -> Worker:
    """Not started yet; its gaps are a thousand times shorter."""
    return make_worker(
        PORTAL_SECRET_KEY=KEY, PORTAL_WEBHOOK_ALLOW_PRIVATE="1", PORTAL_WEBHOOK_PACE="0.001"
    )


def add(
    session: Session, calling_organization: CallingOrganization, receiver: Receiver, *events: str
) -> Webhook:
    allowed = Settings(env="test", secret_key=KEY, webhook_allow_private=True)
    return webhooks.add(
        session,
        OPERATOR,
        allowed,
        organization_id=calling_organization.organization_id,
        url=receiver.url,
        events=events or ("call.completed",),
    ).webhook


def states(database: Database) -> Counter[DeliveryStatus]:
    with database.transaction(read_only=True) as session:
        return Counter(session.scalars(select(WebhookDelivery.status)))


def test_every_event_of_a_call_is_delivered_and_retried_until_received(
    fresh_database: Database,
    open_receiver: Callable[[], Receiver],
    worker: Worker,
    calling_organization: CallingOrganization,
) -> None:
    receiver = open_receiver()
    receiver.answers += [(500, {}), (302, {"Location": receiver.url}), (503, {"Retry-After": "0"})]
    with fresh_database.transaction() as session:
        add(session, calling_organization, receiver, "call.started", "call.busy", "call.completed")
    worker.start()
    call_id = calling_organization.dial(fresh_database, "+12025550121")
    status = outcome(fresh_database, call_id)[0]
    wait_until(lambda: states(fresh_database) == {DeliveryStatus.DELIVERED: 2})
    ids = Counter(message.id for message in receiver.received)
    assert (len(ids), sum(ids.values())) == (2, 5)
    types = {
        message.body.partition('"type":"')[2].partition('"')[0] for message in receiver.received
    }
    assert types == {"call.started", f"call.{status}"}


def test_a_slow_receiver_does_not_delay_others(
    fresh_database: Database,
    open_receiver: Callable[[], Receiver],
    worker: Worker,
    calling_organization: CallingOrganization,
) -> None:
    slow, quick = open_receiver(), open_receiver()
    slow.holds_seconds = 8.0
    with fresh_database.transaction() as session:
        slow_one, quick_one = (
            add(session, calling_organization, slow),
            add(session, calling_organization, quick),
        )
        for _ in range(6):
            deliveries.send_test(session, OPERATOR, slow_one.id)
        for _ in range(6):
            deliveries.send_test(session, OPERATOR, quick_one.id)
    worker.start()
    wait_until(lambda: len(quick.received) == 6)
    assert len(slow.received) <= WEBHOOKS_PER_ENDPOINT
    assert states(fresh_database)[DeliveryStatus.WAITING] >= 6


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_worker_that_ends_loses_none(
    fresh_database: Database,
    open_receiver: Callable[[], Receiver],
    worker: Worker,
    calling_organization: CallingOrganization,
    how: str,
) -> None:
    """Stopped, it sends none twice; killed, at most those on their way, under the same id."""
    receiver = open_receiver()
    receiver.holds_seconds = 0.1
    with fresh_database.transaction() as session:
        webhook = add(session, calling_organization, receiver)
        made = [deliveries.send_test(session, OPERATOR, webhook.id) for _ in range(10)]
        expected = sorted(each.message_id for each in made)
    worker.start()
    wait_until(lambda: len(receiver.received) >= 3)
    getattr(worker, how)()
    worker.start()
    wait_until(lambda: states(fresh_database) == {DeliveryStatus.DELIVERED: 10})
    ids = [message.id for message in receiver.received]
    assert sorted(set(ids)) == expected
    assert len(ids) - len(expected) <= (WEBHOOKS_PER_ENDPOINT if how == "kill" else 0)


def test_failed_events_are_sent_again_after_the_receiver_is_fixed(
    fresh_database: Database,
    open_receiver: Callable[[], Receiver],
    worker: Worker,
    calling_organization: CallingOrganization,
) -> None:
    receiver = open_receiver()
    receiver.usual = 410
    with fresh_database.transaction() as session:
        webhook = add(session, calling_organization, receiver)
        deliveries.send_test(session, OPERATOR, webhook.id)
    worker.start()
    wait_until(lambda: states(fresh_database) == {DeliveryStatus.HELD: 1})
    receiver.usual = 204
    with fresh_database.transaction() as session:
        webhooks.resume(session, OPERATOR, webhook.id)
    wait_until(lambda: states(fresh_database) == {DeliveryStatus.DELIVERED: 1})
    assert len({message.id for message in receiver.received}) == 1


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_an_event_committed_after_its_webhook_resumed_is_queued(
    context: WorkerContext,
    open_receiver: Callable[[], Receiver],
    calling_organization: CallingOrganization,
) -> None:
    database = context.database
    with database.transaction() as session:
        webhook_id = add(session, calling_organization, open_receiver()).id
        webhooks.pause(session, OPERATOR, webhook_id)
    with database.transaction() as publishing_session:
        publishing.publish(
            publishing_session,
            calling_organization.partner_id,
            calling_organization.organization_id,
            WebhookEvent.CALL_COMPLETED,
            dict,
        )
        with database.transaction() as session:
            webhooks.resume(session, OPERATOR, webhook_id)
        send_webhook.queue_held(str(webhook_id))
    assert states(database) == {DeliveryStatus.HELD: 1}
    send_webhook.queue_overlooked()
    assert states(database) == {DeliveryStatus.WAITING: 1}
