"""Area B (contract, sections 2.11, 2.12, 4.2): its tables against answers and the document."""

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.models import Call
from tests.contract.all_areas import FROM, TO, AllAreas
from tests.contract.conformity import problems
from tests.contract.interface import OBJECTS, kind_of
from tests.contract.refusals import refusal

OUTBOUND, TOKEN = "/phone/outbound", "/oauth2/token"
NOTES: Mapping[str, Any] = {"introNotes": "She asked for a quote."}
WORDS: Mapping[str, Any] = {"introMessage": "Hello.", "introVoicemail": "Bye."}
BASE: Mapping[str, Any] = {"name": "Ada Lovelace", "toPhoneNumber": TO, "fromPhoneNumber": FROM}
WRONG_TYPES: tuple[Any, ...] = (1, True, [], {})

OPTIONS: Mapping[str, tuple[Mapping[str, Any], str | None]] = {
    "option a: notes": (NOTES, None),
    "option b: both texts": (WORDS, None),
    "neither": ({}, "messaging_required"),
    "blank notes": ({"introNotes": " \n"}, "messaging_required"),
    "the message alone": ({"introMessage": "Hello."}, "messaging_incomplete"),
    "the voicemail alone": ({"introVoicemail": "Bye."}, "messaging_incomplete"),
    "a blank message": ({"introMessage": "", "introVoicemail": "Bye."}, "messaging_incomplete"),
    "both options": ({**NOTES, **WORDS}, "messaging_conflict"),
    "notes and half of the other": ({**NOTES, "introMessage": "Hi"}, "messaging_conflict"),
}
"""Message, and the code where that is refused."""

STATUSES: Mapping[str, tuple[int, str, Mapping[str, Any]]] = {
    "no agent for the outgoing number": (404, "agent_not_found", {"fromPhoneNumber": TO}),
    "a number that may not be dialled": (
        400,
        "number_not_allowed",
        {"toPhoneNumber": "+19005550123"},
    ),
}


def place(all_areas: AllAreas, body: Mapping[str, Any], headers: Any = None) -> TestResponse:
    sent = all_areas.credentials["legacy_calls"] if headers is None else headers
    return all_areas.client.post(OUTBOUND, headers=sent, json=dict(body))


def calls(all_areas: AllAreas) -> int:
    return all_areas.session.scalar(select(func.count()).select_from(Call)) or 0


def codes(response: TestResponse) -> list[tuple[str, str]]:
    errors = response.get_json()["details"]["errors"]
    return [(error["field"], error["code"]) for error in errors]


@pytest.mark.parametrize(
    ("path", "media", "body", "answer", "contract", "security"),
    [
        (
            OUTBOUND,
            "application/json",
            "LegacyCallInput",
            "LegacyCallAnswer",
            {"200", "403", "404"},
            [{"callToken": ["phone/call.out"]}],
        ),
        (
            TOKEN,
            "application/x-www-form-urlencoded",
            "TokenRequest",
            "TokenResponse",
            {"200", "400"},
            [{"clientCredentials": []}, {}],
        ),
    ],
)
def test_the_document_states_the_operation_as_the_contract_has_it(
    paths: dict[str, Any],
    path: str,
    media: str,
    body: str,
    answer: str,
    contract: set[str],
    security: list[Any],
) -> None:
    described = paths[path]["post"]
    responses = described["responses"]
    content = described["requestBody"]["content"]
    assert {s for s in responses if not responses[s].get("x-addition")} == contract
    assert {media: reference(body)} == {kind: sent["schema"] for kind, sent in content.items()}
    assert responses["200"]["content"]["application/json"]["schema"] == reference(answer)
    assert (described["security"], described["parameters"]) == (security, [])
    assert described.get("deprecated", False) == (path == OUTBOUND)


def reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.mark.parametrize(("message", "code"), OPTIONS.values(), ids=OPTIONS.keys())
def test_a_request_needs_one_of_the_two_options(
    all_areas: AllAreas, message: Mapping[str, Any], code: str | None
) -> None:
    before = calls(all_areas)
    response = place(all_areas, {**BASE, **message})
    if code is None:
        assert response.status_code == 200
        assert list(problems(response.get_json(), "LegacyCallAnswer")) == []
        assert calls(all_areas) == before + 1
    else:
        assert refusal(response, OUTBOUND) == (400, code)
        assert calls(all_areas) == before


