"""Three hundred numbers against three layers: when calls are accepted, and when they are placed."""

from collections.abc import Callable

import pytest
from phonenumbers import (
    SUPPORTED_REGIONS,
    PhoneNumberFormat,
    PhoneNumberType,
    example_number_for_type,
    format_number,
)
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason
from app.errors import ValidationFailed
from app.models import Assistant, Call, Organization, new_id
from app.phone import region_of
from app.services import destinations
from app.services.calls import attempts, claims
from app.services.calls.claims import ClaimKind, HostLookup
from app.services.destinations import DestinationChoice, DestinationLimits
from tests.fixtures.clock import set_clock
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import OPERATOR, open_destinations
from tests.fixtures.worker import CallingOrganization, make_calling_organization
from tests.phone.numbers import NUMBERS

NEVER = frozenset(
    number
    for kind, numbers in NUMBERS.items()
    if kind not in {None, "region_not_allowed"}
    for number in numbers
)
MOBILES = frozenset(
    format_number(number, PhoneNumberFormat.E164)
    for region in sorted(SUPPORTED_REGIONS)[:150]
    if (number := example_number_for_type(region, PhoneNumberType.MOBILE)) is not None
)
CALLED = frozenset({*(NUMBERS[None]), *NUMBERS["region_not_allowed"], *MOBILES})
EVERYWHERE = frozenset(SUPPORTED_REGIONS)
HOME = frozenset({"US"})


def close_for_all(session: Session, calling_organization: CallingOrganization) -> None:
    destinations.change_limits(session, OPERATOR, DestinationLimits(HOME, None))


def close_for_the_partner(session: Session, calling_organization: CallingOrganization) -> None:
    destinations.change_limits(
        session, OPERATOR, DestinationLimits(HOME, None), calling_organization.partner_id
    )


def close_by_the_partner(session: Session, calling_organization: CallingOrganization) -> None:
    destinations.change_choice(
        session, OPERATOR, calling_organization.partner_id, DestinationChoice(frozenset(), ())
    )


def close_by_the_organization(session: Session, calling_organization: CallingOrganization) -> None:
    session.get_one(Organization, calling_organization.organization_id).allowed_regions = ["US"]


LAYERS: dict[Callable[[Session, CallingOrganization], None], str] = {
    close_for_all: "operator",
    close_for_the_partner: "operator",
    close_by_the_partner: "partner admin",
    close_by_the_organization: "organization's settings",
}
each_layer = pytest.mark.parametrize("close", LAYERS, ids=lambda close: close.__name__)


backend = runs_on(["sqlite"])


@pytest.fixture
def calling_organization(session: Session) -> CallingOrganization:
    """An organization that may call everywhere: each layer has opened every country."""
    destinations.change_limits(session, OPERATOR, DestinationLimits(EVERYWHERE, None))
    return make_calling_organization(session, allowed_regions=sorted(EVERYWHERE))


def accepted(
    session: Session, calling_organization: CallingOrganization, numbers: frozenset[str]
) -> dict[str, str]:
    """Why numbers are refused; each accepted call is left out."""
    refusals = {}
    for number in sorted(numbers):
        try:
            calling_organization.accept(session, number)
        except ValidationFailed as error:
            refusals[number] = error.message
    return refusals


def placed(session: Session) -> set[str]:
    """The numbers of all waiting calls that would be placed now."""
    return {
        call.phone_number
        for call in session.scalars(select(Call)).all()
        if claims.next_step(session, call.id, new_id(), calls_at_once=1000).kind is ClaimKind.DIAL
    }


def test_the_tests_cover_about_three_hundred_numbers() -> None:
    assert 290 <= len(NEVER | CALLED) <= 330
    assert set() == NEVER & CALLED


def test_no_layer_opens_a_kind_of_number_that_is_never_called(
    session: Session, calling_organization: CallingOrganization
) -> None:
    refusals = accepted(session, calling_organization, NEVER | CALLED)
    assert refusals.keys() == NEVER
    assert placed(session) == CALLED


@pytest.mark.alternating
@each_layer
def test_each_layer_refuses_new_calls(
    session: Session,
    calling_organization: CallingOrganization,
    close: Callable[[Session, CallingOrganization], None],
) -> None:
    close(session, calling_organization)
    refusals = accepted(session, calling_organization, NEVER | CALLED)
    home = {number for number in CALLED if region_of(number) == "US"}
    assert refusals.keys() == (NEVER | CALLED) - home
    abroad = [refusals[number] for number in CALLED - home]
    assert [words for words in abroad if LAYERS[close] not in words] == []
    assert placed(session) == home


@pytest.mark.alternating
@each_layer
def test_each_layer_stops_calls_that_were_accepted_before(
    session: Session,
    calling_organization: CallingOrganization,
    close: Callable[[Session, CallingOrganization], None],
) -> None:
    assert accepted(session, calling_organization, CALLED) == {}
    close(session, calling_organization)
    home = {number for number in CALLED if region_of(number) == "US"}
    assert placed(session) == home
    ended = session.scalars(select(Call).where(Call.status == CallStatus.CANCELED)).all()
    assert {call.phone_number for call in ended} == CALLED - home
    assert {call.ended_reason for call in ended} == {"region_not_allowed"}


