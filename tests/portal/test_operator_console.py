"""The operator's console: adding a partner, its page, and the health of the installation."""

import pickle
import re
from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from pathlib import Path
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from app import disk_space
from app.backups import records
from app.config import Settings
from app.database import Database
from app.enums import CallStatus, CarrierKind, Observed, Role, UserStatus
from app.factory import install_extensions
from app.gateways import job_queue
from app.gateways.job_queue import QueueDepth
from app.jobs.worker import WORKFLOWS
from app.models import AuditEntry, Backup, Mail, Partner, User, WorkerHeartbeat, utcnow
from app.portal.operator import partner_views
from app.portal.operator.installation_views import QUEUE_LABELS
from app.portal.web.formats import long_datetime
from app.services import assistants, partners, phone_numbers, workers
from app.services.failed_jobs import REPEATABLE
from app.services.pauses import carrier_health
from app.services.pauses.carrier_health import BehaviourCount, CarrierBehaviour
from tests.fixtures.small_disk import MB, small_disk
from tests.fixtures.statements import counted
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call
from tests.portal.uploader import words

NEW = "/operator/partners/new"
PAGE = "/operator/installation"
TYPED = {
    "name": "Acme Voice",
    "product_name": "Acme Reception",
    "domain": "portal.acme.example",
    "email": "ada@acme.example",
    "administrator_name": "Ada",
    "once": "abc123",
}


def test_a_partner_is_added_once_with_its_first_administrator_invited(
    session: Session, operator: Browser
) -> None:
    answers = [operator.post(NEW, TYPED, page=NEW) for _ in "12"]
    partner = session.scalars(select(Partner).where(Partner.name == "Acme Voice")).one()
    user = session.scalars(select(User).where(User.email == "ada@acme.example")).one()
    assert {(a.status_code, a.location) for a in answers} == {
        (303, f"/operator/partners/{partner.id}")
    }
    assert (partner.product_name, partner.domain, partner.trial_ended_at) == (
        "Acme Reception",
        "portal.acme.example",
        None,
    )
    assert (user.partner_id, user.role, user.status, user.name) == (
        partner.id,
        Role.PARTNER_ADMIN,
        UserStatus.INVITED,
        "Ada",
    )
    assert session.scalar(select(func.count()).where(Mail.user_id == user.id)) == 1
    page = operator.get(f"/operator/partners/{partner.id}").text
    assert all(words in page for words in ("ada@acme.example", "Trial mode", "not verified"))


@pytest.mark.parametrize("changes", [{"name": ""}, {"email": "nobody"}, {"product_name": ""}])
def test_a_partner_with_a_problem_is_not_added(
    session: Session, operator: Browser, changes: dict[str, str]
) -> None:
    assert operator.post(NEW, TYPED | changes, page=NEW).status_code == 422
    assert session.scalar(select(func.count()).select_from(Partner)) == 0


def test_all_problems_of_a_new_partner_are_reported_at_once(operator: Browser) -> None:
    wrong = {"domain": "not a domain", "email": "wrong@", "name": ""}
    page = operator.post(NEW, TYPED | wrong, page=NEW).text
    assert all(f'id="{field}-error"' in page for field in wrong)


NO_HOST = "is not a host name like portal.example.com."
TAKEN = "Another partner’s verified domain is the same."


@pytest.mark.parametrize(
    ("domain", "words"),
    [("not a domain", NO_HOST), ("http://foo bar", NO_HOST), ("Portal.Taken.example", TAKEN)],
)
def test_a_domain_that_can_not_be_verified_is_refused(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    operator: Browser,
    domain: str,
    words: str,
) -> None:
    other_tenant.partner.domain = other_tenant.partner.domain_key = "portal.taken.example"
    other_tenant.partner.domain_verified_at = utcnow()
    session.commit()
    page = f"/operator/partners/{tenant.partner.id}/domain"
    answers = [
        operator.post(NEW, TYPED | {"domain": domain}, page=NEW),
        operator.post(page, {"domain": domain, "version": tenant.partner.version}, page=page),
    ]
    for answer in answers:
        assert answer.status_code == 422
        assert words in answer.text
    session.expire_all()
    assert session.scalar(select(func.count()).select_from(Partner)) == 2
    assert tenant.partner.domain != domain


