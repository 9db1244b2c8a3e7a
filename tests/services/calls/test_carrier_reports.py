"""A carrier's report overrides what was guessed from its list of calls."""

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind
from app.errors import Forbidden
from app.gateways.carriers.base import CarrierReport, PlacementVerdict
from app.models import CallAttempt, new_id
from app.services.calls import attempts, carrier_reports, claims
from tests.fixtures.worker import CallingOrganization

NUMBER = "+12125550101"


def attempt_at(session: Session, calling_organization: CallingOrganization) -> CallAttempt:
    """An attempt that the carrier has just been asked for."""
    call = calling_organization.accept(session, NUMBER, carrier=CarrierKind.TWILIO)
    attempt_id = new_id()
    claims.next_step(session, call.id, attempt_id, calls_at_once=20)
    return session.get_one(CallAttempt, attempt_id)


def guess(session: Session, attempt: CallAttempt, reference: str) -> None:
    attempts.record_no_answer(session, attempt.id)
    found = CarrierReport(PlacementVerdict.PLACED, reference, is_guessed=True)
    carrier_reports.apply(session, attempt.id, found)


def report(session: Session, attempt: CallAttempt, reference: str) -> bool:
    state = CarrierReport(PlacementVerdict.PLACED, reference)
    return carrier_reports.accept_report(session, CarrierKind.TWILIO, attempt.id, state)


def references_of(session: Session, *attempts: CallAttempt) -> list[tuple[str | None, bool]]:
    session.flush()
    return [(attempt.carrier_reference, attempt.is_guessed) for attempt in attempts]


def test_one_report_corrects_two_swapped_guesses(
    session: Session, calling_organization: CallingOrganization
) -> None:
    first, second = (
        attempt_at(session, calling_organization),
        attempt_at(session, calling_organization),
    )
    guess(session, first, "CA2")
    guess(session, second, "CA1")
    assert report(session, first, "CA1")
    assert references_of(session, first, second) == [("CA1", False), ("CA2", True)]
    assert report(session, second, "CA2")
    assert references_of(session, first, second) == [("CA1", False), ("CA2", False)]


def test_a_call_guessed_for_another_attempt_moves_to_its_own(
    session: Session, calling_organization: CallingOrganization
) -> None:
    asked, guessing = (
        attempt_at(session, calling_organization),
        attempt_at(session, calling_organization),
    )
    guess(session, guessing, "CA1")
    assert report(session, asked, "CA1")
    assert [one[0] for one in references_of(session, asked, guessing)] == ["CA1", None]


def test_the_answer_to_the_request_counts_for_more_than_a_guess(
    session: Session, calling_organization: CallingOrganization
) -> None:
    attempt = attempt_at(session, calling_organization)
    guess(session, attempt, "CA2")
    attempts.record_placed(session, attempt.id, "CA1")
    session.refresh(attempt)
    assert references_of(session, attempt) == [("CA1", False)]


@pytest.mark.parametrize("is_over", [False, True])
def test_a_certain_or_ended_assignment_is_kept(
    session: Session, calling_organization: CallingOrganization, is_over: bool
) -> None:
    sure, guessing = (
        attempt_at(session, calling_organization),
        attempt_at(session, calling_organization),
    )
    guess(session, guessing, "CA2")
    if is_over:
        guess(session, sure, "CA1")
        sure.status = CallStatus.COMPLETED
    else:
        attempts.record_placed(session, sure.id, "CA1")
    session.flush()
    with pytest.raises(Forbidden, match="another attempt"):
        report(session, guessing, "CA1")
    session.refresh(sure)
    assert references_of(session, sure, guessing) == [("CA1", is_over), ("CA2", True)]
