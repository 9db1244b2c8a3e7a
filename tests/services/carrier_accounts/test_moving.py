"""Calls that wait while their account gives way to one of another kind."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CarrierKind, Observed
from app.gateways.carriers.sip.account import Trunk
from app.models import Assistant, Call, CallAttempt, CarrierAccount, new_id, utcnow
from app.policy.caller import Caller, system_caller
from app.services import calls
from app.services.calls import attempts, claims
from app.services.calls.claims import ClaimKind
from app.services.carrier_accounts import AccountFields
from app.services.pauses import carrier_health
from app.services.pauses.carrier_health import BehaviourCount, CarrierBehaviour
from tests.fixtures.carrier_accounts import put_in_use
from tests.fixtures.settings import settings_for
from tests.fixtures.worker import CallingOrganization

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
KEYS = settings_for("sqlite://", Path()).secret_keys
NUMBER = "+12125551234"
TWILIO = AccountFields("2a" * 16, sid="AC" + "1a" * 16)
TRUNK = AccountFields("right", trunk=Trunk("sip.example.com", user="portal"))


@pytest.fixture
def caller(calling_organization: CallingOrganization) -> Caller:
    return system_caller("colleague", calling_organization.partner_id)


def bring(session: Session, caller: Caller, wanted: AccountFields) -> CarrierAccount:
    return put_in_use(session, caller, KEYS, wanted, organization=None)


def accepted(session: Session, calling_organization: CallingOrganization) -> Call:
    return calling_organization.accept(session, NUMBER)


def claimed(session: Session, call: Call) -> tuple[claims.CallClaim, CallAttempt]:
    attempt_id = new_id()
    claim = claims.next_step(session, call.id, attempt_id, calls_at_once=5)
    return claim, session.get_one(CallAttempt, attempt_id)


def test_a_call_that_waits_moves_to_the_carrier_of_the_new_account(
    session: Session, calling_organization: CallingOrganization, caller: Caller
) -> None:
    bring(session, caller, TWILIO)
    call = accepted(session, calling_organization)
    assert call.carrier is CarrierKind.TWILIO
    trunk = bring(session, caller, TRUNK)
    claim, attempt = claimed(session, call)
    assert (claim.kind, claim.carrier) == (ClaimKind.DIAL, CarrierKind.SIP)
    assert claim.placement is not None
    assert claim.placement.account_id == call.account_id == attempt.account_id == trunk.id
    assert call.carrier is attempt.carrier is CarrierKind.SIP


def test_an_outage_of_the_installations_trunk_does_not_affect_that_of_a_partner(
    session: Session, calling_organization: CallingOrganization, caller: Caller
) -> None:
    now = utcnow()
    silent = CarrierBehaviour(
        now.replace(second=0, microsecond=0), CarrierKind.SIP, Observed.SILENT
    )
    carrier_health.record(session, {silent: BehaviourCount(2, now, "no answer")})
    assistant, texts = (
        session.get_one(Assistant, calling_organization.assistant_id),
        calls.CallTexts(),
    )
    sip = CallSettings(CarrierKind.SIP)

    def warned() -> bool:
        found = calls.preflight(
            session, calling_organization.key, assistant, NUMBER, texts, installation=sip
        )
        return any(check.code == "carrier_takes_calls" for check in found)

    assert warned()
    bring(session, caller, TRUNK)
    assert not warned()


def test_a_delayed_attempt_moves_to_the_carrier_of_the_new_account(
    session: Session, calling_organization: CallingOrganization, caller: Caller
) -> None:
    bring(session, caller, TRUNK)
    _, attempt = claimed(session, accepted(session, calling_organization))
    attempts.record_carrier_retry(session, attempt.id, 60.0, "The trunk could not be reached.")
    account = bring(session, caller, TWILIO)
    assert claims.claim_retry(session, attempt.id).carrier is CarrierKind.SIP
    assert attempt.carrier_retry_at is not None
    attempt.carrier_retry_at -= timedelta(seconds=61)
    claim = claims.claim_retry(session, attempt.id)
    assert (claim.kind, claim.carrier) == (ClaimKind.DIAL, CarrierKind.TWILIO)
    assert claim.placement is not None
    assert claim.placement.account_id == attempt.account_id == account.id
    assert attempt.carrier is CarrierKind.TWILIO
