"""Real answers have the fields, types and statuses of the contract's tables."""

from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import Organization, new_id
from tests.contract.conformity import list_problems, problems
from tests.contract.interface import OBJECTS, OPERATIONS, Operation, kind_of
from tests.contract.requests import EVERYTHING, Subject, bad, good, subject_of
from tests.fixtures.partner_api import PartnerApi, answered, without_ids

pytestmark = pytest.mark.alternating

BY_NAME = {operation.name: operation for operation in OPERATIONS}
NEVER_404 = {"GET /api/partners", "POST /api/admins"}
"""No match is an empty list; the partner is that of the token (docs/decisions/json-api.md)."""


def caller_role(name: str) -> Role:
    return Role.OPERATOR if name == "POST /api/partners" else Role.PARTNER_ADMIN


@pytest.fixture(params=BY_NAME)
def listed_operation(request: pytest.FixtureRequest) -> Operation:
    return BY_NAME[request.param]


@pytest.fixture
def tenant(partner_api: PartnerApi, session: Session) -> Subject:
    partner_api.put(f"/api/partners/{partner_api.tenant.partner.id}", dict(EVERYTHING))
    session.get_one(Organization, partner_api.tenant.organization.id).user_limit = 5
    session.commit()
    return subject_of(partner_api)


def test_a_good_request_gets_200_and_the_answer_of_the_contract(
    partner_api: PartnerApi, tenant: Subject, listed_operation: Operation
) -> None:
    method, path, body = good(listed_operation.name, tenant)
    answer = answered(
        partner_api.ask(method, path, body, as_role=caller_role(listed_operation.name))
    )
    check = list_problems if listed_operation.answer.startswith("[]") else problems
    assert list(check(answer, listed_operation.answer.removeprefix("[]"))) == []


def test_a_bad_request_gets_400(
    partner_api: PartnerApi, tenant: Subject, listed_operation: Operation
) -> None:
    # Nothing in its address can be malformed: it is the operator's token that makes it bad.
    by_operator = listed_operation.name == "GET /api/users/{externalUserId}/subscription"
    role = Role.OPERATOR if by_operator else caller_role(listed_operation.name)
    response = partner_api.ask(*bad(listed_operation.name, tenant), as_role=role)
    assert (response.status_code, list(problems(without_details(response), "Error"))) == (400, [])


@pytest.mark.parametrize("token", [None, "Bearer x", "Basic eDp5", "Bearer"])
def test_without_a_valid_token_the_answer_is_401(
    partner_api: PartnerApi, tenant: Subject, listed_operation: Operation, token: str | None
) -> None:
    method, path, body = good(listed_operation.name, tenant)
    headers = {} if token is None else {"Authorization": token}
    response = partner_api.client.open(path, method=method, json=body, headers=headers)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert list(problems(without_details(response), "Error")) == []


def test_a_missing_object_gets_404_where_the_contract_lists_it(
    partner_api: PartnerApi, tenant: Subject, listed_operation: Operation
) -> None:
    no_one = Subject(new_id(), new_id(), new_id(), "nobody@nowhere.example")
    response = partner_api.ask(
        *good(listed_operation.name, no_one), as_role=caller_role(listed_operation.name)
    )
    names_something = "{" in listed_operation.path or listed_operation.query.keys() & {
        "organizationId"
    }
    if not names_something and "partial" not in listed_operation.path:
        assert response.status_code == 200
        return
    expected = 404 if 404 in listed_operation.statuses else 400
    assert (response.status_code, list(problems(without_details(response), "Error"))) == (
        expected,
        [],
    )


def test_every_listed_404_is_tested_or_listed_as_unreachable() -> None:
    without_id = {
        operation.name
        for operation in OPERATIONS
        if 404 in operation.statuses
        and "{" not in operation.path
        and "organizationId" not in operation.query
    }
    assert without_id == NEVER_404


@pytest.mark.parametrize("name", ["POST /api/partners", "PUT /api/partners/{partnerId}"])
def test_every_field_sent_is_answered_as_it_was_sent(
    partner_api: PartnerApi, tenant: Subject, name: str
) -> None:
    method, path, body = good(name, tenant)
    answer = answered(partner_api.ask(method, path, body, as_role=caller_role(name)))
    assert {field: without_ids(answer[field]) for field in body} == body


@pytest.mark.parametrize(
    ("name", "object_name"),
    [
        ("PUT /api/partners/{partnerId}", "UpdatePartnerInput"),
        (
            "PUT /api/partners/{partnerId}/organizations/{organizationId}",
            "UpdateOrganizationInput",
        ),
    ],
)
def test_null_clears_a_nullable_field_and_is_refused_for_others(
    partner_api: PartnerApi, tenant: Subject, name: str, object_name: str
) -> None:
    method, path, _body = good(name, tenant)
    outcome = {}
    for field, written in OBJECTS[object_name].items():
        response = partner_api.ask(method, path, {field: None})
        body = response.get_json()
        cleared = response.status_code == 200 and body[field] is None
        codes = [] if cleared else [error["code"] for error in body["details"]["errors"]]
        outcome[field] = (cleared, codes)
        assert kind_of(written).nullable == cleared, field
    assert {codes for cleared, codes in ((c, tuple(x)) for c, x in outcome.values())} == {
        (),
        ("not_nullable",),
    }


@pytest.mark.parametrize(
    "object_name",
    ["CreatePartnerInput", "CreateUserInput", "CreatePartialUserInput", "CreateAdminInput"],
)
def test_required_fields_are_required_and_others_are_not(
    partner_api: PartnerApi, tenant: Subject, object_name: str
) -> None:
    name = next(o.name for o in OPERATIONS if o.body == object_name and "{" not in o.path)
    method, path, _body = good(name, tenant)
    response = partner_api.ask(method, path, {}, as_role=caller_role(name))
    missing = {
        error["field"]
        for error in response.get_json()["details"]["errors"]
        if error["code"] == "required"
    }
    required = {f for f, written in OBJECTS[object_name].items() if kind_of(written).required}
    assert (response.status_code, missing) == (400, required)


def without_details(response: Any) -> Any:
    """The error body; ``details`` is an addition whose shape is its own."""
    body = response.get_json()
    assert set(body["details"]) >= {"code", "errors", "requestId"}
    return body
