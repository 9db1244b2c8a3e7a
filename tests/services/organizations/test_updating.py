"""Changes of an organization, and their history entries."""

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, Tier
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.models import AuditEntry, Organization, new_id
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.parsing import read
from app.services import organizations
from tests.fixtures.tenants import Tenant, make_tenant


def put(session: Session, tenant: Tenant, role: Role = Role.ADMIN, **fields: Any) -> Organization:
    changes = read(UpdateOrganizationInput, fields)
    return organizations.update(session, tenant.caller(role), tenant.organization.id, changes)


def test_every_field_of_the_input_is_written(session: Session, tenant: Tenant) -> None:
    sent: dict[str, Any] = {
        "paymentTier": "customerBasicPlan",
        "referralCode": "FRIEND",
        "referredByCode": "NORA",
        "agentLimit": 3,
        "userLimit": 0,
    }
    shown = organizations.to_resource(put(session, tenant, **sent)).model_dump(
        mode="json", by_alias=True
    )
    assert {name: shown[name] for name in sent} == sent
    entry = session.scalars(
        select(AuditEntry).where(AuditEntry.action == "organization.updated")
    ).one()
    assert (entry.organization_id, entry.after) == (tenant.organization.id, sent)


def test_null_clears_a_code_and_absent_fields_stay(session: Session, tenant: Tenant) -> None:
    put(session, tenant, referralCode="FRIEND", referredByCode="NORA")
    changed = put(session, tenant, referralCode=None)
    assert (changed.referral_code, changed.referred_by_code) == (None, "NORA")


def test_the_plan_starts_again_only_when_it_changes(session: Session, tenant: Tenant) -> None:
    began = tenant.organization.tier_since
    assert put(session, tenant, paymentTier=Tier.FREE.value, agentLimit=2).tier_since == began
    changed = put(session, tenant, paymentTier=Tier.PLUS.value)
    assert began is not None
    assert changed.tier_since is not None
    assert changed.tier_since > began


def test_an_unchanged_organization_adds_no_history(session: Session, tenant: Tenant) -> None:
    version = tenant.organization.version
    put(session, tenant, agentLimit=tenant.organization.assistant_limit)
    entries = select(AuditEntry).where(AuditEntry.action == "organization.updated")
    assert (tenant.organization.version, session.scalars(entries).all()) == (version, [])


def test_suspending_and_resuming_count_once_each(session: Session, tenant: Tenant) -> None:
    caller, identifier = tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id
    for _ in range(2):
        suspended = organizations.suspend(session, caller, identifier, reason="unpaid")
    assert (suspended.status, suspended.status_reason) == (OrganizationStatus.SUSPENDED, "unpaid")
    for _ in range(2):
        resumed = organizations.reactivate(session, caller, identifier)
    assert (resumed.status, resumed.status_reason, resumed.version) == (
        OrganizationStatus.ACTIVE,
        None,
        3,
    )
    actions = select(AuditEntry.action).where(AuditEntry.target_id == str(identifier))
    assert session.scalars(actions.order_by(AuditEntry.id)).all() == [
        "organization.suspended",
        "organization.resumed",
    ]


def test_an_archived_organization_is_neither_suspended_nor_resumed(
    session: Session, tenant: Tenant
) -> None:
    tenant.organization.status = OrganizationStatus.ARCHIVED
    with pytest.raises(Conflict) as refused:
        organizations.reactivate(session, tenant.caller(Role.ADMIN), tenant.organization.id)
    assert refused.value.code == "archived"


def test_an_old_version_is_refused(session: Session, tenant: Tenant) -> None:
    caller, identifier = tenant.caller(Role.ADMIN), tenant.organization.id
    organizations.update(
        session, caller, identifier, UpdateOrganizationInput(), name="New", expected_version=1
    )
    with pytest.raises(Conflict) as refused:
        organizations.update(
            session, caller, identifier, UpdateOrganizationInput(), name="Newer", expected_version=1
        )
    assert refused.value.code == "changed_meanwhile"


@pytest.mark.parametrize("name", [" ", "\u200b\u2060 \u00ad"])
def test_a_name_is_never_blank(session: Session, tenant: Tenant, name: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        organizations.create(
            session,
            tenant.caller(Role.PARTNER_ADMIN),
            tenant.partner.id,
            organizations.NewOrganization(name),
        )
    assert [(p.field, p.code) for p in refused.value.problems] == [("name", "blank")]


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.STANDARD])
def test_editors_and_customers_change_no_organization(
    session: Session, tenant: Tenant, role: Role
) -> None:
    with pytest.raises(Forbidden):
        put(session, tenant, role, agentLimit=9)


def test_an_organization_of_another_partner_is_answered_like_a_missing_one(
    session: Session, tenant: Tenant
) -> None:
    other_tenant = make_tenant(session, "Southbank")
    refusals = []
    for identifier in (other_tenant.organization.id, new_id()):
        with pytest.raises(NotFound) as refused:
            organizations.suspend(session, tenant.caller(Role.PARTNER_ADMIN), identifier)
        refusals.append((refused.value.code, refused.value.message))
    assert refusals == [("organization_not_found", "There is no such organization.")] * 2


def test_an_operator_names_the_partner_of_the_organization(
    session: Session, tenant: Tenant
) -> None:
    other_tenant = make_tenant(session, "Southbank")
    with pytest.raises(NotFound) as refused:
        organizations.update(
            session,
            tenant.caller(Role.OPERATOR),
            other_tenant.organization.id,
            UpdateOrganizationInput(assistant_limit=2),
            partner_id=tenant.partner.id,
        )
    assert refused.value.code == "organization_not_found"
