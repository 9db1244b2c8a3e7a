import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from flask import Flask
from flask.testing import FlaskClient
from joserfc import jwt
from joserfc.jwk import ECKey
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.database import Database
from app.enums import Role
from app.factory import create_app
from app.models import OAuthClient, ThrottleCounter
from app.policy import ROLE_PERMISSIONS
from app.policy.caller import system_caller
from app.services import oauth_clients
from app.services.auth import attempt_limits, throttle
from app.services.oauth_clients import NewClient
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import Tenant, make_tenant

FORM = "application/x-www-form-urlencoded"
NO_STORE = "no-store"


@pytest.fixture
def new_client(session: Session, tenant: Tenant) -> NewClient:
    administrator = tenant.caller(Role.PARTNER_ADMIN)
    new = oauth_clients.create(session, administrator, name="Sync", role=Role.PARTNER_EDITOR)
    session.commit()
    return new


@pytest.fixture
def legacy(session: Session, tenant: Tenant) -> NewClient:
    support = system_caller("command line")
    new = oauth_clients.create_legacy(
        session, support, organization_id=tenant.plus.id, name="Dialler"
    )
    session.commit()
    return new


def form_of(new_client: NewClient, **changes: str | None) -> dict[str, str]:
    form = {
        "grant_type": "client_credentials",
        "client_id": new_client.client.client_id,
        "client_secret": new_client.secret,
    }
    return {name: value for name, value in (form | changes).items() if value is not None}


def ask(client: FlaskClient, form: dict[str, str], **more: Any) -> TestResponse:
    return client.post("/oauth2/token", data=form, **more)


def refused(answer: TestResponse) -> tuple[int, str, set[str], str | None]:
    """Status, error, names in the body, Cache-Control."""
    body = answer.get_json()
    assert body["error_description"].isascii()
    return (
        answer.status_code,
        body["error"],
        set(body),
        answer.headers.get("Cache-Control"),
    )


SHAPE = {"error", "error_description"}
INVALID_CLIENT = (400, "invalid_client", SHAPE, NO_STORE)
INVALID_REQUEST = (400, "invalid_request", SHAPE, NO_STORE)


def granted(answer: TestResponse) -> tuple[int, dict[str, Any]]:
    """Status and body of an answer, without its token."""
    body: dict[str, Any] = answer.get_json()
    assert body.pop("access_token", None)
    return answer.status_code, body


ALL_OF_AN_EDITOR = (
    200,
    {
        "token_type": "Bearer",
        "expires_in": 3600,
        "scope": " ".join(sorted(ROLE_PERMISSIONS[Role.PARTNER_EDITOR])),
    },
)


def test_a_client_gets_a_token_with_every_scope_of_its_role(
    client: FlaskClient, new_client: NewClient
) -> None:
    answer = ask(client, form_of(new_client))
    assert granted(answer) == ALL_OF_AN_EDITOR
    assert (answer.content_type, answer.headers["Cache-Control"]) == ("application/json", NO_STORE)
    token = answer.get_json()["access_token"]
    served = client.get("/api/partners", headers={"Authorization": f"Bearer {token}"})
    assert (served.status_code, len(served.get_json())) == (200, 1)


def test_a_part_of_the_scope_can_be_asked_for(client: FlaskClient, new_client: NewClient) -> None:
    answer = ask(client, form_of(new_client, scope="users:read partner:read"))
    assert (answer.status_code, answer.get_json()["scope"]) == (200, "partner:read users:read")
    token = answer.get_json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert client.get("/api/partners", headers=headers).status_code == 200
    partner_id = new_client.client.partner_id
    answer = client.get(f"/api/partners/{partner_id}/organizations", headers=headers)
    assert (answer.status_code, answer.get_json()["details"]["code"]) == (
        403,
        "insufficient_scope",
    )


@pytest.mark.parametrize(
    "scope",
    ["credentials:manage", "nonsense", "users:read nonsense", "phone/call.out", "a\tb", "é"],
)
def test_a_scope_beyond_the_role_is_refused(
    client: FlaskClient, new_client: NewClient, scope: str
) -> None:
    answer = ask(client, form_of(new_client, scope=scope))
    assert refused(answer) == (400, "invalid_scope", SHAPE, NO_STORE)


@pytest.mark.parametrize("scope", ["phone/call.out", None, ""])
def test_a_legacy_client_gets_its_one_scope(
    client: FlaskClient, legacy: NewClient, scope: str | None
) -> None:
    answer = ask(client, form_of(legacy, scope=scope))
    assert (answer.status_code, answer.get_json()["scope"]) == (200, "phone/call.out")


