"""The protocol of RFC 7644: filters, pages, attributes, versions, errors, tokens."""

from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import ApiRequest, AuditEntry, ScimToken, utcnow
from app.services.credentials import scim_tokens
from tests.api.scim.conftest import MEDIA, PATCH, USER, Directory
from tests.fixtures.tenants import Tenant

ADA, BOB, CAT = (f"{name}@people.example" for name in ("ada", "bob", "cat"))
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
SEARCH = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"


@pytest.fixture
def people(directory: Directory, tenant: Tenant) -> dict[str, str]:
    """Ada, who is in Sales; Bob, who is inactive; and Cat, who has no names."""
    name = {"givenName": "Ada", "familyName": "Lovelace"}
    ada = directory.add_user(ADA, externalId="E-1", name=name)
    bob = directory.add_user(BOB, externalId="e-2", displayName="Bob 100%", active=False)
    cat = directory.add_user(CAT)
    sales = directory.add_group("Sales", ada["id"])
    return {"ada": ada["id"], "bob": bob["id"], "cat": cat["id"], "sales": sales["id"]}


FILTERS = [
    ('userName eq "ADA@people.example"', [ADA]),
    ('USERNAME Eq "ada@people.example"', [ADA]),
    (f'{USER}:userName eq "ada@people.example"', [ADA]),
    ('userName ne "ada@people.example"', [BOB, CAT]),
    ('userName sw "B"', [BOB]),
    ('userName ew "T@PEOPLE.example"', [CAT]),
    ('userName co "people"', [ADA, BOB, CAT]),
    ('userName co ""', [ADA, BOB, CAT]),
    ('userName gt "b"', [BOB, CAT]),
    ('emails.value eq "bob@people.example"', [BOB]),
    ('emails eq "bob@people.example"', [BOB]),
    ('emails[type eq "work" and value sw "bob"]', [BOB]),
    ('emails[type eq "home"]', []),
    ('emails[type eq "work"].value eq "bob@people.example"', [BOB]),
    ('externalId eq "E-1"', [ADA]),
    ('externalId eq "e-1"', []),
    ("externalId pr", [ADA, BOB]),
    ("not (externalId pr)", [CAT]),
    ('externalId ne "E-1"', [BOB, CAT]),
    ('not (externalId eq "E-1")', [BOB, CAT]),
    ("externalId eq null", [CAT]),
    ('externalId co "E-"', [ADA]),
    ('displayName eq "ada lovelace"', [ADA]),
    ('displayName co "100%"', [BOB]),
    ('displayName co "_"', []),
    ('name.givenName eq "ADA" and name.familyName sw "love"', [ADA]),
    ("name pr", [ADA]),
    ("active eq true", [ADA, CAT]),
    ("active eq false", [BOB]),
    ('active eq "False"', [BOB]),
    ("active ne true", [BOB]),
    ('(userName sw "a" or userName sw "b") and active eq true', [ADA]),
    ('userName sw "a" or userName sw "b" and active eq true', [ADA]),
    ('groups.display eq "sales"', [ADA]),
    ('groups eq "{sales}"', [ADA]),
    ('groups[value eq "{sales}" and display eq "Sales"]', [ADA]),
    ("groups pr", [ADA]),
    ("not (groups pr)", [BOB, CAT]),
    ('id eq "{bob}"', [BOB]),
    ('id eq "nobody"', []),
    ('id ne "{bob}"', [ADA, CAT]),
    ('meta.created gt "2020-01-01T00:00:00Z"', [ADA, BOB, CAT]),
    ('meta.lastModified lt "2020-01-01T00:00:00Z"', []),
    ('meta.created gt "2020-01-01T00:00:00"', [ADA, BOB, CAT]),
]


def test_a_filter_finds_its_users(directory: Directory, people: dict[str, str]) -> None:
    found = {}
    for text, _ in FILTERS:
        wanted = text
        for name, id_ in people.items():
            wanted = wanted.replace(f"{{{name}}}", id_)
        names = directory.names(wanted)
        found[text] = [name for name in names if name.endswith("@people.example")]
    assert found == dict(FILTERS)


BAD_FILTERS = [
    "userName",
    'userName is "ada"',
    'nobody eq "x"',
    'emails.nothing eq "x"',
    "(" * 60 + "userName pr" + ")" * 60,
    'userName eq "' + "x" * 2100 + '"',
    'userName eq "\\u0000"',
    'userName eq "\\ud800"',
    "active gt true",
    'id co "1"',
    "userName eq 5",
    'meta.created gt "yesterday"',
    'meta.created gt "0001-01-01T00:00:00+14:00"',
    'meta.created co "2020"',
    'meta.location eq "x"',
    'displayName[value eq "x"]',
    'userName eq "ada" and',
    "not userName pr",
]