def test_the_operator_corrects_a_domain(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    page = f"/operator/partners/{tenant.partner.id}"
    sent = {"domain": "portal.own.example", "version": str(tenant.partner.version)}
    saved = operator.post(f"{page}/domain", sent, page=f"{page}/domain")
    assert (saved.status_code, saved.location) == (303, page)
    session.expire_all()
    assert (tenant.partner.domain, tenant.partner.domain_verified_at) == (
        "portal.own.example",
        None,
    )
    latest = session.scalars(
        select(AuditEntry).where(AuditEntry.target_id == str(tenant.partner.id))
    ).all()[-1]
    assert (latest.action, latest.after["domain"]) == ("partner.updated", "portal.own.example")
    sent = {"domain": "", "version": str(tenant.partner.version)}
    operator.post(f"{page}/domain", sent, page=f"{page}/domain")
    session.expire_all()
    assert tenant.partner.domain is None


def test_the_operator_verifies_a_domain_once(
    session: Session, tenant: Tenant, other_tenant: Tenant, operator: Browser
) -> None:
    for each in (tenant, other_tenant):
        each.partner.domain = each.partner.domain_key = "same.example"
    session.commit()
    for each in (tenant, other_tenant):
        page = f"/operator/partners/{each.partner.id}"
        assert operator.post(f"{page}/verify-domain", page=page).location == page
    session.expire_all()
    verified = [each.partner.domain_verified_at is not None for each in (tenant, other_tenant)]
    assert verified == [True, False]


def test_the_console_is_for_operators_alone(
    tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    for path in (NEW, PAGE, f"/operator/partners/{tenant.partner.id}"):
        assert browser.get(path).status_code == 404


def test_a_missing_partner_is_not_found(operator: Browser) -> None:
    assert operator.get(f"/operator/partners/{UUID(int=7)}").status_code == 404


def states(browser: Browser) -> dict[str, str]:
    """The word of each part of the installation."""
    table = browser.get(PAGE).text.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r'class="name"[^>]*>([^<]+)<.*?class="badge[^"]*">([^<]+)<', table, re.DOTALL)
    return dict(rows)


def test_each_part_of_the_installation_shows_its_state(session: Session, operator: Browser) -> None:
    before = states(operator)
    workers.announce(session, "one")
    session.commit()
    after = states(operator)
    assert (before["Calling service"], after["Calling service"]) == ("Offline", "Online")
    assert after["Migrations"] == "Up to date"
    assert (before["Queues"], before["Emails"]) == ("On time", "Kept")
    assert list(before)[:2] == ["Calling service", "Queues"]  # what needs attention comes first


def test_a_carrier_without_recent_requests_shows_its_last_answer(
    session: Session, operator: Browser
) -> None:
    at = utcnow() - timedelta(hours=2)
    answered = CarrierBehaviour(at, CarrierKind.SIMULATOR, Observed.ANSWERED)
    carrier_health.record(session, {answered: BehaviourCount(1, at, "")})
    session.commit()
    page = operator.get(PAGE).text
    assert states(operator)["The simulated carrier"] == "No recent requests"
    assert f"Last answer on {long_datetime(at)}." in page


def test_a_replaced_worker_is_not_listed_and_a_silent_one_needs_attention(
    session: Session, operator: Browser
) -> None:
    long_ago = utcnow() - timedelta(hours=1)
    for name in ("killed", "restarted"):
        workers.announce(session, name)
    killed = session.get_one(WorkerHeartbeat, "killed")
    killed.beat_at = killed.started_at = long_ago
    session.commit()
    assert states(operator)["Calling service"] == "Online"
    assert operator.get(PAGE).text.count("process ") == 1
    killed.hostname = "another-host"
    session.commit()
    assert states(operator)["Calling service"] == "No answer"
    page = operator.get(PAGE).text
    assert "1 worker gives no answer." in page
    assert "Everything works" not in page
    assert page.count("process ") == 2


def test_queues_that_no_worker_serves_are_named(session: Session, operator: Browser) -> None:
    workers.announce(session, "one", [name for name in job_queue.QUEUES if name != "exports"])
    session.commit()
    assert states(operator)["Queues"] == "No worker"
    assert "No worker does this work: exports. Start a worker for it." in operator.get(PAGE).text
    workers.announce(session, "two", ["exports"])
    session.commit()
    assert states(operator)["Queues"] == "On time"


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_rows_without_a_month_need_attention(session: Session, operator: Browser) -> None:
    assert "Monthly tables" not in states(operator)
    session.add(Mail(id=UUID(int=2**128 - 1), kind="x"))
    session.commit()
    assert states(operator)["Monthly tables"] == "Needs attention"
    assert "Rows of these tables fit no month: mails." in operator.get(PAGE).text


def test_storage_shows_each_file_system_that_doctor_checks(
    app: Flask,
    database: Database,
    settings: Settings,
    operator: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(disk_space, "LOW_FREE_BYTES", 0)
    monkeypatch.setattr(disk_space, "MIN_FREE_BYTES", 0)
    with small_disk(tmp_path / "disk", megabytes=96) as disk:
        if disk is None:
            pytest.skip("only root can mount a disk")
        changes = {"backup_dir": disk.folder / "daily", "backup_public_key": "age1x"}
        install_extensions(app, settings.model_copy(update=changes), database)
        page = operator.get(PAGE).text
        assert f"{settings.instance_dir.resolve()}: " in page
        assert re.search(rf"{disk.folder}: [\d.]+\sMB of [\d.]+\sMB free\.", page)
        seen = [states(operator)["Storage"]]
        monkeypatch.setattr(disk_space, "LOW_FREE_BYTES", 200 * MB)
        seen.append(states(operator)["Storage"])
        monkeypatch.setattr(disk_space, "MIN_FREE_BYTES", 200 * MB)
        seen.append(states(operator)["Storage"])
    assert seen == ["Enough space", "Little space", "Almost full"]


def test_storage_says_where_few_files_fit(
    operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "MIN_FREE_FILES", 10**15)
    assert states(operator)["Storage"] == "Almost full"
    assert re.search(r": only [\d,]+ more files\.", operator.get(PAGE).text)


def test_daily_backups_show_their_state(
    app: Flask, session: Session, database: Database, settings: Settings, operator: Browser
) -> None:
    assert states(operator)["Backups"] == "Not needed"
    changes = {"backup_dir": settings.instance_dir / "backups", "backup_public_key": "age1x"}
    install_extensions(app, settings.model_copy(update=changes), database)
    seen = [states(operator)["Backups"]]
    day = utcnow() - timedelta(hours=27)
    for started_at, problem in ((day, None), (utcnow(), "The disk is full."), (utcnow(), None)):
        backup_id = records.begin(session, started_at)
        if problem:
            records.fail(session, backup_id, problem)
        else:
            records.succeed(session, backup_id, "/backups/one", 10, is_verified=True)
            session.get_one(Backup, backup_id).finished_at = started_at
        session.commit()
        seen.append(states(operator)["Backups"])
    assert seen == ["Overdue", "Overdue", "Failed", "Works"]


def test_backups_that_are_off_need_attention_in_production(
    app: Flask, database: Database, settings: Settings, operator: Browser
) -> None:
    attention = {}
    for env in ("development", "production"):
        install_extensions(app, settings.model_copy(update={"env": env}), database)
        page = operator.get(PAGE).text
        row = page.partition(">Backups</span>")[2].partition("</tr>")[0]
        attention[env] = "badge-warning" in row
        assert "see “Backups” in the operations guide" in row
    assert attention == {"development": False, "production": True}


def test_the_overview_names_the_parts_that_need_attention_and_unsent_emails(
    app: Flask, database: Database, settings: Settings, operator: Browser
) -> None:
    assert "Kept in the outbox" in words(operator.get("/"))
    install_extensions(app, settings.model_copy(update={"env": "production"}), database)
    page = words(operator.get("/"))
    assert "Not sent: no mail server" in page
    named = re.findall(r'list-row-title">([^:<]+): ', operator.get("/").text)
    assert "Emails" in named
    listed = words(operator.get(PAGE)).partition("Details ")[2]
    assert listed.startswith(named[0])  # problems come first


def test_suspending_a_partner_says_how_many_it_hits(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    make_call(session, tenant.organization, "+12025550143", status=CallStatus.QUEUED)
    session.commit()
    page = operator.get(f"/partners/{tenant.partner.id}/suspend").text
    assert re.findall(r"<li>([^<]+)</li>", page)[:3] == [
        "2 organizations can’t place calls.",
        "1 waiting call is cancelled when it is due.",
        "5 users are signed out immediately and can’t sign in.",
    ]
    assert f'<a href="/operator/partners/{tenant.partner.id}">{tenant.partner.name}</a>' in page


def test_more_users_of_a_partner_than_are_counted_are_shown_with_a_plus(
    tenant: Tenant, operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partner_views, "MAX_COUNTED", 4)
    assert "Users 4+ " in words(operator.get(f"/operator/partners/{tenant.partner.id}"))
    page = words(operator.get(f"/partners/{tenant.partner.id}/suspend"))
    assert "4+ users are signed out immediately" in page


def test_the_figures_of_a_partner_link_to_lists_of_the_counted_rows(
    tenant: Tenant, other_tenant: Tenant, operator: Browser
) -> None:
    page = operator.get(f"/operator/partners/{tenant.partner.id}").text
    lists = re.findall(
        rf'href="(/(?:organizations|users)\?partner={tenant.partner.id}[^"]*)"', page
    )
    assert len(lists) == 2
    shown = [words(operator.get(unescape(path))) for path in lists]
    for each in shown:
        assert f"of {tenant.partner.name}." in each
        assert other_tenant.organization.name not in each
    assert tenant.organization.name in shown[0]
    assert tenant.user.email in shown[1]
    assert "2 matches" in shown[0]
    assert "5 matches" in shown[1]


def test_the_page_of_a_partner_counts_the_rows_behind_its_links(
    tenant: Tenant, operator: Browser
) -> None:
    answer = operator.get(f"/operator/partners/{tenant.partner.id}")
    assert f'/p/{tenant.partner.slug}/sign-in"' in answer.text
    page = words(answer)
    for shown in (
        "Users 5 2 in organizations",
        "Storage 0 B of",
        "Calls 0 failed calls in 24 hours Spending $0.00, no limit",
        "Call destinations Each organization’s own country",
    ):
        assert shown in page


def test_an_administrator_is_invited_again_or_viewed_from_the_page_of_the_partner(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    path = f"/operator/partners/{tenant.partner.id}"
    page = operator.get(path).text
    assert f'href="/users/{admin.id}/view-as?from_partner=1"' in page
    zones = page.split('<div class="zone">')[1:]
    [danger] = [zone for zone in zones if "btn-quiet-danger" in zone]
    assert "Edit domain" not in danger
    session.get_one(User, admin.id).status = UserStatus.INVITED
    session.commit()
    assert f'action="/users/{admin.id}/resend"' in operator.get(path).text


def test_no_invitation_is_sent_again_while_the_partner_is_suspended(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    session.get_one(User, admin.id).status = UserStatus.INVITED
    partners.suspend(session, OPERATOR, tenant.partner.id)
    session.commit()
    user = f"/users/{admin.id}"
    for page in (f"/operator/partners/{tenant.partner.id}", user):
        assert "Resend invitation" not in operator.get(page).text
    assert operator.post(f"{user}/resend", page=user).location == user
    refusal = "Northwind is suspended. Reactivate it first. Nothing was changed."
    assert refusal in operator.get(user).text
    assert session.scalars(select(Mail)).all() == []


def test_the_page_of_a_suspended_partner_begins_with_its_suspension_and_the_way_back(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    path, reactivate = (
        f"/operator/partners/{tenant.partner.id}",
        f"/partners/{tenant.partner.id}/reactivate",
    )
    assert f'action="{reactivate}"' not in operator.get(path).text
    partners.suspend(session, OPERATOR, tenant.partner.id)
    session.commit()
    head, _, rest = operator.get(path).text.partition('<dl class="stats">')
    assert "Suspended since " in head
    assert f'action="{reactivate}"' in head
    administrators = rest.partition('id="administrators"')[2].partition("</section>")[0]
    assert "Can’t sign in" in administrators
    assert "Active</span>" not in administrators


def test_every_queue_has_a_name() -> None:
    assert set(QUEUE_LABELS) == set(job_queue.QUEUES)


def test_work_that_waits_is_counted_by_queue_and_shown_as_late(
    session: Session, operator: Browser
) -> None:
    empty = {name: QueueDepth(name, 0, 0, None) for name in job_queue.QUEUES}
    assert {depth.name: depth for depth in job_queue.depths(session)} == empty
    since = utcnow().replace(microsecond=0) - timedelta(minutes=6)
    job_queue.enqueue_mail(session, UUID(int=1), 0, 0)
    job_queue.enqueue_mail(session, UUID(int=2), 0, 60)  # its time has not come
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    table = "workflow_status" if is_sqlite else "dbos.workflow_status"
    older = text(f"UPDATE {table} SET created_at = :at")
    session.execute(older, {"at": int(since.timestamp() * 1000)})
    session.commit()
    late = empty | {"mail": QueueDepth("mail", 1, 0, since)}
    assert {depth.name: depth for depth in job_queue.depths(session)} == late
    page = operator.get(PAGE).text
    assert states(operator)["Queues"] == "Delayed"
    queues = page.partition("<h2>Queues</h2>")[2].partition("</section>")[0]
    assert re.findall(r'<span class="name">([^<]+)<', queues) == ["Emails"]


def test_queues_without_work_are_not_listed(operator: Browser) -> None:
    page = operator.get(PAGE).text
    assert "Installation</h1>" in page
    assert "<h2>Queues</h2>" not in page


def test_the_page_of_the_installation_asks_no_more_queries_for_more_partners(
    session: Session, database: Database, operator: Browser
) -> None:
    make_tenant(session, "Northwind")
    session.commit()
    operator.get(PAGE)
    with counted(database.engine) as one:
        operator.get(PAGE)
    make_tenant(session, "Southgate")
    session.commit()
    with counted(database.engine) as two:
        operator.get(PAGE)
    assert len(one) == len(two) <= 22


def engine_table(session: Session) -> str:
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    return "workflow_status" if is_sqlite else "dbos.workflow_status"


def test_jobs_that_failed_for_good_are_counted_and_listed(
    session: Session, operator: Browser
) -> None:
    assert states(operator)["Failed jobs"] == "None"
    for number in (1, 2, 3):
        job_queue.enqueue_mail(session, UUID(int=number), 0, 0)
    ended = text(
        f"UPDATE {engine_table(session)} SET status = :status, error = :error, "
        "created_at = created_at - :ago WHERE workflow_uuid = :id"
    )
    failure = ValueError("No answer for ada@x.example.\nMore.")
    stored = b64encode(pickle.dumps(failure)).decode()  # as the engine stores errors
    week = int(timedelta(days=7, minutes=1).total_seconds() * 1000)
    for number, status, error, ago in (
        (1, "ERROR", stored, 0),
        (2, "MAX_RECOVERY_ATTEMPTS_EXCEEDED", None, 60_000),
        (3, "ERROR", stored, week),
    ):
        values = {"status": status, "error": error, "ago": ago}
        session.execute(ended, values | {"id": f"mail:{UUID(int=number)}:0"})
    session.commit()
    page = operator.get(PAGE).text
    assert states(operator)["Failed jobs"] == "Failures"
    assert "2 jobs failed in the last 7 days and aren’t tried again." in page
    listed = page.partition('id="failed-jobs"')[2].partition("</section>")[0]
    assert re.findall(r'<td class="wrap phone-below">([^<]+)</td>', listed) == [
        "ValueError: No answer for [email].",
        "The job was interrupted too often and given up.",
    ]


def fail_all_jobs(session: Session) -> None:
    session.execute(text(f"UPDATE {engine_table(session)} SET status = 'ERROR'"))
    session.commit()


def test_a_failed_job_is_tried_again_after_a_confirmation(
    session: Session, operator: Browser
) -> None:
    job_queue.enqueue_webhook(session, UUID(int=1), UUID(int=2), 1, 0)
    job = f"webhook:{UUID(int=2)}:1"
    fail_all_jobs(session)
    url = f"{PAGE}/jobs/{job}/retry"
    assert f'href="{url}"' in operator.get(PAGE).text
    confirmation = words(operator.get(url))
    assert "Try the job “send_webhook” again?" in confirmation
    assert "it arrives a second time" in confirmation
    assert operator.post(url, page=url).location == PAGE
    page = operator.get(PAGE).text
    assert "The job is queued again." in page
    assert states(operator)["Failed jobs"] == "None"
    columns = "workflow_uuid, status, queue_name, queue_partition_key"
    query = f"SELECT {columns} FROM {engine_table(session)}"
    assert sorted(map(tuple, session.execute(text(query)))) == [
        (job, "ERROR", "webhooks", str(UUID(int=1))),
        (f"{job}:again", "ENQUEUED", "webhooks", str(UUID(int=1))),
    ]
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "job.run_again")).one()
    assert (entry.target, entry.target_id) == ("send_webhook", job)
    assert operator.post(url, page=url).location == PAGE
    assert "There is no such failed job." in operator.get(PAGE).text
    fail_all_jobs(session)
    assert f"{PAGE}/jobs/{job}:again/retry" in operator.get(PAGE).text


def test_a_failed_call_is_never_placed_again_from_here(session: Session, operator: Browser) -> None:
    attempt = UUID(int=2)
    job_queue.enqueue_call(
        session, call_id=UUID(int=1), attempt_id=attempt, organization_id=UUID(int=3), live=True
    )
    fail_all_jobs(session)
    page = operator.get(PAGE).text
    assert "Try again…" not in page
    assert "Calls can’t be tried again here, so that none is placed twice." in page
    url = f"{PAGE}/jobs/{attempt}/retry"
    assert operator.get(url).location == PAGE
    assert operator.post(url, page=PAGE).location == PAGE
    assert "This job can’t be tried again here." in operator.get(PAGE).text
    query = text(f"SELECT count(*) FROM {engine_table(session)}")
    assert session.scalar(query) == 1


@pytest.mark.parametrize("job", ["x", "%00", "webhook:1%00", "é" * 200])
def test_a_job_that_does_not_exist_is_named_on_the_page(operator: Browser, job: str) -> None:
    url = f"{PAGE}/jobs/{job}/retry"
    assert operator.get(url).location == PAGE
    assert operator.post(url, page=PAGE).location == PAGE
    assert "There is no such failed job." in operator.get(PAGE).text


def test_jobs_that_can_be_tried_again_exist_and_place_no_calls() -> None:
    known = {workflow.__name__: workflow.__module__ for workflow in WORKFLOWS}
    assert set(known) >= REPEATABLE
    modules = {known[name] for name in REPEATABLE}
    assert not modules & {
        f"app.jobs.{name}" for name in ("place_call", "silent_calls", "waiting_calls")
    }


def test_the_overview_links_to_the_problems_of_the_installation(
    session: Session, operator: Browser
) -> None:
    job_queue.enqueue_mail(session, UUID(int=1), 0, 0)
    session.commit()
    tiles = re.findall(
        r'stat-figure"><a href="([^"]+)" aria-label="([^"]+)"', operator.get("/").text
    )
    assert tiles == [
        (f"{PAGE}#workers", "Workers online: 0"),
        (PAGE, "Longest wait: 0 min"),
        (f"{PAGE}#failed-jobs", "Failed jobs: 0"),
        ("/outbox", "Emails, 24 h: 0"),
    ]


def test_lists_say_that_the_partner_of_a_record_is_suspended(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    phone_numbers.assign(session, OPERATOR, tenant.plus.id, ["+12025550123"])
    [assistant] = assistants.of_organization(session, OPERATOR, tenant.plus.id)
    assistant.phone_number = "+12025550123"
    assistant.active = assistant.phone_enabled = assistant.phone_configured = True
    partners.suspend(session, OPERATOR, tenant.partner.id)
    session.commit()
    suspended = f"The partner {tenant.partner.name} is suspended."
    of_assistant = f"/assistants/{assistant.id}"
    for path in ("/numbers", "/assistants?readiness=not-ready", of_assistant):
        assert suspended in words(operator.get(path)), path
    user_page, organization_page = (
        f"/users/{tenant.plus_user.id}",
        f"/organizations/{tenant.plus.id}",
    )
    lists = ("/users", "/organizations", "/numbers/assign")
    for path in (*lists, user_page, organization_page):
        assert "Partner suspended" in words(operator.get(path)), path
