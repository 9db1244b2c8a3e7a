"""Accepting a call: what is refused, what is written, and the keys that make it repeatable."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.database import Database
from app.enums import CallSource, CallStatus, CarrierKind, OrganizationStatus
from app.errors import Conflict, DomainError, NotFound, ValidationFailed
from app.models import (
    Assistant,
    AuditEntry,
    Call,
    DoNotCallEntry,
    IdempotencyRecord,
    Organization,
    Partner,
    new_id,
    utcnow,
)
from app.services import calls, idempotency
from app.services.calls import claims
from tests.fixtures.worker import CallingOrganization, make_calling_organization

NUMBER = "+12025550101"
MESSAGES = {"intro_message": "Hello.", "voicemail_message": "Bye."}


def call_request(calling_organization: CallingOrganization, **changes: Any) -> calls.CallRequest:
    return calls.CallRequest(
        calling_organization.assistant_id, **({"phone_number": NUMBER} | MESSAGES | changes)
    )


def schedule(
    session: Session,
    calling_organization: CallingOrganization,
    request: calls.CallRequest,
    **more: Any,
) -> calls.CallScheduled:
    return calls.schedule(
        session, calling_organization.key, request, source=CallSource.API, live=True, **more
    )


def refusal(
    session: Session,
    calling_organization: CallingOrganization,
    request: calls.CallRequest,
    **more: Any,
) -> str:
    """The code that the request is refused with; nothing may have been written."""
    with pytest.raises(DomainError) as refused:
        schedule(session, calling_organization, request, **more)
    assert session.scalar(select(func.count()).select_from(Call)) == 0
    return refused.value.code


def test_an_accepted_call_is_queued_and_noted_in_the_history(
    session: Session, calling_organization: CallingOrganization
) -> None:
    request = call_request(
        calling_organization, first_name=" Ada ", email=" ", metadata={"order": 7}
    )
    accepted = schedule(session, calling_organization, request)
    call = session.get_one(Call, accepted.call_id)
    assert accepted.as_dict() == {
        "success": True,
        "message": "The call is queued and will be placed shortly.",
        "callId": str(call.id),
        "status": "queued",
    }
    assert call.contact == {"phoneNumber": NUMBER, "firstName": "Ada"}
    assert (call.call_metadata, call.intro_message) == ({"order": 7}, "Hello.")
    assert call.expires_at == call.created_at + timedelta(hours=24)
    history = session.scalars(select(AuditEntry)).one()
    assert (history.action, history.target_id, history.organization_id) == (
        "call.scheduled",
        str(call.id),
        calling_organization.organization_id,
    )


def test_a_call_behind_others_says_so_in_the_answer_until_it_is_placed(
    session: Session, calling_organization: CallingOrganization
) -> None:
    two = CallSettings(calls_at_once=2)
    accepted = [
        schedule(session, calling_organization, call_request(calling_organization), settings=two)
        for _ in range(3)
    ]
    full = "The organization's limit of 2 concurrent calls is reached."
    assert [one.message for one in accepted] == [
        "The call is queued and will be placed shortly.",
        "The call is queued and will be placed shortly.",
        f"The call is queued and waits. {full}",
    ]
    found = [session.get_one(Call, one.call_id) for one in accepted]
    assert [call.status_detail for call in found] == [None, None, full]
    claims.next_step(session, found[2].id, new_id(), calls_at_once=2)
    assert (found[2].status, found[2].status_detail) == (CallStatus.DIALING, None)


def test_calls_of_test_keys_do_not_hold_up_live_calls_nor_the_reverse(
    session: Session, calling_organization: CallingOrganization
) -> None:
    one = CallSettings(calls_at_once=1)

    def accepted(*, live: bool) -> Call:
        found = calls.schedule(
            session,
            calling_organization.key,
            call_request(calling_organization),
            one,
            source=CallSource.API,
            live=live,
        )
        return session.get_one(Call, found.call_id)

    both = [accepted(live=False), accepted(live=True)]
    assert [call.status_detail for call in both] == [None, None]
    for call in both:
        claims.next_step(session, call.id, new_id(), calls_at_once=1)
    assert {call.status for call in both} == {CallStatus.DIALING}
    full = "The organization's limit of 1 concurrent call is reached."
    assert [accepted(live=live).status_detail for live in (True, False)] == [full, full]


def test_a_test_call_never_leaves_the_simulated_carrier(
    session: Session, calling_organization: CallingOrganization
) -> None:
    accepted = calls.schedule(
        session,
        calling_organization.key,
        call_request(calling_organization),
        CallSettings(CarrierKind.TWILIO),
        source=CallSource.API,
        live=False,
    )
    assert session.get_one(Call, accepted.call_id).carrier is CarrierKind.SIMULATOR


@pytest.mark.parametrize(
    ("intro", "voicemail", "instructions", "code"),
    [
        (None, None, None, "messaging_required"),
        (" ", "\t", "", "messaging_required"),
        ("Hi.", None, None, "messaging_incomplete"),
        (None, "Bye.", None, "messaging_incomplete"),
        ("Hi.", " ", None, "messaging_incomplete"),
        ("Hi.", "Bye.", "Be kind.", "messaging_conflict"),
        ("Hi.", None, "Be kind.", "messaging_conflict"),
    ],
)
def test_a_call_needs_both_messages_or_instructions(
    session: Session,
    calling_organization: CallingOrganization,
    intro: str | None,
    voicemail: str | None,
    instructions: str | None,
    code: str,
) -> None:
    request = call_request(
        calling_organization,
        intro_message=intro,
        voicemail_message=voicemail,
        call_instructions=instructions,
    )
    assert refusal(session, calling_organization, request) == code


def test_the_messages_of_the_assistant_are_the_default(
    session: Session, calling_organization: CallingOrganization
) -> None:
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    assistant.default_intro, assistant.default_voicemail = "Own intro.", "Own voicemail."
    accepted = schedule(
        session,
        calling_organization,
        call_request(calling_organization, intro_message=None, voicemail_message=None),
    )
    call = session.get_one(Call, accepted.call_id)
    assert (call.intro_message, call.voicemail_message) == ("Own intro.", "Own voicemail.")


def test_the_messages_of_the_assistant_are_filled_with_the_data_of_the_contact(
    session: Session, calling_organization: CallingOrganization
) -> None:
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    assistant.default_intro = "Hello {firstName|there}, about {topic|your visit} {room}."
    assistant.default_voicemail = "{lastName}"
    own: dict[str, Any] = {"intro_message": None, "voicemail_message": None}
    assert (
        refusal(session, calling_organization, call_request(calling_organization, **own))
        == "messaging_required"
    )
    named = call_request(
        calling_organization, **own, first_name="Ünal", last_name="Şahin", metadata={"topic": 12}
    )
    call = session.get_one(Call, schedule(session, calling_organization, named).call_id)
    assert (call.intro_message, call.voicemail_message) == ("Hello Ünal, about 12.", "Şahin")


def test_an_intro_is_kept_word_for_word(
    session: Session, calling_organization: CallingOrganization
) -> None:
    words = "  {{ name }}, 100 % <b>yours</b>\n"
    accepted = schedule(
        session, calling_organization, call_request(calling_organization, intro_message=words)
    )
    assert session.get_one(Call, accepted.call_id).intro_message == words


@pytest.mark.parametrize(
    "number", ["+19005550101", "+442079460000", "+18765550101", "+120255501", "+881612345678"]
)
def test_numbers_that_may_not_be_called_are_refused(
    session: Session, calling_organization: CallingOrganization, number: str
) -> None:
    assert (
        refusal(
            session, calling_organization, call_request(calling_organization, phone_number=number)
        )
        == "number_not_allowed"
    )


def test_a_number_without_its_area_code_is_no_phone_number(
    session: Session, calling_organization: CallingOrganization
) -> None:
    assert (
        refusal(
            session,
            calling_organization,
            call_request(calling_organization, phone_number="+12025550"),
        )
        == "invalid_phone"
    )


def test_a_blocker_is_answered_with_its_code(
    session: Session, calling_organization: CallingOrganization
) -> None:
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    organization = session.get_one(Organization, calling_organization.organization_id)
    partner = session.get_one(Partner, calling_organization.partner_id)
    codes = []
    session.add(
        DoNotCallEntry(
            organization_id=organization.id, partner_id=partner.id, phone=NUMBER, added_by="owner"
        )
    )
    session.flush()
    codes.append(refusal(session, calling_organization, call_request(calling_organization)))
    assistant.phone_configured = False
    codes.append(refusal(session, calling_organization, call_request(calling_organization)))
    assistant.active = False
    codes.append(refusal(session, calling_organization, call_request(calling_organization)))
    partner.suspended_at = utcnow()
    codes.append(refusal(session, calling_organization, call_request(calling_organization)))
    partner.suspended_at, organization.status = None, OrganizationStatus.SUSPENDED
    codes.append(refusal(session, calling_organization, call_request(calling_organization)))
    assert codes == [
        "do_not_contact",
        "agent_phone_not_ready",
        "agent_inactive",
        "organization_suspended",
        "organization_suspended",
    ]


@pytest.mark.parametrize("assistant_id", ["", "nobody", "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"])
def test_an_unknown_assistant_is_not_found(
    session: Session, calling_organization: CallingOrganization, assistant_id: str
) -> None:
    assert (
        refusal(
            session,
            calling_organization,
            replace(call_request(calling_organization), assistant_id=assistant_id),
        )
        == "agent_not_found"
    )


def test_an_assistant_of_another_organization_is_not_found(
    session: Session, calling_organization: CallingOrganization
) -> None:
    stranger = make_calling_organization(session)
    with pytest.raises(NotFound) as refused:
        schedule(session, stranger, call_request(calling_organization))
    assert refused.value.code == "agent_not_found"


def test_a_repeated_key_gives_the_first_answer_and_no_second_call(
    session: Session, calling_organization: CallingOrganization
) -> None:
    first = schedule(
        session, calling_organization, call_request(calling_organization), idempotency_key="order-1"
    )
    again = schedule(
        session, calling_organization, call_request(calling_organization), idempotency_key="order-1"
    )
    assert again == replace(first, replayed=True)
    assert session.scalar(select(func.count()).select_from(Call)) == 1


def test_a_key_with_another_body_is_a_conflict(
    session: Session, calling_organization: CallingOrganization
) -> None:
    schedule(
        session, calling_organization, call_request(calling_organization), idempotency_key="order-1"
    )
    with pytest.raises(Conflict) as refused:
        schedule(
            session,
            calling_organization,
            call_request(calling_organization, metadata={"a": 1}),
            idempotency_key="order-1",
        )
    assert refused.value.code == "idempotency_conflict"


def test_idempotency_keys_belong_to_their_credential_and_last_24_hours(
    session: Session, calling_organization: CallingOrganization
) -> None:
    first = schedule(
        session, calling_organization, call_request(calling_organization), idempotency_key="order-1"
    )
    other = replace(
        calling_organization, key=replace(calling_organization.key, subject_id=new_id())
    )
    second = schedule(session, other, call_request(calling_organization), idempotency_key="order-1")
    record = session.get_one(
        IdempotencyRecord, (calling_organization.key.subject_id, "outbound.call", "order-1")
    )
    record.created_at = utcnow() - timedelta(hours=24, seconds=1)
    session.flush()
    third = schedule(
        session, calling_organization, call_request(calling_organization), idempotency_key="order-1"
    )
    assert len({first.call_id, second.call_id, third.call_id}) == 3


def test_a_refused_request_keeps_no_key(
    session: Session, calling_organization: CallingOrganization
) -> None:
    with pytest.raises(ValidationFailed):
        schedule(
            session,
            calling_organization,
            call_request(calling_organization, phone_number="+19005550101"),
            idempotency_key="k",
        )
    assert (
        schedule(
            session, calling_organization, call_request(calling_organization), idempotency_key="k"
        ).replayed
        is False
    )


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "a\nb", "a\x00b"])
def test_a_malformed_key_is_refused(
    session: Session, calling_organization: CallingOrganization, key: str
) -> None:
    code = refusal(
        session, calling_organization, call_request(calling_organization), idempotency_key=key
    )
    assert code == "invalid_idempotency_key"


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_an_idempotency_key_in_use_is_answered_as_in_progress(
    fresh_database: Database, backend: str
) -> None:
    credential = new_id()
    with fresh_database.transaction() as one, fresh_database.transaction() as two:
        idempotency.claim(one, credential, "outbound.call", "k", {})
        with pytest.raises(Conflict) as refused:
            idempotency.claim(two, credential, "outbound.call", "k", {})
    assert refused.value.code == "idempotency_in_progress"