def test_wrong_filters_are_refused(directory: Directory) -> None:
    found = {}
    for text in BAD_FILTERS:
        answer = directory.client.get(
            "/scim/v2/Users",
            query_string={"filter": text},
            headers={"Authorization": f"Bearer {directory.secret}"},
        )
        body = answer.get_json()
        found[text] = (answer.status_code, body["status"], body["scimType"], body["schemas"])
    assert found == dict.fromkeys(BAD_FILTERS, (400, "400", "invalidFilter", [ERROR]))


def page(directory: Directory, query: str) -> tuple[int, int, int, list[str]]:
    found = directory.get(f"/Users?{query}").get_json()
    names = [user["userName"].partition("@")[0] for user in found.get("Resources", [])]
    return found["totalResults"], found["startIndex"], found["itemsPerPage"], names


@pytest.mark.usefixtures("people")
def test_users_are_paged_and_sorted(directory: Directory) -> None:
    of_people = 'filter=userName co "people"&sortBy=userName'
    pages = {
        "": (3, 1, 3, ["ada", "bob", "cat"]),
        "&startIndex=2&count=1": (3, 2, 1, ["bob"]),
        "&startIndex=0&count=2": (3, 1, 2, ["ada", "bob"]),
        "&startIndex=-5": (3, 1, 3, ["ada", "bob", "cat"]),
        "&count=0": (3, 1, 0, []),
        "&count=-1": (3, 1, 0, []),
        "&startIndex=4": (3, 4, 0, []),
        "&startIndex=99999999999999999999": (3, 2**31, 0, []),
        "&count=99999999999999999999": (3, 1, 3, ["ada", "bob", "cat"]),
        "&sortOrder=descending": (3, 1, 3, ["cat", "bob", "ada"]),
    }
    assert {query: page(directory, of_people + query) for query in pages} == pages
    orders = {
        "displayName": ["ada", "bob", "cat"],
        "externalId&sortOrder=descending": ["cat", "bob", "ada"],
        "emails": ["ada", "bob", "cat"],
        "name.givenName": ["ada", "bob", "cat"],
        "meta.created": ["ada", "bob", "cat"],
    }
    wanted = 'filter=userName co "people"&sortBy='
    assert {order: page(directory, wanted + order)[3] for order in orders} == orders


WRONG_QUERIES = {
    "count=many": "invalidValue",
    "startIndex=1.5": "invalidValue",
    "sortBy=nothing": "invalidPath",
    "sortBy=groups": "invalidPath",
    "sortBy=name": "invalidPath",
    "sortOrder=up": "invalidValue",
    "attributes=userName&excludedAttributes=active": "invalidValue",
}


def test_wrong_queries_are_refused(directory: Directory) -> None:
    answers = {query: directory.get(f"/Users?{query}") for query in WRONG_QUERIES}
    found = {query: answer.get_json().get("scimType") for query, answer in answers.items()}
    assert found == WRONG_QUERIES
    assert {answer.status_code for answer in answers.values()} == {400}


def test_a_search_by_post_finds_the_same(directory: Directory, people: dict[str, str]) -> None:
    sent = {"schemas": [SEARCH], "filter": 'userName sw "ada"', "attributes": ["userName"]}
    found = directory.send("POST", "/Users/.search", sent).get_json()
    resources = [{"schemas": [USER], "id": people["ada"], "userName": ADA}]
    assert (found["totalResults"], found["Resources"]) == (1, resources)
    sent = {"schemas": [SEARCH], "filter": f'members eq "{people["ada"]}"'}
    found = directory.send("POST", "/Groups/.search", sent).get_json()
    assert [group["displayName"] for group in found["Resources"]] == ["Sales"]


ATTRIBUTES = {
    "attributes=userName": {"id", "schemas", "userName"},
    "attributes=USERNAME,name.givenName": {"id", "schemas", "userName", "name"},
    f"attributes={USER}:active": {"id", "schemas", "active"},
    "excludedAttributes=emails,meta,groups,id": {
        *("id", "schemas", "userName", "name", "displayName", "userType", "active", "externalId"),
    },
    "attributes=nothing": {"id", "schemas"},
}


