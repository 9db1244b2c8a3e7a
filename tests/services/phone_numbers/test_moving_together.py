"""A number that is moved while a call from it is being placed."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from sqlalchemy import select

from app.database import Database
from app.enums import CarrierKind
from app.models import CallAttempt, new_id
from app.services import phone_numbers
from app.services.calls import claims
from tests.fixtures.tenants import OPERATOR
from tests.fixtures.worker import create_calling_organization


def test_a_move_waits_for_the_call_and_the_next_call_is_not_placed(
    fresh_database: Database,
) -> None:
    calling_organization, other = (
        create_calling_organization(fresh_database),
        create_calling_organization(fresh_database),
    )
    with fresh_database.transaction() as session:
        first, second = (
            calling_organization.accept(session, number, carrier=CarrierKind.TWILIO).id
            for number in ("+12125551000", "+12125551001")
        )
        [(number, owner)] = [
            (row.number.number, row.number.organization_id)
            for row in phone_numbers.listing(session, OPERATOR).items
            if row.number.organization_id == calling_organization.organization_id
        ]
    checked, order = Event(), []

    def place() -> None:
        with fresh_database.transaction() as session:
            claims.next_step(session, first, new_id(), calls_at_once=9)
            checked.set()
            time.sleep(0.3)
            order.append("placed")

    def move() -> None:
        checked.wait()
        with fresh_database.transaction() as session:
            phone_numbers.move(session, OPERATOR, number, other.organization_id)
            order.append("moved")

    with ThreadPoolExecutor(2) as together:
        for work in [together.submit(place), together.submit(move)]:
            work.result()
    assert (order, owner) == (["placed", "moved"], calling_organization.organization_id)
    with fresh_database.transaction() as session:
        claimed = claims.next_step(session, second, new_id(), calls_at_once=9)
        assert claimed.kind is claims.ClaimKind.DONE
        assert session.scalars(select(CallAttempt.from_number)).all() == [number]
