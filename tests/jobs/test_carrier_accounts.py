"""Calls over partners' own accounts: whose they are, and how they are followed and reported."""

from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from app.enums import CarrierKind
from app.models import CarrierAccount, CarrierAccountTest, Organization
from app.policy.caller import Caller, system_caller
from app.services import calls, carrier_accounts
from app.services.carrier_accounts import AccountFields
from tests.fixtures.carrier_accounts import put_in_use
from tests.fixtures.faulty_carrier import ACCOUNT, TOKEN, Placed, post, sign
from tests.fixtures.settings import settings_for
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import (
    CallingOrganization,
    create_calling_organization,
    outcome,
    read_call,
    wait_until,
)

pytestmark = pytest.mark.xdist_group("twilio")
KEYS = settings_for("sqlite://", Path()).secret_keys
RENEWED = "7e" * 16


def bring(
    twilio_worker: TwilioWorker,
    calling_organization: CallingOrganization,
    *,
    own: bool,
    sid: str | None = None,
) -> str:
    """An account of the organization's ``own``, or of its partner; returns its SID."""
    sid = sid or f"AC{uuid4().hex}"
    twilio_worker.carrier.accounts[sid] = uuid4().hex
    caller: Caller = system_caller("colleague", calling_organization.partner_id)
    with twilio_worker.database.transaction() as session:
        organization = (
            session.get_one(Organization, calling_organization.organization_id) if own else None
        )
        put_in_use(
            session,
            caller,
            KEYS,
            AccountFields(twilio_worker.carrier.accounts[sid], sid=sid),
            organization=organization,
        )
    return sid


def placed(twilio_worker: TwilioWorker, number: str) -> Placed:
    wait_until(lambda: twilio_worker.carrier.calls_to(number))
    [found] = twilio_worker.carrier.calls_to(number)
    return found


def test_a_live_call_goes_out_over_the_nearest_account(twilio_worker: TwilioWorker) -> None:
    calling_organization = create_calling_organization(twilio_worker.database)
    numbers = [twilio_worker.number() for _ in range(3)]
    assert (
        outcome(twilio_worker.database, twilio_worker.dial(numbers[0], calling_organization))[0]
        == "completed"
    )
    of_partner = bring(twilio_worker, calling_organization, own=False)
    assert (
        outcome(twilio_worker.database, twilio_worker.dial(numbers[1], calling_organization))[0]
        == "completed"
    )
    of_organization = bring(twilio_worker, calling_organization, own=True)
    assert (
        outcome(twilio_worker.database, twilio_worker.dial(numbers[2], calling_organization))[0]
        == "completed"
    )
    found = [placed(twilio_worker, number) for number in numbers]
    assert [each.account for each in found] == [ACCOUNT, of_partner, of_organization]
    wait_until(lambda: all(each.answers == [204, 204, 204, 200, 204] for each in found))

    tried = twilio_worker.number()
    call_id = calling_organization.dial(twilio_worker.database, tried, live=False)
    assert outcome(twilio_worker.database, call_id)[0] == "completed"
    assert twilio_worker.carrier.calls_to(tried) == []


def test_a_call_keeps_its_account_after_another_one_replaced_it(
    twilio_worker: TwilioWorker,
) -> None:
    calling_organization = create_calling_organization(twilio_worker.database)
    first = bring(twilio_worker, calling_organization, own=True)
    number = twilio_worker.number(outcome="long", callbacks="lost")
    call_id = twilio_worker.dial(number, calling_organization)
    wait_until(lambda: read_call(twilio_worker.database, call_id).status.value == "in-progress")
    second = bring(twilio_worker, calling_organization, own=True)
    call = placed(twilio_worker, number)
    url = call.form["StatusCallback"][0]

    def reported(account: str, token: str) -> int:
        form = {"AccountSid": account, "CallSid": call.sid, "CallStatus": "completed"}
        return post(url, form, sign(url, form, token))[0]

    assert reported(ACCOUNT, TOKEN) == 403
    assert reported(second, twilio_worker.carrier.accounts[second]) == 403
    with twilio_worker.database.transaction() as session:
        assert (
            calls.cancel(session, calling_organization.key, call_id, KEYS).status.value
            == "in-progress"
        )
    assert outcome(twilio_worker.database, call_id)[:2] == ("canceled", "canceled")
    assert reported(first, twilio_worker.carrier.accounts[first]) == 204
    other = twilio_worker.number()
    outcome(twilio_worker.database, twilio_worker.dial(other, calling_organization))
    assert placed(twilio_worker, other).account == second


