"""The request to the carrier if an assistant's number changes after a call was accepted."""

from collections.abc import Callable
from uuid import UUID

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import CallSource, CarrierKind
from app.models import Assistant, CallAttempt
from app.services import phone_numbers
from tests.fixtures.tenants import OPERATOR
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import (
    CallingOrganization,
    create_calling_organization,
    outcome,
    read_call,
)

pytestmark = pytest.mark.xdist_group("twilio")
SOURCES = (CallSource.API, CallSource.LEGACY, CallSource.TEST)


def number_of(session: Session, calling_organization: CallingOrganization) -> str:
    return session.get_one(Assistant, calling_organization.assistant_id).phone_number or ""


def move_away(
    session: Session, calling_organization: CallingOrganization, other: CallingOrganization
) -> None:
    phone_numbers.move(
        session, OPERATOR, number_of(session, calling_organization), other.organization_id
    )


def release(
    session: Session, calling_organization: CallingOrganization, other: CallingOrganization
) -> None:
    phone_numbers.release(session, OPERATOR, number_of(session, calling_organization))


def take_the_others(
    session: Session, calling_organization: CallingOrganization, other: CallingOrganization
) -> None:
    """Past every service, as a broken one would."""
    assistant = Assistant.id == calling_organization.assistant_id
    theirs = number_of(session, other)
    session.execute(update(Assistant).where(assistant).values(phone_number=theirs))


@pytest.mark.parametrize("lose", [move_away, release, take_the_others])
def test_no_call_leaves_with_a_number_of_another_tenant(
    twilio_worker: TwilioWorker,
    lose: Callable[[Session, CallingOrganization, CallingOrganization], None],
) -> None:
    calling_organization, other = (
        create_calling_organization(twilio_worker.database),
        create_calling_organization(twilio_worker.database),
    )
    theirs, lost = twilio_worker.number(), [twilio_worker.number() for _ in SOURCES]
    with twilio_worker.database.transaction() as session:
        begun = [
            calling_organization.accept(
                session, number, carrier=CarrierKind.TWILIO, source=source
            ).id
            for number, source in zip(lost, SOURCES, strict=True)
        ]
        begun.append(other.accept(session, theirs, carrier=CarrierKind.TWILIO).id)
        own = number_of(session, other)
        lose(session, calling_organization, other)
    ended = [outcome(twilio_worker.database, call_id)[:2] for call_id in begun]
    assert ended == [("canceled", "agent_inactive")] * 3 + [("completed", "completed")]
    assert read_call(twilio_worker.database, begun[0]).status_detail == (
        "The assistant's number isn't assigned to its organization."
    )
    placed = [twilio_worker.carrier.calls_to(number) for number in (*lost, theirs)]
    assert [[call.form["From"] for call in calls] for calls in placed] == [[], [], [], [[own]]]
    assert attempts_of(twilio_worker, begun[-1]) == [(own, None)]


@pytest.mark.parametrize(("reported", "kept"), [("A", "A"), ("B", "B"), ("U", None), ("", None)])
def test_the_attestation_of_the_carrier_is_kept_with_the_attempt(
    twilio_worker: TwilioWorker, reported: str, kept: str | None
) -> None:
    calling_organization, number = (
        create_calling_organization(twilio_worker.database),
        twilio_worker.number(attestation=reported),
    )
    call_id = twilio_worker.dial(number, calling_organization)
    assert outcome(twilio_worker.database, call_id)[:2] == ("completed", "completed")
    [(_own, attestation)] = attempts_of(twilio_worker, call_id)
    assert attestation == kept


def attempts_of(twilio_worker: TwilioWorker, call_id: UUID) -> list[tuple[str | None, str | None]]:
    query = select(CallAttempt.from_number, CallAttempt.attestation)
    with twilio_worker.database.transaction(read_only=True) as session:
        rows = session.execute(query.where(CallAttempt.call_id == call_id))
        return [(number, attestation) for number, attestation in rows]
