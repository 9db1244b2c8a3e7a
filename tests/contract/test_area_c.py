"""Responses about contacts match the contract (2.9, 4.3) and docs/decisions/contacts.md."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.api.openapi import openapi_document
from app.enums import OrganizationStatus
from app.models import Organization
from tests.contract.all_areas import MAX_CONTACTS, AllAreas, known_routes
from tests.contract.conformity import list_problems, problems
from tests.contract.refusals import refusal

PUBLIC_TAG = "Campaigns API"
CONTRACT = {
    "POST /api/v1/campaigns/{campaignId}/contacts": ("BulkContactsInput", "BulkResult"),
    "POST /api/v1/outbound/call": ("OutboundCallInput", "CallAccepted"),
}
ADDITIONS = {
    "GET /api/v1/agents": "[]AgentInfo",
    "GET /api/v1/campaigns": "[]CampaignInfo",
    "GET /api/v1/campaigns/{campaignId}/contacts": "[]StoredContact",
    "GET /api/v1/campaigns/{campaignId}/contacts/{contactId}": "StoredContact",
    "GET /api/v1/outbound/calls": "[]Call",
    "GET /api/v1/outbound/calls/{callId}": "Call",
    "POST /api/v1/outbound/calls/{callId}/cancel": "Call",
}
MESSAGE = re.compile(
    r"[\d,]+ contacts? (?:was|were) sent: "
    r"([\d,]+) created, ([\d,]+) updated, ([\d,]+) deleted, ([\d,]+) ignored, ([\d,]+) failed\."
)
KNOWN, ABSENT = "+12025550111", "+12025550112"
EVERYTHING: Mapping[str, Any] = {
    "firstName": "Ada",
    "lastName": "Lovelace",
    "email": "Ada@Example.com",
    "phone": "+12025550111",
    "contactMetadata": {"city": "Boston", "visits": 3, "vip": True, "score": 1.5},
    "status": "called back",
    "externalIdKey": "crmId",
    "externalIdValue": "A-1",
}

ACTIONS: Mapping[tuple[str | None, str], tuple[str, str]] = {
    (None, "absent"): ("success", "created"),
    (None, "known"): ("success", "updated"),
    (None, "ended"): ("ignored", "status_ended"),
    ("upsert", "absent"): ("success", "created"),
    ("upsert", "known"): ("success", "updated"),
    ("upsert", "ended"): ("ignored", "status_ended"),
    ("updateOnly", "absent"): ("ignored", "not_in_campaign"),
    ("updateOnly", "known"): ("success", "updated"),
    ("updateOnly", "ended"): ("ignored", "not_in_campaign"),
    ("remove", "absent"): ("errors", "not_found"),
    ("remove", "known"): ("success", "deleted"),
    ("remove", "ended"): ("errors", "not_found"),
}
"""The result for a contact by action, and its place in the answer."""
SENT: Mapping[str, Mapping[str, Any]] = {
    "absent": {"phone": ABSENT},
    "known": {"phone": KNOWN, "lastName": "King"},
    "ended": {"phone": ABSENT, "status": " Completed"},
}

FAILURES: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "missing_identifier": ({"firstName": "Ada"}, "phone"),
    "invalid_phone": ({"phone": "12"}, "phone"),
    "invalid_email": ({"email": "ada"}, "email"),
    "invalid_type": ({"phone": KNOWN, "firstName": 1}, "firstName"),
    "value_too_long": ({"phone": KNOWN, "status": "x" * 65}, "status"),
    "too_many_metadata_keys": (
        {"phone": KNOWN, "contactMetadata": {f"k{number}": 1 for number in range(51)}},
        "contactMetadata",
    ),
    "unknown_external_id_key": (
        {"phone": KNOWN, "externalIdKey": "nope", "externalIdValue": "1"},
        "externalIdKey",
    ),
    "external_id_pair_incomplete": ({"phone": KNOWN, "externalIdKey": "crmId"}, "externalIdValue"),
    "ambiguous_match": ({"phone": KNOWN, "email": "other@example.com"}, "phone"),
}
"""Codes of errors, a contact that has each, and the field that the error names."""

_ONE = [SENT["known"]]
ENVELOPES: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "no contacts": ({}, "required"),
    "contacts that are not a list": ({"contacts": {}}, "wrong_type"),
    "an empty list": ({"contacts": []}, "too_few"),
    "too many": ({"contacts": _ONE * (MAX_CONTACTS + 1)}, "too_many_contacts"),
    "an unknown action": ({"contacts": _ONE, "action": "delete"}, "not_allowed"),
    "an action in other letters": ({"contacts": _ONE, "action": "UPSERT"}, "not_allowed"),
    "no action at all": ({"contacts": _ONE, "action": None}, "not_nullable"),
    "a misspelt action": ({"contacts": _ONE, "acton": "remove"}, "unknown_field"),
    "half a pair": ({"contacts": _ONE, "externalIdKey": "crmId"}, "external_id_pair_incomplete"),
    "an undefined key": (
        {"contacts": _ONE, "externalIdKey": "no", "externalIdValue": "1"},
        "unknown_external_id_key",
    ),
    "an identifying key for several": (
        {"contacts": [SENT["known"], SENT["absent"]], "externalIdKey": "crmId"}
        | {"externalIdValue": "1", "action": "remove"},
        "identifying_external_id_key",
    ),
}
"""What refuses a request as a whole."""


def path_of(all_areas: AllAreas) -> str:
    return f"/api/v1/campaigns/{all_areas.ids['campaign_id']}/contacts"


def send(all_areas: AllAreas, body: Mapping[str, Any], query: str = "") -> TestResponse:
    headers = all_areas.credentials["public"]
    return all_areas.client.post(path_of(all_areas) + query, headers=headers, json=dict(body))


def send_accepted(all_areas: AllAreas, body: Mapping[str, Any], query: str = "") -> dict[str, Any]:
    """A whole answer, in the contract's shape and with counts that add up."""
    response = send(all_areas, body, query)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.get_json()
    assert list(problems({k: v for k, v in found.items() if k != "ignored"}, "BulkResult")) == []
    for ignored in found["ignored"]:
        assert list(problems(ignored, "BulkIgnored")) == []
    counts = MESSAGE.fullmatch(found["message"])
    assert counts is not None
    created, updated, deleted, ignored, failed = (
        int(each.replace(",", "")) for each in counts.groups()
    )
    actions = [success["action"] for success in found["success"]]
    assert [actions.count(each) for each in ("created", "updated", "deleted")] == [
        created,
        updated,
        deleted,
    ]
    assert (len(found["ignored"]), len(found["errors"])) == (ignored, failed)
    assert created + updated + deleted + ignored + failed == len(body["contacts"])
    return found