def test_a_request_chooses_the_attributes_of_the_answer(
    directory: Directory, people: dict[str, str]
) -> None:
    answers = {query: directory.get(f"/Users/{people['ada']}?{query}") for query in ATTRIBUTES}
    assert {query: set(answer.get_json()) for query, answer in answers.items()} == ATTRIBUTES


def test_a_change_of_an_old_version_is_refused(
    directory: Directory, people: dict[str, str]
) -> None:
    for path in (f"/Users/{people['ada']}", f"/Groups/{people['sales']}"):
        tag = directory.get(path).headers["ETag"]
        assert directory.get(path, If_None_Match=tag).status_code == 304
        change = {"op": "replace", "path": "displayName", "value": "New"}
        stale = directory.patch(path, change, If_Match='W/"old"')
        assert (stale.status_code, stale.get_json()["schemas"]) == (412, [ERROR])
        assert directory.send("DELETE", path, If_Match='"old"').status_code == 412
        changed = directory.patch(path, change, If_Match=tag)
        assert changed.status_code == 200
        assert changed.headers["ETag"] != tag
        assert directory.get(path, If_None_Match=tag).status_code == 200
        assert directory.patch(path, change, If_Match="*").status_code == 200


BODIES: list[tuple[Any, str]] = [
    (b"{", "invalidSyntax"),
    (b"[]", "invalidSyntax"),
    (b'{"a": 1, "a": 2}', "invalidSyntax"),
    (b'{"userName": "\\ud800"}', "invalidSyntax"),
    ({}, "invalidValue"),
    ({"schemas": [USER]}, "invalidValue"),
    ({"schemas": [USER], "userName": 5}, "invalidValue"),
    ({"schemas": [USER], "userName": ADA, "active": "perhaps"}, "invalidValue"),
    ({"schemas": [USER], "userName": ADA, "emails": "x"}, "invalidValue"),
    ({"schemas": [USER], "userName": ADA, "displayName": "x" * 201}, "invalidValue"),
    ({"schemas": [USER], "userName": ADA, "externalId": "x" * 201}, "invalidValue"),
]


@pytest.mark.parametrize(("body", "scim_type"), BODIES)
def test_wrong_bodies_are_refused(directory: Directory, body: Any, scim_type: str) -> None:
    sent = {"data": body} if isinstance(body, bytes) else {"json": body}
    answer = directory.client.post(
        "/scim/v2/Users",
        headers={"Authorization": f"Bearer {directory.secret}", "Content-Type": MEDIA},
        **sent,
    )
    found = answer.get_json()
    assert (answer.status_code, found["scimType"], found["schemas"]) == (400, scim_type, [ERROR])
    assert answer.mimetype == MEDIA


SCHEMAS: list[tuple[dict[str, Any], int, int]] = [
    ({}, 201, 200),
    ({"schemas": []}, 201, 200),
    ({"schemas": [USER]}, 201, 400),
    ({"schemas": [USER, "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"]}, 201, 400),
    ({"schemas": [PATCH]}, 400, 200),
    ({"schemas": ["urn:scim:schemas:core:1.0"]}, 400, 400),
]


@pytest.mark.parametrize(("schemas", "created", "patched"), SCHEMAS)
def test_a_body_without_schemas_is_read_and_one_with_another_is_refused(
    directory: Directory, schemas: dict[str, Any], created: int, patched: int
) -> None:
    made = directory.add_user("bo@northwind.example")
    change = {"Operations": [{"op": "replace", "path": "displayName", "value": "Bo"}]}
    answers = (
        directory.send("POST", "/Users", {"userName": ADA, **schemas}),
        directory.send("PATCH", f"/Users/{made['id']}", change | schemas),
    )
    assert [each.status_code for each in answers] == [created, patched]
    refusals = {each.get_json()["scimType"] for each in answers if each.status_code == 400}
    assert refusals <= {"invalidSyntax"}


PATCHES: list[tuple[Any, str]] = [
    ([], "invalidValue"),
    ([{"op": "move", "path": "active", "value": True}], "invalidValue"),
    ([{"op": "remove"}], "noTarget"),
    ([{"op": "replace", "path": "active", "value": "perhaps"}], "invalidValue"),
    ([{"op": "replace", "path": "emails[", "value": "x"}], "invalidPath"),
    ([{"op": "replace", "path": "id", "value": "x"}], "mutability"),
    ([{"op": "replace", "path": "userType", "value": "operator"}], "mutability"),
    ([{"op": "remove", "path": "userName"}], "mutability"),
    ([{"op": "add", "path": "x" * 600, "value": 1}], "invalidValue"),
    ([{"op": "add", "path": "active", "value": True}] * 201, "invalidValue"),
]


