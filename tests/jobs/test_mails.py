"""Mails through the real worker process and a real mail server: late, refused, killed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.config import Settings
from app.database import Database
from app.enums import Role
from app.gateways.mailers import open_outbox
from app.jobs.engine import MAX_CONCURRENT_MAILS
from app.models import AuditEntry, LinkPurpose, Mail, MailKind
from app.schemas.parsing import read
from app.schemas.users import CreatePartialUserInput
from app.services import users
from app.services.auth import one_time_links
from app.services.mail_queue import enqueue
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.mail_server import SmtpServer
from tests.fixtures.mails import path_in
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.worker import Worker, wait_until
from tests.matrix import rotating

NEW = "ada@hillside.example"


backend = runs_on(rotating("database of mails", BACKENDS))


@pytest.fixture
def tenant(fresh_database: Database) -> Tenant:
    with fresh_database.transaction() as session:
        tenant = make_tenant(session)
        tenant.plus.user_limit = 0
        return tenant


@pytest.fixture
def smtp_server() -> SmtpServer:
    return SmtpServer()


@pytest.fixture
def port(smtp_server: SmtpServer) -> Iterator[int]:
    with smtp_server.open() as opened:
        yield opened


@pytest.fixture
def worker(make_worker: Callable[..., Worker], port: int) -> Worker:
    """Not started yet; it sends to the server of the test."""
    return make_worker(
        PORTAL_SMTP_URL=f"smtp://127.0.0.1:{port}", PORTAL_MAIL_FROM="no-reply@mail.example"
    )


def invite(database: Database, tenant: Tenant, email: str = NEW) -> None:
    data = read(CreatePartialUserInput, {"email": email, "orgId": str(tenant.plus.id)})
    with database.transaction() as session:
        users.create_partial(session, tenant.caller(Role.PARTNER_ADMIN), data)


def only_mail(database: Database) -> Mail:
    with database.transaction(read_only=True) as session:
        return session.scalars(select(Mail)).one()


def is_over(database: Database) -> Callable[[], bool]:
    return lambda: only_mail(database).is_over


def test_an_invitation_goes_out_and_its_link_works(
    fresh_database: Database, tenant: Tenant, smtp_server: SmtpServer, worker: Worker
) -> None:
    worker.start()
    invite(fresh_database, tenant)
    wait_until(is_over(fresh_database))
    (message,) = smtp_server.messages
    assert (message["To"], message["Subject"]) == (NEW, "You are invited to AI Receptionist")
    token = path_in(message).rpartition("/")[2]
    with fresh_database.transaction() as session:
        user = one_time_links.look_up(session, token, LinkPurpose.INVITATION)
        assert user.email == NEW
    mail = only_mail(fresh_database)
    assert mail.sent_at is not None
    assert (mail.failure, mail.attempts) == (None, 1)


def test_a_mail_refused_for_good_is_in_the_history_and_is_not_sent_again(
    fresh_database: Database, tenant: Tenant, smtp_server: SmtpServer, worker: Worker
) -> None:
    smtp_server.rcpt_answers.append("550 no such mailbox")
    worker.start()
    invite(fresh_database, tenant)
    wait_until(is_over(fresh_database))
    reason = "the mail server does not take mail for this address (status 550)"
    mail = only_mail(fresh_database)
    with fresh_database.transaction(read_only=True) as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "mail.failed")).one()
    assert (mail.sent_at, mail.failure, smtp_server.kept, smtp_server.asked) == (
        None,
        reason,
        [],
        1,
    )
    assert entry.after == {"mail": "invitation", "reason": reason}


def test_a_mail_that_is_not_taken_now_waits_for_its_next_attempt(
    fresh_database: Database, tenant: Tenant, smtp_server: SmtpServer, worker: Worker
) -> None:
    smtp_server.data_answers.append("451 try later")
    worker.start()
    invite(fresh_database, tenant)
    wait_until(lambda: only_mail(fresh_database).failure)
    mail = only_mail(fresh_database)
    assert (mail.is_over, mail.attempts, smtp_server.kept) == (False, 1, [])
    invite(fresh_database, tenant, "second@hillside.example")  # no mail waits behind it
    wait_until(lambda: smtp_server.kept)
    assert [message["To"] for message in smtp_server.messages] == ["second@hillside.example"]


def all_over(database: Database) -> bool:
    with database.transaction(read_only=True) as session:
        return all(mail.is_over for mail in session.scalars(select(Mail)))


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_worker_that_ends_loses_no_mail(
    fresh_database: Database, tenant: Tenant, smtp_server: SmtpServer, worker: Worker, how: str
) -> None:
    """Stopped, it sends none twice; killed, at most those that were on their way at that moment,
    of which it is unknown whether the server had them."""
    worker.start()
    addresses = [f"p{number:02}@hillside.example" for number in range(12)]
    for address in addresses:
        invite(fresh_database, tenant, address)
    wait_until(lambda: smtp_server.kept)
    getattr(worker, how)()
    worker.start()
    wait_until(lambda: all_over(fresh_database))
    recipients = sorted(str(message["To"]) for message in smtp_server.messages)
    assert sorted(set(recipients)) == addresses
    assert len(recipients) - len(addresses) <= (MAX_CONCURRENT_MAILS if how == "kill" else 0)


def test_without_a_mail_server_mails_are_files(
    fresh_database: Database, tenant: Tenant, make_worker: Callable[..., Worker], tmp_path: Path
) -> None:
    make_worker(PORTAL_INSTANCE_DIR=str(tmp_path)).start()
    with fresh_database.transaction() as session:
        enqueue(
            session,
            MailKind.RESET_PASSWORD,
            partner_id=tenant.partner.id,
            user_id=tenant.user.id,
        )
    wait_until(is_over(fresh_database))
    (kept,) = open_outbox(Settings(instance_dir=tmp_path)).mails()
    assert (kept.partner_id, kept.read()["To"]) == (tenant.partner.id, tenant.user.email)