@pytest.fixture
def all_areas_with_contact(all_areas: AllAreas) -> AllAreas:
    """The campaign holds one contact more, and one that is not ``KNOWN``."""
    contacts = [{"phone": KNOWN}, {"email": "other@example.com"}]
    assert len(send_accepted(all_areas, {"contacts": contacts})["success"]) == 2
    return all_areas


@pytest.fixture(scope="session")
def described_operations(described_app: Flask) -> dict[str, dict[str, Any]]:
    paths = openapi_document(described_app)["paths"]
    return {
        f"{method.upper()} {path}": operation
        for path, methods in paths.items()
        for method, operation in methods.items()
        if operation["tags"] == [PUBLIC_TAG]
    }


def reference(schema: dict[str, Any]) -> str:
    if schema.get("type") == "array":
        return "[]" + reference(schema["items"])
    return str(schema["$ref"]).rpartition("/")[2]


def test_the_document_states_the_operations_of_the_contract_and_declared_additions(
    described_operations: dict[str, dict[str, Any]],
) -> None:
    found = {
        name: reference(operation["responses"]["200"]["content"]["application/json"]["schema"])
        for name, operation in described_operations.items()
    }
    assert found == {name: answer for name, (_, answer) in CONTRACT.items()} | ADDITIONS
    assert {
        name for name in described_operations if not described_operations[name].get("x-addition")
    } == CONTRACT.keys()
    for name, (body, _) in CONTRACT.items():
        content = described_operations[name]["requestBody"]["content"]
        assert list(content) == ["application/json"]
        assert reference(content["application/json"]["schema"]) == body
    for operation in described_operations.values():
        assert operation["security"] == [{"apiKey": []}]
        plain = {s for s, a in operation["responses"].items() if not a.get("x-addition")}
        assert plain == {"200"}


