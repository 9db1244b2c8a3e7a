"""After a change of the application's secret, stored secrets are encrypted with the new one."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute

from app.database import Database
from app.enums import CarrierKind, DomainPurpose, Role
from app.jobs.key_change import STORED_SECRETS, reencrypt_secrets
from app.models import (
    AuthenticatorApp,
    Base,
    CarrierAccount,
    IdentityProvider,
    PartnerDomain,
    ProcessorAccount,
    Webhook,
    utcnow,
)
from app.services.credentials import reencryption
from app.services.credentials.encryption import seal, unseal
from app.services.credentials.reencryption import StoredSecret
from tests.fixtures.settings import SECRET_KEY, settings_for, url_of
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.worker_context import worker_context

NEW_KEY = "the new secret key of the installation"
ENCRYPTED = {"secret", "previous_secret", "webhook_secret", "dkim_key"}
WEBHOOKS = 5
"""More than one batch of them."""


@pytest.fixture
def tenant(fresh_database: Database) -> Tenant:
    with fresh_database.transaction() as session:
        return make_tenant(session)


@pytest.fixture
def secrets(fresh_database: Database, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets of each kind, encrypted with the old key."""
    monkeypatch.setattr(reencryption, "BATCH_SIZE", 2)
    partner_id = tenant.partner.id
    purposes = {str(each.column): each.purpose for each in STORED_SECRETS}

    def old(column: InstrumentedAttribute[Any]) -> str:
        return seal("a secret", purposes[str(column)], [SECRET_KEY])

    with fresh_database.transaction() as session:
        session.add_all(
            [
                AuthenticatorApp(
                    user_id=tenant.staff[Role.PARTNER_ADMIN].id,
                    secret=old(AuthenticatorApp.secret),
                ),
                CarrierAccount(
                    partner_id=partner_id,
                    owner_id=partner_id,
                    carrier=CarrierKind.SIP,
                    trunk={"address": "sip.example.com", "user": "portal"},
                    secret=old(CarrierAccount.secret),
                    created_by="colleague",
                ),
                IdentityProvider(
                    partner_id=partner_id,
                    name="Acme ID",
                    issuer="https://id.example",
                    client_id="portal",
                    secret=old(IdentityProvider.secret),
                ),
                PartnerDomain(
                    partner_id=partner_id,
                    purpose=DomainPurpose.MAIL,
                    domain="mail.example",
                    token="token",
                    asked_at=utcnow(),
                    dkim_key=old(PartnerDomain.dkim_key),
                ),
                ProcessorAccount(
                    partner_id=partner_id,
                    secret=old(ProcessorAccount.secret),
                    webhook_secret=old(ProcessorAccount.webhook_secret),
                ),
                *(
                    Webhook(
                        partner_id=partner_id,
                        organization_id=tenant.organization.id,
                        url="https://hooks.example/x",
                        events=["call.completed"],
                        secret=old(Webhook.secret),
                        previous_secret=old(Webhook.previous_secret),
                        created_by="colleague",
                    )
                    for _ in range(WEBHOOKS)
                ),
            ]
        )


def decrypted(database: Database, stored: StoredSecret, key: str) -> set[str]:
    with database.transaction(read_only=True) as session:
        sealed = session.scalars(select(stored.column).where(stored.column != "")).all()
    return {unseal(each, stored.purpose, [key]).text for each in sealed}


@pytest.mark.usefixtures("secrets")
def test_each_kind_of_secret_is_encrypted_with_the_new_key(
    fresh_database: Database, tmp_path: Path
) -> None:
    settings = settings_for(
        url_of(fresh_database), tmp_path, secret_key=NEW_KEY, previous_secret_key=SECRET_KEY
    )
    with worker_context(settings):
        reencrypt_secrets()
        for stored in STORED_SECRETS:
            assert decrypted(fresh_database, stored, NEW_KEY) == {"a secret"}


@pytest.mark.usefixtures("secrets")
def test_nothing_is_read_without_a_previous_key(fresh_database: Database, tmp_path: Path) -> None:
    with worker_context(settings_for(url_of(fresh_database), tmp_path)) as worker:
        with counted(worker.database.engine) as statements:
            reencrypt_secrets()
        assert statements == []


def test_each_encrypted_column_is_among_the_stored_secrets() -> None:
    columns = {
        f"{table.name}.{column.name}"
        for table in Base.metadata.tables.values()
        for column in table.columns
        if column.name in ENCRYPTED
    }
    named = {str(each.column.expression) for each in STORED_SECRETS}
    assert named == columns
