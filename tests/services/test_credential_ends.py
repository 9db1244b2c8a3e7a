"""Administrators, the creator and webhooks are notified once before a credential ends."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from uuid import UUID

import orjson
import pytest
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role, WebhookEvent
from app.errors import Unauthenticated
from app.models import (
    ApiKey,
    Mail,
    MailKind,
    OAuthClient,
    ScimToken,
    User,
    WebhookDelivery,
    utcnow,
)
from app.schemas.fields import write_moment
from app.services import credential_ends, oauth_clients, webhooks
from app.services.credentials import api_keys, scim_tokens
from tests.fixtures.clock import SetClock, set_clock
from tests.fixtures.mails import send_waiting
from tests.fixtures.tenants import Tenant, make_user

YEAR = timedelta(days=365)
DAY = timedelta(days=1)
Make = Callable[[], ApiKey | OAuthClient | ScimToken]


@pytest.fixture
def clock() -> Iterator[SetClock]:
    with set_clock() as opened:
        yield opened


def mailed(session: Session, kind: MailKind = MailKind.CREDENTIAL_ENDS) -> list[UUID | None]:
    """Announces as the worker does; who got mails of the kind so far."""
    credential_ends.announce(session, utcnow())
    query = select(Mail.user_id).where(Mail.kind == kind.value).order_by(Mail.id)
    return list(session.scalars(query))


@pytest.mark.parametrize("kind", ["key", "client", "scim_token"])
def test_a_credential_is_announced_14_days_and_1_day_before_its_end_once_each(
    session: Session, settings: Settings, tenant: Tenant, clock: SetClock, kind: str
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    start = clock.now
    makers: dict[str, Make] = {
        "key": lambda: (
            api_keys.create(session, admin, organization_id=tenant.organization.id, name="Sync").key
        ),
        "client": lambda: oauth_clients.create(session, admin, name="Sync", role=Role.ADMIN).client,
        "scim_token": lambda: scim_tokens.create(session, admin, name="Sync").token,
    }
    makers[kind]()
    session.execute(delete(Mail))
    counted = []
    for left in (15 * DAY, 14 * DAY, 13 * DAY, DAY, DAY / 2, -DAY):
        clock.now = start + YEAR - left
        due = credential_ends.is_any_due(session, clock.now)
        counted.append((due, len(mailed(session))))
    assert counted == [(False, 0), (True, 1), (False, 1), (True, 2), (False, 2), (False, 2)]
    letters = send_waiting(session, settings)
    assert {letter.to for letter in letters} == {tenant.staff[Role.PARTNER_ADMIN].email}
    assert all("Sync" in letter.subject and "It works until" in letter.text for letter in letters)


def test_the_creator_and_every_administrator_are_mailed_in_their_own_language(
    session: Session, settings: Settings, tenant: Tenant, clock: SetClock
) -> None:
    second = make_user(session, tenant.partner.id, "zoe@northwind.example", Role.PARTNER_ADMIN)
    second.language = "de"
    creator: User = tenant.staff[Role.PARTNER_EDITOR]
    key = api_keys.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        organization_id=tenant.organization.id,
        name="Sync",
    ).key
    key.responsible_id = creator.id
    session.execute(delete(Mail))
    clock.now += YEAR - DAY
    addressed = {tenant.staff[Role.PARTNER_ADMIN].id, second.id, creator.id}
    assert set(mailed(session)) == addressed
    texts = {letter.to: letter.text for letter in send_waiting(session, settings)}
    assert len(texts) == 3
    assert texts[second.email] != texts[creator.email].replace(creator.email, second.email)


def test_rotated_revoked_and_short_lived_credentials_are_not_announced_early(
    session: Session, tenant: Tenant, clock: SetClock
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    for expires_at in (timedelta(days=30), timedelta(days=30), timedelta(days=5), None):
        api_keys.create(
            session,
            admin,
            organization_id=tenant.organization.id,
            name="Sync",
            expires_at=expires_at,
        )
    rotated, revoked, short, _never = session.scalars(select(ApiKey).order_by(ApiKey.id)).all()
    api_keys.rotate(session, admin, rotated.id, overlap=timedelta(days=7), expires_at=None)
    api_keys.revoke(session, admin, revoked.id)
    assert mailed(session) == []
    clock.now += timedelta(days=4)
    assert len(mailed(session)) == 1
    assert short.end_notice == 1


def test_a_rotated_client_is_announced_again_before_its_new_end(
    session: Session, tenant: Tenant, clock: SetClock
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    client = oauth_clients.create(session, admin, name="Sync", role=Role.ADMIN).client
    clock.now += YEAR - DAY
    assert len(mailed(session)) == 1
    oauth_clients.rotate(session, admin, client.id)
    assert client.expires_at == clock.now + YEAR
    clock.now += YEAR - 14 * DAY
    assert len(mailed(session)) == 2


@pytest.mark.parametrize(("given", "expected"), [(5 * DAY, [0, 1]), (DAY / 2, [0, 0])])
def test_a_client_that_was_rotated_to_a_near_end_is_not_announced_early(
    session: Session, tenant: Tenant, clock: SetClock, given: timedelta, expected: list[int]
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    client = oauth_clients.create(session, admin, name="Sync", role=Role.ADMIN).client
    clock.now += 100 * DAY
    oauth_clients.rotate(session, admin, client.id, expires_at=given)
    end = clock.now + given
    counted = [len(mailed(session))]
    clock.now = end - DAY / 4
    assert [*counted, len(mailed(session))] == expected


def test_webhooks_of_the_organization_receive_the_end_of_its_keys(
    session: Session, settings: Settings, tenant: Tenant, clock: SetClock
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    webhooks.add(
        session,
        admin,
        settings,
        organization_id=tenant.organization.id,
        url="https://hooks.example.com/in",
        events=[WebhookEvent.KEY_EXPIRING.value],
    )
    start = clock.now
    key = api_keys.create(session, admin, organization_id=tenant.organization.id, name="Sync").key
    clock.now += YEAR - 14 * DAY
    credential_ends.announce(session, utcnow())
    [payload] = session.scalars(select(WebhookDelivery.payload)).all()
    reported = orjson.loads(payload)
    assert (reported["type"], reported["data"]) == (
        "key.expiring",
        {
            "organizationId": str(tenant.organization.id),
            "keyId": str(key.id),
            "publicId": key.public_id,
            "name": "Sync",
            "expiresAt": write_moment(start + YEAR),
        },
    )


def test_a_secret_that_was_replaced_works_until_the_old_end_at_most(
    session: Session, tenant: Tenant, clock: SetClock
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    made = oauth_clients.create(session, admin, name="Sync", role=Role.ADMIN, expires_at=DAY)
    rotated = oauth_clients.rotate(session, admin, made.client.id, overlap=timedelta(days=7))
    secrets = [made.secret, rotated.secret]

    def accepted() -> list[str]:
        client_id = made.client.client_id
        return [
            secret for secret in secrets if oauth_clients.authenticate(session, client_id, secret)
        ]

    assert accepted() == secrets
    clock.now += DAY
    assert accepted() == [rotated.secret]


def test_an_ended_key_and_token_are_refused_at_once(
    session: Session, tenant: Tenant, clock: SetClock
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    key = api_keys.create(
        session, admin, organization_id=tenant.organization.id, name="Sync", expires_at=DAY
    )
    token = scim_tokens.create(session, admin, name="Entra", expires_at=DAY)
    clock.now += DAY - timedelta(seconds=1)
    api_keys.caller_from_key(session, key.secret)
    scim_tokens.caller_from_token(session, token.secret)
    clock.now += timedelta(seconds=1)
    with pytest.raises(Unauthenticated):
        api_keys.caller_from_key(session, key.secret)
    with pytest.raises(Unauthenticated):
        scim_tokens.caller_from_token(session, token.secret)