@pytest.mark.parametrize("scope", ["partner:read", "phone/call.out partner:read", "phone/call.in"])
def test_a_legacy_client_gets_no_other_scope(
    client: FlaskClient, legacy: NewClient, scope: str
) -> None:
    answer = ask(client, form_of(legacy, scope=scope))
    assert refused(answer) == (400, "invalid_scope", SHAPE, NO_STORE)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_secret": "wrong"},
        {"client_secret": None},
        {"client_secret": ""},
        {"client_id": "ppc_unknown"},
        {"client_id": None, "client_secret": None},
        {"client_id": "\x00"},
        {"client_id": "é" * 300},
    ],
)
def test_a_request_without_proof_is_refused_without_a_hint(
    client: FlaskClient, new_client: NewClient, changes: dict[str, str | None]
) -> None:
    answer = ask(client, form_of(new_client, **changes))
    assert refused(answer) == INVALID_CLIENT
    assert "WWW-Authenticate" not in answer.headers
    assert answer.get_json() == ask(client, form_of(new_client, client_secret="no")).get_json()


@pytest.mark.parametrize(
    "stop", [oauth_clients.suspend, oauth_clients.revoke], ids=["suspended", "revoked"]
)
def test_a_stopped_client_gets_no_token(
    client: FlaskClient,
    session: Session,
    tenant: Tenant,
    new_client: NewClient,
    stop: Callable[..., OAuthClient],
) -> None:
    stop(session, tenant.caller(Role.PARTNER_ADMIN), new_client.client.id)
    session.commit()
    assert refused(ask(client, form_of(new_client))) == INVALID_CLIENT


def basic(client_id: str, secret: str) -> dict[str, str]:
    pair = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


def test_a_client_can_authenticate_by_http_basic(
    client: FlaskClient, new_client: NewClient
) -> None:
    for headers in (
        basic(new_client.client.client_id, new_client.secret),
        basic(new_client.client.client_id.replace("_", "%5F"), new_client.secret),
    ):
        answer = ask(client, {"grant_type": "client_credentials"}, headers=headers)
        assert granted(answer) == ALL_OF_AN_EDITOR


@pytest.mark.parametrize(
    "authorization",
    ["Basic", "Basic !!!", "basic //79/w==", "Basic bm8tY29sb24=", "Basic dW5rbm93bjp3cm9uZw=="],
)
def test_failed_http_basic_gets_401_with_a_challenge(
    client: FlaskClient, authorization: str
) -> None:
    headers = {"Authorization": authorization}
    answer = ask(client, {"grant_type": "client_credentials"}, headers=headers)
    assert refused(answer) == (401, "invalid_client", SHAPE, NO_STORE)
    assert answer.headers["WWW-Authenticate"] == 'Basic realm="token endpoint", charset="UTF-8"'


def test_a_bearer_header_is_no_client_authentication(
    client: FlaskClient, new_client: NewClient
) -> None:
    answer = ask(client, form_of(new_client), headers={"Authorization": "Bearer abc"})
    assert granted(answer) == ALL_OF_AN_EDITOR


def test_two_ways_of_authenticating_at_once_are_refused(
    client: FlaskClient, new_client: NewClient
) -> None:
    headers = basic(new_client.client.client_id, new_client.secret)
    assert refused(ask(client, form_of(new_client), headers=headers)) == INVALID_REQUEST
    other = form_of(new_client, client_id="ppc_other", client_secret=None)
    assert refused(ask(client, other, headers=headers)) == INVALID_REQUEST


@pytest.mark.parametrize(
    ("grant_type", "error"),
    [
        (None, "invalid_request"),
        ("", "invalid_request"),
        ("password", "unsupported_grant_type"),
        ("authorization_code", "unsupported_grant_type"),
        ('"\\é', "unsupported_grant_type"),
    ],
)
def test_only_client_credentials_are_granted(
    client: FlaskClient, new_client: NewClient, grant_type: str | None, error: str
) -> None:
    answer = ask(client, form_of(new_client, grant_type=grant_type))
    assert refused(answer) == (400, error, SHAPE, NO_STORE)


def test_the_cookie_of_old_clients_means_nothing(
    client: FlaskClient, new_client: NewClient
) -> None:
    client.set_cookie("XSRF-TOKEN", "anything")
    assert ask(client, form_of(new_client)).status_code == 200
    assert refused(ask(client, form_of(new_client, client_secret="no"))) == INVALID_CLIENT


