"""Customers that call, receive webhooks and upload, and a user of their partner."""

from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from app.config import Settings
from app.database import Database
from app.enums import Role
from app.policy import ROLE_PERMISSIONS
from app.services import campaigns, webhooks
from app.services.auth import passwords
from app.services.credentials import api_keys
from tests.fixtures.tenants import make_tenant
from tests.fixtures.worker import make_calling_organization

CUSTOMERS = 8
PASSWORD = "a long quiet password"  # noqa: S105 - of an account that lives as long as the soak
EVENTS = ("call.completed", "call.failed")


class Customer(NamedTuple):
    """An organization that scripts work for."""

    key: str
    assistant_id: UUID
    campaign_id: UUID


class World(NamedTuple):
    customers: list[Customer]
    email: str
    """The email of the user who opens pages, uploads into the campaign and exports."""
    campaign_id: UUID


def build(database: Database, settings: Settings, receiver_url: str) -> World:
    """Fill a migrated database."""
    with database.transaction() as session:
        customers = []
        for number in range(CUSTOMERS):
            calling_organization = make_calling_organization(session)
            admin = replace(
                calling_organization.key,
                role=Role.PARTNER_ADMIN,
                organization_id=None,
                permissions=ROLE_PERMISSIONS[Role.PARTNER_ADMIN],
            )
            organization_id = calling_organization.organization_id
            soak_campaign = campaigns.create(session, admin, organization_id, name="Soak")
            key = api_keys.create(
                session, admin, organization_id=organization_id, name=f"Script {number}"
            )
            webhooks.add(
                session,
                admin,
                settings,
                organization_id=organization_id,
                url=receiver_url,
                events=EVENTS,
            )
            customers.append(
                Customer(key.secret, calling_organization.assistant_id, soak_campaign.id)
            )
        tenant = make_tenant(session)
        user = tenant.staff[Role.PARTNER_ADMIN]
        user.password_hash = passwords.hash_password(PASSWORD)
        admin = tenant.caller(Role.PARTNER_ADMIN)
        campaign = campaigns.create(session, admin, tenant.organization.id, name="Uploads")
        return World(customers, user.email, campaign.id)