@pytest.mark.parametrize(("operations", "scim_type"), PATCHES)
def test_wrong_patches_are_refused(directory: Directory, operations: Any, scim_type: str) -> None:
    made = directory.add_user(ADA)
    sent = {"schemas": [PATCH], "Operations": operations}
    answer = directory.send("PATCH", f"/Users/{made['id']}", sent)
    assert (answer.status_code, answer.get_json()["scimType"]) == (400, scim_type), answer.text
    assert directory.get(f"/Users/{made['id']}").get_json() == made


def test_media_types_are_negotiated(directory: Directory) -> None:
    asked = {"application/scim+json": MEDIA, "application/json": "application/json", "*/*": MEDIA}
    found = {each: directory.get("/Users", Accept=each).mimetype for each in asked}
    assert found == asked
    refused = directory.get("/Users", Accept="text/html")
    assert (refused.status_code, refused.get_json()["schemas"]) == (406, [ERROR])
    plain = directory.send("POST", "/Users", {"schemas": [USER]}, Content_Type="text/plain")
    assert (plain.status_code, plain.get_json()["status"]) == (415, "415")


def test_unsupported_operations_say_so(directory: Directory) -> None:
    answers = {
        "GET /Me": directory.get("/Me"),
        "POST /Bulk": directory.send("POST", "/Bulk", {}),
        "POST /.search": directory.send("POST", "/.search", {}),
        "GET /Nothing": directory.get("/Nothing"),
        "DELETE /Users": directory.send("DELETE", "/Users"),
        "GET /Schemas?filter": directory.get('/Schemas?filter=id eq "x"'),
    }
    found = {
        name: (answer.status_code, answer.get_json()["status"]) for name, answer in answers.items()
    }
    assert found == {
        "GET /Me": (501, "501"),
        "POST /Bulk": (501, "501"),
        "POST /.search": (501, "501"),
        "GET /Nothing": (404, "404"),
        "DELETE /Users": (405, "405"),
        "GET /Schemas?filter": (403, "403"),
    }


def test_only_the_service_description_is_public(client: FlaskClient) -> None:
    config = client.get("/scim/v2/ServiceProviderConfig")
    assert (config.status_code, config.get_json()["patch"]) == (200, {"supported": True})
    for token in (None, "pps_wrong", "x" * 5000):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = client.get("/scim/v2/Users", headers=headers)
        assert (answer.status_code, answer.get_json()["schemas"]) == (401, [ERROR])
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_token_ends_at_once_and_its_use_is_noted(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    token = session.scalars(select(ScimToken)).one()
    assert directory.secret not in (token.secret_hash, token.public_id)
    directory.get("/Users")
    session.refresh(token)
    assert token.last_used_at is not None
    rotated = scim_tokens.rotate(session, admin, token.id, overlap=timedelta(days=1))
    session.commit()
    newer = Directory(directory.client, rotated.secret)
    assert [each.get("/Users").status_code for each in (directory, newer)] == [200, 200]
    token.expires_at = utcnow()
    session.commit()
    assert [each.get("/Users").status_code for each in (directory, newer)] == [401, 200]
    scim_tokens.revoke(session, admin, rotated.token.id)
    session.commit()
    assert newer.get("/Users").status_code == 401
    actions = select(AuditEntry.action).where(AuditEntry.target_type == "scim_token")
    assert session.scalars(actions.order_by(AuditEntry.id)).all() == [
        "scim_token.created",
        "scim_token.rolled",
        "key.refused",
        "scim_token.revoked",
        "key.refused",
    ]


def test_a_suspended_partners_token_is_refused(
    directory: Directory, tenant: Tenant, session: Session
) -> None:
    tenant.partner.suspended_at = utcnow()
    session.commit()
    assert directory.get("/Users").status_code == 401


def test_a_scim_token_opens_no_other_api(directory: Directory) -> None:
    headers = {"Authorization": f"Bearer {directory.secret}"}
    answers = [
        directory.client.get("/api/partners", headers=headers),
        directory.client.get("/api/v1/agents", headers={"x-api-key": directory.secret}),
    ]
    assert [answer.status_code for answer in answers] == [401, 401]


def test_requests_are_logged_without_bodies(
    directory: Directory, session: Session, people: dict[str, str]
) -> None:
    directory.client.application.extensions["request_log"].flush()
    routes = set(session.scalars(select(ApiRequest.route)))
    assert routes == {"/scim/v2/Users", "/scim/v2/Groups"}
    assert people["ada"] not in str(routes)