def test_unknown_parameters_and_the_query_are_ignored(
    client: FlaskClient, new_client: NewClient
) -> None:
    assert ask(client, form_of(new_client, audience="x", empty="")).status_code == 200
    in_query = client.post(
        "/oauth2/token?" + urlencode(form_of(new_client)),
        data={"grant_type": "client_credentials"},
    )
    assert refused(in_query) == INVALID_CLIENT


@pytest.mark.parametrize("name", ["grant_type", "client_id", "client_secret", "scope", "unknown"])
def test_a_parameter_sent_twice_is_refused(
    client: FlaskClient, new_client: NewClient, name: str
) -> None:
    twice = urlencode(form_of(new_client)) + f"&{name}=a" * 2
    answer = client.post("/oauth2/token", data=twice, content_type=FORM)
    assert refused(answer) == INVALID_REQUEST


@pytest.mark.parametrize(
    ("body", "content_type", "headers"),
    [
        (b'{"grant_type": "client_credentials"}', "application/json", {}),
        (b"grant_type=client_credentials", "text/plain", {}),
        (b"grant_type=client_credentials", "", {}),
        (b"grant_type=client_credentials", f"{FORM}; charset=utf-16", {}),
        (b"grant_type=client_credentials", FORM, {"Content-Encoding": "gzip"}),
        (b"--x--", "multipart/form-data; boundary=x", {}),
        (b"\xff\xfe=1", FORM, {}),
        (b"grant_type=%ff", FORM, {}),
        (b"&".join(b"a%d=1" % number for number in range(200)), FORM, {}),
    ],
)
def test_an_unreadable_form_is_refused(
    client: FlaskClient, body: bytes, content_type: str, headers: dict[str, str]
) -> None:
    answer = client.post("/oauth2/token", data=body, content_type=content_type, headers=headers)
    assert refused(answer) == INVALID_REQUEST


def test_a_body_past_the_limit_is_refused_also_in_chunks(make_app: Callable[..., Flask]) -> None:
    limited = make_app(max_body_bytes=1024).test_client()
    body = b"a=" + b"x" * 2000
    answer = limited.post("/oauth2/token", data=body, content_type=FORM)
    assert refused(answer) == (413, "invalid_request", SHAPE, NO_STORE)
    in_chunks = limited.post(
        "/oauth2/token",
        input_stream=BytesIO(body),
        content_type=FORM,
        headers={"Transfer-Encoding": "chunked"},
        environ_overrides={"wsgi.input_terminated": True},
    )
    assert refused(in_chunks) == (413, "invalid_request", SHAPE, NO_STORE)