def test_a_new_token_is_used_at_once_and_a_wrong_one_ends_the_call_with_a_sentence(
    twilio_worker: TwilioWorker,
) -> None:
    calling_organization = create_calling_organization(twilio_worker.database)
    sid = bring(twilio_worker, calling_organization, own=True)
    assert (
        outcome(
            twilio_worker.database, twilio_worker.dial(twilio_worker.number(), calling_organization)
        )[0]
        == "completed"
    )
    twilio_worker.carrier.accounts[sid] = RENEWED
    call_id = twilio_worker.dial(twilio_worker.number(), calling_organization)
    assert outcome(twilio_worker.database, call_id)[:2] == ("failed", "carrier_error")
    assert "Authenticate" in str(read_call(twilio_worker.database, call_id).status_detail)
    caller = system_caller("colleague", calling_organization.partner_id)
    with twilio_worker.database.transaction() as session:
        organization = session.get_one(Organization, calling_organization.organization_id)
        put_in_use(
            session, caller, KEYS, AccountFields(RENEWED, sid=sid), organization=organization
        )
    assert (
        outcome(
            twilio_worker.database, twilio_worker.dial(twilio_worker.number(), calling_organization)
        )[0]
        == "completed"
    )


def test_a_waiting_call_goes_out_over_the_account_then_in_use(twilio_worker: TwilioWorker) -> None:
    calling_organization = create_calling_organization(twilio_worker.database, max_calls_at_once=1)
    bring(twilio_worker, calling_organization, own=True)
    first, second = twilio_worker.number(outcome="long"), twilio_worker.number()
    active_call = twilio_worker.dial(first, calling_organization)
    wait_until(lambda: twilio_worker.carrier.calls_to(first))
    waits = twilio_worker.dial(second, calling_organization)
    newer = bring(twilio_worker, calling_organization, own=True)
    with twilio_worker.database.transaction() as session:
        calls.cancel(session, calling_organization.key, active_call, KEYS)
    assert outcome(twilio_worker.database, waits)[0] == "completed"
    assert placed(twilio_worker, second).account == newer


def account_of(twilio_worker: TwilioWorker, call_id: UUID) -> UUID | None:
    with twilio_worker.database.transaction(read_only=True) as session:
        [attempt] = calls.attempts_of(session, [call_id])[call_id]
        return attempt.account_id


def test_call_and_attempt_remember_the_account(twilio_worker: TwilioWorker) -> None:
    calling_organization = create_calling_organization(twilio_worker.database)
    bring(twilio_worker, calling_organization, own=False)
    with twilio_worker.database.transaction() as session:
        call_id = calling_organization.accept(session, twilio_worker.number()).id
    outcome(twilio_worker.database, call_id)
    call = read_call(twilio_worker.database, call_id)
    with twilio_worker.database.transaction(read_only=True) as session:
        account = session.get_one(CarrierAccount, call.account_id)
    assert (call.carrier, account.owner_id) == (CarrierKind.TWILIO, calling_organization.partner_id)
    assert account_of(twilio_worker, call_id) == account.id


def test_the_worker_tests_an_account_and_keeps_what_it_found(twilio_worker: TwilioWorker) -> None:
    calling_organization = create_calling_organization(twilio_worker.database)
    sid = bring(twilio_worker, calling_organization, own=False)
    caller = system_caller("colleague", calling_organization.partner_id)

    def ask() -> UUID:
        with twilio_worker.database.transaction() as session:
            account = session.scalars(select(CarrierAccount).where(CarrierAccount.sid == sid)).one()
            return carrier_accounts.ask_for_test(session, caller, account.id).id

    def ended(account_id: UUID) -> tuple[bool | None, str] | None:
        with twilio_worker.database.transaction(read_only=True) as session:
            test = session.get_one(CarrierAccountTest, account_id)
            return (test.works, test.message) if test.checked_at else None

    account_id = ask()
    wait_until(lambda: ended(account_id))
    twilio_worker.carrier.accounts[sid] = "another"
    ask()
    wait_until(lambda: ended(account_id))
    refused = "Twilio does not accept this token for this SID. Compare both with the console; "
    assert ended(account_id) == (False, f"{refused}the token may have been renewed there.")