@pytest.mark.parametrize("dry", [False, True], ids=["for real", "as a dry run"])
@pytest.mark.parametrize(("action", "who"), ACTIONS)
def test_each_contact_has_the_result_of_the_contract(
    all_areas_with_contact: AllAreas, action: str | None, who: str, dry: bool
) -> None:
    before = all_areas_with_contact.saved()
    body = {"contacts": [SENT[who]]} | ({} if action is None else {"action": action})
    found = send_accepted(all_areas_with_contact, body, "?dryRun=true" if dry else "")
    where, word = ACTIONS[action, who]
    [item] = found.pop(where)
    assert {name: found[name] for name in ("success", "errors", "ignored") if name != where} == {
        name: [] for name in ("success", "errors", "ignored") if name != where
    }
    assert (item["phone"], item["email"]) == (SENT[who]["phone"], None)
    assert item["action" if where == "success" else "code"] == word
    assert (all_areas_with_contact.saved() == before) == (dry or where != "success")


def test_every_field_is_stored_as_it_was_sent(all_areas: AllAreas) -> None:
    [success] = send_accepted(all_areas, {"contacts": [EVERYTHING]})["success"]
    headers = all_areas.credentials["public"]
    stored = all_areas.client.get(
        f"{path_of(all_areas)}/{success['id']}", headers=headers
    ).get_json()
    assert list(problems(stored, "StoredContact")) == []
    plain = {k: v for k, v in EVERYTHING.items() if not k.startswith("externalId")}
    assert {name: stored[name] for name in plain} == plain
    assert stored["externalIds"] == {"crmId": "A-1"}


@pytest.mark.parametrize("field", ["firstName", "lastName", "email", "contactMetadata", "status"])
def test_an_empty_value_keeps_what_is_stored_and_null_clears_it(
    all_areas: AllAreas, field: str
) -> None:
    empty: Any = {} if field == "contactMetadata" else ""
    [success] = send_accepted(all_areas, {"contacts": [EVERYTHING]})["success"]
    found = []
    for value in (empty, None):
        send_accepted(all_areas, {"contacts": [{"phone": EVERYTHING["phone"], field: value}]})
        headers = all_areas.credentials["public"]
        stored = all_areas.client.get(f"{path_of(all_areas)}/{success['id']}", headers=headers)
        found.append(stored.get_json()[field])
    assert found == [EVERYTHING[field], {} if field == "contactMetadata" else None]


@pytest.mark.parametrize(("code", "case"), FAILURES.items(), ids=FAILURES.keys())
def test_a_contact_that_fails_says_why_and_the_others_go_on(
    all_areas_with_contact: AllAreas, code: str, case: tuple[Mapping[str, Any], str]
) -> None:
    contact, field = case
    found = send_accepted(all_areas_with_contact, {"contacts": [contact, {"phone": ABSENT}]})
    [error] = found["errors"]
    message = error.pop("message")
    assert len(message) > 10
    assert error == {
        "index": 0,
        "phone": contact.get("phone"),
        "email": contact.get("email"),
        "code": code,
        "field": field,
        "retryable": False,
    }
    assert [success["phone"] for success in found["success"]] == [ABSENT]


@pytest.mark.parametrize(
    "contact", [{"firstName": "Ada"}, {"externalIdKey": "crmId", "externalIdValue": "A-1"}]
)
def test_removing_needs_a_phone_or_an_email(
    all_areas_with_contact: AllAreas, contact: Mapping[str, Any]
) -> None:
    found = send_accepted(all_areas_with_contact, {"contacts": [contact], "action": "remove"})
    assert [error["code"] for error in found["errors"]] == ["missing_identifier"]


