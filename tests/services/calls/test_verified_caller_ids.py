"""A number that an organization wants to call from, confirmed by a call with a code."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from uuid import UUID

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import CallStatus, CarrierKind, NumberSource, VerificationPurpose
from app.errors import Conflict, DomainError, Forbidden, ValidationFailed
from app.models import (
    Assistant,
    AuditEntry,
    Call,
    CarrierAccount,
    PhoneNumber,
    VerifiedNumber,
    new_id,
    utcnow,
)
from app.policy import Permission
from app.policy.caller import Caller
from app.services import calls, phone_numbers, verified_numbers
from app.services.calls.verification import NO_ASSISTANT
from app.services.verified_numbers import CodeOutcome, CodeResult
from app.services.verified_numbers.codes import code_of
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import OPERATOR
from tests.fixtures.worker import (
    CallingOrganization,
    create_calling_organization,
    make_calling_organization,
)

NUMBER = "+12125551000"
KEYS = (SECRET_KEY,)
CALLS = frozenset({Permission.CALLS_READ, Permission.CALLS_CREATE})


def editor(calling_organization: CallingOrganization) -> Caller:
    return replace(calling_organization.key, permissions=CALLS | {Permission.ORGANIZATIONS_WRITE})


def request(
    session: Session,
    calling_organization: CallingOrganization,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
) -> VerifiedNumber:
    return calls.request_verification(
        session,
        editor(calling_organization),
        calling_organization.organization_id,
        NUMBER,
        purpose=VerificationPurpose.CALLER_ID,
        carrier=carrier,
    )


def enter(
    session: Session,
    calling_organization: CallingOrganization,
    number: VerifiedNumber,
    change: int = 0,
) -> CodeResult:
    """Enter the right code, or one that differs from it."""
    code = f"{(int(code_of(number.call_id, SECRET_KEY)) + change) % 10**6:06}"
    return verified_numbers.confirm(
        session,
        editor(calling_organization),
        calling_organization.organization_id,
        number.id,
        code,
        KEYS,
    )


def refusal(
    session: Session,
    calling_organization: CallingOrganization,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
) -> str:
    with pytest.raises(DomainError) as error, session.begin_nested():
        request(session, calling_organization, carrier)
    return error.value.code


def stored(session: Session) -> Sequence[tuple[UUID | None, NumberSource, bool]]:
    row = session.scalars(select(PhoneNumber).where(PhoneNumber.number == NUMBER)).one_or_none()
    return [(row.organization_id, row.source, row.confirmed_at is not None)] if row else []


def owned(
    calling_organization: CallingOrganization,
) -> Sequence[tuple[UUID | None, NumberSource, bool]]:
    return [(calling_organization.organization_id, NumberSource.VERIFICATION_CALL, True)]


def hold(session: Session, calling_organization: CallingOrganization, source: NumberSource) -> None:
    confirmed_at = None if source is NumberSource.SIMULATED else utcnow()
    session.add(
        PhoneNumber(
            number=NUMBER,
            partner_id=calling_organization.partner_id,
            organization_id=calling_organization.organization_id,
            source=source,
            confirmed_at=confirmed_at,
            confirmed_by="tests",
        )
    )
    session.flush()


def test_the_right_code_confirms_the_number_and_a_wrong_one_counts(
    session: Session, calling_organization: CallingOrganization
) -> None:
    number = request(session, calling_organization)
    assert enter(session, calling_organization, number, change=1) == CodeResult(
        CodeOutcome.WRONG, 4
    )
    assert stored(session) == []
    assert enter(session, calling_organization, number) == CodeResult(CodeOutcome.VERIFIED)
    assert stored(session) == owned(calling_organization)
    assert enter(session, calling_organization, number) == CodeResult(CodeOutcome.ENDED)
    actions = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert list(actions) == [
        "call.scheduled",
        "verified_number.called",
        "verified_number.verified",
        "phone_number.assigned",
    ]


def test_a_verified_number_is_a_caller_id_of_own_sip_accounts_only(
    session: Session, calling_organization: CallingOrganization
) -> None:
    enter(session, calling_organization, request(session, calling_organization))
    session.execute(
        update(Assistant)
        .where(Assistant.id == calling_organization.assistant_id)
        .values(phone_number=NUMBER)
    )
    session.expire_all()
    for carrier in (CarrierKind.TWILIO, CarrierKind.SIP):
        with pytest.raises(Conflict, match="counts only for calls over a carrier account"):
            calling_organization.accept(session, carrier=carrier)
    session.add(
        CarrierAccount(
            id=new_id(),
            partner_id=calling_organization.partner_id,
            owner_id=calling_organization.partner_id,
            carrier=CarrierKind.SIP,
            secret="",
            created_by="tests",
        )
    )
    session.flush()
    call = calling_organization.accept(session, carrier=CarrierKind.TWILIO)
    assert (call.status, call.carrier) == (CallStatus.QUEUED, CarrierKind.SIP)


def test_another_tenants_number_is_refused_once_the_code_is_right(
    session: Session, calling_organization: CallingOrganization
) -> None:
    other = make_calling_organization(session)
    phone_numbers.assign(session, OPERATOR, other.organization_id, [NUMBER])
    number = request(session, calling_organization)
    assert enter(session, calling_organization, number, change=1) == CodeResult(
        CodeOutcome.WRONG, 4
    )
    with pytest.raises(ValidationFailed) as error, session.begin_nested():
        enter(session, calling_organization, number)
    [problem] = error.value.problems
    assert (problem.code, problem.message) == ("number_not_assigned", phone_numbers.NOT_ASSIGNED)
    assert stored(session) == [(other.organization_id, NumberSource.ASSIGNED, True)]
    session.refresh(number)
    assert number.verified_at is None


def test_a_number_that_another_tenant_only_simulated_gives_way(
    session: Session, calling_organization: CallingOrganization
) -> None:
    hold(session, make_calling_organization(session), NumberSource.SIMULATED)
    enter(session, calling_organization, request(session, calling_organization))
    assert stored(session) == owned(calling_organization)


@pytest.mark.parametrize("source", [NumberSource.ASSIGNED, NumberSource.VERIFICATION_CALL])
def test_a_number_that_is_already_confirmed_for_the_organization_is_not_called(
    session: Session, calling_organization: CallingOrganization, source: NumberSource
) -> None:
    hold(session, calling_organization, source)
    assert refusal(session, calling_organization) == "already_verified"


@pytest.mark.parametrize("source", [NumberSource.CARRIER_LIST, NumberSource.SIMULATED])
def test_a_listed_or_simulated_number_is_confirmed_for_every_account(
    session: Session, calling_organization: CallingOrganization, source: NumberSource
) -> None:
    hold(session, calling_organization, source)
    enter(session, calling_organization, request(session, calling_organization))
    assert stored(session) == owned(calling_organization)


def test_without_a_confirmed_number_to_call_from_the_refusal_says_what_to_do(
    session: Session, calling_organization: CallingOrganization
) -> None:
    session.execute(
        update(PhoneNumber).values(source=NumberSource.SIMULATED, confirmed_at=None),
        execution_options={"synchronize_session": False},
    )
    session.expire_all()
    with pytest.raises(Conflict) as error, session.begin_nested():
        request(session, calling_organization, CarrierKind.TWILIO)
    assert (error.value.code, error.value.message) == ("agent_phone_not_ready", NO_ASSISTANT)
    session.execute(update(Assistant).values(phone_configured=False))
    assert refusal(session, calling_organization) == "agent_phone_not_ready"


def test_the_call_comes_from_an_assistant_with_a_confirmed_number(
    session: Session, calling_organization: CallingOrganization
) -> None:
    first = session.get_one(Assistant, calling_organization.assistant_id)
    second = Assistant(
        partner_id=calling_organization.partner_id,
        organization_id=calling_organization.organization_id,
        name="Bo",
        phone_number="+12025560777",
        phone_enabled=True,
        phone_configured=True,
    )
    session.add(second)
    session.flush()
    assert first.phone_number is not None
    phone_numbers.release(session, OPERATOR, first.phone_number)
    number = request(session, calling_organization, CarrierKind.TWILIO)
    assert session.get_one(Call, number.call_id).assistant_id == second.id


def test_removing_the_verified_entry_keeps_the_number(
    session: Session, calling_organization: CallingOrganization
) -> None:
    number = request(session, calling_organization)
    enter(session, calling_organization, number)
    verified_numbers.remove(
        session, editor(calling_organization), calling_organization.organization_id, number.id
    )
    assert stored(session) == owned(calling_organization)
    assert refusal(session, calling_organization) == "already_verified"


def test_a_number_that_was_released_can_be_verified_again(
    session: Session, calling_organization: CallingOrganization
) -> None:
    enter(session, calling_organization, request(session, calling_organization))
    phone_numbers.release(session, OPERATOR, NUMBER)
    again = request(session, calling_organization)
    assert again.verified_at is None
    enter(session, calling_organization, again)
    assert stored(session) == owned(calling_organization)


def test_verifying_a_caller_id_needs_the_permission_to_change_the_organization(
    session: Session, calling_organization: CallingOrganization
) -> None:
    number = request(session, calling_organization)
    member = replace(calling_organization.key, permissions=CALLS)
    own = session, member, calling_organization.organization_id
    with pytest.raises(Forbidden):
        calls.request_verification(*own, NUMBER, purpose=VerificationPurpose.CALLER_ID)
    with pytest.raises(Forbidden):
        verified_numbers.confirm(*own, number.id, "123456", KEYS)
    with pytest.raises(Forbidden):
        verified_numbers.remove(*own, number.id)
    assert number.wrong_codes == 0


def test_of_two_organizations_that_enter_their_codes_at_once_one_gets_the_number(
    fresh_database: Database,
) -> None:
    lines = [create_calling_organization(fresh_database) for _ in range(2)]
    with fresh_database.transaction() as session:
        numbers = [request(session, calling_organization) for calling_organization in lines]
    together = Barrier(2)

    def answer(calling_organization: CallingOrganization, number: VerifiedNumber) -> str:
        together.wait()
        try:
            with fresh_database.transaction() as session:
                return str(enter(session, calling_organization, number).outcome)
        except DomainError as error:
            return error.code

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(answer, lines, numbers))
    assert sorted(answers) == ["number_not_assigned", "verified"]
    with fresh_database.transaction(read_only=True) as session:
        assert stored(session) == owned(lines[answers.index("verified")])
        verified = select(VerifiedNumber.organization_id).where(
            VerifiedNumber.verified_at.is_not(None)
        )
        winner = lines[answers.index("verified")].organization_id
        assert session.scalars(verified).all() == [winner]
