"""No form of the portal asks anything of the outside: no connection, no look-up of a name."""

import socket
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy.orm import Session
from werkzeug.routing import IntegerConverter

from app.enums import CarrierKind, Role
from app.models import CarrierAccount, User, Webhook
from app.services.carrier_accounts.secret_retention import PURPOSE
from app.services.credentials.encryption import seal
from tests.fixtures.databases import runs_on
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

FIELDS: Mapping[str, str] = {
    "address": "trunk.outside.example:5060",
    "proxy": "proxy.outside.example",
    "transport": "udp",
    "caller": "number",
    "user": "portal",
    "password": "a-password",
    "sid": "AC" + "1a" * 16,
    "token": "2a" * 16,
    "url": "https://hooks.outside.example/x",
    "events": "call.completed",
    "name": "Ann",
    "secret": "sk_live_of_the_outside",
    "email": "ann@outside.example",
    "phone": "+12025550123",
    "domain": "portal.outside.example",
    "logo_img_url": "https://pictures.outside.example/logo.png",
    "language": "en",
    "version": "0",
}

ENDING = ("sign_out", "session", "remove", "delete", "suspend", "archive", "revoke")
"""Forms that would end the session, or the records that other forms are about."""


backend = runs_on(["sqlite"])
"""A database without a socket."""


@pytest.fixture
def connection_attempts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every connection and look-up that was begun; all of them fail."""
    found: list[str] = []

    def refuse(*given: Any, **_more: Any) -> Any:
        found.append(repr(given))
        message = "nothing outside may be asked in a web request"
        raise OSError(message)

    for name in ("connect", "connect_ex", "sendto", "sendmsg"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    return found


@pytest.fixture
def ids(session: Session, tenant: Tenant) -> dict[str, str]:
    """Records of the tenant whose forms could ask the outside, by the names in addresses."""
    secret = seal("a-password", PURPOSE, (SECRET_KEY,))
    account = CarrierAccount(
        partner_id=tenant.partner.id,
        owner_id=tenant.partner.id,
        carrier=CarrierKind.SIP,
        trunk={"address": "trunk.outside.example", "user": "portal"},
        secret=secret,
        created_by="colleague",
    )
    webhook = Webhook(
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        url="https://hooks.outside.example/x",
        events=["call.completed"],
        secret=secret,
        created_by="colleague",
    )
    session.add_all([account, webhook])
    session.commit()
    return {
        "account_id": str(account.id),
        "webhook_id": str(webhook.id),
        "organization_id": str(tenant.organization.id),
        "user_id": str(tenant.user.id),
        "slug": tenant.partner.slug,
        "kind": "logo",
        "rows": "header_links",
        "index": "0",
        "way": "up",
        "tier": "customerPlusPlan",
        "to": "earlier",
    }


@pytest.mark.alternating
def test_no_form_sends_requests_to_other_servers(
    app: Flask,
    tenant: Tenant,
    ids: dict[str, str],
    signed_in: Callable[[User], Browser],
    connection_attempts: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    monkeypatch.setattr(app.extensions["page_rate_limit"], "_burst", 10_000)
    rules = [
        rule
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("portal.") and "POST" in (rule.methods or ())
    ]
    statuses: dict[str, int] = {}
    for rule in sorted(rules, key=lambda one: one.endpoint):
        if any(part in rule.endpoint for part in ENDING):
            continue
        with app.test_request_context():
            values: dict[str, Any] = {
                name: ids.get(name, 1 if isinstance(kind, IntegerConverter) else str(uuid4()))
                for name, kind in rule._converters.items()
            }
            path = app.url_for(rule.endpoint, **values)
        answer = admin.post(path, FIELDS, page="/account")
        statuses[rule.endpoint] = answer.status_code
    trunk = f"/carriers/accounts/trunk?organization={tenant.organization.id}"
    statuses["trunk of an organization"] = admin.post(trunk, FIELDS, page="/account").status_code
    assert connection_attempts == []
    assert {name: status for name, status in statuses.items() if status >= 500} == {}
    worked = (
        *(
            "portal.carriers.test_connection",
            "portal.webhooks.send_test_delivery",
            "trunk of an organization",
        ),
        *("portal.pricing.save_stripe_account", "portal.pricing.test_stripe_connection"),
    )
    assert {name: statuses[name] for name in worked} == dict.fromkeys(worked, 303)
