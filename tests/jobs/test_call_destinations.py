"""The request to the carrier if a country is closed after a call was accepted."""

import xml.etree.ElementTree as ET

import pytest
from sqlalchemy import update

from app.enums import CarrierKind
from app.models import Assistant
from app.services import destinations
from app.services.destinations import DestinationLimits
from tests.fixtures.tenants import OPERATOR, open_destinations
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import create_calling_organization, outcome, read_call

ABROAD = ("+442079460101", "+16135550123", "+4930901820")
OPEN_ADDRESS = "sip:robin@9.9.9.9"

pytestmark = pytest.mark.xdist_group("twilio")


def test_no_call_leaves_for_a_country_that_was_closed_meanwhile(
    twilio_worker: TwilioWorker,
) -> None:
    calling_organization = create_calling_organization(
        twilio_worker.database, allowed_regions=["US", "GB", "CA", "DE"]
    )
    at_home = twilio_worker.number()
    carrier = CarrierKind.TWILIO
    with twilio_worker.database.transaction() as session:
        begun = {
            number: calling_organization.accept(session, number, carrier=carrier).id
            for number in (at_home, *ABROAD)
        }
        personal = calling_organization.accept(session, twilio_worker.number(), carrier=carrier)
        personal.phone_number = "+447012345678"  # as an earlier version accepted it
        begun["personal"] = personal.id
        limits = DestinationLimits(frozenset({"US"}), None)
        destinations.change_limits(session, OPERATOR, limits, calling_organization.partner_id)
    ended = {name: outcome(twilio_worker.database, call_id)[:2] for name, call_id in begun.items()}
    stopped = ("canceled", "region_not_allowed")
    assert ended == dict.fromkeys(begun, stopped) | {at_home: ("completed", "completed")}
    assert [len(twilio_worker.carrier.calls_to(number)) for number in (at_home, *ABROAD)] == [
        1,
        0,
        0,
        0,
    ]
    assert twilio_worker.carrier.calls_to("+447012345678") == []


@pytest.mark.parametrize(
    ("address", "ended"),
    [
        (OPEN_ADDRESS, ("completed", "completed")),
        ("sip:robin@127.0.0.1", ("canceled", "agent_inactive")),
        ("sip:+19005550199@9.9.9.9", ("canceled", "agent_inactive")),
        ("sip:robin@8.8.8.8", ("canceled", "agent_inactive")),
    ],
)
def test_a_call_is_handed_over_only_to_a_public_host_that_is_allowed(
    twilio_worker: TwilioWorker, address: str, ended: tuple[str, str]
) -> None:
    calling_organization, number = (
        create_calling_organization(twilio_worker.database),
        twilio_worker.number(),
    )
    with twilio_worker.database.transaction() as session:
        open_destinations(session, calling_organization.partner_id, hosts=["9.9.9.9", "127.0.0.1"])
        call = calling_organization.accept(session, number, carrier=CarrierKind.TWILIO)
        own = Assistant.id == calling_organization.assistant_id
        session.execute(update(Assistant).where(own).values(voice_address=address))
        call_id = call.id
    assert outcome(twilio_worker.database, call_id)[:2] == ended
    placed = twilio_worker.carrier.calls_to(number)
    if address != OPEN_ADDRESS:
        assert placed == []
        detail = read_call(twilio_worker.database, call_id).status_detail or ""
        assert detail.startswith("The assistant's voice address can't be used.")
        return
    response = ET.fromstring(placed[0].spoken)
    assert [address.text for address in response.findall("./Dial/Sip")] == [OPEN_ADDRESS]
