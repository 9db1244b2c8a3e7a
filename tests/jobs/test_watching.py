"""The worker's observations of a carrier with each kind of answer."""

from collections.abc import Callable
from uuid import UUID

import pytest
from sqlalchemy import select

from app.database import Database
from app.enums import CarrierKind, EndedReason, Observed
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    CarrierReport,
    NoCarrierAnswer,
    PlacementDelayed,
    PlacementRejected,
    PlacementVerdict,
)
from app.jobs.carrier_statistics import CarrierStatistics, CountedCarrier
from app.models import CarrierObservation, new_id, utcnow
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import outcome, wait_until

PLACEMENT = CallPlacement(new_id(), "+12125551000", "+12025550199", "Hello.", "Bye.")


class ScriptedCarrier:
    """A carrier whose responses a test sets."""

    kind = CarrierKind.TWILIO
    charges = True
    settle_seconds = 2.0
    silence_seconds = 3.0

    def __init__(self) -> None:
        self.problem: Exception | None = None

    def place(self, placement: CallPlacement) -> CarrierReport:  # noqa: ARG002 - the protocol's
        if self.problem:
            raise self.problem
        return CarrierReport(PlacementVerdict.PLACED, "CA1")

    def look_up(self, inquiry: AttemptInquiry) -> CarrierReport:
        return CarrierReport(PlacementVerdict.PLACED, str(inquiry.attempt_id))

    def hang_up(self, inquiry: AttemptInquiry) -> bool:  # noqa: ARG002 - the protocol's
        return True


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_each_result_of_a_carrier_is_counted_and_passed_on(fresh_database: Database) -> None:
    carrier, watch = ScriptedCarrier(), CarrierStatistics()
    watched = CountedCarrier(carrier, watch)
    inquiry = AttemptInquiry(UUID(int=7), "+12125551000", "+12025550199", utcnow())
    answers: list[Callable[[], object]] = [
        lambda: watched.place(PLACEMENT).reference,
        lambda: watched.look_up(inquiry).reference,
        lambda: watched.hang_up(inquiry),
    ]
    assert [ask() for ask in answers] == ["CA1", str(UUID(int=7)), True]
    problems = [
        PlacementRejected("No such number: +12125551000.", EndedReason.NUMBER_INVALID, "21211"),
        PlacementDelayed("The carrier asked to wait.", 7.0),
        PlacementDelayed("The carrier could not be reached.", 10.0, unreached=True),
        NoCarrierAnswer("status 503"),
        NoCarrierAnswer("status 503"),
    ]
    for carrier.problem in problems:
        with pytest.raises(type(carrier.problem)):
            watched.place(PLACEMENT)
    watch.write_down(fresh_database, immediately=True)
    watch.write_down(fresh_database, immediately=True)
    query = select(CarrierObservation).order_by(CarrierObservation.kind, CarrierObservation.minute)
    with fresh_database.transaction(read_only=True) as session:
        rows = session.scalars(query).all()
    found: dict[tuple[Observed, str, str], int] = {}
    for row in rows:
        key = (row.kind, row.code, row.detail)
        found[key] = found.get(key, 0) + row.count
    assert found == {
        (Observed.ANSWERED, "", ""): 3,
        (Observed.DELAYED, "", "The carrier asked to wait. Again after 7 s."): 1,
        (Observed.REFUSED, "21211", "No such number: …."): 1,
        (Observed.SILENT, "status 503", ""): 2,
        (Observed.UNREACHED, "", "The carrier could not be reached."): 1,
    }
    assert (watched.kind, watched.charges, watched.settle_seconds, watched.silence_seconds) == (
        CarrierKind.TWILIO,
        True,
        2.0,
        3.0,
    )


@pytest.mark.xdist_group("twilio")
def test_a_worker_records_the_results_of_its_carrier(twilio_worker: TwilioWorker) -> None:
    outcome(twilio_worker.database, twilio_worker.dial(twilio_worker.number()))

    def answered() -> bool:
        query = select(CarrierObservation.kind).where(
            CarrierObservation.carrier == CarrierKind.TWILIO
        )
        with twilio_worker.database.transaction(read_only=True) as session:
            return Observed.ANSWERED in session.scalars(query).all()

    wait_until(answered)
