"""Campaigns in the portal: created, named, given assistants, archived, and their contacts found."""

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import CampaignStatus, ContactAction, Role
from app.models import Assistant, Campaign, CampaignAssistant, User
from app.services import assistants, campaigns, contacts, do_not_call, organizations
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser, statements_of_page, user_of
from tests.portal.test_calls import make_call
from tests.portal.uploader import words as words_of

SignedIn = Callable[[User], Browser]
ROLES = (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD)


@pytest.fixture
def campaign(session: Session, tenant: Tenant) -> Campaign:
    return make_campaign(session, tenant)


def make_campaign(session: Session, tenant: Tenant, name: str = "Winter recall") -> Campaign:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    [assistant, *_] = assistants.of_organization(session, caller, tenant.organization.id)
    assistants.define_external_id_key(session, caller, assistant, "crmId", identifies=True)
    made = campaigns.create(session, caller, tenant.organization.id, name=name, all_assistants=True)
    session.commit()
    return made


def fill(session: Session, campaign: Campaign, people: list[dict[str, Any]]) -> None:
    contacts.apply(session, campaign, people, ContactAction.UPSERT)
    session.commit()


def assistant_of(session: Session, tenant: Tenant) -> Assistant:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    return assistants.of_organization(session, caller, tenant.organization.id)[0]


def test_lists_of_campaigns_calls_and_numbers_name_a_suspended_organization(
    session: Session, tenant: Tenant, campaign: Campaign, signed_in: SignedIn
) -> None:
    make_call(session, tenant.organization, "+12025550101")
    browser = signed_in(tenant.staff[Role.ADMIN])
    paths = ("/campaigns", "/calls", "/do-not-call")
    label = "Organization suspended"
    before = [words_of(browser.get(path)).count(label) for path in paths]
    organizations.suspend(session, OPERATOR, campaign.organization_id)
    session.commit()
    after = [words_of(browser.get(path)).count(label) for path in paths]
    assert [now > then for then, now in zip(before, after, strict=True)] == [True] * 3


@pytest.mark.parametrize("role", ROLES)
def test_every_role_of_a_partner_creates_a_campaign_once(
    session: Session, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(user_of(tenant, role))
    address = f"/campaigns/new?organization={tenant.organization.id}"
    assistant = assistant_of(session, tenant)
    sent = {"name": " Spring ", "who": "some", "assistants": [str(assistant.id)], "once": "a1"}
    made = browser.post(address, sent, page=address)
    again = browser.post(address, sent, page=address)
    found = session.scalars(select(Campaign)).one()
    plan = f"/campaigns/{found.id}/outreach/plan?new=1"
    assert (made.status_code, made.location) == (303, plan)
    assert again.location == made.location
    assert (found.name, found.all_assistants, found.status) == (
        "Spring",
        False,
        CampaignStatus.PAUSED,
    )
    assert session.scalars(select(CampaignAssistant.assistant_id)).all() == [assistant.id]


def test_a_member_is_not_asked_for_an_organization_and_others_are(
    tenant: Tenant, signed_in: SignedIn, admin: Browser
) -> None:
    member = signed_in(tenant.user).get("/campaigns/new")
    asked = admin.get("/campaigns/new")
    assert member.status_code == 200
    assert f"For {tenant.organization.name}." in member.text
    assert 'name="organization"' not in member.text
    for organization in (tenant.organization, tenant.plus):
        assert f'<option value="{organization.name}">' in asked.text


def test_a_new_campaign_shows_the_defaults_of_its_plan(tenant: Tenant, signed_in: SignedIn) -> None:
    page = signed_in(tenant.user).get("/campaigns/new").text
    facts = re.findall(r"<dt[^>]*>(.*?)</dt>\s*<dd[^>]*>(.*?)</dd>", page)
    assert [(name, value.strip()) for name, value in facts] == [
        ("Hours", "08:00 to 21:00, Monday to Friday, local to each person"),
        ("Calls an hour", "No limit"),
        ("Concurrent calls", "The organization’s limit"),
        ("Message", "Default messages"),
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": " "}, "Enter a name."),
        ({"name": "x" * 201}, "Too long. Use at most 200 characters."),
        ({"who": "some", "assistants": ["nonsense"]}, "There is no such assistant"),
    ],
)
def test_each_problem_of_a_campaign_is_at_its_field(
    session: Session, tenant: Tenant, admin: Browser, changes: dict[str, Any], words: str
) -> None:
    address = f"/campaigns/new?organization={tenant.organization.id}"
    answer = admin.post(address, {"name": "Spring", "who": "all", **changes}, page=address)
    assert (answer.status_code, answer.text.count(words)) == (422, 2)
    assert session.scalar(select(func.count()).select_from(Campaign)) == 0


