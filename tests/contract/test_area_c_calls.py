"""Responses about calls match the contract (2.10, 4.3) and docs/decisions/calls.md."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.enums import CallStatus, OrganizationStatus
from app.models import Assistant, Call, DoNotCallEntry, Organization
from tests.contract.all_areas import TO, AllAreas
from tests.contract.conformity import problems
from tests.contract.interface import OBJECTS, kind_of
from tests.contract.refusals import refusal

PATH = "/api/v1/outbound/call"
BOTH = {"introMessage": "Hello.", "voicemailMessage": "Bye."}
ALONE = {"callInstructions": "Ask whether Tuesday suits."}
WRONG_TYPES: Mapping[str, tuple[Any, ...]] = {
    "string": (1, True, [], {}),
    "object": (1, True, [], "x"),
    "CallContact": (1, True, [], "x"),
}

_REQUIRED = ("callInstructions", "messaging_required")
_CONFLICT = ("callInstructions", "messaging_conflict")
_NO_INTRO = ("introMessage", "messaging_incomplete")
_NO_VOICEMAIL = ("voicemailMessage", "messaging_incomplete")
MESSAGING: Mapping[str, tuple[Mapping[str, Any], bool, tuple[str, str] | None]] = {
    "both messages": (BOTH, False, None),
    "instructions alone": (ALONE, False, None),
    "none, where the assistant has its own": ({}, True, None),
    "none, where it has none": ({}, False, _REQUIRED),
    "blank ones": (dict.fromkeys([*BOTH, *ALONE], " \t"), False, _REQUIRED),
    "the intro alone": ({"introMessage": "Hi"}, True, _NO_VOICEMAIL),
    "the voicemail alone": ({"voicemailMessage": "Hi"}, True, _NO_INTRO),
    "all three": ({**BOTH, **ALONE}, False, _CONFLICT),
    "instructions and intro": ({**ALONE, "introMessage": "Hi"}, False, _CONFLICT),
    "instructions and voicemail": ({**ALONE, "voicemailMessage": "Hi"}, False, _CONFLICT),
}
"""Message, whether the assistant has messages of its own, and the field and code else."""

NUMBERS: Mapping[str, tuple[str, str | None]] = {
    "E.164": ("+12025550123", None),
    "without plus": ("12025550123", "invalid_phone"),
    "with spaces": ("+1 202 555 0123", "invalid_phone"),
    "too short": ("+1202555", "invalid_phone"),
    "without its area code": ("+15550143", "invalid_phone"),
    "too long": ("+1202555012345678", "invalid_phone"),
    "a zero first": ("+02025550123", "invalid_phone"),
    "wide digits": ("+1202555012３", "invalid_phone"),
    "Arabic digits": ("+١٢٠٢٥٥٥٠١٢٣", "invalid_phone"),
    "a line break": ("+12025550123\n", "invalid_phone"),
    "an extension": ("+12025550123x5", "invalid_phone"),
    "a link": ("tel:+12025550123", "invalid_phone"),
    "premium": ("+19005550123", "number_not_allowed"),
    "a region that is not on the list": ("+442079460123", "number_not_allowed"),
}


@pytest.fixture
def body(all_areas: AllAreas) -> dict[str, Any]:
    contact = {"phoneNumber": TO, "firstName": "Ada"}
    return {"agentId": all_areas.ids["assistant_id"], "contact": contact, **BOTH}


def ask(all_areas: AllAreas, body: Mapping[str, Any], **headers: str) -> TestResponse:
    sent = {**all_areas.credentials["public"], **headers}
    return all_areas.client.post(PATH, headers=sent, json=dict(body))


def calls(all_areas: AllAreas) -> int:
    return all_areas.session.scalar(select(func.count()).select_from(Call)) or 0


def refused(all_areas: AllAreas, body: Mapping[str, Any]) -> tuple[int, list[tuple[str, str]]]:
    """Status, fields and codes of a refusal that has written nothing."""
    before = calls(all_areas)
    response = ask(all_areas, body)
    status, code = refusal(response, PATH)
    assert calls(all_areas) == before
    errors = response.get_json()["details"]["errors"]
    return status, [(each["field"], each["code"]) for each in errors] or [("", code)]


@pytest.mark.parametrize(("message", "own", "problem"), MESSAGING.values(), ids=MESSAGING.keys())
def test_a_call_needs_both_messages_or_instructions(
    all_areas: AllAreas,
    body: dict[str, Any],
    message: Mapping[str, Any],
    own: bool,
    problem: tuple[str, str] | None,
) -> None:
    if own:
        all_areas.assistant.default_intro, all_areas.assistant.default_voicemail = "Hello.", "Bye."
        all_areas.session.commit()
    sent = {k: v for k, v in body.items() if k not in BOTH} | dict(message)
    if problem is not None:
        assert refused(all_areas, sent) == (400, [problem])
        return
    answer = ask(all_areas, sent)
    assert answer.status_code == 200
    assert list(problems(answer.get_json(), "CallAccepted")) == []
    assert answer.get_json()["success"] is True


@pytest.mark.parametrize("field", OBJECTS["OutboundCallInput"])
def test_a_field_of_the_call_is_required_or_not_and_has_its_type(
    all_areas: AllAreas, body: dict[str, Any], field: str
) -> None:
    kind = kind_of(OBJECTS["OutboundCallInput"][field])
    good = body if field in BOTH else {k: v for k, v in body.items() if k not in BOTH} | ALONE
    if kind.required:
        without = {name: value for name, value in good.items() if name != field}
        assert refused(all_areas, without) == (400, [(field, "required")])
    status, [(where, code)] = refused(all_areas, {**good, field: None})
    assert (status, where) == (400, field)
    assert code in {"not_nullable", "wrong_type"}
    for value in WRONG_TYPES[kind.type]:
        assert refused(all_areas, {**good, field: value}) == (400, [(field, "wrong_type")]), value


@pytest.mark.parametrize("field", OBJECTS["CallContact"])
def test_a_field_of_the_contact_is_required_or_not_and_has_its_type(
    all_areas: AllAreas, body: dict[str, Any], field: str
) -> None:
    name = f"contact.{field}"
    if kind_of(OBJECTS["CallContact"][field]).required:
        assert refused(all_areas, {**body, "contact": {}}) == (400, [(name, "required")])
    for value in WRONG_TYPES["string"]:
        sent = {**body, "contact": {"phoneNumber": TO, field: value}}
        assert refused(all_areas, sent) == (400, [(name, "wrong_type")]), value


def test_names_are_trimmed_metadata_kept_and_unknown_fields_ignored(
    all_areas: AllAreas, body: dict[str, Any]
) -> None:
    contact = {"phoneNumber": TO, "firstName": " Ada ", "lastName": " ", "email": " a@b.example "}
    metadata = {"text": "x", "number": 1.5, "flag": False, "zero": 0, "empty": ""}
    sent = {**body, "contact": {**contact, "age": 36}, "metadata": metadata, "colour": [1]}
    call_id = ask(all_areas, sent).get_json()["callId"]
    address = f"/api/v1/outbound/calls/{call_id}"
    stored = all_areas.client.get(address, headers=all_areas.credentials["public"]).get_json()
    assert list(problems(stored, "Call")) == []
    assert (stored["contact"], stored["metadata"]) == (
        {"phoneNumber": TO, "firstName": "Ada", "lastName": None, "email": "a@b.example"},
        metadata,
    )


@pytest.mark.parametrize("value", [None, [], {}, ["x"], {"a": 1}])
def test_metadata_holds_texts_numbers_and_flags_only(
    all_areas: AllAreas, body: dict[str, Any], value: Any
) -> None:
    status, [(field, code)] = refused(all_areas, {**body, "metadata": {"a": value}})
    assert (status, field) == (400, "metadata.a")
    assert code in {"not_nullable", "wrong_type"}


@pytest.mark.parametrize(("number", "code"), NUMBERS.values(), ids=NUMBERS.keys())
def test_the_number_is_e164_and_may_be_called(
    all_areas: AllAreas, body: dict[str, Any], number: str, code: str | None
) -> None:
    sent = {**body, "contact": {"phoneNumber": number}}
    if code is None:
        assert ask(all_areas, sent).status_code == 200
    else:
        assert refused(all_areas, sent) == (400, [("contact.phoneNumber", code)])


def _inactive(all_areas: AllAreas, assistant: Assistant) -> None:
    assistant.active = False


def _phone_off(all_areas: AllAreas, assistant: Assistant) -> None:
    assistant.phone_enabled = False


def _phone_unconfigured(all_areas: AllAreas, assistant: Assistant) -> None:
    assistant.phone_configured = False


def _listed(all_areas: AllAreas, assistant: Assistant) -> None:
    whose = {"organization_id": assistant.organization_id, "partner_id": assistant.partner_id}
    all_areas.session.add(DoNotCallEntry(**whose, phone=TO, added_by="tests"))


def _suspended(all_areas: AllAreas, assistant: Assistant) -> None:
    organization = all_areas.session.get_one(Organization, assistant.organization_id)
    organization.status = OrganizationStatus.SUSPENDED


def _in_trial(all_areas: AllAreas, assistant: Assistant) -> None:
    all_areas.session.get_one(Organization, assistant.organization_id).trial_ended_at = None


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        (_inactive, 409, "agent_inactive"),
        (_phone_off, 409, "agent_phone_not_ready"),
        (_phone_unconfigured, 409, "agent_phone_not_ready"),
        (_listed, 409, "do_not_contact"),
        (_suspended, 403, "organization_suspended"),
        (_in_trial, 403, "trial_mode"),
    ],
)
def test_a_refusal_because_of_the_current_state_has_its_code(
    all_areas: AllAreas,
    body: dict[str, Any],
    change: Callable[[AllAreas, Assistant], None],
    status: int,
    code: str,
) -> None:
    change(all_areas, all_areas.assistant)
    all_areas.session.commit()
    before = calls(all_areas)
    assert refusal(ask(all_areas, body), PATH) == (status, code)
    assert calls(all_areas) == before


@pytest.mark.parametrize(
    "assistant_id", ["0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01", "x", "", " ", "A" * 100]
)
def test_an_unknown_assistant_is_not_found(
    all_areas: AllAreas, body: dict[str, Any], assistant_id: str
) -> None:
    assert refusal(ask(all_areas, {**body, "agentId": assistant_id}), PATH) == (
        404,
        "agent_not_found",
    )


def test_an_idempotency_key_gives_the_same_answer_once_and_refuses_another_body(
    all_areas: AllAreas, body: dict[str, Any]
) -> None:
    key = {"Idempotency-Key": "order 1017"}
    before = calls(all_areas)
    first, again = ask(all_areas, body, **key), ask(all_areas, body, **key)
    other = ask(all_areas, {**body, "metadata": {"a": 1}}, **key)
    assert (first.get_json(), again.headers["Idempotent-Replayed"]) == (again.get_json(), "true")
    assert "Idempotent-Replayed" not in first.headers
    assert refusal(other, PATH) == (409, "idempotency_conflict")
    assert calls(all_areas) == before + 1


def test_a_waiting_call_is_cancelled_and_an_ended_one_is_not(
    all_areas: AllAreas, body: dict[str, Any]
) -> None:
    waiting, over = (ask(all_areas, body).get_json()["callId"] for _ in range(2))
    call = all_areas.session.scalars(select(Call).where(Call.id == UUID(over))).one()
    call.status = CallStatus.COMPLETED
    all_areas.session.commit()
    addresses = [f"/api/v1/outbound/calls/{call_id}/cancel" for call_id in (waiting, over)]
    headers = all_areas.credentials["public"]
    first, second = (all_areas.client.post(address, headers=headers) for address in addresses)
    cancelled = first.get_json()
    assert list(problems(cancelled, "Call")) == []
    assert (cancelled["status"], cancelled["endedReason"]) == ("canceled", "canceled")
    assert refusal(second, addresses[1]) == (409, "call_ended")


@pytest.mark.parametrize(
    ("field", "longest"),
    [("firstName", "a" * 100), ("lastName", "a" * 100), ("email", "a" * 242 + "@b.example.x")],
    ids=["first name", "last name", "email"],
)
def test_a_name_is_trimmed_before_its_length_counts(
    all_areas: AllAreas, body: dict[str, Any], field: str, longest: str
) -> None:
    assert len(longest) in {100, 254}
    contact = {"phoneNumber": TO, field: f"  {longest}\t "}
    answer = ask(all_areas, {**body, "contact": contact})
    assert answer.status_code == 200
    address = f"/api/v1/outbound/calls/{answer.get_json()['callId']}"
    stored = all_areas.client.get(address, headers=all_areas.credentials["public"]).get_json()
    assert stored["contact"][field] == longest
    contact[field] = f" {longest}a "
    assert refused(all_areas, {**body, "contact": contact}) == (
        400,
        [(f"contact.{field}", "too_long")],
    )
