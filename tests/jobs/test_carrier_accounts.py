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
    call_now,
    create_calling_organization,
    outcome,
    until,
)

pytestmark = pytest.mark.xdist_group("house")
KEYS = settings_for("sqlite://", Path()).secret_keys
RENEWED = "7e" * 16


def bring(
    house: TwilioWorker,
    calling_organization: CallingOrganization,
    *,
    own: bool,
    sid: str | None = None,
) -> str:
    """An account of the organization's ``own``, or of its partner; returns its SID."""
    sid = sid or f"AC{uuid4().hex}"
    house.carrier.accounts[sid] = uuid4().hex
    caller: Caller = system_caller("colleague", calling_organization.partner_id)
    with house.database.transaction() as session:
        organization = (
            session.get_one(Organization, calling_organization.organization_id) if own else None
        )
        put_in_use(
            session,
            caller,
            KEYS,
            AccountFields(house.carrier.accounts[sid], sid=sid),
            organization=organization,
        )
    return sid


def placed(house: TwilioWorker, number: str) -> Placed:
    until(lambda: house.carrier.calls_to(number))
    [found] = house.carrier.calls_to(number)
    return found


def test_a_live_call_goes_out_over_the_nearest_account(house: TwilioWorker) -> None:
    calling_organization = create_calling_organization(house.database)
    numbers = [house.number() for _ in range(3)]
    assert outcome(house.database, house.dial(numbers[0], calling_organization))[0] == "completed"
    of_partner = bring(house, calling_organization, own=False)
    assert outcome(house.database, house.dial(numbers[1], calling_organization))[0] == "completed"
    of_organization = bring(house, calling_organization, own=True)
    assert outcome(house.database, house.dial(numbers[2], calling_organization))[0] == "completed"
    found = [placed(house, number) for number in numbers]
    assert [each.account for each in found] == [ACCOUNT, of_partner, of_organization]
    until(lambda: all(each.answers == [204, 204, 204, 200, 204] for each in found))

    tried = house.number()
    call_id = calling_organization.dial(house.database, tried, live=False)
    assert outcome(house.database, call_id)[0] == "completed"
    assert house.carrier.calls_to(tried) == []


def test_a_call_keeps_its_account_after_another_one_replaced_it(
    house: TwilioWorker,
) -> None:
    calling_organization = create_calling_organization(house.database)
    first = bring(house, calling_organization, own=True)
    number = house.number(outcome="long", callbacks="lost")
    call_id = house.dial(number, calling_organization)
    until(lambda: call_now(house.database, call_id).status.value == "in-progress")
    second = bring(house, calling_organization, own=True)
    call = placed(house, number)
    url = call.form["StatusCallback"][0]

    def told(account: str, token: str) -> int:
        form = {"AccountSid": account, "CallSid": call.sid, "CallStatus": "completed"}
        return post(url, form, sign(url, form, token))[0]

    assert told(ACCOUNT, TOKEN) == 403
    assert told(second, house.carrier.accounts[second]) == 403
    with house.database.transaction() as session:
        assert (
            calls.cancel(session, calling_organization.key, call_id, KEYS).status.value
            == "in-progress"
        )
    assert outcome(house.database, call_id)[:2] == ("canceled", "canceled")
    assert told(first, house.carrier.accounts[first]) == 204
    other = house.number()
    outcome(house.database, house.dial(other, calling_organization))
    assert placed(house, other).account == second


def test_a_new_token_is_used_at_once_and_a_wrong_one_ends_the_call_with_a_sentence(
    house: TwilioWorker,
) -> None:
    calling_organization = create_calling_organization(house.database)
    sid = bring(house, calling_organization, own=True)
    assert (
        outcome(house.database, house.dial(house.number(), calling_organization))[0] == "completed"
    )
    house.carrier.accounts[sid] = RENEWED
    call_id = house.dial(house.number(), calling_organization)
    assert outcome(house.database, call_id)[:2] == ("failed", "carrier_error")
    assert "Authenticate" in str(call_now(house.database, call_id).status_detail)
    caller = system_caller("colleague", calling_organization.partner_id)
    with house.database.transaction() as session:
        organization = session.get_one(Organization, calling_organization.organization_id)
        put_in_use(
            session, caller, KEYS, AccountFields(RENEWED, sid=sid), organization=organization
        )
    assert (
        outcome(house.database, house.dial(house.number(), calling_organization))[0] == "completed"
    )


def test_a_waiting_call_goes_out_over_the_account_then_in_use(house: TwilioWorker) -> None:
    calling_organization = create_calling_organization(house.database, max_calls_at_once=1)
    bring(house, calling_organization, own=True)
    first, second = house.number(outcome="long"), house.number()
    on_the_line = house.dial(first, calling_organization)
    until(lambda: house.carrier.calls_to(first))
    waits = house.dial(second, calling_organization)
    newer = bring(house, calling_organization, own=True)
    with house.database.transaction() as session:
        calls.cancel(session, calling_organization.key, on_the_line, KEYS)
    assert outcome(house.database, waits)[0] == "completed"
    assert placed(house, second).account == newer


def account_of(house: TwilioWorker, call_id: UUID) -> UUID | None:
    with house.database.transaction(read_only=True) as session:
        [attempt] = calls.attempts_of(session, [call_id])[call_id]
        return attempt.account_id


def test_call_and_attempt_remember_the_account(house: TwilioWorker) -> None:
    calling_organization = create_calling_organization(house.database)
    bring(house, calling_organization, own=False)
    with house.database.transaction() as session:
        call_id = calling_organization.accept(session, house.number()).id
    outcome(house.database, call_id)
    call = call_now(house.database, call_id)
    with house.database.transaction(read_only=True) as session:
        account = session.get_one(CarrierAccount, call.account_id)
    assert (call.carrier, account.owner_id) == (CarrierKind.TWILIO, calling_organization.partner_id)
    assert account_of(house, call_id) == account.id


def test_the_worker_tests_an_account_and_keeps_what_it_found(house: TwilioWorker) -> None:
    calling_organization = create_calling_organization(house.database)
    sid = bring(house, calling_organization, own=False)
    caller = system_caller("colleague", calling_organization.partner_id)

    def ask() -> UUID:
        with house.database.transaction() as session:
            account = session.scalars(select(CarrierAccount).where(CarrierAccount.sid == sid)).one()
            return carrier_accounts.ask_for_test(session, caller, account.id).id

    def ended(account_id: UUID) -> tuple[bool | None, str] | None:
        with house.database.transaction(read_only=True) as session:
            test = session.get_one(CarrierAccountTest, account_id)
            return (test.works, test.message) if test.ended_at else None

    account_id = ask()
    until(lambda: ended(account_id))
    house.carrier.accounts[sid] = "another"
    ask()
    until(lambda: ended(account_id))
    refused = "Twilio does not accept this token for this SID. Compare both with the console; "
    assert ended(account_id) == (False, f"{refused}the token may have been renewed there.")
