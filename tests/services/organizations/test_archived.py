"""An archived organization takes nothing new from anyone until it is restored."""

from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import CampaignStatus, Role, WebhookEvent
from app.errors import Conflict, ValidationFailed
from app.models import Campaign
from app.policy.caller import Caller
from app.services import (
    assistants,
    campaigns,
    oauth_clients,
    organizations,
    outreach,
    users,
    webhooks,
)
from app.services.assistants import settings as assistant_settings
from app.services.credentials import api_keys
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import OPERATOR, Tenant

REFUSED = "The organization is archived. Restore it first."
Create = Callable[[Session, Caller, Tenant], object]


def create_campaign(session: Session, caller: Caller, tenant: Tenant) -> object:
    return campaigns.create(session, caller, tenant.organization.id, name="Spring")


def create_campaign_with_external_ids(session: Session, caller: Caller, tenant: Tenant) -> object:
    return campaigns.create_with_external_ids(
        session, caller, tenant.organization.id, name="Spring", keys=["crmId"]
    )


def create_assistant(session: Session, caller: Caller, tenant: Tenant) -> object:
    fields = assistant_settings.AssistantFields(name="Robin")
    return assistant_settings.create_assistant(session, caller, tenant.organization, fields)


def create_key(session: Session, caller: Caller, tenant: Tenant) -> object:
    return api_keys.create(session, caller, organization_id=tenant.organization.id, name="CRM")


def add_webhook(session: Session, caller: Caller, tenant: Tenant) -> object:
    return webhooks.add(
        session,
        caller,
        Settings(env="test", secret_key=SECRET_KEY),
        organization_id=tenant.organization.id,
        url="https://hooks.example.com/calls",
        events=[WebhookEvent.CALL_COMPLETED],
    )


def create_legacy_client(session: Session, caller: Caller, tenant: Tenant) -> object:
    return oauth_clients.create_legacy(
        session, OPERATOR, organization_id=tenant.organization.id, name="Desk"
    )


CREATIONS = (
    create_campaign,
    create_campaign_with_external_ids,
    create_assistant,
    create_key,
    add_webhook,
    create_legacy_client,
)


@pytest.mark.parametrize("create", CREATIONS)
def test_an_archived_organization_accepts_nothing_new_until_it_is_restored(
    session: Session, tenant: Tenant, create: Create
) -> None:
    caller, organization = tenant.caller(Role.PARTNER_ADMIN), tenant.organization
    organization.assistant_limit = 0
    organizations.archive(session, caller, organization.id)
    with pytest.raises(Conflict) as refused:
        create(session, caller, tenant)
    assert (refused.value.code, refused.value.message) == ("archived", REFUSED)
    organizations.restore(session, caller, organization.id)
    create(session, caller, tenant)


def test_campaigns_of_an_archived_organization_start_only_after_it_is_restored(
    session: Session, tenant: Tenant
) -> None:
    caller, organization = tenant.caller(Role.PARTNER_ADMIN), tenant.organization
    campaign = campaigns.create(
        session, caller, organization.id, name="Spring", all_assistants=True
    )
    speaker = assistants.of_organization(session, caller, organization.id)[0]
    plan = outreach.CampaignPlan(
        speaker.id, intro_message="Hello.", voicemail_message="Call us back."
    )
    outreach.change_plan(session, caller, campaign.id, plan, max_at_once=20)
    organizations.archive(session, caller, organization.id)
    with pytest.raises(Conflict) as refused:
        outreach.start(session, caller, campaign.id)
    assert refused.value.code == "archived"
    assert session.get_one(Campaign, campaign.id).status is CampaignStatus.PAUSED
    organizations.restore(session, caller, organization.id)
    assert outreach.start(session, caller, campaign.id).status is CampaignStatus.ACTIVE


def test_an_archived_organization_accepts_no_new_members(session: Session, tenant: Tenant) -> None:
    caller, organization = tenant.caller(Role.PARTNER_ADMIN), tenant.organization
    organizations.archive(session, caller, organization.id)
    with pytest.raises(ValidationFailed) as refused:
        users.invite(
            session,
            caller,
            email="new@x.example",
            user_type=Role.STANDARD,
            organization_id=organization.id,
        )
    assert (refused.value.code, refused.value.message) == ("archived", REFUSED)


def test_its_name_is_shown_as_archived(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    organizations.archive(session, caller, tenant.organization.id)
    with pytest.raises(ValidationFailed) as refused:
        users.organization_by_name(session, caller, tenant.organization.name)
    assert (refused.value.code, refused.value.message) == ("archived", REFUSED)
