"""An organization with a webhook, on SQLite: the statements are the same on both databases."""

import pytest
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import WebhookEvent
from app.policy.caller import Caller
from app.services import webhooks
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import Tenant

URL = "https://crm.example/hooks"


backend = runs_on(["sqlite"])


@pytest.fixture
def new_webhook(
    session: Session, settings: Settings, tenant: Tenant, admin: Caller
) -> webhooks.WebhookWithSecret:
    """A webhook of the first organization that receives all events."""
    return webhooks.add(
        session,
        admin,
        settings,
        organization_id=tenant.organization.id,
        url=URL,
        events=[event.value for event in WebhookEvent],
    )
