"""Cancelling: answered from what is stored, without asking the carrier."""

from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason
from app.errors import Conflict
from app.gateways.carriers.base import (
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.models import Call, CallAttempt, Organization, new_id, utcnow
from app.policy.caller import system_caller
from app.services import calls, carrier_accounts
from app.services.calls import carrier_reports, claims
from app.services.calls.cancel import CANCELLING
from app.services.calls.carrier_reports import NOT_ENDED
from app.services.carrier_accounts import AccountFields
from tests.fixtures.clock import set_clock
from tests.fixtures.settings import settings_for
from tests.fixtures.worker import CallingOrganization, make_calling_organization

NUMBER = "+12125550101"
KEYS = settings_for("sqlite://", Path()).secret_keys
RINGING = CarrierReport(
    PlacementVerdict.PLACED, "CA1", (CarrierEvent(CarrierEventKind.RINGING, utcnow()),)
)


def active_call(session: Session, calling_organization: CallingOrganization) -> tuple[Call, UUID]:
    """A call that rings, with its attempt."""
    call = calling_organization.accept(session, NUMBER, carrier=CarrierKind.TWILIO)
    attempt_id = new_id()
    claims.next_step(session, call.id, attempt_id, calls_at_once=20)
    carrier_reports.apply(session, attempt_id, RINGING)
    return call, attempt_id


def account_status(call: Call) -> tuple[CallStatus, EndedReason | None, str | None, bool]:
    return call.status, call.ended_reason, call.status_detail, call.cancel_requested_at is not None


def history(session: Session, call: Call) -> list[tuple[str, str | None]]:
    return [(each.kind, each.detail) for each in calls.timeline(session, call)]


def test_a_waiting_call_is_cancelled_before_the_answer(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    call = calling_organization.accept(session, NUMBER)
    canceled = (CallStatus.CANCELED, EndedReason.CANCELED, None, True)
    for _ in range(2):
        assert (
            account_status(calls.cancel(session, calling_organization.key, call.id, KEYS))
            == canceled
        )


def test_a_call_in_progress_will_be_ended_and_says_so(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    call, _ = active_call(session, calling_organization)
    promised = (CallStatus.RINGING, None, CANCELLING, True)
    for _ in range(2):
        assert (
            account_status(calls.cancel(session, calling_organization.key, call.id, KEYS))
            == promised
        )
    assert history(session, call)[-1:] == [("cancel-asked", None)]


def test_a_call_that_the_carrier_did_not_end_goes_on_and_says_so(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    call, attempt_id = active_call(session, calling_organization)
    calls.cancel(session, calling_organization.key, call.id, KEYS)
    assert carrier_reports.start_hang_up(session, attempt_id)
    carrier_reports.record_nothing_to_hang_up(session, attempt_id, RINGING)
    session.flush()
    assert account_status(call) == (CallStatus.RINGING, None, NOT_ENDED, False)
    assert history(session, call)[-1:] == [("cancel-refused", NOT_ENDED)]
    calls.cancel(session, calling_organization.key, call.id, KEYS)
    assert account_status(call) == (CallStatus.RINGING, None, CANCELLING, True)


def test_the_timeline_is_in_order_where_the_workers_clock_is_behind(
    session: Session,
) -> None:
    calling_organization = make_calling_organization(session)
    with set_clock() as clock:
        call, attempt_id = active_call(session, calling_organization)
        calls.cancel(session, calling_organization.key, call.id, KEYS)
        clock.pass_by(seconds=-20)
        carrier_reports.start_hang_up(session, attempt_id)
        carrier_reports.record_nothing_to_hang_up(session, attempt_id, RINGING)
        session.flush()
        reported = [("cancel-asked", None), ("cancel-refused", NOT_ENDED)]
        assert history(session, call)[-2:] == reported
        calls.cancel(session, calling_organization.key, call.id, KEYS)
        clock.pass_by(seconds=-20)
        ended = CarrierEvent(CarrierEventKind.ENDED, utcnow(), reason=EndedReason.CANCELED)
        carrier_reports.apply(
            session, attempt_id, CarrierReport(PlacementVerdict.PLACED, "CA1", (ended,))
        )
    kinds = [kind for kind, _ in history(session, call)]
    assert (kinds[0], kinds[-1]) == ("accepted", "ended")


@pytest.mark.parametrize(
    ("retry_times", "expected"),
    [
        (0, (CallStatus.BUSY, EndedReason.BUSY, None, False)),
        (2, (CallStatus.CANCELED, EndedReason.CANCELED, None, True)),
    ],
)
def test_a_call_that_ended_by_itself_first_is_not_ended_again(
    session: Session,
    retry_times: int,
    expected: tuple[CallStatus, EndedReason | None, str | None, bool],
) -> None:
    calling_organization = make_calling_organization(session, retry_times=retry_times)
    call, attempt_id = active_call(session, calling_organization)
    calls.cancel(session, calling_organization.key, call.id, KEYS)
    busy = CarrierEvent(CarrierEventKind.ENDED, utcnow(), reason=EndedReason.BUSY)
    carrier_reports.apply(
        session, attempt_id, CarrierReport(PlacementVerdict.PLACED, "CA1", (busy,))
    )
    assert account_status(call) == expected
    attempt = session.get_one(CallAttempt, attempt_id)
    assert (attempt.status, attempt.ended_reason) == (CallStatus.BUSY, EndedReason.BUSY)


def test_a_call_over_an_undecryptable_account_continues(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    account = carrier_accounts.save(
        session,
        system_caller("colleague", calling_organization.partner_id),
        KEYS,
        AccountFields("2a" * 16, sid="AC" + "1a" * 16),
        organization=session.get_one(Organization, calling_organization.organization_id),
    )
    call, attempt_id = active_call(session, calling_organization)
    session.get_one(CallAttempt, attempt_id).account_id = account.id
    with pytest.raises(Conflict) as refusal:
        calls.cancel(session, calling_organization.key, call.id, ("another key",))
    assert refusal.value.code == "cancel_refused"
    assert account_status(call) == (CallStatus.RINGING, None, None, False)
    calls.cancel(session, calling_organization.key, call.id, KEYS)
    assert account_status(call) == (CallStatus.RINGING, None, CANCELLING, True)