def test_a_call_that_an_earlier_version_accepted_to_such_a_number_is_not_placed(
    session: Session, calling_organization: CallingOrganization
) -> None:
    for number in sorted(number for number in NEVER if len(number) <= 20):
        calling_organization.accept(session, "+12025550101").phone_number = number
    assert placed(session) == set()


@pytest.fixture
def organization_with_voice_hosts(
    session: Session, calling_organization: CallingOrganization
) -> CallingOrganization:
    open_destinations(
        session, calling_organization.partner_id, hosts=["voice.example", "127.0.0.1"]
    )
    return calling_organization


def call_of(session: Session, calling_organization: CallingOrganization, address: str) -> Call:
    """A call that was accepted before the assistant got this voice address."""
    call = calling_organization.accept(session, carrier=CarrierKind.TWILIO)
    session.get_one(Assistant, calling_organization.assistant_id).voice_address = address
    session.flush()
    return call


def test_the_host_of_a_voice_address_is_looked_up_before_a_call_is_placed(
    session: Session, organization_with_voice_hosts: CallingOrganization
) -> None:
    call = call_of(session, organization_with_voice_hosts, "sip:robin@voice.example")
    first = claims.next_step(session, call.id, new_id(), calls_at_once=5)
    assert (first.kind, first.host) == (ClaimKind.LOOK_UP_HOST, "voice.example")
    found = HostLookup("voice.example")
    second = claims.next_step(session, call.id, new_id(), calls_at_once=5, host_lookup=found)
    assert second.kind is ClaimKind.DIAL
    assert second.placement is not None
    assert second.placement.hand_over_to == "sip:robin@voice.example"


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (HostLookup("voice.example", "Not public."), CallStatus.CANCELED),
        (
            HostLookup("voice.example", "DNS lookup failed.", is_permanent=False),
            CallStatus.SCHEDULED,
        ),
    ],
)
def test_a_call_ends_if_its_host_is_private_and_waits_if_it_is_unknown(
    session: Session,
    organization_with_voice_hosts: CallingOrganization,
    found: HostLookup,
    status: CallStatus,
) -> None:
    call = call_of(session, organization_with_voice_hosts, "sip:robin@voice.example")
    claim = claims.next_step(session, call.id, new_id(), calls_at_once=5, host_lookup=found)
    assert (claim.kind, call.status) == (ClaimKind.DONE, status)


def test_a_call_whose_host_stays_unknown_expires(
    session: Session, organization_with_voice_hosts: CallingOrganization
) -> None:
    call = call_of(session, organization_with_voice_hosts, "sip:robin@voice.example")
    unknown = HostLookup("voice.example", "DNS lookup failed.", is_permanent=False)
    with set_clock() as clock:
        for _ in range(25):
            claims.next_step(session, call.id, new_id(), calls_at_once=5, host_lookup=unknown)
            clock.pass_by(hours=1)
    assert (call.status, call.ended_reason) == (CallStatus.EXPIRED, EndedReason.EXPIRED)
    assert call.status_detail == (
        "Last reason for waiting: The assistant's voice address can't be used. DNS lookup failed."
    )


@pytest.mark.parametrize(
    ("is_permanent", "status", "reason"),
    [
        (True, CallStatus.CANCELED, EndedReason.ASSISTANT_INACTIVE),
        (False, CallStatus.SCHEDULED, None),
    ],
)
def test_the_host_of_an_attempt_that_the_carrier_delayed_is_handled_as_at_first(
    session: Session,
    organization_with_voice_hosts: CallingOrganization,
    is_permanent: bool,
    status: CallStatus,
    reason: EndedReason | None,
) -> None:
    call = call_of(session, organization_with_voice_hosts, "sip:robin@voice.example")
    attempt_id, found = new_id(), HostLookup("voice.example")
    claims.next_step(session, call.id, attempt_id, calls_at_once=5, host_lookup=found)
    attempts.record_carrier_retry(session, attempt_id, 0, "The carrier asked to wait.")
    problem = HostLookup("voice.example", "No answer.", is_permanent=is_permanent)
    assert claims.claim_retry(session, attempt_id, host_lookup=problem).kind is ClaimKind.DONE
    claims.next_step(session, call.id, new_id(), calls_at_once=5, host_lookup=problem)
    assert (call.status, call.ended_reason) == (status, reason)
    assert call.status_detail == "The assistant's voice address can't be used. No answer."


def test_a_voice_address_that_is_not_allowed_any_more_stops_the_call(
    session: Session, organization_with_voice_hosts: CallingOrganization
) -> None:
    call = call_of(session, organization_with_voice_hosts, "sip:+19005550199@voice.example")
    claim = claims.next_step(session, call.id, new_id(), calls_at_once=5)
    assert (claim.kind, call.status) == (ClaimKind.DONE, CallStatus.CANCELED)
    assert call.status_detail == (
        "The assistant's voice address can't be used. "
        "+19005550199 is a premium-rate number. No one can open these."
    )