@pytest.mark.parametrize(("body", "code"), ENVELOPES.values(), ids=ENVELOPES.keys())
def test_a_wrong_envelope_refuses_all_of_it(
    all_areas_with_contact: AllAreas, body: Mapping[str, Any], code: str
) -> None:
    before = all_areas_with_contact.saved()
    assert refusal(send(all_areas_with_contact, body), path_of(all_areas_with_contact)) == (
        400,
        code,
    )
    assert all_areas_with_contact.saved() == before


PUBLIC_ROUTES = {name: r for name, r in known_routes().items() if r.blueprint == "public"}


@pytest.mark.alternating
@pytest.mark.parametrize("query", ["?dryrun=true", "?dryRun=true&perpage=1", "?x", "?%00=1"])
@pytest.mark.parametrize("name", PUBLIC_ROUTES)
def test_an_unknown_query_parameter_refuses_all_of_it(
    all_areas_with_contact: AllAreas, name: str, query: str
) -> None:
    route = PUBLIC_ROUTES[name]
    before = all_areas_with_contact.saved()
    path = route.path(all_areas_with_contact.ids)
    body: dict[str, Any] = (
        {"json": all_areas_with_contact.good_body(route)} if route.declared.body else {}
    )
    response = all_areas_with_contact.client.open(
        path + query, method=route.method, headers=all_areas_with_contact.headers(route), **body
    )
    assert response.status_code == 400
    assert {each["code"] for each in response.get_json()["details"]["errors"]} == {
        "unknown_parameter"
    }
    refusal(response, path)
    assert all_areas_with_contact.saved() == before


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?dryrun=true", 'There is no parameter "dryrun" here. Did you mean "dryRun"?'),
        ("?dry_run=true", 'There is no parameter "dry_run" here. Did you mean "dryRun"?'),
        ("?action=remove", 'There is no parameter "action" here.'),
    ],
)
def test_the_nearest_known_parameter_is_named_and_nothing_is_removed(
    all_areas_with_contact: AllAreas, query: str, message: str
) -> None:
    before = all_areas_with_contact.saved()
    response = send(
        all_areas_with_contact, {"contacts": [{"phone": KNOWN}], "action": "remove"}, query
    )
    assert (response.status_code, response.get_json()["message"]) == (400, message)
    assert all_areas_with_contact.saved() == before


@pytest.mark.parametrize("name", [name for name in ADDITIONS if name.startswith("GET")])
def test_the_reads_have_their_shape(all_areas_with_contact: AllAreas, name: str) -> None:
    path = name.removeprefix("GET ")
    ids = {"campaignId": "campaign_id", "contactId": "contact_id", "callId": "call_id"}
    path = re.sub(r"\{(\w+)\}", lambda match: all_areas_with_contact.ids[ids[match[1]]], path)
    response = all_areas_with_contact.client.get(
        path, headers=all_areas_with_contact.credentials["public"]
    )
    assert response.status_code == 200
    check = list_problems if ADDITIONS[name].startswith("[]") else problems
    assert list(check(response.get_json(), ADDITIONS[name].removeprefix("[]"))) == []


def test_the_key_of_a_suspended_organization_is_refused(all_areas: AllAreas) -> None:
    customer = all_areas.session.get_one(Organization, UUID(all_areas.ids["organization_id"]))
    customer.status = OrganizationStatus.SUSPENDED
    all_areas.session.commit()
    found = {}
    for endpoint, route in known_routes().items():
        if route.blueprint == "public":
            path, headers = route.path(all_areas.ids), all_areas.headers(route)
            response = all_areas.client.open(path, method=route.method, headers=headers)
            found[endpoint] = refusal(response, path)
    assert len(found) == len(CONTRACT) + len(ADDITIONS)
    assert set(found.values()) == {(403, "organization_suspended")}
