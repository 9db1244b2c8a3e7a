"""Statuses that end outreach, and the do-not-call list."""

import pytest
from sqlalchemy import select

from app.enums import CallSource, CallStatus, CarrierKind, ContactAction, EndedReason
from app.models import Call, Contact, utcnow
from app.policy.caller import system_caller
from app.services import do_not_call
from tests.services.contacts.conftest import Outreach, actions, codes

PHONE, OTHER_PHONE = "+12025550101", "+12025550102"
ENDED = ["completed", "disqualified", " Completed ", "DISQUALIFIED"]


@pytest.mark.parametrize("status", ENDED)
def test_a_contact_that_has_ended_is_not_added(outreach: Outreach, status: str) -> None:
    result = outreach.apply({"phone": PHONE, "status": status})
    assert result.ignored == [{"index": 0, "phone": PHONE, "email": None, "code": "status_ended"}]
    assert result.outcomes == ["ignored"]
    assert outreach.stored() == []


@pytest.mark.parametrize("status", ENDED)
def test_a_contact_of_the_campaign_gets_the_status_that_was_sent(
    outreach: Outreach, status: str
) -> None:
    outreach.apply({"phone": PHONE, "status": "new"})
    assert actions(outreach.apply({"phone": PHONE, "status": status})) == ["updated"]
    assert outreach.stored() == [{"phone": PHONE, "status": status}]


def waiting_call(outreach: Outreach, phone: str, source: CallSource) -> Call:
    contact = outreach.session.scalars(select(Contact).where(Contact.phone == phone)).one()
    calling_organization = outreach.calling_organization
    call = Call(
        partner_id=calling_organization.partner_id,
        organization_id=calling_organization.organization_id,
        assistant_id=calling_organization.assistant_id,
        campaign_id=outreach.campaign.id,
        contact_id=contact.id,
        source=source,
        carrier=CarrierKind.SIMULATOR,
        requested_by="campaign",
        phone_number=phone,
        contact={"phoneNumber": phone},
        status=CallStatus.QUEUED,
        expires_at=utcnow(),
    )
    outreach.session.add(call)
    outreach.session.flush()
    return call


@pytest.mark.parametrize(
    ("sent", "action"),
    [
        ({"phone": PHONE, "status": "Completed"}, ContactAction.UPSERT),
        ({"phone": PHONE, "status": "disqualified"}, ContactAction.UPDATE_ONLY),
        ({"phone": PHONE}, ContactAction.REMOVE),
    ],
)
def test_the_end_of_outreach_cancels_the_waiting_campaign_calls(
    outreach: Outreach, sent: dict[str, str], action: ContactAction
) -> None:
    outreach.apply({"phone": PHONE}, {"phone": OTHER_PHONE})
    calls = [
        waiting_call(outreach, PHONE, CallSource.CAMPAIGN),
        waiting_call(outreach, PHONE, CallSource.API),
        waiting_call(outreach, OTHER_PHONE, CallSource.CAMPAIGN),
    ]
    outreach.apply(sent, action=action)
    outreach.session.expire_all()
    assert [(call.status, call.ended_reason) for call in calls] == [
        (CallStatus.CANCELED, EndedReason.CONTACT_ENDED),
        (CallStatus.QUEUED, None),
        (CallStatus.QUEUED, None),
    ]


def test_a_dry_run_cancels_nothing(outreach: Outreach) -> None:
    outreach.apply({"phone": PHONE})
    call = waiting_call(outreach, PHONE, CallSource.CAMPAIGN)
    outreach.apply({"phone": PHONE, "status": "completed"}, dry_run=True)
    outreach.session.refresh(call)
    assert call.status is CallStatus.QUEUED


def list_number(outreach: Outreach, phone: str) -> None:
    owner = system_caller("owner", partner_id=outreach.calling_organization.partner_id)
    do_not_call.add(outreach.session, owner, outreach.calling_organization.organization_id, phone)


def test_a_number_on_the_do_not_call_list_is_stored(outreach: Outreach) -> None:
    list_number(outreach, PHONE)
    assert actions(outreach.apply({"phone": PHONE})) == ["created"]
    assert outreach.stored() == [{"phone": PHONE}]


def test_a_number_on_the_do_not_call_list_is_refused_if_the_organization_chose_it(
    outreach: Outreach,
) -> None:
    outreach.apply({"phone": PHONE, "email": "ada@example.com"})
    list_number(outreach, PHONE)
    list_number(outreach, OTHER_PHONE)
    outreach.organization.refuse_do_not_call = True
    result = outreach.apply(
        {"phone": PHONE, "firstName": "Ada"},
        {"phone": "202-555-0102"},
        {"email": "ada@example.com", "firstName": "Augusta"},
    )
    assert codes(result) == [(0, "do_not_contact", "phone"), (1, "do_not_contact", "phone")]
    assert outreach.stored() == [
        {"phone": PHONE, "email": "ada@example.com", "firstName": "Augusta"}
    ]
    assert actions(outreach.apply({"phone": PHONE}, action=ContactAction.REMOVE)) == ["deleted"]
