"""A DNS server that gives no answer holds up what needs it, and no other work."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from sqlalchemy import select

from app.config import Settings
from app.database import Database
from app.models import WebhookDelivery
from app.policy.caller import system_caller
from app.services import webhooks
from app.services.webhooks import deliveries
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.worker import Worker, create_calling_organization, unfinished_calls, wait_until
from tests.matrix import rotating

ADDRESS = "127.0.0.77"
WEBHOOKS = 60
"""More than are delivered at once."""


backend = runs_on(rotating("database of the slow DNS", BACKENDS))


@pytest.fixture
def deaf_server() -> Iterator[str]:
    if os.geteuid():
        pytest.skip("only root can change what a process takes for its DNS server")
    with closing(socket.socket(type=socket.SOCK_DGRAM)) as server:
        server.bind((ADDRESS, 53))
        yield ADDRESS


def test_calls_go_on_while_names_are_not_found(
    fresh_database: Database, make_worker: Callable[..., Worker], deaf_server: str
) -> None:
    worker = make_worker(
        PORTAL_SECRET_KEY=SECRET_KEY,
        PORTAL_WEBHOOK_ALLOW_PRIVATE="1",
        PORTAL_SMTP_URL="smtp://mail.slow.example",
        PORTAL_MAIL_FROM="a@mail.example",
    )
    worker.program = ["tests.fixtures.deaf_dns_worker", deaf_server]
    calling_organization = create_calling_organization(fresh_database)
    operator = system_caller("tests")
    settings = Settings(env="test", secret_key=SECRET_KEY, webhook_allow_private=True)
    with fresh_database.transaction() as session:
        for place in range(WEBHOOKS // 3):
            webhook = webhooks.add(
                session,
                operator,
                settings,
                organization_id=calling_organization.organization_id,
                url=f"http://hooks{place}.slow.example/",
                events=("call.busy",),
            ).webhook
            for _ in range(3):
                deliveries.send_test(session, operator, webhook.id)
    worker.start()
    time.sleep(1)  # so that the webhooks wait for their names
    for place in range(10):
        calling_organization.dial(fresh_database, f"+1212555{place:04d}")
    wait_until(lambda: unfinished_calls(fresh_database) == 0, 30)
    reason = select(WebhookDelivery.id).where(
        WebhookDelivery.last_answer.startswith("DNS lookup failed for hooks")
    )

    def has_reason() -> bool:
        with fresh_database.transaction(read_only=True) as session:
            return session.scalars(reason).first() is not None

    wait_until(has_reason, 60)
    assert worker.stop() == 0
