"""Cases of RFC 7644 in addition to those of the single resources, by section."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.api.scim.conftest import GROUP, PATCH, USER, Directory

ADA, BOB = "ada@people.example", "bob@people.example"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
SEARCH = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"


@pytest.fixture
def people(directory: Directory) -> dict[str, str]:
    """Ada, who is in Sales, and Bob, whose name has quotes."""
    name = {"givenName": "Ada", "familyName": "Lovelace"}
    ada = directory.add_user(ADA, externalId="E-1", name=name)
    bob = directory.add_user(BOB, displayName='Bob "the" builder', active=False)
    sales = directory.add_group("Sales", ada["id"])
    directory.add_group("Research")
    return {"ada": ada["id"], "bob": bob["id"], "sales": sales["id"]}


def with_ids(text: str, people: dict[str, str]) -> str:
    for name, id_ in people.items():
        text = text.replace(f"{{{name}}}", id_)
    return text


USER_FILTERS = [  # 3.4.2.2
    (f'userName ge "{BOB}"', [BOB]),
    (f'userName le "{ADA}"', [ADA]),
    (f'userName lt "{BOB}" and userName gt "a"', [ADA]),
    ('meta.created ge "2020-01-01T00:00:00Z"', [ADA, BOB]),
    ('meta.lastModified le "2020-01-01T00:00:00Z"', []),
    ('displayName eq "Bob \\"the\\" builder"', [BOB]),
    (f'{USER}:name.familyName co "love"', [ADA]),
    ('emails[type eq "work" and value co "bob"] or externalId eq "E-1"', [ADA, BOB]),
    ('emails[not (value co "bob")]', [ADA]),
    ('not (userName sw "a") and active eq false', [BOB]),
    ('active eq true and (userName sw "b" or externalId pr)', [ADA]),
    ('groups[display sw "Sal"]', [ADA]),
]
GROUP_FILTERS = [
    ('displayName eq "SALES"', ["Sales"]),
    ('displayName ne "sales"', ["Research"]),
    ('displayName sw "Re" or displayName ew "es"', ["Research", "Sales"]),
    ('members eq "{ada}"', ["Sales"]),
    ('members.value eq "{ada}"', ["Sales"]),
    ('members[value eq "{ada}"]', ["Sales"]),
    ('members[value eq "{bob}"]', []),
    ("members pr", ["Sales"]),
    ("not (members pr)", ["Research"]),
    ('id eq "{sales}"', ["Sales"]),
    (f'{GROUP}:displayName eq "sales"', ["Sales"]),
]


def matching_names(directory: Directory, path: str, wanted: str, name: str) -> list[str]:
    answer = directory.client.get(
        f"/scim/v2{path}",
        query_string={"filter": wanted},
        headers={"Authorization": f"Bearer {directory.secret}"},
    )
    assert answer.status_code == 200, (wanted, answer.text)
    return sorted(each[name] for each in answer.get_json().get("Resources", []))


def test_users_and_groups_are_filtered(directory: Directory, people: dict[str, str]) -> None:
    users, groups = {}, {}
    for text, _ in USER_FILTERS:
        names = matching_names(directory, "/Users", with_ids(text, people), "userName")
        users[text] = [name for name in names if name.endswith("@people.example")]
    for text, _ in GROUP_FILTERS:
        groups[text] = matching_names(directory, "/Groups", with_ids(text, people), "displayName")
    assert (users, groups) == (dict(USER_FILTERS), dict(GROUP_FILTERS))


def resource_names(query: str, directory: Directory, path: str) -> set[str]:
    answer = directory.get(f"{path}?{query}")
    assert answer.status_code == 200, answer.text
    body = answer.get_json()
    shown = body["Resources"][0] if body["schemas"] == [LIST] else body
    return {
        f"{name}.{inner}" if isinstance(value, dict) and name == "name" else name
        for name, value in shown.items()
        for inner in (value if name == "name" else ("",))
    }


def test_attributes_can_be_chosen_in_lists_searches_and_answers(
    directory: Directory, people: dict[str, str]
) -> None:
    """Sections 3.4.2.5, 3.4.3 and 3.9."""
    group = {"id", "schemas", "displayName", "meta"}
    of_sales = '&filter=displayName eq "sales"'
    assert {
        "excluded": resource_names(f"excludedAttributes=members{of_sales}", directory, "/Groups"),
        "by URN": resource_names(
            f"excludedAttributes={GROUP}:members,META{of_sales}", directory, "/Groups"
        ),
        "chosen": resource_names(f"attributes=displayName{of_sales}", directory, "/Groups"),
        "inner": resource_names("attributes=name.familyName", directory, f"/Users/{people['ada']}"),
        "without inner": resource_names(
            "attributes=name&excludedAttributes=", directory, f"/Users/{people['ada']}"
        ),
    } == {
        "excluded": group,
        "by URN": group - {"meta"},
        "chosen": group - {"meta"},
        "inner": {"id", "schemas", "name.familyName"},
        "without inner": {"id", "schemas", "name.familyName", "name.givenName"},
    }
    sent = {
        "schemas": [SEARCH],
        "filter": 'userName sw "ada"',
        "excludedAttributes": ["emails", "meta", "groups", "name"],
    }
    (shown,) = directory.send("POST", "/Users/.search", sent).get_json()["Resources"]
    kept = {"id", "schemas", "userName", "displayName", "externalId", "active", "userType"}
    assert set(shown) <= kept
    changed = directory.send(
        "PATCH",
        f"/Users/{people['ada']}?attributes=displayName",
        {
            "schemas": [PATCH],
            "Operations": [{"op": "replace", "path": "displayName", "value": "A"}],
        },
    )
    assert changed.get_json() == {"schemas": [USER], "id": people["ada"], "displayName": "A"}


def test_a_search_by_post_is_paged(directory: Directory, people: dict[str, str]) -> None:
    sent = {
        "schemas": [SEARCH],
        "filter": 'userName co "people"',
        "sortBy": "userName",
        "sortOrder": "descending",
        "startIndex": 2,
        "count": 1,
    }
    body = directory.send("POST", "/Users/.search", sent).get_json()
    assert (body["schemas"], body["totalResults"], body["startIndex"], body["itemsPerPage"]) == (
        [LIST],
        2,
        2,
        1,
    )
    assert [user["userName"] for user in body["Resources"]] == [ADA]


GOOD_PATCHES: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [  # 3.5.2
    ([{"op": "add", "value": {"displayName": "A", "externalId": "x"}}],
     {"displayName": "A", "externalId": "x"}),
    ([{"op": "replace", "value": {"name": {"familyName": "King"}}}],
     {"name": {"givenName": "Ada", "familyName": "King"}}),
    ([{"op": "replace", "path": f"{USER}:name.familyName", "value": "King"}],
     {"name": {"givenName": "Ada", "familyName": "King"}}),
    ([{"op": "add", "path": "displayName", "value": "A"},
      {"op": "replace", "path": "displayName", "value": "B"}], {"displayName": "B"}),
    ([{"op": "remove", "path": "externalId"}], {"externalId": None}),
    ([{"op": "remove", "path": 'emails[type eq "home"]'}], {"externalId": "E-1"}),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(GOOD_PATCHES)))
def test_a_patch_changes_the_attributes_it_names(
    directory: Directory, people: dict[str, str], case: int
) -> None:
    operations, expected = GOOD_PATCHES[case]
    answer = directory.patch(f"/Users/{people['ada']}", *operations)
    assert answer.status_code == 200, answer.text
    body = answer.get_json()
    assert {name: body.get(name) for name in expected} == expected


def test_a_patch_with_one_wrong_operation_changes_nothing(
    directory: Directory, people: dict[str, str]
) -> None:
    path = f"/Users/{people['ada']}"
    before = directory.get(path).get_json()
    answer = directory.patch(
        path,
        {"op": "replace", "path": "displayName", "value": "New"},
        {"op": "remove"},
    )
    assert (answer.status_code, answer.get_json().get("scimType")) == (400, "noTarget"), answer.text
    assert directory.get(path).get_json() == before


BAD_PATCHES: list[tuple[Any, str]] = [
    ({"schemas": [PATCH]}, "invalidValue"),
    ({"schemas": [PATCH], "Operations": [{"path": "displayName", "value": "A"}]}, "invalidValue"),
    ({"schemas": [PATCH], "Operations": [{"op": "add", "path": "displayName"}]}, "invalidValue"),
    ({"schemas": [PATCH], "Operations": [{"op": "add", "path": "name..x", "value": 1}]},
     "invalidPath"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(BAD_PATCHES)))
def test_a_wrong_patch_is_refused(directory: Directory, people: dict[str, str], case: int) -> None:
    sent, scim_type = BAD_PATCHES[case]
    answer = directory.send("PATCH", f"/Users/{people['ada']}", sent)
    assert (answer.status_code, answer.get_json().get("scimType")) == (400, scim_type), answer.text


def test_groups_are_patched_without_a_path(directory: Directory, people: dict[str, str]) -> None:
    path = f"/Groups/{people['sales']}"
    value = {"displayName": "Sales EU", "members": [{"value": people["bob"]}]}
    added = directory.patch(path, {"op": "add", "value": value})
    body = added.get_json()
    assert (added.status_code, body["displayName"]) == (200, "Sales EU")
    assert {each["value"] for each in body["members"]} == {people["ada"], people["bob"]}
    replaced = directory.patch(path, {"op": "replace", "value": {"members": []}})
    assert "members" not in replaced.get_json()


def test_a_replacement_ignores_what_only_the_portal_sets(
    directory: Directory, people: dict[str, str]
) -> None:
    """Section 3.5.1."""
    path = f"/Users/{people['ada']}"
    sent = {
        "schemas": [USER],
        "id": people["bob"],
        "userName": ADA,
        "userType": "operator",
        "groups": [],
        "meta": {"created": "2001-01-01T00:00:00Z"},
    }
    body = directory.send("PUT", path, sent).get_json()
    assert (body["id"], body["groups"][0]["value"]) == (people["ada"], people["sales"])
    assert body.get("userType") != "operator"
    assert not body["meta"]["created"].startswith("2001")
    missing = directory.send("PUT", "/Users/00000000-0000-7000-8000-000000000000", sent)
    assert (missing.status_code, missing.get_json()["schemas"]) == (404, [ERROR])


def test_a_version_guards_a_change(directory: Directory, people: dict[str, str]) -> None:
    """Section 3.14."""
    made = directory.send("POST", "/Users", {"schemas": [USER], "userName": "cat@people.example"})
    body = made.get_json()
    assert made.headers["ETag"] == body["meta"]["version"]
    assert made.headers["Location"] == body["meta"]["location"]
    path = f"/Users/{body['id']}"
    listed = directory.get('/Users?filter=userName eq "cat@people.example"').get_json()
    assert listed["Resources"][0]["meta"]["version"] == body["meta"]["version"]
    sent = {"schemas": [USER], "userName": "cat@people.example", "displayName": "Cat"}
    stale = directory.send("PUT", path, sent, If_Match='W/"old"')
    assert (stale.status_code, stale.get_json()["status"]) == (412, "412")
    several = f'W/"old", {body["meta"]["version"]}'
    assert directory.get(path, If_None_Match=several).status_code == 304
    changed = directory.send("PUT", path, sent, If_Match=several)
    assert changed.status_code == 200
    assert changed.headers["ETag"] != made.headers["ETag"]
    assert directory.get(path, If_None_Match="*").status_code == 304
    assert directory.send("DELETE", path, If_Match=changed.headers["ETag"]).status_code == 204


def test_the_description_says_what_is_supported(client: FlaskClient, directory: Directory) -> None:
    """Section 4."""
    config = client.get("/scim/v2/ServiceProviderConfig").get_json()
    assert {
        name: config[name] for name in ("patch", "bulk", "filter", "changePassword", "sort", "etag")
    } == {
        "patch": {"supported": True},
        "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": True, "maxResults": 200},
        "changePassword": {"supported": False},
        "sort": {"supported": True},
        "etag": {"supported": True},
    }
    assert [each["type"] for each in config["authenticationSchemes"]] == ["oauthbearertoken"]
    types = directory.get("/ResourceTypes").get_json()
    assert [(each["id"], each["endpoint"], each["schema"]) for each in types["Resources"]] == [
        ("User", "/Users", USER),
        ("Group", "/Groups", GROUP),
    ]
    schemas = directory.get("/Schemas").get_json()
    assert {USER, GROUP} <= {each["id"] for each in schemas["Resources"]}
    answers = {
        path: directory.get(path).status_code
        for path in (
            "/ResourceTypes/User",
            "/ResourceTypes/Nothing",
            f"/Schemas/{USER}",
            "/Schemas/urn:nothing",
        )
    }
    assert answers == {
        "/ResourceTypes/User": 200,
        "/ResourceTypes/Nothing": 404,
        f"/Schemas/{USER}": 200,
        "/Schemas/urn:nothing": 404,
    }