def test_settings_rename_and_assign_and_conflicts_are_shown(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    address = f"/campaigns/{campaign.id}/settings"
    assistant = assistant_of(session, tenant)
    first = {"name": "Spring", "who": "some", "assistants": [str(assistant.id)], "version": "1"}
    saved = admin.post(address, first, page=address)
    late = admin.post(address, {"name": "Summer", "who": "all", "version": "1"}, page=address)
    session.expire_all()
    assert (saved.status_code, late.status_code) == (303, 409)
    assert "changed this" in late.text
    assert 'value="Summer"' in late.text
    assert (campaign.name, campaign.all_assistants) == ("Spring", False)
    bad = admin.post(address, {"name": "", "who": "all", "version": "3"}, page=address)
    assert bad.status_code == 422


def test_archiving_names_what_stays_and_hides_the_campaign_from_the_list(
    session: Session, campaign: Campaign, admin: Browser
) -> None:
    address = f"/campaigns/{campaign.id}/archive"
    assert "It has no contacts." in admin.get(address).text
    fill(session, campaign, [{"email": f"p{n}@mail.example"} for n in range(3)])
    assert "Its 3 contacts can still be viewed." in admin.get(address).text
    answer = admin.post(address, page=address)
    session.expire_all()
    assert (answer.status_code, campaign.status) == (303, CampaignStatus.ARCHIVED)
    shown = {
        query: f">{campaign.name}</a>" in admin.get(f"/campaigns{query}").text
        for query in ("", "?kind=archived", "?kind=any")
    }
    assert shown == {"": False, "?kind=archived": True, "?kind=any": True}
    page = admin.get(f"/campaigns/{campaign.id}").text
    assert "Upload contacts" not in page
    assert "Archived" in page


def found(browser: Browser, campaign: Campaign, query: str) -> list[str]:
    page = browser.get(f"/campaigns/{campaign.id}?{query}").text
    return [name for name in ("Ada", "Ünal", "Zoe", "None") if f'">{name}' in page]


def test_contacts_are_found_by_number_id_and_beginnings(
    session: Session, campaign: Campaign, admin: Browser
) -> None:
    ada = {"firstName": "Ada", "lastName": "King Lovelace", "phone": "+12025550120"}
    pair = {"externalIdKey": "crmId", "externalIdValue": "C-1"}
    unal = {"firstName": "Ünal", "lastName": "Şahin", "email": "unal@mail.example"}
    fill(session, campaign, [{**ada, **pair}, {**unal, "status": "Won"}])
    expected = {
        "q=(202)+555-0120": ["Ada"],
        "q=%2B12025550120": ["Ada"],
        "q=5550120": [],
        "q=12": [],
        "q=C-1": ["Ada"],
        "q=ada+king": ["Ada"],
        "q=lovelace": ["Ada"],
        "q=king+love": ["Ada"],
        "q=ünal": ["Ünal"],
        "q=şah": ["Ünal"],
        "q=UNAL@": ["Ünal"],
        "q=%25": [],
        "status=Won": ["Ünal"],
        "status=:none": ["Ada"],
        "hindrance=no-phone": ["Ünal"],
        "hindrance=nonsense": ["Ada", "Ünal"],
    }
    assert {query: found(admin, campaign, query) for query in expected} == expected


def test_contacts_that_can_not_be_called_are_marked_and_can_be_listed(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    fill(
        session,
        campaign,
        [
            {"firstName": "Ada", "phone": "+12025550120"},
            {"firstName": "Ünal", "phone": "+12025550121"},
            {"firstName": "Zoe", "phone": "+12025550122", "contactMetadata": {"consent": "no"}},
        ],
    )
    caller = tenant.caller(Role.PARTNER_ADMIN)
    do_not_call.add(session, caller, tenant.organization.id, "+12025550121")
    contacts.apply(
        session,
        campaign,
        [{"phone": "+12025550120", "status": " Completed"}],
        ContactAction.UPDATE_ONLY,
    )
    session.commit()
    assert found(admin, campaign, "hindrance=do-not-call") == ["Ünal"]
    assert found(admin, campaign, "hindrance=refused") == ["Zoe"]
    assert found(admin, campaign, "hindrance=ended") == ["Ada"]
    page = admin.get(f"/campaigns/{campaign.id}").text
    assert page.count('badge-warning">Do not call') == 2


def test_a_hundred_contacts_cost_as_many_queries_as_two_pages(
    session: Session, database: Database, campaign: Campaign, admin: Browser
) -> None:
    fill(session, campaign, [{"phone": f"+1202556{n:04}"} for n in range(30)])
    path = f"/campaigns/{campaign.id}"
    admin.get(path)
    with_few = statements_of_page(database.engine, admin, path)
    fill(session, campaign, [{"phone": f"+1202555{n:04}"} for n in range(100, 200)])
    assert statements_of_page(database.engine, admin, path) == with_few


def test_a_campaign_of_another_tenant_is_not_found(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    theirs = make_campaign(session, other_tenant)
    seen = []
    for campaign_id, organization_id in (
        (theirs.id, other_tenant.organization.id),
        (uuid4(), uuid4()),
    ):
        page, new = f"/campaigns/{campaign_id}", f"/campaigns/new?organization={organization_id}"
        gets = (page, f"{page}/uploads", f"{page}/settings", f"{page}/archive", new)
        posts = (f"{page}/settings", f"{page}/archive", new)
        seen.append(
            [
                *(admin.get(path).status_code for path in gets),
                *(
                    admin.post(path, {"name": "X", "who": "all"}, page="/campaigns").status_code
                    for path in posts
                ),
            ]
        )
    session.expire_all()
    assert seen == [[404] * 8, [404] * 8]
    assert (theirs.name, theirs.status) == ("Winter recall", CampaignStatus.PAUSED)


def test_a_member_of_one_organization_reaches_no_campaign_of_another(
    session: Session, tenant: Tenant, campaign: Campaign, signed_in: SignedIn
) -> None:
    member = signed_in(tenant.plus_user)
    paths = [f"/campaigns/{campaign.id}{tab}" for tab in ("", "/uploads", "/settings")]
    assert [member.get(path).status_code for path in paths] == [404, 404, 404]
    assert isinstance(campaign.id, UUID)


def test_the_primary_button_of_a_campaign_is_its_next_step(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    whose = tenant.organization.id
    made = campaigns.create(session, caller, whose, name="Recall", all_assistants=True)
    session.commit()
    page = f"/campaigns/{made.id}"

    def primary() -> list[str]:
        found = re.findall(r'class="btn btn-primary" href="([^"]+)"', admin.get(page).text)
        return [url.removeprefix(page) for url in found]

    assert primary() == ["/upload"]
    contacts.apply(session, made, [{"phone": "+12025550101"}], ContactAction.UPSERT)
    session.commit()
    assert primary() == ["/outreach/plan"]
    shown = admin.get(f"{page}/upload").text
    assert re.findall(r'class="sidebar-row" href="([^"]+)" aria-current', shown) == ["/campaigns"]
    assert re.findall(r">All data \(CSV\)<", admin.get(page).text) == [">All data (CSV)<"]
