from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.enums import Role
from app.models import RevokedToken
from app.services import oauth_clients
from app.services.oauth_clients import NewClient
from tests.fixtures.tenants import Tenant

UNPROVEN = "The client is unknown, its secret is wrong, or it may not have tokens now."


def make(session: Session, tenant: Tenant) -> NewClient:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    made = oauth_clients.create(session, caller, name="Sync", role=Role.ADMIN)
    session.commit()
    return made


def credentials(new_client: NewClient) -> dict[str, str]:
    return {"client_id": new_client.client.client_id, "client_secret": new_client.secret}


def token_of(client: FlaskClient, new_client: NewClient) -> str:
    form = {"grant_type": "client_credentials", **credentials(new_client)}
    return str(client.post("/oauth2/token", data=form).get_json()["access_token"])


def revoke(client: FlaskClient, new_client: NewClient, **form: Any) -> TestResponse:
    return client.post("/oauth2/revoke", data=credentials(new_client) | form)


def status(client: FlaskClient, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return client.get("/api/partners", headers=headers).status_code


def test_a_revoked_token_is_refused_at_once(
    client: FlaskClient, session: Session, tenant: Tenant
) -> None:
    made = make(session, tenant)
    token, sibling = token_of(client, made), token_of(client, made)
    assert [status(client, t) for t in (token, sibling)] == [200, 200]
    for hint in ({}, {"token_type_hint": "access_token"}, {"token_type_hint": "nonsense"}):
        answer = revoke(client, made, token=token, **hint)
        assert (answer.status_code, answer.get_json(), answer.headers["Cache-Control"]) == (
            200,
            {},
            "no-store",
        )
        assert [status(client, t) for t in (token, sibling)] == [401, 200]
    assert len(session.scalars(select(RevokedToken)).all()) == 1


@pytest.mark.parametrize("token", ["nonsense", "a.b.c", "x" * 10_000, "é"])
def test_revoking_an_unknown_token_is_no_error(
    client: FlaskClient, session: Session, tenant: Tenant, token: str
) -> None:
    answer = revoke(client, make(session, tenant), token=token)
    assert (answer.status_code, answer.get_json(), answer.headers["Cache-Control"]) == (
        200,
        {},
        "no-store",
    )
    assert session.scalars(select(RevokedToken)).all() == []


def test_the_token_of_another_client_stays_valid(
    client: FlaskClient, session: Session, tenant: Tenant
) -> None:
    made, other = make(session, tenant), make(session, tenant)
    token = token_of(client, other)
    answer = revoke(client, made, token=token)
    unknown = revoke(client, made, token="nonsense")
    assert [(each.status_code, each.get_json()) for each in (answer, unknown)] == [(200, {})] * 2
    assert status(client, token) == 200
    assert session.scalars(select(RevokedToken)).all() == []


@pytest.mark.parametrize("form", [{}, {"token": ""}, {"token_type_hint": "access_token"}])
def test_a_missing_token_is_refused(
    client: FlaskClient, session: Session, tenant: Tenant, form: dict[str, str]
) -> None:
    answer = revoke(client, make(session, tenant), **form)
    assert (answer.status_code, answer.get_json()) == (
        400,
        {"error": "invalid_request", "error_description": "The parameter token is missing."},
    )


def test_only_a_client_can_revoke(client: FlaskClient, session: Session, tenant: Tenant) -> None:
    token = token_of(client, make(session, tenant))
    answer = client.post("/oauth2/revoke", data={"token": token})
    assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_client")
    assert status(client, token) == 200


def test_every_refusal_says_why(client: FlaskClient, session: Session, tenant: Tenant) -> None:
    made = make(session, tenant)
    proof = credentials(made)
    refused = [
        client.post("/oauth2/revoke", data={"token": "x"}),
        client.post("/oauth2/revoke", data=proof | {"client_secret": "wrong", "token": "x"}),
        client.post("/oauth2/revoke", data=proof),
        client.post("/oauth2/revoke", data=proof, auth=(made.client.client_id, made.secret)),
        client.post("/oauth2/revoke", json=proof | {"token": "x"}),
        client.post("/oauth2/revoke", data={"token": "x"}, auth=("nobody", "wrong")),
    ]
    assert [(each.status_code, each.get_json()) for each in refused] == [
        (400, {"error": "invalid_client", "error_description": UNPROVEN}),
        (400, {"error": "invalid_client", "error_description": UNPROVEN}),
        (400, {"error": "invalid_request", "error_description": "The parameter token is missing."}),
        (
            400,
            {
                "error": "invalid_request",
                "error_description": "Send the client's secret in one way only.",
            },
        ),
        (
            400,
            {
                "error": "invalid_request",
                "error_description": (
                    "Send a form with the header Content-Type: application/x-www-form-urlencoded."
                ),
            },
        ),
        (401, {"error": "invalid_client", "error_description": UNPROVEN}),
    ]
