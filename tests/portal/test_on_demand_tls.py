"""A web server asks whether it may make a certificate for a domain."""

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.http import on_demand_tls
from app.models import utcnow
from app.services import partners
from tests.fixtures.tenants import OPERATOR, Tenant

ASK = "/internal/domains/ask"


@pytest.fixture
def tenant_with_verified_domain(tenant: Tenant, other_tenant: Tenant, session: Session) -> Tenant:
    """One partner has a verified domain, the other one only names its own."""
    partners.verify_domain(session, OPERATOR, tenant.partner.id)
    session.commit()
    return tenant


@pytest.mark.parametrize(
    ("domain", "status"),
    [
        ("northwind.example", 200),
        ("Northwind.Example", 200),
        ("southgate.example", 404),
        ("a.northwind.example", 404),
        ("localhost", 404),
        ("", 404),
        ("northwind.example\0", 404),
        ("northwind.example:443", 404),
        ("*", 404),
    ],
)
@pytest.mark.usefixtures("tenant_with_verified_domain")
def test_only_a_verified_domain_gets_a_certificate(app: Flask, domain: str, status: int) -> None:
    answer = app.test_client().get(ASK, query_string={"domain": domain})
    assert (answer.status_code, answer.data) == (status, b"")


def test_the_domain_of_a_suspended_partner_keeps_its_certificate(
    app: Flask, tenant_with_verified_domain: Tenant, session: Session
) -> None:
    tenant_with_verified_domain.partner.suspended_at = utcnow()
    session.commit()
    answer = app.test_client().get(f"{ASK}?domain=northwind.example")
    assert (answer.status_code, answer.data) == (200, b"")


@pytest.mark.parametrize(
    ("networks", "address", "headers", "status"),
    [
        ("127.0.0.0/8, ::1/128", "127.0.0.1", {}, 200),
        ("127.0.0.0/8, ::1/128", "::1", {}, 200),
        ("127.0.0.0/8, ::1/128", "10.0.0.7", {}, 404),
        ("10.0.0.0/8", "10.0.0.7", {}, 200),
        ("10.0.0.0/8", "127.0.0.1", {}, 404),
        ("127.0.0.0/8", "127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 404),
        ("127.0.0.0/8", "127.0.0.1", {"Forwarded": "for=127.0.0.1"}, 404),
    ],
)
@pytest.mark.usefixtures("tenant_with_verified_domain")
def test_only_internal_networks_get_an_answer(
    make_app: Callable[..., Flask],
    networks: str,
    address: str,
    headers: dict[str, str],
    status: int,
) -> None:
    client = make_app(internal_networks=networks).test_client()
    answer = client.get(
        f"{ASK}?domain=northwind.example",
        headers=headers,
        environ_overrides={"REMOTE_ADDR": address},
    )
    assert answer.status_code == status


@pytest.mark.usefixtures("tenant_with_verified_domain")
def test_requests_beyond_the_rate_have_to_wait(make_app: Callable[..., Flask]) -> None:
    client = make_app(internal_networks="10.9.0.0/16").test_client()
    source = {"REMOTE_ADDR": "10.9.0.1"}
    url = f"{ASK}?domain=northwind.example"
    asked = [client.get(url, environ_overrides=source) for _ in range(on_demand_tls.BURST * 3)]
    assert {answer.status_code for answer in asked} == {200, 429}
    refused = next(answer for answer in asked if answer.status_code == 429)
    assert refused.headers["Retry-After"] == "1"
