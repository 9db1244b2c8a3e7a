"""Suspending and archiving: who is affected, what it stops, and the way back."""

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import (
    CallStatus,
    CampaignStatus,
    EndedReason,
    OrganizationStatus,
    Role,
    UserStatus,
)
from app.errors import Conflict, Forbidden, NotFound
from app.models import AuditEntry, Call, Organization, utcnow
from app.policy.caller import Caller
from app.services import campaigns, organizations, users
from app.services.credentials import api_keys
from tests.fixtures.tenants import OPERATOR, make_tenant
from tests.fixtures.worker import CallingOrganization

NUMBER = "+12025550101"


def organization_of(session: Session, calling_organization: CallingOrganization) -> Organization:
    assert calling_organization.key.organization_id is not None
    return session.get_one(Organization, calling_organization.key.organization_id)


def queue_call(session: Session, calling_organization: CallingOrganization) -> Call:
    return calling_organization.accept(session, NUMBER)


def administrator(organization: Organization) -> Caller:
    """A user with every right inside the organization's partner."""
    return Caller(
        kind=OPERATOR.kind,
        role=Role.PARTNER_ADMIN,
        subject_id=None,
        label="maren@northwind.example",
        partner_id=organization.partner_id,
        permissions=OPERATOR.permissions,
    )


def test_affected_items_are_counted_and_inactive_ones_are_not(
    session: Session, calling_organization: CallingOrganization
) -> None:
    organization = organization_of(session, calling_organization)
    caller = administrator(organization)
    before = organizations.reach_of(session, organization)
    key = api_keys.create(session, caller, organization_id=organization.id, name="Script").key
    gone = api_keys.create(session, caller, organization_id=organization.id, name="Old").key
    api_keys.revoke(session, caller, gone.id)
    organization.user_limit = 0
    for email in ("olga@x.example", "paul@x.example"):
        users.invite(
            session,
            caller,
            email=email,
            user_type=Role.STANDARD,
            organization_id=organization.id,
        ).status = UserStatus.ACTIVE
    campaign = campaigns.create(session, caller, organization.id, name="Winter")
    campaigns.start(session, caller, campaign.id)
    campaigns.create(session, caller, organization.id, name="Paused")
    queue_call(session, calling_organization)
    session.flush()
    now = organizations.reach_of(session, organization)
    assert (
        now.users - before.users,
        now.keys - before.keys,
        now.waiting_calls - before.waiting_calls,
        now.running_campaigns - before.running_campaigns,
    ) == (2, 1, 1, 1)
    key.expires_at = utcnow() - timedelta(minutes=1)
    session.flush()
    assert organizations.reach_of(session, organization).keys == before.keys


def test_archiving_cancels_waiting_calls_and_pauses_running_campaigns(
    session: Session, calling_organization: CallingOrganization
) -> None:
    organization = organization_of(session, calling_organization)
    caller = administrator(organization)
    campaign = campaigns.create(session, caller, organization.id, name="Winter")
    campaigns.start(session, caller, campaign.id)
    call = queue_call(session, calling_organization)

    stopped = organizations.archive(session, caller, organization.id, reason=" moved away ")
    session.refresh(call)
    session.refresh(campaign)
    assert (stopped.calls, stopped.campaigns) == (1, 1)
    assert (call.status, call.ended_reason) == (
        CallStatus.CANCELED,
        EndedReason.ORGANIZATION_SUSPENDED,
    )
    assert campaign.status is CampaignStatus.PAUSED
    assert (organization.status, organization.status_reason) == (
        OrganizationStatus.ARCHIVED,
        "moved away",
    )
    again = organizations.archive(session, caller, organization.id)
    assert (again.calls, again.campaigns) == (0, 0)
    latest = select(AuditEntry.action).order_by(AuditEntry.id.desc()).limit(2)
    assert set(session.scalars(latest)) == {"organization.archived", "campaign.paused"}


def test_an_archived_organization_comes_back_and_its_calls_stay_cancelled(
    session: Session, calling_organization: CallingOrganization
) -> None:
    organization = organization_of(session, calling_organization)
    caller = administrator(organization)
    call = queue_call(session, calling_organization)
    organizations.archive(session, caller, organization.id)
    for refused in (organizations.suspend, organizations.reactivate):
        with pytest.raises(Conflict) as error:
            refused(session, caller, organization.id)
        assert error.value.code == "archived"
    restored = organizations.restore(session, caller, organization.id)
    session.refresh(call)
    assert (restored.status, restored.status_reason) == (OrganizationStatus.ACTIVE, None)
    assert call.status is CallStatus.CANCELED
    version = restored.version
    assert organizations.restore(session, caller, organization.id).version == version


def test_other_tenants_and_readers_change_no_status(session: Session) -> None:
    tenant, stranger = make_tenant(session), make_tenant(session, "Southwind")
    editor = tenant.caller(Role.PARTNER_EDITOR)
    other = stranger.caller(Role.PARTNER_ADMIN)
    for act in (organizations.archive, organizations.restore, organizations.suspend):
        with pytest.raises(Forbidden):
            act(session, editor, tenant.organization.id)
        with pytest.raises(NotFound):
            act(session, other, tenant.organization.id)
    assert tenant.organization.status is OrganizationStatus.ACTIVE
