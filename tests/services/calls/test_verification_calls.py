"""Verification calls: who may have them, what they say, and which codes verify a number."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import time
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.config.trial import TrialLimits
from app.database import Database
from app.enums import CallSource, CallStatus, CarrierKind, EndedReason, VerificationPurpose
from app.errors import Conflict, DomainError, Forbidden, NotFound, ValidationFailed
from app.models import (
    Assistant,
    AuditEntry,
    Call,
    CallEvent,
    Conversation,
    Organization,
    VerifiedNumber,
    new_id,
    utcnow,
)
from app.policy import Permission
from app.policy.caller import Caller
from app.services import calls, do_not_call, verified_numbers
from app.services.calls import claims, lifecycle
from app.services.verified_numbers import CodeOutcome, CodeResult
from app.services.verified_numbers.codes import code_of
from tests.fixtures.clock import SetClock
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import OPERATOR, open_destinations
from tests.fixtures.trial import add_verified, shows, start_trial
from tests.fixtures.worker import (
    CallingOrganization,
    create_calling_organization,
    make_calling_organization,
)

NUMBER = "+12125551000"
KEYS = (SECRET_KEY,)
CODE = re.compile(r"(?:\d, ){5}\d")


def member(calling_organization: CallingOrganization) -> Caller:
    permissions = frozenset({Permission.CALLS_READ, Permission.CALLS_CREATE})
    return replace(calling_organization.key, permissions=permissions)


@pytest.fixture
def calling_organization(session: Session) -> CallingOrganization:
    made = make_calling_organization(session)
    start_trial(session, made.organization_id)
    return made


def request(
    session: Session, calling_organization: CallingOrganization, number: str = NUMBER, **how: Any
) -> tuple[VerifiedNumber, Call]:
    made = calls.request_verification(
        session, member(calling_organization), calling_organization.organization_id, number, **how
    )
    return made, session.get_one(Call, made.call_id)


def spoken_code(session: Session, call: Call) -> str:
    """The code that the carrier is asked to speak."""
    claim = claims.next_step(session, call.id, new_id(), calls_at_once=9, secret_keys=KEYS)
    assert claim.placement is not None
    first, again = CODE.findall(claim.placement.intro)
    assert first == again
    assert not CODE.search(claim.placement.voicemail)
    return str(first)


def enter(
    session: Session, calling_organization: CallingOrganization, number: VerifiedNumber, code: str
) -> CodeResult:
    return verified_numbers.confirm(
        session,
        member(calling_organization),
        calling_organization.organization_id,
        number.id,
        code,
        KEYS,
    )


def other_than(code: str) -> str:
    return f"{(int(code.replace(', ', '')) + 1) % 1_000_000:06}"


def refusal(
    session: Session, calling_organization: CallingOrganization, number: str = NUMBER, **how: Any
) -> str:
    with pytest.raises(DomainError) as error, session.begin_nested():
        request(session, calling_organization, number, **how)
    return error.value.code


def test_the_code_of_the_call_verifies_the_number(
    session: Session, calling_organization: CallingOrganization
) -> None:
    number, call = request(session, calling_organization, "(212) 555-1000")
    assert (call.source, call.phone_number, call.live) == (CallSource.VERIFICATION, NUMBER, True)
    code = spoken_code(session, call)
    asked = session, calling_organization.organization_id, [NUMBER], VerificationPurpose.CALL_TRIAL
    assert not verified_numbers.verified_among(*asked)
    assert enter(session, calling_organization, number, code) == CodeResult(CodeOutcome.VERIFIED)
    assert verified_numbers.verified_among(*asked) == {NUMBER}
    assert number.verified_by == "a live key"
    assert calling_organization.accept(session, NUMBER).status is CallStatus.QUEUED


def test_a_number_is_verified_for_one_purpose_and_one_organization(
    session: Session, calling_organization: CallingOrganization
) -> None:
    other = make_calling_organization(session)
    editor = replace(
        calling_organization.key,
        permissions=member(calling_organization).permissions | {Permission.ORGANIZATIONS_WRITE},
    )
    number = calls.request_verification(
        session,
        editor,
        calling_organization.organization_id,
        NUMBER,
        purpose=VerificationPurpose.CALLER_ID,
    )
    code = code_of(number.call_id, SECRET_KEY)
    entered = verified_numbers.confirm(
        session, editor, calling_organization.organization_id, number.id, code, KEYS
    )
    assert entered == CodeResult(CodeOutcome.VERIFIED)
    verified = {
        (organization_id, purpose): bool(
            verified_numbers.verified_among(session, organization_id, [NUMBER], purpose)
        )
        for organization_id in (calling_organization.organization_id, other.organization_id)
        for purpose in VerificationPurpose
    }
    assert verified == dict.fromkeys(verified, False) | {
        (calling_organization.organization_id, VerificationPurpose.CALLER_ID): True
    }


def test_a_code_is_used_once_and_ends_with_the_next_call(
    session: Session, calling_organization: CallingOrganization
) -> None:
    number, first = request(session, calling_organization)
    old = spoken_code(session, first)
    number, second = request(session, calling_organization)
    assert enter(session, calling_organization, number, old) == CodeResult(CodeOutcome.WRONG, 4)
    new = spoken_code(session, second)
    assert enter(session, calling_organization, number, new) == CodeResult(CodeOutcome.VERIFIED)
    assert enter(session, calling_organization, number, new) == CodeResult(CodeOutcome.ENDED)


def test_a_code_is_valid_for_ten_minutes(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    number, call = request(session, calling_organization)
    code = spoken_code(session, call)
    clock.pass_by(minutes=10)
    assert enter(session, calling_organization, number, code) == CodeResult(CodeOutcome.ENDED)


def test_five_wrong_codes_end_the_verification_even_for_the_right_code(
    session: Session, calling_organization: CallingOrganization
) -> None:
    number, call = request(session, calling_organization)
    code = spoken_code(session, call)
    answers = [enter(session, calling_organization, number, other_than(code)) for _ in range(5)]
    assert answers == [CodeResult(CodeOutcome.WRONG, left) for left in (4, 3, 2, 1)] + [
        CodeResult(CodeOutcome.ENDED)
    ]
    assert enter(session, calling_organization, number, code) == CodeResult(CodeOutcome.ENDED)
    last = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert last is not None
    assert (last.action, last.target) == ("verified_number.code_ended", NUMBER)


@pytest.mark.parametrize("typed", ["", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "12 34 5x"])
def test_input_that_is_no_code_is_not_counted(
    session: Session, calling_organization: CallingOrganization, typed: str
) -> None:
    number, _call = request(session, calling_organization)
    with pytest.raises(ValidationFailed, match="Enter the 6 digits"):
        enter(session, calling_organization, number, typed)
    assert number.wrong_codes == 0


def test_of_eight_wrong_codes_at_once_five_are_counted(fresh_database: Database) -> None:
    calling_organization = create_calling_organization(fresh_database)
    with fresh_database.transaction() as session:
        number, call = request(session, calling_organization)
        code = spoken_code(session, call)

    def guess(_: int) -> CodeResult:
        with fresh_database.transaction() as session:
            return enter(session, calling_organization, number, other_than(code))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(guess, range(8)))
    assert sorted(answer.attempts_left for answer in answers) == [0, 0, 0, 0, 1, 2, 3, 4]
    with fresh_database.transaction() as session:
        assert enter(session, calling_organization, number, code) == CodeResult(CodeOutcome.ENDED)
        assert session.get_one(VerifiedNumber, number.id).wrong_codes == 5


def test_of_eight_requests_at_once_the_limit_allows_only_some(
    fresh_database: Database,
) -> None:
    organizations = [create_calling_organization(fresh_database) for _ in range(8)]

    def ask(calling_organization: CallingOrganization) -> str | None:
        try:
            with fresh_database.transaction() as session:
                request(session, calling_organization)
        except DomainError as error:
            return error.code
        return None

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, organizations))
    assert sorted(answers, key=str) == [None] * 3 + ["too_many_calls"] * 5
    with fresh_database.transaction(read_only=True) as session:
        assert len(session.scalars(select(Call.id)).all()) == 3


def test_verification_calls_are_limited_per_number_organization_and_partner(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    limits = TrialLimits(
        verification_calls_per_number=2,
        verification_calls_per_organization=3,
        verification_calls_per_partner=4,
    )
    request(session, calling_organization, limits=limits)
    request(session, calling_organization, limits=limits)
    assert refusal(session, calling_organization, limits=limits) == "too_many_calls"
    assert refusal(session, make_calling_organization(session), limits=limits) == "too_many_calls"
    request(session, calling_organization, "+12125551001", limits=limits)
    assert refusal(session, calling_organization, "+12125551002", limits=limits) == "too_many_calls"
    more = limits._replace(verification_calls_per_organization=9)
    request(session, calling_organization, "+12125551002", limits=more)
    assert refusal(session, calling_organization, "+12125551003", limits=more) == "too_many_calls"
    clock.pass_by(days=1)
    request(session, calling_organization, limits=limits)


def test_an_organization_verifies_a_limited_number_of_numbers_and_each_once(
    session: Session, calling_organization: CallingOrganization
) -> None:
    limits = TrialLimits(numbers=2)
    add_verified(session, calling_organization, NUMBER)
    assert refusal(session, calling_organization, limits=limits) == "already_verified"
    pending, _call = request(session, calling_organization, "+12125551001", limits=limits)
    assert (
        refusal(session, calling_organization, "+12125551002", limits=limits) == "too_many_numbers"
    )
    verified_numbers.remove(
        session, member(calling_organization), calling_organization.organization_id, pending.id
    )
    request(session, calling_organization, "+12125551002", limits=limits)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("", "empty"),
        ("12", "too_short"),
        ("+19005550101", "number_not_allowed"),
        ("+447911123456", "number_not_allowed"),
        ("+447012345678", "number_not_allowed"),
        ("+12125551009", "do_not_contact"),
    ],
)
def test_verification_calls_keep_every_other_rule_for_numbers(
    session: Session, calling_organization: CallingOrganization, number: str, code: str
) -> None:
    do_not_call.add(session, OPERATOR, calling_organization.organization_id, "+12125551009")
    assert refusal(session, calling_organization, number) == code
    assert session.scalars(select(Call.id)).all() == []


def test_a_verification_call_is_refused_if_it_could_not_be_placed_now(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.calling_hours_on = True
    organization.calling_hours_start, organization.calling_hours_end = time(20), time(21)
    session.flush()
    assert refusal(session, calling_organization) == "outside_hours"
    organization.calling_hours_on = False
    session.execute(update(Assistant).values(active=False))
    assert refusal(session, calling_organization) == "agent_phone_not_ready"


def test_a_verification_call_that_missed_the_calling_hours_expires_with_its_code(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.calling_hours_on = True
    organization.calling_hours_start, organization.calling_hours_end = time(8), time(21)
    clock.set("2026-06-10T20:59:30-04:00")
    _, call = request(session, calling_organization)
    for hours in (0.1, 11):
        clock.pass_by(hours=hours)
        claims.next_step(session, call.id, new_id(), calls_at_once=9, secret_keys=KEYS)
    assert call.status is CallStatus.EXPIRED


def test_a_verification_call_needs_the_permission_to_call_and_the_own_organization(
    session: Session, calling_organization: CallingOrganization
) -> None:
    number, _call = request(session, calling_organization)
    other = make_calling_organization(session)
    stranger, reader = (
        member(other),
        replace(calling_organization.key, permissions=frozenset({Permission.CALLS_READ})),
    )
    for caller, error in ((stranger, NotFound), (reader, Forbidden)):
        own: tuple[Session, Caller, UUID] = session, caller, calling_organization.organization_id
        with pytest.raises(error):
            calls.request_verification(*own, NUMBER)
        with pytest.raises(error):
            verified_numbers.confirm(*own, number.id, "123456", KEYS)
        with pytest.raises(error):
            verified_numbers.remove(*own, number.id)
    with pytest.raises(NotFound):
        verified_numbers.listing(session, stranger, calling_organization.organization_id)
    with pytest.raises(NotFound):
        verified_numbers.get(session, stranger, other.organization_id, number.id)


def test_the_code_is_never_stored(
    session: Session, calling_organization: CallingOrganization
) -> None:
    number, call = request(session, calling_organization)
    code = spoken_code(session, call)
    enter(session, calling_organization, number, code)
    session.flush()
    tables = (Call, CallEvent, VerifiedNumber, AuditEntry)
    rows = [repr(row.__dict__) for table in tables for row in session.scalars(select(table))]
    assert [row for row in rows if shows(row, code.replace(", ", ""))] == []
    assert call.intro_message is not None
    assert "Your code is ••••••." in call.intro_message


def test_a_verification_call_is_not_handed_over_retried_or_counted(
    session: Session, calling_organization: CallingOrganization
) -> None:
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    assistant.voice_address = "sip:robin@voice.example"
    open_destinations(session, calling_organization.partner_id, hosts=["voice.example"])
    session.get_one(Organization, calling_organization.organization_id).retry_times = 3
    _number, call = request(session, calling_organization, carrier=CarrierKind.TWILIO)
    claim = claims.next_step(session, call.id, new_id(), calls_at_once=9, secret_keys=KEYS)
    assert claim.placement is not None
    [attempt] = calls.attempts_of(session, [call.id])[call.id]
    assert (claim.placement.hand_over_to, attempt.hand_over_to) == (None, None)
    attempt.answered_at = now = utcnow()
    lifecycle.end_attempt(session, call, attempt, CallStatus.BUSY, EndedReason.BUSY, at=now)
    assert call.status is CallStatus.BUSY
    assert session.scalars(select(Conversation.id)).all() == []


def test_scripts_see_no_verification_calls(
    session: Session, calling_organization: CallingOrganization
) -> None:
    _number, call = request(session, calling_organization)
    assert calls.page(session, calling_organization.key).calls == []
    with pytest.raises(NotFound):
        calls.get(session, calling_organization.key, call.id)


def test_only_the_code_of_a_simulated_call_can_be_read(
    session: Session, calling_organization: CallingOrganization
) -> None:
    _number, call = request(session, calling_organization)
    code = spoken_code(session, call).replace(", ", "")
    assert calls.simulated_code(session, OPERATOR, call.id, KEYS) == code
    other = make_calling_organization(session).accept(session, NUMBER)
    with pytest.raises(Conflict):
        calls.simulated_code(session, OPERATOR, other.id, KEYS)
