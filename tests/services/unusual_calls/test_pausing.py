"""Unusual calls pause one organization, its users are notified, and a partner admin resumes it."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import CallSource, CallStatus, CarrierKind, Role, WebhookEvent
from app.errors import Forbidden, NotFound
from app.models import (
    Assistant,
    AuditEntry,
    CallAttempt,
    CallHour,
    Mail,
    WebhookDelivery,
    new_id,
    utcnow,
)
from app.services import pauses, spending, unusual_calls, webhooks
from app.services.calls import claims, waiting
from app.services.calls.claims import ClaimKind
from app.services.spending import LimitSubject, SpendingLimits
from app.services.unusual_calls import UnusualCallRules
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant
from tests.fixtures.worker import (
    CallingOrganization,
    make_calling_organization,
    postponed_attempt,
)

RULES = UnusualCallRules(first_hour=3)


def dialed(
    session: Session,
    calling_organization: CallingOrganization,
    count: int,
    number: str = "+12025550101",
    source: CallSource = CallSource.API,
) -> None:
    """Attempts at a live call that began now."""
    call = calling_organization.accept(session, number, source=source)
    for place in range(count):
        session.add(
            CallAttempt(
                organization_id=calling_organization.organization_id,
                call_id=call.id,
                number=place + 1,
                carrier=CarrierKind.SIMULATOR,
                status=CallStatus.BUSY,
                started_at=utcnow(),
            )
        )
    session.flush()


def dialed_before(
    session: Session, calling_organization: CallingOrganization, region: str, calls: int
) -> None:
    """Calls of an hour of yesterday."""
    hour = utcnow().replace(minute=0, second=0, microsecond=0) - timedelta(days=1)
    session.add(
        CallHour(
            organization_id=calling_organization.organization_id,
            partner_id=calling_organization.partner_id,
            hour=hour,
            region=region,
            calls=calls,
        )
    )
    session.flush()


def test_a_call_that_was_postponed_for_a_week_is_counted(session: Session, clock: SetClock) -> None:
    call = make_calling_organization(session).accept(session)
    attempt_id = postponed_attempt(session, call, clock, days=7)
    claims.next_step(session, call.id, attempt_id, calls_at_once=20)
    unusual_calls.check(session, RULES, clock.now)
    assert session.scalars(select(CallHour.calls)).all() == [1]


def test_hours_of_the_day_are_those_of_the_assistants(session: Session, clock: SetClock) -> None:
    """Calls at 14:00 in New York, before and after its clocks change on 1 November."""
    calling_organization = make_calling_organization(session)
    session.get_one(Assistant, calling_organization.assistant_id).timezone = "America/New_York"
    clock.set("2026-10-22T18:10")
    for _day in range(7):
        dialed_before(session, calling_organization, "US", 40)
        clock.pass_by(days=1)
    clock.set("2026-11-05T19:10")
    dialed(session, calling_organization, 30)
    assert unusual_calls.check(session, RULES, utcnow()) == []


@pytest.mark.usefixtures("clock")
def test_simulated_test_calls_are_never_unusual(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    dialed(session, calling_organization, 30, source=CallSource.TEST)
    assert unusual_calls.check(session, RULES, utcnow()) == []


@pytest.mark.usefixtures("clock")
def test_webhooks_of_the_organization_receive_the_pause(
    session: Session, settings: Settings
) -> None:
    calling_organization, quiet = (
        make_calling_organization(session),
        make_calling_organization(session),
    )
    for each in (calling_organization, quiet):
        webhooks.add(
            session,
            OPERATOR,
            settings,
            organization_id=each.organization_id,
            url="https://crm.example/hooks",
            events=[WebhookEvent.CALLING_PAUSED.value],
        )
    dialed_before(session, calling_organization, "CA", 40)
    dialed(session, calling_organization, 12)
    unusual_calls.check(session, RULES, utcnow())
    (payload,) = session.scalars(select(WebhookDelivery.payload)).all()
    why = "Unusual calls: 12 calls in an hour to the United States, which was not called before."
    assert (json.loads(payload)["type"], json.loads(payload)["data"]) == (
        "calling.paused",
        {"organizationId": str(calling_organization.organization_id), "reason": why},
    )


@pytest.mark.usefixtures("clock")
def test_an_organization_with_unusual_calls_is_paused_and_no_other(session: Session) -> None:
    calling_organization, quiet = (
        make_calling_organization(session),
        make_calling_organization(session),
    )
    for each in (calling_organization, quiet):
        dialed_before(session, each, "CA", 40)
        dialed(session, each, 12 if each is calling_organization else 9)
    waits, dials = calling_organization.accept(session, "+12025550102"), quiet.accept(session)
    assert unusual_calls.check(session, RULES, utcnow()) == [calling_organization.organization_id]
    assert unusual_calls.check(session, RULES, utcnow()) == []
    kinds = [
        claims.next_step(session, call.id, new_id(), calls_at_once=99).kind
        for call in (waits, dials)
    ]
    assert kinds == [ClaimKind.DONE, ClaimKind.DIAL]
    why = (
        "Calling is paused: Unusual calls: 12 calls in an hour to the United States, "
        "which was not called before."
    )
    assert (waits.status, waits.status_detail) == (CallStatus.QUEUED, why)
    assert not waiting.any_to_release(session)
    entry = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None
    assert (entry.action, entry.actor, entry.organization_id) == (
        "dialling.paused",
        "Unusual calls",
        calling_organization.organization_id,
    )


@pytest.mark.usefixtures("clock")
def test_calls_are_counted_once_by_region_however_often_it_is_done(session: Session) -> None:
    calling_organization = make_calling_organization(session, allowed_regions=["US", "CA"])
    dialed(session, calling_organization, 2)
    dialed(session, calling_organization, 3, "+16135550123")
    for _time in range(2):
        unusual_calls.check(session, RULES, utcnow())
    found = session.execute(select(CallHour.region, CallHour.calls).order_by(CallHour.region))
    assert [tuple(row) for row in found] == [("CA", 3), ("US", 2)]


def pause_mails(session: Session) -> list[tuple[str, object]]:
    found = session.scalars(select(Mail).where(Mail.kind == "calling_paused"))
    return sorted((str(mail.user_id), mail.details["mayResume"]) for mail in found)


def make_unusual(session: Session, tenant: Tenant) -> None:
    """Far more calls this hour than in the hour before."""
    hour = utcnow().replace(minute=0, second=0, microsecond=0)
    for when, calls in ((hour - timedelta(hours=24), 5), (hour, 60)):
        session.add(
            CallHour(
                organization_id=tenant.organization.id,
                partner_id=tenant.partner.id,
                hour=when,
                region="US",
                calls=calls,
            )
        )
    session.flush()


@pytest.mark.usefixtures("clock")
def test_partner_admins_and_members_get_a_mail(session: Session) -> None:
    tenant = make_tenant(session)
    make_unusual(session, tenant)
    assert unusual_calls.check(session, RULES, utcnow()) == [tenant.organization.id]
    admin = tenant.staff[Role.PARTNER_ADMIN]
    assert pause_mails(session) == sorted([(str(admin.id), True), (str(tenant.user.id), False)])


def test_a_resumed_organization_is_left_alone_for_a_day(session: Session, clock: SetClock) -> None:
    clock.set("2026-10-15T12:00")
    tenant = make_tenant(session)
    make_unusual(session, tenant)
    unusual_calls.check(session, RULES, utcnow())
    admin = tenant.caller(Role.PARTNER_ADMIN)
    assert unusual_calls.resume(session, admin, tenant.organization.id) is True
    assert unusual_calls.resume(session, admin, tenant.organization.id) is False
    assert pauses.of_organizations(session, admin) == []
    assert unusual_calls.check(session, RULES, utcnow()) == []
    clock.pass_by(hours=24)
    make_more = CallHour(
        organization_id=tenant.organization.id,
        partner_id=tenant.partner.id,
        hour=utcnow(),
        region="US",
        calls=200,
    )
    session.add(make_more)
    session.flush()
    assert unusual_calls.check(session, RULES, utcnow()) == [tenant.organization.id]


@pytest.mark.usefixtures("clock")
def test_an_exempt_organization_is_not_paused(session: Session) -> None:
    tenant = make_tenant(session)
    make_unusual(session, tenant)
    subject = LimitSubject(organization_id=tenant.organization.id)
    spending.change(session, OPERATOR, subject, SpendingLimits(is_watched=False))
    assert unusual_calls.check(session, RULES, utcnow()) == []


def test_other_roles_and_partners_resume_nothing(session: Session) -> None:
    tenant, other_tenant = make_tenant(session), make_tenant(session, "Southwind")
    for role in (Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD):
        with pytest.raises(Forbidden):
            unusual_calls.resume(session, tenant.caller(role), tenant.organization.id)
    with pytest.raises(NotFound):
        unusual_calls.resume(
            session, other_tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id
        )