@pytest.mark.parametrize("field", OBJECTS["LegacyCallInput"])
def test_a_field_is_required_or_not_and_has_its_type(all_areas: AllAreas, field: str) -> None:
    kind = kind_of(OBJECTS["LegacyCallInput"][field])
    good = {**BASE, **(WORDS if field in WORDS else NOTES), "formInfo": []}
    before = calls(all_areas)
    without = place(all_areas, {name: value for name, value in good.items() if name != field})
    if kind.required:
        assert (refusal(without, OUTBOUND), codes(without)) == (
            (400, "required"),
            [(field, "required")],
        )
    elif field == "formInfo":
        assert without.status_code == 200
        before += 1
    null = place(all_areas, {**good, field: None})
    assert refusal(null, OUTBOUND)[0] == 400
    assert codes(null)[0] in {(field, "not_nullable"), (field, "wrong_type")}
    for value in WRONG_TYPES:
        if kind.is_list and value == []:
            continue
        wrong = place(all_areas, {**good, field: value})
        assert (refusal(wrong, OUTBOUND)[0], codes(wrong)) == (400, [(field, "wrong_type")]), value
    assert calls(all_areas) == before


def test_every_problem_comes_in_one_answer_and_unknown_fields_are_ignored(
    all_areas: AllAreas,
) -> None:
    wrong = place(
        all_areas, {"name": "", "toPhoneNumber": "1", "formInfo": [{}, 1], "colour": "red"}
    )
    assert refusal(wrong, OUTBOUND) == (400, "validation_failed")
    assert codes(wrong) == [
        ("name", "blank"),
        ("toPhoneNumber", "invalid_phone"),
        ("fromPhoneNumber", "required"),
        ("formInfo.0", "wrong_shape"),
        ("formInfo.1", "wrong_type"),
    ]
    assert place(all_areas, {**BASE, **NOTES, "colour": "red"}).status_code == 200


@pytest.mark.parametrize(("status", "code", "changes"), STATUSES.values(), ids=STATUSES.keys())
def test_a_refusal_has_its_status(
    all_areas: AllAreas, status: int, code: str, changes: Mapping[str, Any]
) -> None:
    response = place(all_areas, {**BASE, **NOTES, **changes})
    assert refusal(response, OUTBOUND) == (status, code)


@pytest.mark.parametrize("whose", ["nobody", "partner_admin", "public"])
def test_without_a_token_of_this_area_the_answer_is_403(all_areas: AllAreas, whose: str) -> None:
    headers = all_areas.credentials.get(whose, {})
    code = "invalid_token" if whose == "partner_admin" else "token_missing"
    assert refusal(place(all_areas, {**BASE, **NOTES}, headers), OUTBOUND) == (403, code)


def test_the_token_endpoint_answers_as_the_contract_has_it(all_areas: AllAreas) -> None:
    form = {
        "grant_type": "client_credentials",
        "client_id": all_areas.client_id,
        "client_secret": all_areas.client_secret,
        "scope": "phone/call.out",
    }
    answer = all_areas.client.post(TOKEN, data=form, headers={"Cookie": "XSRF-TOKEN=abc"})
    body = answer.get_json()
    assert answer.status_code == 200
    assert list(problems(body, "TokenResponse")) == []
    assert (body["token_type"], body["expires_in"], body["scope"]) == (
        "Bearer",
        3600,
        "phone/call.out",
    )
    headers = {"Authorization": f"{body['token_type']} {body['access_token']}"}
    assert place(all_areas, {**BASE, **WORDS}, headers).status_code == 200


@pytest.mark.parametrize("changes", [{"client_id": "nobody"}, {"client_secret": "wrong"}])
def test_a_wrong_client_gets_400_with_a_code_and_a_message(
    all_areas: AllAreas, changes: dict[str, str]
) -> None:
    form = {
        "grant_type": "client_credentials",
        "client_id": all_areas.client_id,
        "client_secret": all_areas.client_secret,
        **changes,
    }
    answer = all_areas.client.post(TOKEN, data=form)
    assert refusal(answer, TOKEN) == (400, "invalid_client")
    assert list(problems(answer.get_json(), "TokenError")) == []


@pytest.mark.parametrize("path", [OUTBOUND, "/phone/nowhere"])
def test_the_end_is_announced_on_every_answer(all_areas: AllAreas, path: str) -> None:
    answers = [
        place(all_areas, {**BASE, **NOTES}),
        all_areas.client.post(path, headers=all_areas.credentials["legacy_calls"], data=b"["),
        all_areas.client.get(path),
        all_areas.client.post(path),
    ]
    announced = {
        tuple(answer.headers.get(name) for name in ("Deprecation", "Sunset", "Link"))
        for answer in answers
    }
    successor = '<http://localhost/api/v1/outbound/call>; rel="successor-version"'
    assert announced == {("@1767225600", "Wed, 01 Jul 2099 00:00:00 GMT", successor)}
