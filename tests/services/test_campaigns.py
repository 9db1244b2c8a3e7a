"""Campaigns: who sees which, their states, their assistants, their external-id keys."""

from collections.abc import Callable
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, Role
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.models import Assistant, AuditEntry, Campaign, ExternalIdKey
from app.policy.caller import Caller, system_caller
from app.services import campaigns, name_search
from app.services.campaigns import CampaignFilter
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.worker import CallingOrganization, make_calling_organization


@pytest.fixture
def owner(tenant: Tenant) -> Caller:
    return tenant.caller(Role.PARTNER_ADMIN)


def create(session: Session, owner: Caller, tenant: Tenant, name: str = "Spring") -> Campaign:
    return campaigns.create(session, owner, tenant.organization.id, name=name)


def test_a_new_campaign_is_paused_and_in_the_history(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    made = create(session, owner, tenant, "  Spring ")
    assert (made.name, made.status, made.revision, made.version) == (
        "Spring",
        CampaignStatus.PAUSED,
        0,
        1,
    )
    entry = session.scalars(select(AuditEntry).where(AuditEntry.target_id == str(made.id))).one()
    assert (entry.action, entry.organization_id, entry.after) == (
        "campaign.created",
        tenant.organization.id,
        {"name": "Spring"},
    )


def test_a_campaign_is_seen_by_its_partner_and_organization_alone(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    made = create(session, owner, tenant)
    other_tenant = make_tenant(session, "Southwind")
    seen = {
        "partner": owner,
        "its user": tenant.caller(Role.STANDARD),
        "operator": system_caller(),
        "another organization": Caller(
            owner.kind, Role.STANDARD, None, "x", tenant.partner.id, tenant.plus.id
        ),
        "another partner": other_tenant.caller(Role.PARTNER_ADMIN),
        "nobody": Caller(owner.kind, Role.STANDARD, None, "x"),
    }
    found = {name: [c.id for c in campaigns.list_all(session, who)] for name, who in seen.items()}
    assert found == {
        "partner": [made.id],
        "its user": [made.id],
        "operator": [made.id],
        "another organization": [],
        "another partner": [],
        "nobody": [],
    }
    for name in ("another organization", "another partner", "nobody"):
        with pytest.raises(NotFound) as refused:
            campaigns.get(session, seen[name], made.id)
        assert refused.value.code == "campaign_not_found"
    assert campaigns.get(session, owner, made.id) is made


def test_a_campaign_can_not_be_created_for_an_organization_of_another_tenant(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    other_tenant = make_tenant(session, "Southwind")
    with pytest.raises(NotFound):
        campaigns.create(session, owner, other_tenant.organization.id, name="Spring")


@pytest.mark.parametrize(
    ("name", "code"), [("", "blank"), (" \u200b", "blank"), ("x" * 201, "too_long")]
)
def test_a_name_is_needed_and_has_a_limit(
    session: Session, tenant: Tenant, owner: Caller, name: str, code: str
) -> None:
    made = create(session, owner, tenant)
    with pytest.raises(ValidationFailed) as refused:
        create(session, owner, tenant, name)
    with pytest.raises(ValidationFailed) as also_refused:
        campaigns.rename(session, owner, made.id, name)
    assert (refused.value.code, also_refused.value.code) == (code, code)


Move = Callable[[Session, Caller, UUID], Campaign]


@pytest.mark.parametrize(
    ("moves", "status", "version"),
    [
        ([campaigns.start], CampaignStatus.ACTIVE, 2),
        ([campaigns.start, campaigns.start], CampaignStatus.ACTIVE, 2),
        ([campaigns.start, campaigns.pause], CampaignStatus.PAUSED, 3),
        ([campaigns.pause], CampaignStatus.PAUSED, 1),
        ([campaigns.archive, campaigns.archive], CampaignStatus.ARCHIVED, 2),
    ],
)
def test_campaigns_start_pause_and_end(
    session: Session,
    tenant: Tenant,
    owner: Caller,
    moves: list[Move],
    status: CampaignStatus,
    version: int,
) -> None:
    made = create(session, owner, tenant)
    for move in moves:
        move(session, owner, made.id)
    assert (made.status, made.version) == (status, version)


def test_an_archived_campaign_never_starts_again(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    made = create(session, owner, tenant)
    campaigns.archive(session, owner, made.id)
    with pytest.raises(Conflict) as refused:
        campaigns.start(session, owner, made.id)
    assert refused.value.code == "archived"


def test_a_change_made_meanwhile_is_not_overwritten(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    made = create(session, owner, tenant)
    campaigns.rename(session, owner, made.id, "Summer", expected_version=1)
    with pytest.raises(Conflict) as refused:
        campaigns.rename(session, owner, made.id, "Autumn", expected_version=1)
    assert (refused.value.code, made.name, made.version) == ("changed_meanwhile", "Summer", 2)


def test_without_the_permission_nothing_is_changed(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    made = create(session, owner, tenant)
    reader = tenant.caller(Role.PARTNER_ADMIN, permissions=frozenset())
    with pytest.raises(Forbidden):
        campaigns.start(session, reader, made.id)
    with pytest.raises(Forbidden):
        create(session, reader, tenant)


@pytest.mark.parametrize("few", [name_search.FEW, 0], ids=["by the index", "one by one"])
def test_staff_find_campaigns_by_the_name_of_their_organization(
    session: Session, tenant: Tenant, owner: Caller, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(name_search, "FEW", few)
    create(session, owner, tenant)
    theirs = campaigns.create(session, owner, tenant.plus.id, name="Winter recall")
    other_tenant = make_tenant(session, "Southwind")
    campaigns.create(
        session, other_tenant.caller(Role.PARTNER_ADMIN), other_tenant.plus.id, name="Recall"
    )

    def found(caller: Caller, words: str, organization_id: UUID | None = None) -> list[UUID]:
        page = campaigns.search(session, caller, CampaignFilter(organization_id, words))
        return [campaign.id for campaign in page.items]

    assert found(owner, "DENTÁL") == [theirs.id]
    assert campaigns.count(session, owner, CampaignFilter(query="dental")) == 1
    assert found(owner, "recall") == [theirs.id]
    assert found(owner, "dental", tenant.plus.id) == []
    member = Caller(owner.kind, Role.STANDARD, None, "x", tenant.partner.id, tenant.plus.id)
    assert found(member, "dental") == []


def test_a_search_looks_in_names_and_pages(session: Session, tenant: Tenant, owner: Caller) -> None:
    for name in ("Spring 10%", "Autumn", "springboard", "Winter"):
        create(session, owner, tenant, name)
    found = campaigns.search(session, owner, CampaignFilter(query="SPRING"), sort="name")
    assert [c.name for c in found.items] == ["Spring 10%", "springboard"]
    with_percent = campaigns.search(session, owner, CampaignFilter(query="%"))
    assert [c.name for c in with_percent.items] == ["Spring 10%"]
    first = campaigns.search(session, owner, sort="name", limit=3)
    rest = campaigns.search(session, owner, sort="name", limit=3, cursor=first.next_cursor)
    assert [c.name for c in [*first.items, *rest.items]] == [
        "Autumn",
        "Spring 10%",
        "springboard",
        "Winter",
    ]
    with pytest.raises(ValidationFailed) as refused:
        campaigns.search(session, owner, sort="assistant")
    assert refused.value.code == "unknown_sort"


def test_the_keys_of_a_campaign_are_those_of_its_assistants(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    own_assistant, other_assistant = (
        calling_organization.assistant_id,
        second_assistant(session, calling_organization),
    )
    for assistant_id, key, identifies in (
        (own_assistant, "crmId", False),
        (own_assistant, "account", False),
        (other_assistant, "crmId", True),
        (other_assistant, "branch", False),
    ):
        session.add(
            ExternalIdKey(
                assistant_id=assistant_id,
                organization_id=calling_organization.organization_id,
                key=key,
                identifies=identifies,
            )
        )
    session.flush()
    owner = system_caller("owner", partner_id=calling_organization.partner_id)
    one = campaigns.create(
        session,
        owner,
        calling_organization.organization_id,
        name="One",
        assistant_ids=[own_assistant],
    )
    every = campaigns.create(
        session, owner, calling_organization.organization_id, name="All", all_assistants=True
    )
    none = campaigns.create(session, owner, calling_organization.organization_id, name="None")
    assert campaigns.external_id_keys_of(session, [one, every, none]) == {
        one.id: {"account": False, "crmId": False},
        every.id: {"account": False, "branch": False, "crmId": True},
    }
    assert campaigns.external_id_keys(session, none) == {}
    campaigns.assign_assistants(session, owner, none.id, [other_assistant])
    assert campaigns.external_id_keys(session, none) == {"branch": False, "crmId": True}


def second_assistant(session: Session, calling_organization: CallingOrganization) -> UUID:
    assistant = Assistant(
        partner_id=calling_organization.partner_id,
        organization_id=calling_organization.organization_id,
        name="Bo",
    )
    session.add(assistant)
    session.flush()
    return assistant.id


def test_an_assistant_of_another_organization_cannot_be_assigned(session: Session) -> None:
    calling_organization, foreign = (
        make_calling_organization(session),
        make_calling_organization(session),
    )
    owner = system_caller("owner", partner_id=calling_organization.partner_id)
    with pytest.raises(ValidationFailed) as refused:
        campaigns.create(
            session,
            owner,
            calling_organization.organization_id,
            name="One",
            assistant_ids=[foreign.assistant_id],
        )
    assert refused.value.code == "agent_not_found"
