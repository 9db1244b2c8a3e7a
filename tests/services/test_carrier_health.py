"""The health of a carrier, derived from observations."""

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from app.enums import CarrierKind, Observed
from app.models import utcnow
from app.services.pauses import carrier_health
from app.services.pauses.carrier_health import BehaviourCount, CarrierBehaviour, CarrierStatus

TWILIO = CarrierKind.TWILIO
Seen = tuple[float, Observed, int]


def observe(
    session: Session, *seen: Seen, carrier: CarrierKind = TWILIO, code: str = "", words: str = ""
) -> None:
    """``seen`` are the minutes ago, what, and how often."""
    now = utcnow()
    for minutes, kind, count in seen:
        at = now - timedelta(minutes=minutes)
        minute = at.replace(second=0, microsecond=0)
        behaviour = CarrierBehaviour(minute, carrier, kind, code)
        carrier_health.record(session, {behaviour: BehaviourCount(count, at, words)})


ANSWERED, SLOW, SILENT = Observed.ANSWERED, Observed.SLOW, Observed.SILENT
UNREACHED, DELAYED, REFUSED = Observed.UNREACHED, Observed.DELAYED, Observed.REFUSED


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        ([(3, ANSWERED, 5)], CarrierStatus.WELL),
        ([(3, ANSWERED, 5), (1, SILENT, 1)], CarrierStatus.WELL),
        ([(3, ANSWERED, 5), (2, SILENT, 1), (1, UNREACHED, 1)], CarrierStatus.OUTAGE),
        ([(2, SILENT, 9), (1, ANSWERED, 1)], CarrierStatus.WELL),
        ([(30, ANSWERED, 5), (1, UNREACHED, 2)], CarrierStatus.OUTAGE),
        ([(1, UNREACHED, 2)], CarrierStatus.OUTAGE),
        ([(3, ANSWERED, 5), (1, DELAYED, 1)], CarrierStatus.DELAYS),
        ([(3, DELAYED, 5), (1, ANSWERED, 1)], CarrierStatus.WELL),
        ([(3, REFUSED, 3), (1, ANSWERED, 9)], CarrierStatus.REFUSES),
        ([(3, REFUSED, 2), (1, ANSWERED, 9)], CarrierStatus.WELL),
        ([(3, SLOW, 3), (1, ANSWERED, 2)], CarrierStatus.SLOW),
        ([(20, SILENT, 9)], CarrierStatus.QUIET),
        ([(60 * 25, SILENT, 9)], None),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_state_of_a_carrier_comes_from_its_latest_calls(
    session: Session, seen: list[Seen], state: CarrierStatus | None
) -> None:
    observe(session, *seen)
    assert [each.status for each in carrier_health.carriers(session)] == ([state] if state else [])


def test_observations_of_several_workers_are_added_with_the_latest_message(
    session: Session,
) -> None:
    observe(session, (2, REFUSED, 2), (1, ANSWERED, 1), code="21211", words="No such number.")
    observe(session, (2, REFUSED, 3), code="21211", words="Not a number.")
    observe(session, (1, SILENT, 1), code="ReadTimeout", words="ReadTimeout")
    [found] = carrier_health.carriers(session)
    assert [(each.kind, each.code, each.count, each.detail) for each in found.problems] == [
        (SILENT, "ReadTimeout", 1, "ReadTimeout"),
        (REFUSED, "21211", 5, "Not a number."),
    ]
    assert (found.status, found.answers, found.slow) == (CarrierStatus.REFUSES, 1, 0)


def test_the_simulated_carrier_is_not_observed_and_old_observations_are_deleted(
    session: Session,
) -> None:
    observe(session, (1, SILENT, 9), carrier=CarrierKind.SIMULATOR)
    observe(session, (60 * 25, SILENT, 9))
    assert carrier_health.with_problems(session) == []
    carrier_health.delete_old_counts(session)
    assert [each.carrier for each in carrier_health.carriers(session)] == [CarrierKind.SIMULATOR]
    observe(session, (1, SILENT, 9))
    assert [each.carrier for each in carrier_health.with_problems(session)] == [TWILIO]
