"""The published document and the page made from it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema_rs
import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.api.error_codes import EVERY_BODY
from app.api.examples import EXAMPLES
from app.api.openapi_operation import describe, item_of
from app.api.operation import ATTRIBUTE, Operation
from app.api.partner_admin.blueprint import DESCRIPTION
from app.config import Settings
from app.errors import ValidationFailed
from app.factory import create_app
from app.http.security_headers import VIEWER_STYLES
from app.policy import ROUTES, Permission
from app.schemas.base import Input, Wire, wire_name
from app.schemas.organizations import Organization
from app.schemas.parsing import read
from app.schemas.users import CreateUserInput
from app.validation.time_zones import time_zones

CONTRACT = {
    ("/api/partners", "get"): {200, 400, 401, 404},
    ("/api/partners", "post"): {200, 400, 401},
    ("/api/partners/{partnerId}", "get"): {200, 400, 401, 404},
    ("/api/partners/{partnerId}", "put"): {200, 400, 401, 404},
    ("/api/partners/{partnerId}/users", "get"): {200, 400, 401, 404},
    ("/api/partners/{partnerId}/users", "post"): {200, 400, 401, 404},
    ("/api/partners/{partnerId}/organizations", "get"): {200, 400, 401, 404},
    ("/api/partners/{partnerId}/organizations/{organizationId}/users", "get"): {200, 400, 401, 404},
    ("/api/partners/{partnerId}/organizations/{organizationId}", "put"): {200, 400, 401, 404},
    ("/api/partners/{partnerId}/admin-report", "get"): {200, 400, 401, 404},
    ("/api/partners/{partnerId}/pricing", "get"): {200, 400, 401, 404},
    ("/api/users", "post"): {200, 400, 401},
    ("/api/users/partial", "post"): {200, 400, 401},
    ("/api/users/{externalUserId}", "put"): {200, 400, 401},
    ("/api/users/subscription", "get"): {200, 400, 401, 404},
    ("/api/users/{externalUserId}/subscription", "get"): {200, 400, 401, 404},
    ("/api/users/usage", "get"): {200, 400, 401, 404},
    ("/api/admins", "post"): {200, 400, 401, 404},
    ("/phone/outbound", "post"): {200, 403, 404},
    ("/oauth2/token", "post"): {200, 400},
}
AREA_C = {
    ("/api/v1/campaigns/{campaignId}/contacts", "post"),
    ("/api/v1/outbound/call", "post"),
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """The whole application; nothing here needs its database."""
    folder = tmp_path_factory.mktemp("openapi")
    return create_app(Settings(env="test", instance_dir=folder))


@pytest.fixture(scope="module")
def anonymous_client(application: Flask) -> FlaskClient:
    return application.test_client()


@pytest.fixture(scope="module")
def document(anonymous_client: FlaskClient) -> dict[str, Any]:
    return dict(anonymous_client.get("/api/openapi.json").get_json())


@pytest.fixture(scope="module")
def page(anonymous_client: FlaskClient) -> str:
    return anonymous_client.get("/api/docs").get_data(as_text=True)


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (path, method): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_the_document_is_public_and_answers_304_if_it_is_unchanged(
    anonymous_client: FlaskClient,
) -> None:
    first = anonymous_client.get("/api/openapi.json")
    second = anonymous_client.get(
        "/api/openapi.json", headers={"If-None-Match": first.headers["ETag"]}
    )
    assert (first.status_code, first.content_type) == (200, "application/json")
    assert (second.status_code, second.data) == (304, b"")


def test_every_operation_of_the_contract_has_its_statuses(document: dict[str, Any]) -> None:
    found = operations(document)
    published = {
        key: {
            int(status)
            for status, answer in found[key]["responses"].items()
            if not answer.get("x-addition")
        }
        for key in CONTRACT
    }
    assert published == CONTRACT


def test_operations_beyond_the_contract_are_declared_additions(document: dict[str, Any]) -> None:
    plain = {key for key, made in operations(document).items() if not made.get("x-addition")}
    assert plain == CONTRACT.keys() | AREA_C


def test_every_route_of_the_areas_is_published(
    application: Flask, document: dict[str, Any]
) -> None:
    declared = [
        endpoint
        for endpoint, view in application.view_functions.items()
        if hasattr(view, ATTRIBUTE)
    ]
    names = [made["operationId"] for made in operations(document).values()]
    assert len(names) == len(set(names)) == len(declared)
    areas = ("/api/", "/phone", "/oauth2", "/.well-known")
    routes = {
        rule.endpoint for rule in application.url_map.iter_rules() if rule.rule.startswith(areas)
    }
    assert routes - set(declared) == {"api_docs.openapi_json", "api_docs.docs"}


def test_every_operation_names_its_permission(application: Flask, document: dict[str, Any]) -> None:
    published = {
        made["operationId"]: made.get("x-permission") for made in operations(document).values()
    }
    assert published == {
        wire_name(endpoint.rpartition(".")[2]): needed.value
        if isinstance(needed, Permission)
        else None
        for endpoint, needed in ROUTES.items()
        if hasattr(application.view_functions.get(endpoint), ATTRIBUTE)
    }


@pytest.mark.parametrize(
    ("ids", "codes"),
    [
        (("partner_id",), {"invalid_uuid"}),
        (("partner_id", "organization_id"), {"invalid_uuid", "validation_failed"}),
    ],
)
def test_a_refusal_names_every_wrong_id_of_a_path(ids: tuple[str, ...], codes: set[str]) -> None:
    declared = Operation(
        summary="Read it", output=Organization, path_types=dict.fromkeys(ids, UUID)
    )
    made = describe("partner_admin.get_partner", "/api/it", DESCRIPTION, declared)
    assert made["responses"]["400"]["x-error-codes"].keys() == codes


def test_every_reference_resolves(document: dict[str, Any]) -> None:
    references = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document)))
    schemas = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references <= schemas
    named = {
        name
        for made in operations(document).values()
        for scheme in made["security"]
        for name in scheme
    }
    assert named == set(document["components"]["securitySchemes"])


def test_every_schema_is_json_schema_and_its_examples_fit(document: dict[str, Any]) -> None:
    shared = {"components": document["components"]}
    for name, schema in document["components"]["schemas"].items():
        jsonschema_rs.meta.validate(schema)
        validator = jsonschema_rs.validator_for(schema | shared, validate_formats=True)
        for example in schema.get("examples", []):
            assert [str(error) for error in validator.iter_errors(example)] == [], name


def test_every_example_of_an_operation_fits_its_schema(document: dict[str, Any]) -> None:
    shared = {"components": document["components"]}
    seen = 0
    for key, made in operations(document).items():
        contents = [made.get("requestBody", {}).get("content", {})]
        contents += [answer.get("content", {}) for answer in made["responses"].values()]
        for content in contents:
            for media in content.values():
                if "example" in media:
                    validator = jsonschema_rs.validator_for(
                        media["schema"] | shared, validate_formats=True
                    )
                    errors = [str(error) for error in validator.iter_errors(media["example"])]
                    assert errors == [], key
                    seen += 1
    assert seen > 100


def problem_of(model: type[Wire], example: Any) -> str | None:
    """Why the class refuses the example, None where it accepts it."""
    try:
        read(model, example)
    except ValidationFailed as refused:
        return str(refused)
    return None


def test_every_example_passes_the_validation_of_requests(application: Flask) -> None:
    models: dict[str, Any] = {}
    problems = {}
    for endpoint, view in application.view_functions.items():
        declared: Operation | None = getattr(view, ATTRIBUTE, None)
        if declared is not None:
            for model in (declared.body, declared.form, item_of(declared.output)):
                if model is not None:
                    models[model.__name__] = model
            if declared.body is not None and declared.example is not None:
                problems[endpoint] = problem_of(declared.body, declared.example)
    for name, model in models.items():
        if issubclass(model, Input) or name in EXAMPLES:
            problems[name] = problem_of(model, EXAMPLES[name])
    assert len(problems) > len(EXAMPLES)
    assert problems == dict.fromkeys(problems)


def test_every_status_lists_its_codes(document: dict[str, Any]) -> None:
    for key, made in operations(document).items():
        for status, answer in made["responses"].items():
            if status != "200":
                assert answer["x-error-codes"], key


def test_every_answer_has_a_declared_body(document: dict[str, Any]) -> None:
    """The revocation of a token too: an empty object."""
    bare = [
        (path, method, status)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        for status, response in operation["responses"].items()
        if not response.get("content")
    ]
    assert bare == []


def test_the_pattern_of_a_time_zone_fits_every_zone_that_is_accepted() -> None:
    [pattern] = [
        part["pattern"]
        for part in CreateUserInput.model_json_schema()["properties"]["agentTimezone"]["anyOf"]
        if "pattern" in part
    ]
    assert [zone for zone in time_zones() if not re.search(pattern, zone)] == []


def test_the_limit_of_contacts_is_the_one_that_is_set(tmp_path: Path) -> None:
    settings = Settings(env="test", instance_dir=tmp_path, max_contacts=77)
    made = create_app(settings).test_client().get("/api/openapi.json").get_json()
    contacts = made["components"]["schemas"]["BulkContactsInput"]["properties"]["contacts"]
    assert contacts["maxItems"] == 77


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_the_page_has_no_inline_script_or_style_and_no_outside_address(page: str) -> None:
    parser = _Tags()
    parser.feed(page)
    sources = [
        str(attributes.get("src") or attributes.get("href"))
        for tag, attributes in parser.seen
        if tag in {"link", "img", "a"} or (tag == "script" and "src" in attributes)
    ]
    assert [tag for tag, _ in parser.seen if tag == "style"] == []
    assert [names for _, names in parser.seen if "style" in names] == []
    inline = [n for t, n in parser.seen if t == "script" and not n.get("src")]
    assert [names["type"] for names in inline] == ["application/json"]  # words, not a program
    assert [source for source in sources if not source.startswith(("/", "#", "data:"))] == []
    assert [tag for tag, _ in parser.seen if tag == "h1"] == ["h1"]


def test_the_page_leads_to_its_own_sections_each_operation_and_the_document(
    page: str, document: dict[str, Any]
) -> None:
    parser = _Tags()
    parser.feed(page)
    ids = [str(names["id"]) for _, names in parser.seen if "id" in names]
    assert len(ids) == len(set(ids))
    links = [str(names["href"]) for tag, names in parser.seen if tag == "a"]
    own = [link.removeprefix("#") for link in links if link.startswith("#")]
    shown = [name.removeprefix("operation/") for name in own if name.startswith("operation/")]
    assert sorted(shown) == sorted(made["operationId"] for made in operations(document).values())
    assert {name for name in own if not name.startswith("operation/")} <= set(ids)
    assert "/api/openapi.json" in links
    viewer = [names for _, names in parser.seen if "data-document" in names]
    assert viewer == [{"id": "viewer", "data-document": "/api/openapi.json"}]


def test_the_page_names_the_limits_that_are_set_and_every_code_of_a_body(tmp_path: Path) -> None:
    settings = Settings(env="test", instance_dir=tmp_path, max_contacts=1234, token_seconds=4321)
    page = create_app(settings).test_client().get("/api/docs").get_data(as_text=True)
    rows = re.findall(r"<tr><td>(.*?)</td><td(?: class=\"docs-figure\")?>(.*?)</td></tr>", page)
    limits = dict(rows)
    assert limits["Contacts in one request"] == "1,234"
    assert limits["Lifetime of an access token"] == "4,321 s"
    codes = [re.sub("<.*?>", "", name) for name, _ in rows if name.startswith("<code>")]
    assert codes == sorted(EVERY_BODY)


def test_page_and_document_say_which_operations_ignore_or_keep_unknown_fields(
    document: dict[str, Any], page: str
) -> None:
    ignoring, keeping = set(), set()
    for made in operations(document).values():
        if "application/json" not in made.get("requestBody", {}).get("content", {}):
            continue
        if "Unknown fields are kept as metadata." in made["description"]:
            keeping.add(made["operationId"])
        if "unknown_field" not in made["responses"]["400"]["x-error-codes"]:
            ignoring.add((made["tags"][0], made["operationId"]))
            assert "Unknown fields are ignored." in made["description"]
    assert {tag for tag, _ in ignoring} == {"Campaigns API", "Legacy API"}
    assert len(ignoring) == 2
    assert len(keeping) == 1
    for words in (" ".join(page.split()), document["info"]["description"]):
        plain = re.sub("<.*?>", "", words)
        assert (
            "POST /api/v1/outbound/call and the Legacy API ignore unknown fields, contacts of a "
            "campaign keep them as metadata, and everything else refuses them." in plain
        )


def test_page_and_document_name_the_apis_as_the_portal_does(
    anonymous_client: FlaskClient, document: dict[str, Any], page: str
) -> None:
    written = anonymous_client.get("/api/openapi.json").get_data(as_text=True) + page
    assert re.findall(r"Areas? [ABC]\b", written) == []
    names = [tag["name"] for tag in document["tags"]]
    assert names == ["Tokens", "Partner API", "Campaigns API", "Legacy API"]


def test_the_page_says_to_readers_of_other_languages_that_it_is_in_english(
    anonymous_client: FlaskClient,
) -> None:
    headers = {tag: {"Accept-Language": tag} for tag in ("en", "de")}
    pages = {tag: anonymous_client.get("/api/docs", headers=headers[tag]).text for tag in headers}
    assert '<p class="second" lang="de">' in pages["de"]
    assert '<p class="second" lang=' not in pages["en"]


def test_the_page_has_an_icon(page: str) -> None:
    [icon] = re.findall(r'<link rel="icon" href="([^"]+)"', page)
    assert icon.startswith("data:image/svg+xml,%3Csvg")


def test_the_page_has_a_strict_content_security_policy(anonymous_client: FlaskClient) -> None:
    policy = anonymous_client.get("/api/docs").headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'self'" in policy
    assert f"style-src 'self' {VIEWER_STYLES}" in policy
    assert "style-src" not in anonymous_client.get("/sign-in").headers["Content-Security-Policy"]