@pytest.mark.parametrize("path", ["/oauth2/token", "/oauth2/revoke"])
def test_another_method_is_refused_in_the_same_shape(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert refused(answer) == (405, "invalid_request", SHAPE, NO_STORE)
    assert answer.headers["Allow"] == "OPTIONS, POST"


@pytest.mark.usefixtures("clock")
def test_too_many_failures_make_the_client_wait(
    make_app: Callable[..., Flask], new_client: NewClient, legacy: NewClient
) -> None:
    limited = make_app(failed_sign_ins=3).test_client()
    for _ in range(3):
        assert refused(ask(limited, form_of(new_client, client_secret="no"))) == INVALID_CLIENT
    for form in (form_of(new_client, client_secret="no"), form_of(new_client)):
        answer = ask(limited, form)
        assert refused(answer) == (429, "invalid_request", SHAPE, NO_STORE)
        assert answer.headers["Retry-After"] == "1"
    elsewhere = ask(limited, form_of(new_client), environ_base={"REMOTE_ADDR": "192.0.2.7"})
    assert (elsewhere.status_code, ask(limited, form_of(legacy)).status_code) == (200, 200)


def test_requests_at_once_get_no_more_guesses_than_one_by_one(
    fresh_database: Database, tmp_path: Path
) -> None:
    settings = settings_for(url_of(fresh_database), tmp_path, failed_sign_ins=1)
    with fresh_database.transaction() as session:
        administrator = make_tenant(session).caller(Role.PARTNER_ADMIN)
        new = oauth_clients.create(session, administrator, name="Sync", role=Role.PARTNER_EDITOR)
        form = form_of(new)
    client = create_app(settings, fresh_database).test_client()
    limits = attempt_limits.of_client(settings, form["client_id"], "127.0.0.1")
    with ThreadPoolExecutor(1) as pool:
        with fresh_database.transaction() as session:
            throttle.charge(session, limits.all)  # as a wrong secret, which is being checked
            other = pool.submit(ask, client, form)
            wait([other], timeout=0.5)
        assert refused(other.result()) == (429, "invalid_request", SHAPE, NO_STORE)


@pytest.mark.usefixtures("clock")
def test_failures_of_other_clients_do_not_delay_the_right_secret(
    make_app: Callable[..., Flask], new_client: NewClient, legacy: NewClient
) -> None:
    limited = make_app(failed_sign_ins_network=2).test_client()
    for _ in range(2):
        assert refused(ask(limited, form_of(legacy, client_secret="no"))) == INVALID_CLIENT
    assert refused(ask(limited, form_of(new_client, client_secret="no")))[0] == 429
    assert ask(limited, form_of(new_client)).status_code == 200


@pytest.mark.usefixtures("clock")
def test_a_client_has_twenty_failures_at_an_address_before_it_waits(
    make_app: Callable[..., Flask], new_client: NewClient
) -> None:
    client, wrong = make_app().test_client(), form_of(new_client, client_secret="no")
    answers = [refused(ask(client, wrong)) for _ in range(21)]
    assert answers == [INVALID_CLIENT] * 20 + [(429, "invalid_request", SHAPE, NO_STORE)]


@pytest.mark.usefixtures("clock")
def test_a_success_resets_the_count_of_failures(
    make_app: Callable[..., Flask], session: Session, new_client: NewClient
) -> None:
    limited = make_app(failed_sign_ins=3).test_client()
    for _ in range(3):
        for _ in range(2):
            ask(limited, form_of(new_client, client_secret="no"))
        assert ask(limited, form_of(new_client)).status_code == 200
    counted = session.scalars(select(ThrottleCounter.failures)).all()
    assert sorted(round(each) for each in counted) == [
        0,
        6,
        6,
    ]  # the last of the network and the installation


def test_the_metadata_names_every_endpoint(client: FlaskClient) -> None:
    answer = client.get("/.well-known/oauth-authorization-server")
    scopes = {scope for granted in ROLE_PERMISSIONS.values() for scope in granted}
    methods = ["client_secret_basic", "client_secret_post"]
    assert answer.get_json() == {
        "issuer": "http://localhost",
        "token_endpoint": "http://localhost/oauth2/token",
        "revocation_endpoint": "http://localhost/oauth2/revoke",
        "jwks_uri": "http://localhost/.well-known/jwks.json",
        "scopes_supported": sorted(scopes | {"phone/call.out"}),
        "response_types_supported": ["none"],
        "grant_types_supported": ["client_credentials"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "service_documentation": "http://localhost/api/docs",
    }
    assert answer.headers["Cache-Control"] == "public, max-age=300"


def test_the_metadata_is_valid_as_the_standard_wants_it(make_app: Callable[..., Flask]) -> None:
    hosted = make_app(auth_url="https://auth.example").test_client()
    published = hosted.get("/.well-known/oauth-authorization-server").get_json()
    AuthorizationServerMetadata(published).validate()  # type: ignore[no-untyped-call] # Authlib has no types
    assert published["token_endpoint"] == "https://auth.example/oauth2/token"


def test_a_host_of_its_own_changes_issuer_and_audience(
    make_app: Callable[..., Flask], new_client: NewClient, legacy: NewClient
) -> None:
    hosted = make_app(
        auth_url="https://auth.example/",
        base_url="https://api.example",
        phone_url="https://phone.example",
    ).test_client()
    tokens = [ask(hosted, form_of(c)).get_json()["access_token"] for c in (new_client, legacy)]
    [key] = hosted.get("/.well-known/jwks.json").get_json()["keys"]
    claims = [jwt.decode(t, ECKey.import_key(key), algorithms=["ES256"]).claims for t in tokens]
    assert [(c["iss"], c["aud"]) for c in claims] == [
        ("https://auth.example", "https://api.example"),
        ("https://auth.example", "https://phone.example"),
    ]
    headers = {"Authorization": f"Bearer {tokens[0]}"}
    assert hosted.get("/api/partners", headers=headers).status_code == 200
    assert make_app().test_client().get("/api/partners", headers=headers).status_code == 401


def test_the_published_keys_verify_a_token(client: FlaskClient, new_client: NewClient) -> None:
    token = ask(client, form_of(new_client)).get_json()["access_token"]
    answer = client.get("/.well-known/jwks.json")
    [key] = answer.get_json()["keys"]
    assert set(key) == {"kty", "crv", "x", "y", "use", "alg", "kid"}
    read = jwt.decode(token, ECKey.import_key(key), algorithms=["ES256"])
    assert (read.header, read.claims["sub"]) == (
        {"alg": "ES256", "typ": "at+jwt", "kid": key["kid"]},
        new_client.client.client_id,
    )
