"""The calling service on screens: offline as soon as its workers are silent, and what waits."""

from collections.abc import Callable
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus, Role
from app.models import User, WorkerHeartbeat, utcnow
from app.services import workers
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call

SignedIn = Callable[[User], Browser]
OFFLINE = "Calling service is offline"


@pytest.fixture
def heartbeat(session: Session) -> WorkerHeartbeat:
    workers.announce(session, "worker-1")
    session.commit()
    return session.get_one(WorkerHeartbeat, "worker-1")


def test_a_silent_worker_is_shown_with_what_waits(
    session: Session,
    tenant: Tenant,
    heartbeat: WorkerHeartbeat,
    signed_in: SignedIn,
    operator: Browser,
) -> None:
    call = make_call(
        session, tenant.organization, "+12025550101", utcnow(), status=CallStatus.QUEUED
    )
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    member = signed_in(tenant.user)
    of_call = (f"/calls/{call.id}", f"/calls/{call.id}/live", f"/test-call?call={call.id}")
    screens = [
        *((admin, path) for path in ("/", "/carriers", *of_call)),
        *((member, path) for path in ("/", *of_call)),
        (operator, "/carriers"),
    ]

    def shown() -> set[bool]:
        return {OFFLINE in browser.get(path).text for browser, path in screens}

    assert shown() == {False}
    heartbeat.beat_at = utcnow() - timedelta(seconds=7)
    session.commit()
    assert shown() == {True}
    line = unescape(admin.get("/carriers").text)
    assert "1 call is waiting. Uploads, emails and webhooks wait too. Nothing is lost." in line
    assert "The carrier works" not in line
    assert "The call is placed when the service is back." in admin.get(of_call[1]).text
    assert workers.record_heartbeat(session, "worker-1")
    session.commit()
    assert shown() == {False}


def test_a_stopping_worker_is_offline_at_once_and_no_problem_if_nothing_waits(
    session: Session, tenant: Tenant, heartbeat: WorkerHeartbeat, signed_in: SignedIn
) -> None:
    workers.remove(session, heartbeat.executor_id)
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert OFFLINE in admin.get("/carriers").text
    assert OFFLINE not in admin.get("/").text


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_the_age_of_a_heartbeat_is_that_of_the_database(
    session: Session,
    tenant: Tenant,
    heartbeat: WorkerHeartbeat,
    signed_in: SignedIn,
    clock: SetClock,
) -> None:
    clock.pass_by(minutes=1)
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = admin.get("/carriers").text
    assert "Carrier status</h1>" in page
    assert OFFLINE not in page


def test_a_test_call_shows_the_state_of_the_service_in_one_place(
    session: Session, tenant: Tenant, heartbeat: WorkerHeartbeat, signed_in: SignedIn
) -> None:
    call = make_call(session, tenant.plus, "+12025550101", utcnow(), status=CallStatus.QUEUED)
    heartbeat.beat_at = utcnow() - timedelta(seconds=7)
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    form, placed = (admin.get(f"/test-call{call}").text for call in ("", f"?call={call.id}"))
    assert [shown.count("Calling service is") for shown in (form, placed)] == [1, 1]


def test_the_carrier_status_counts_calls_that_are_scheduled_for_later(
    session: Session, tenant: Tenant, heartbeat: WorkerHeartbeat, signed_in: SignedIn
) -> None:
    at = utcnow()
    make_call(session, tenant.organization, "+12025550101", at, status=CallStatus.SCHEDULED)
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    alone = admin.get("/carriers").text
    make_call(session, tenant.organization, "+12025550102", at, status=CallStatus.QUEUED)
    session.commit()
    both = admin.get("/carriers").text
    assert "1 call is scheduled." in alone
    assert "No calls are waiting." not in alone
    assert "1 call is waiting. 1 call is scheduled." in both
