"""Reports about a partner's account are accepted only with a fresh signature of Stripe."""

import hmac
import json
import time
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, text
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.enums import Role, Tier
from app.models import AuditEntry, Checkout, Organization, Subscription, new_id
from app.services.pricing import accounts
from app.services.pricing.accounts import AccountKeys
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import Tenant, make_tenant

SECRET = "whsec_of_the_partner"


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    accounts.save(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        (SECRET_KEY,),
        tenant.partner.id,
        AccountKeys("sk_test_of_the_partner", "", SECRET),
        may_connect=False,
    )
    session.commit()
    return tenant


@pytest.fixture
def checkout(session: Session, tenant: Tenant) -> UUID:
    row = Checkout(
        id=new_id(),
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        tier=Tier.PLUS,
        back_url="http://localhost/plan",
    )
    session.add(row)
    session.commit()
    return row.id


def event(kind: str, **subject: Any) -> bytes:
    return json.dumps(
        {"id": "evt_1", "object": "event", "type": kind, "data": {"object": subject}}
    ).encode()


def paid(reference: object, status: str = "paid") -> bytes:
    return event(
        "checkout.session.completed", client_reference_id=str(reference), payment_status=status
    )


def report(
    client: FlaskClient, partner_id: object, body: bytes, secret: str = SECRET, age: int = 0
) -> TestResponse:
    at = int(time.time()) - age
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, "sha256").hexdigest()
    headers = {"Stripe-Signature": f"t={at},v1={digest}"}
    return client.post(f"/processor/stripe/{partner_id}", data=body, headers=headers)


def tier(session: Session, tenant: Tenant) -> Tier | None:
    session.expire_all()
    return session.get_one(Organization, tenant.organization.id).payment_tier


def follow_count(session: Session) -> int:
    """How often the worker is to ask for a subscription."""
    schema = "" if session.get_bind().dialect.name == "sqlite" else "dbos."
    query = f"SELECT count(*) FROM {schema}workflow_status WHERE name = 'follow_subscription'"
    return session.scalar(text(query)) or 0


def test_a_paid_checkout_changes_the_plan_once(
    client: FlaskClient, tenant: Tenant, checkout: UUID, session: Session
) -> None:
    assert tier(session, tenant) is Tier.FREE
    for _repeated in range(2):
        assert report(client, tenant.partner.id, paid(checkout)).status_code == 204
    assert tier(session, tenant) is Tier.PLUS
    actors = select(AuditEntry.actor).where(AuditEntry.action == "organization.updated")
    assert list(session.scalars(actors)) == ["Stripe"]


def test_a_paid_checkout_starts_the_subscription_of_later_reports(
    client: FlaskClient, tenant: Tenant, checkout: UUID, session: Session
) -> None:
    body = event(
        "checkout.session.completed",
        client_reference_id=str(checkout),
        payment_status="paid",
        subscription="sub_1",
    )
    assert report(client, tenant.partner.id, body).status_code == 204
    stored = session.scalars(select(Subscription)).one()
    assert (stored.organization_id, stored.reference) == (tenant.organization.id, "sub_1")
    assert follow_count(session) == 1
    for reference, asked in (("sub_1", 2), ("sub_of_another", 2)):
        ended = event("customer.subscription.deleted", id=reference)
        assert report(client, tenant.partner.id, ended).status_code == 204
        assert follow_count(session) == asked


def test_an_unpaid_checkout_changes_nothing(
    client: FlaskClient, tenant: Tenant, checkout: UUID, session: Session
) -> None:
    assert report(client, tenant.partner.id, paid(checkout, "unpaid")).status_code == 204
    assert tier(session, tenant) is Tier.FREE


def test_a_report_without_a_fresh_valid_signature_is_refused(
    client: FlaskClient, tenant: Tenant, checkout: UUID, session: Session
) -> None:
    other_tenant = make_tenant(session, "Southbank")
    session.commit()
    path = f"/processor/stripe/{tenant.partner.id}"
    answers = [
        report(client, tenant.partner.id, paid(checkout), secret="whsec_of_another"),
        report(client, tenant.partner.id, paid(checkout), age=301),
        report(client, other_tenant.partner.id, paid(checkout)),
        report(client, new_id(), paid(checkout)),
        client.post(path, data=paid(checkout)),
    ]
    assert [answer.status_code for answer in answers] == [403] * 5
    assert {answer.get_json()["code"] for answer in answers} == {"bad_signature"}
    assert tier(session, tenant) is Tier.FREE


def test_a_checkout_of_another_partner_is_ignored(
    client: FlaskClient, tenant: Tenant, checkout: UUID, session: Session
) -> None:
    other_tenant = make_tenant(session, "Southbank")
    accounts.save(
        session,
        other_tenant.caller(Role.PARTNER_ADMIN),
        (SECRET_KEY,),
        other_tenant.partner.id,
        AccountKeys("sk_test_of_the_other", "", "whsec_of_the_other"),
        may_connect=False,
    )
    session.commit()
    answer = report(client, other_tenant.partner.id, paid(checkout), secret="whsec_of_the_other")
    assert answer.status_code == 204
    assert tier(session, tenant) is Tier.FREE


@pytest.mark.parametrize("kind", ["price.updated", "product.deleted", "invoice.paid"])
def test_reports_of_other_kinds_are_accepted_and_change_nothing(
    client: FlaskClient, session: Session, tenant: Tenant, kind: str
) -> None:
    before = tier(session, tenant)
    assert report(client, tenant.partner.id, event(kind)).status_code == 204
    assert (tier(session, tenant), follow_count(session)) == (before, 0)


def test_a_body_that_is_too_long_is_refused(client: FlaskClient, tenant: Tenant) -> None:
    answer = report(client, tenant.partner.id, b"x" * 300_000)
    assert answer.status_code == 413
    assert answer.json == {
        "code": "body_too_large",
        "message": "The body is larger than this address accepts.",
        "errors": [],
    }
