"""Organizations in the portal: found, added, changed with a look at what it does, stopped."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, Tier, UserStatus
from app.models import Assistant, AuditEntry, Organization, User, utcnow
from app.policy import ROUTES
from app.schemas.organizations import UpdateOrganizationInput
from app.services import assistants, organizations
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser, user_of
from tests.portal.paths import paths_with
from tests.portal.uploader import make_campaign

SignedIn = Callable[[User], Browser]
ABSENT = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"


@pytest.fixture
def browser(tenant: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


def text(answer: object) -> str:
    return unescape(getattr(answer, "text", "")).replace("<wbr>", "")


def fresh(session: Session, organization: Organization) -> Organization:
    session.expire_all()
    return session.get_one(Organization, organization.id)


NEW = {
    "name": "Bexley Plumbing",
    "tier": Tier.BASIC.value,
    "assistant_limit": "3",
    "user_limit": "2",
    "referral_code": "BEX",
    "referred_by_code": "",
    "email": "ines@bexley.example",
    "first_user_name": "Ines",
    "once": "abc123",
}


def test_adding_an_organization_leads_to_templates_and_files(browser: Browser) -> None:
    page = browser.get("/organizations/new").text
    assert 'href="/organization-templates?use=one">Use a template</a>' in page
    assert 'href="/organization-templates?use=file">From a file</a>' in page


def test_a_typed_name_suggests_the_organizations_that_match(
    tenant: Tenant, browser: Browser
) -> None:
    def suggested(typed: str) -> list[str]:
        page = browser.get(f"/organizations/names?organization={typed}").text
        return re.findall(r'<option value="(.*?)">', unescape(page))

    names = sorted([tenant.organization.name, tenant.plus.name])
    assert (suggested(""), suggested(names[1]), suggested("nothing")) == (names, [names[1]], [])


def test_operators_see_to_which_partner_an_organization_belongs(
    tenant: Tenant, other_tenant: Tenant, operator: Browser, browser: Browser
) -> None:
    page = operator.get("/organizations").text
    assert "Customers of all partners." in page
    for each in (tenant, other_tenant):
        assert f'<span class="cell-sub">{each.partner.name} · ' in page
    assert f"{tenant.partner.name} · " not in browser.get("/organizations").text


def test_a_new_organization_has_its_plan_limits_codes_and_first_person(
    session: Session, browser: Browser
) -> None:
    answer = browser.post("/organizations/new", NEW, page="/organizations/new")
    made = session.scalars(select(Organization).where(Organization.name == NEW["name"])).one()
    assert (answer.status_code, answer.location) == (303, f"/organizations/{made.id}")
    assert (
        made.payment_tier,
        made.assistant_limit,
        made.user_limit,
        made.referral_code,
        made.referred_by_code,
    ) == (Tier.BASIC, 3, 2, "BEX", None)
    person = session.scalars(select(User).where(User.organization_id == made.id)).one()
    assert (person.email, person.name, person.status) == (
        "ines@bexley.example",
        "Ines",
        UserStatus.INVITED,
    )
    page = text(browser.get(answer.location))
    assert "Bexley Plumbing added. ines@bexley.example is invited." in page


def test_a_new_organization_comes_with_the_partners_default_assistant(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    tenant.partner.default_assistant_name, tenant.partner.default_service = "Robin", "Reception"
    session.commit()
    browser.post("/organizations/new", NEW, page="/organizations/new")
    query = (
        select(Assistant.name, Assistant.service)
        .join(Organization, Organization.id == Assistant.organization_id)
        .where(Organization.name == NEW["name"])
    )
    assert session.execute(query).all() == [("Robin", "Reception")]


@pytest.mark.parametrize(
    ("tier", "user_limit"),
    [(Tier.FREE, 3), (Tier.BASIC_TRIAL, 10), (Tier.BASIC, 10), (Tier.PLUS, 50)],
)
def test_a_blank_user_limit_is_the_usual_one_of_the_plan(
    session: Session, browser: Browser, tier: Tier, user_limit: int
) -> None:
    page = text(browser.get("/organizations/new"))
    choices = ["Free, 3 users", "Basic trial, 10 users", "Basic, 10 users", "Plus, 50 users"]
    assert re.findall(r"<option[^>]*>([^<]+ users)", page) == choices
    assert 'name="user_limit" placeholder="As the plan" type="text" value=""' in page
    form = NEW | {"tier": tier.value, "user_limit": ""}
    browser.post("/organizations/new", form, page="/organizations/new")
    made = session.scalars(select(Organization).where(Organization.name == NEW["name"])).one()
    assert (made.payment_tier, made.user_limit) == (tier, user_limit)


@pytest.mark.parametrize(
    ("sent", "role"),
    [
        ({}, Role.OWNER),
        ({"first_role": Role.OWNER.value}, Role.OWNER),
        ({"first_role": Role.STANDARD.value}, Role.STANDARD),
    ],
)
def test_the_first_user_of_a_new_organization_is_owner_unless_member_is_chosen(
    session: Session, browser: Browser, sent: dict[str, str], role: Role
) -> None:
    page = browser.get("/organizations/new").text
    chosen = re.findall(r'<input[^>]*checked[^>]*name="first_role"[^>]*value="(.*?)"', page)
    assert chosen == [Role.OWNER.value]
    browser.post("/organizations/new", NEW | sent, page="/organizations/new")
    person = session.scalars(select(User).where(User.email == NEW["email"])).one()
    assert person.role is role


def test_a_new_organization_can_call_the_country_that_most_others_have(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    for organization in (tenant.organization, tenant.plus):
        organization.default_region = "CH"
    session.commit()
    page = browser.get("/organizations/new").text
    assert re.findall(r"<option selected value=\"([A-Z]{2})\"", page) == ["CH"]
    browser.post("/organizations/new", NEW | {"country": "CH"}, page="/organizations/new")
    made = session.scalars(select(Organization).where(Organization.name == NEW["name"])).one()
    assert (made.default_region, made.allowed_regions) == ("CH", ["CH"])


def test_a_form_sent_twice_adds_one_organization(session: Session, browser: Browser) -> None:
    answers = [browser.post("/organizations/new", NEW, page="/organizations/new") for _ in "12"]
    assert answers[0].location == answers[1].location
    count = select(func.count()).where(Organization.name == NEW["name"])
    assert session.scalar(count) == 1


def test_a_form_sent_again_after_its_view_was_renamed_adds_one_organization(
    app: Flask, session: Session, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = browser.post("/organizations/new", NEW, page="/organizations/new")
    former, later = "portal.organizations.create_organization", "portal.organizations.renamed"
    [rule] = app.url_map.iter_rules(former)
    monkeypatch.setattr(rule, "endpoint", later)
    monkeypatch.setitem(app.url_map._rules_by_endpoint, later, [rule])
    monkeypatch.setitem(app.view_functions, later, app.view_functions[former])
    monkeypatch.setitem(ROUTES, later, ROUTES[former])
    again = browser.post("/organizations/new", NEW)
    assert (again.status_code, again.location) == (303, first.location)
    count = select(func.count()).where(Organization.name == NEW["name"])
    assert session.scalar(count) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": " "}, "Name: Enter a name."),
        ({"name": "NORTHWIND bakery "}, "Name: There is an organization NORTHWIND bakery already."),
        ({"assistant_limit": "many"}, "Assistant limit: Enter a whole number in digits."),
        ({"user_limit": "-1"}, "User limit: Enter 0 or more."),
        ({"assistant_limit": "-1"}, "Assistant limit: Enter 0 or more."),
        ({"email": "nobody"}, "Email of the first user: Enter an email like name@example.com"),
        ({"tier": "gold"}, "Plan: "),
        ({"country": "XX"}, "Country: Choose a country."),
        ({"country": "AF"}, "Country: Afghanistan isn’t open for calls."),
        ({"first_role": "admin"}, "Role of the first user: "),
    ],
)
def test_each_problem_is_at_its_field_and_nothing_is_added(
    session: Session, browser: Browser, changes: dict[str, str], words: str
) -> None:
    count = session.scalar(select(func.count()).select_from(Organization))
    answer = browser.post("/organizations/new", NEW | changes, page="/organizations/new")
    assert answer.status_code == 422
    assert words in text(answer)
    assert NEW["referral_code"] in answer.text
    assert session.scalar(select(func.count()).select_from(Organization)) == count


def test_all_problems_are_shown_at_once(browser: Browser) -> None:
    wrong = {"name": "", "assistant_limit": "x", "user_limit": "-1", "email": "nobody"}
    wrong["country"] = "AF"
    typed = NEW | wrong | {"referral_code": "N" * 1000}
    shown = text(browser.post("/organizations/new", typed, page="/organizations/new"))
    assert "6 things need changing" in shown
    summary = shown[shown.index("6 things need changing") :]
    order = ("Name: ", "Country: ", "Assistant limit: ", "User limit: ", "Referral code: ", "Email")
    places = [summary.index(label) for label in order]
    assert places == sorted(places)
    assert 'value="x"' in shown


def test_a_name_and_an_email_that_are_taken_are_shown_with_the_other_problems(
    tenant: Tenant, browser: Browser
) -> None:
    typed = NEW | {"name": tenant.plus.name, "email": tenant.user.email, "user_limit": "-1"}
    shown = text(browser.post("/organizations/new", typed, page="/organizations/new"))
    assert "3 things need changing" in shown
    assert "There is an organization Northwind Dental already." in shown
    assert "A user with this email address exists already." in shown


def test_renaming_names_the_user_who_saved_first_and_overwrites_only_when_confirmed(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    path = f"/organizations/{tenant.organization.id}/edit"
    seen = tenant.organization.version
    colleague = tenant.caller(Role.ADMIN)
    changes = organizations.update(
        session,
        colleague,
        tenant.organization.id,
        UpdateOrganizationInput(),
        name="Northwind Bakers",
    )
    session.commit()
    typed = {"name": "Northwind Bread", "version": str(seen)}
    refused = browser.post(path, typed, page=path)
    assert refused.status_code == 409
    shown = text(refused)
    assert f"{tenant.staff[Role.ADMIN].email} changed this" in shown
    assert "Northwind Bakers" in shown
    assert "Northwind Bread" in shown
    assert f'name="version" value="{changes.version}"' in refused.text
    again = browser.post(path, typed | {"version": str(changes.version)}, page=path)
    assert again.status_code == 303
    assert fresh(session, tenant.organization).name == "Northwind Bread"


def test_a_change_of_plan_is_shown_before_it_is_made(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    organization = tenant.plus
    organization.assistant_limit = 5
    session.commit()
    assistants.add_assistant(session, OPERATOR, organization, name="Robin")
    session.commit()
    base = f"/organizations/{organization.id}/plan"
    chosen = {
        "tier": Tier.BASIC.value,
        "assistant_limit": "1",
        "user_limit": "4",
        "version": str(organization.version),
    }
    assert browser.get(base).status_code == 200
    check = browser.get(f"{base}/check", query_string=chosen)
    shown = text(check)
    assert check.status_code == 200
    assert "The plan changes from Plus to Basic immediately." in shown
    assert "has 2 assistants, the new limit is 1: the next assistant will be refused" in shown
    assert fresh(session, organization).payment_tier is Tier.PLUS

    answer = browser.post(base, chosen, page=f"{base}/check?{query(chosen)}")
    assert (answer.status_code, answer.location) == (303, f"/organizations/{organization.id}")
    saved = fresh(session, organization)
    assert (saved.payment_tier, saved.assistant_limit, saved.user_limit) == (Tier.BASIC, 1, 4)


def change_to_free(session: Session, organization: Organization, browser: Browser) -> str:
    """Choose the plan Free on the form as it is shown, apply it, and return the words of the
    review."""
    base = f"/organizations/{organization.id}/plan"
    shown = browser.get(base).text
    names = ("assistant_limit", "user_limit", "version")
    chosen = {name: re.search(rf'name="{name}"[^>]* value="([^"]*)"', shown) for name in names}
    values = {name: match[1] if match else "" for name, match in chosen.items()}
    values |= {"tier": Tier.FREE.value}
    check = f"{base}/check?{query(values)}"
    review = text(browser.get(check))
    reviewed = {name: re.search(rf'name="{name}" value="([^"]*)"', review) for name in names}
    values |= {name: match[1] for name, match in reviewed.items() if match}
    assert browser.post(base, values, page=check).status_code == 303
    return review


def test_a_user_limit_that_the_plan_includes_follows_the_plan(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    tenant.plus.user_limit = 50
    session.commit()
    page = text(browser.get(f"/organizations/{tenant.plus.id}/plan"))
    choices = ["Free, 3 users", "Basic trial, 10 users", "Basic, 10 users", "Plus, 50 users"]
    assert re.findall(r"<label[^>]*>([^<]+ users)", page) == choices
    review = change_to_free(session, tenant.plus, browser)
    assert "the new limit is 3" in review
    assert "None" not in review.partition("<main")[2]
    assert fresh(session, tenant.plus).user_limit == 3


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        (40, "The user limit stays at 40; Free includes 3 users."),
        (0, "The number of users stays unlimited; Free includes 3 users."),
    ],
)
def test_a_user_limit_of_the_organizations_own_stays_when_its_plan_changes(
    session: Session, tenant: Tenant, browser: Browser, limit: int, sentence: str
) -> None:
    tenant.plus.user_limit = limit
    session.commit()
    assert sentence in change_to_free(session, tenant.plus, browser)
    assert fresh(session, tenant.plus).user_limit == limit


def test_cancelling_a_change_of_plan_leads_back_to_where_it_began(
    tenant: Tenant, browser: Browser
) -> None:
    base, user = f"/organizations/{tenant.organization.id}/plan", f"/users/{tenant.user.id}"
    began = f"{base}?back={user}"
    assert f'href="{began}"' in browser.get(user).text
    assert f'href="{user}">Cancel' in browser.get(began).text
    chosen = {"tier": Tier.BASIC.value, "assistant_limit": "1", "user_limit": "4", "back": user}
    check = browser.get(f"{base}/check", query_string=chosen).text
    assert f'href="{began}">Choose again' in check
    assert f'<form method="post" action="{began}"' in check
    assert 'href="/">Cancel' in browser.get(f"{base}?back=https://elsewhere.example").text
    assert f'href="/organizations/{tenant.organization.id}">Cancel' in browser.get(base).text


def query(values: dict[str, str]) -> str:
    return "&".join(f"{name}={value}" for name, value in values.items())


def test_a_plan_that_changed_meanwhile_is_not_overwritten(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    base = f"/organizations/{tenant.plus.id}/plan"
    chosen = {"tier": Tier.PLUS.value, "assistant_limit": "7", "user_limit": "1", "version": "99"}
    answer = browser.post(base, chosen, page=base)
    assert answer.status_code == 409
    assert "changed this" in text(answer)
    assert fresh(session, tenant.plus).assistant_limit != 7


def test_a_limit_that_is_no_number_is_refused_before_the_check(
    tenant: Tenant, browser: Browser
) -> None:
    path = f"/organizations/{tenant.plus.id}/plan/check"
    answer = browser.get(f"{path}?tier={Tier.PLUS.value}&assistant_limit=x&user_limit=-1")
    assert answer.status_code == 422
    assert "2 things need changing" in text(answer)
    assert "Assistant limit: Enter a whole number in digits." in text(answer)


def test_suspending_names_its_consequences_and_can_be_undone(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    base = f"/organizations/{tenant.organization.id}"
    asked = text(browser.get(f"{base}/suspend"))
    assert "Suspend Northwind Bakery?" in asked
    assert "1 user is signed out immediately and can’t sign in." in asked
    answer = browser.post(f"{base}/suspend", {"reason": "Invoice unpaid"}, page=f"{base}/suspend")
    assert (answer.status_code, answer.location) == (303, base)
    assert f'action="{base}/reactivate"' in browser.get(base).text
    page = text(browser.get(base))
    assert "This organization is suspended" in page
    assert "Invoice unpaid." in page
    assert browser.post(f"{base}/reactivate", page=base).status_code == 303
    assert fresh(session, tenant.organization).status is OrganizationStatus.ACTIVE


def test_every_tab_of_a_suspended_organization_says_what_that_means(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    base = f"/organizations/{tenant.organization.id}"
    head = browser.get(base).text.partition('<nav class="tabs"')[2].partition("</nav>")[0]
    tabs = re.findall(r'href="([^"]+)"', head)
    notice = "Its users can’t sign in, its keys are refused and no calls are placed."
    assert notice not in text(browser.get(base))
    organizations.suspend(session, OPERATOR, tenant.organization.id)
    session.commit()
    pages = {tab: text(browser.get(tab)) for tab in tabs}
    assert len(pages) > len(PARTS)
    assert {tab: page.count(notice) for tab, page in pages.items()} == dict.fromkeys(pages, 1)


def test_an_archived_organization_is_hidden_from_the_list_and_can_be_restored(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    base = f"/organizations/{tenant.organization.id}"
    assert "Archive Northwind Bakery?" in text(browser.get(f"{base}/archive"))
    browser.post(f"{base}/archive", page=f"{base}/archive")
    assert "This organization is archived" in text(browser.get(base))
    assert "Northwind Bakery" not in text(browser.get("/organizations"))
    assert "Northwind Bakery" in text(browser.get("/organizations?status=archived"))
    refused = browser.post(f"{base}/suspend", page="/organizations/new")
    assert refused.status_code == 409
    browser.post(f"{base}/restore", page=base)
    assert fresh(session, tenant.organization).status is OrganizationStatus.ACTIVE
    actions = select(AuditEntry.action).where(AuditEntry.target_id == str(tenant.organization.id))
    assert {"organization.archived", "organization.restored"} <= set(session.scalars(actions))


def test_a_row_of_the_list_leads_to_usage_statement_and_suspending(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    one = tenant.organization.id
    addresses = {
        f"/organizations/{one}/usage",
        f"/statements/{one}",
        f"/organizations/{one}/suspend",
    }

    def offered() -> set[str]:
        return {
            found
            for found in re.findall(
                r'class="menu-row" href="([^"]+)"', browser.get("/organizations").text
            )
            if found in addresses
        }

    assert offered() == addresses
    tenant.organization.status = OrganizationStatus.SUSPENDED
    session.commit()
    assert offered() == addresses - {f"/organizations/{one}/suspend"}


def test_the_first_user_is_named_once(tenant: Tenant, browser: Browser) -> None:
    for path in ("/organizations", "/organizations?column=name&column=user"):
        shown = browser.get(path).text.replace("<wbr>", "")
        assert shown.count(tenant.user.email) == 1


def test_the_list_is_narrowed_by_plan_use_trial_and_words(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    tenant.plus.trial_ended_at, tenant.organization.trial_ended_at = utcnow(), None
    session.commit()
    for address, names in (
        ("/organizations", {"Northwind Bakery", "Northwind Dental"}),
        (f"/organizations?tier={Tier.PLUS.value}", {"Northwind Dental"}),
        ("/organizations?use=reached", {"Northwind Bakery", "Northwind Dental"}),
        ("/organizations?trial=yes", {"Northwind Bakery"}),
        ("/organizations?trial=no", {"Northwind Dental"}),
        ("/organizations?q=bakery&sort=name", {"Northwind Bakery"}),
        ("/organizations?status=suspended", set()),
    ):
        page = text(browser.get(address))
        assert {name for name in ("Northwind Bakery", "Northwind Dental") if name in page} == names
    assert tenant.user.email in text(browser.get("/organizations")).replace("<wbr>", "")


PARTS = {
    "": ["/users/invite"],
    "/users": ["/users/invite"],
    "/assistants": ["/assistants/new"],
    "/campaigns": ["/campaigns/new"],
    "/usage": ["/users/invite"],
    "/settings": [],
    "/activity": ["/users/invite"],
}
"""Each part of an organization, and where its first button leads."""


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_an_organization_has_its_own_address(
    session: Session, tenant: Tenant, browser: Browser, part: str
) -> None:
    tenant.plus.user_limit = tenant.plus.assistant_limit = 0
    session.commit()
    address = f"/organizations/{tenant.plus.id}{part}"
    page = browser.get(address).text
    assert re.findall(r'class="tab" href="([^"]+)" aria-current', page) == [address]
    adding = [f"{path}?organization={tenant.plus.id}" for path in PARTS[part]]
    assert re.findall(r'<a class="btn btn-primary" href="([^"]+)"', page) == adding


def test_the_activity_has_the_days_and_links_of_the_history(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    organizations.update(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        tenant.organization.id,
        UpdateOrganizationInput(),
        name="Northwind Bread",
    )
    session.commit()
    one = tenant.organization.id
    found = r'<tr class="history-day">.*?</tr>|<a href="/organizations/[^"]+">.*?</a>'
    seen = [
        re.findall(found, re.sub(r' colspan="."', "", browser.get(address).text))
        for address in (f"/organizations/{one}/activity", f"/audit?organization={one}")
    ]
    assert seen[0] == seen[1]
    assert f'<a href="/organizations/{one}">Northwind Bread</a>' in seen[0]


@pytest.mark.parametrize(
    "path", ["/organizations", "/users", "/numbers", "/api-access", "/do-not-call"]
)
def test_an_empty_result_has_one_link_that_clears_the_filters(browser: Browser, path: str) -> None:
    page = browser.get(f"{path}?q=zzzz").text
    assert " matches." in page
    assert page.count("Clear filters</a>") == 1


def test_an_organization_at_its_user_limit_offers_to_raise_it(
    tenant: Tenant, browser: Browser
) -> None:
    place = f"/organizations/{tenant.organization.id}"
    page = browser.get(place).text
    assert f'class="btn btn-primary" href="{place}/plan?users=2"' in page
    assert "/users/invite?" not in page
    assert "Raise user limit" in browser.get(f"{place}/users").text
    for part in ("usage", "activity"):
        assert "Raise user limit" not in browser.get(f"{place}/{part}").text
    row = browser.get("/organizations").text
    assert '<span class="cell-sub cell-phone">Users: Limit reached</span>' in row


def test_the_campaigns_of_an_organization_have_the_status_of_their_list(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    make_campaign(session, tenant)
    for page in (f"/organizations/{tenant.organization.id}/campaigns", "/campaigns"):
        assert "Not started</span>" in browser.get(page).text


def test_an_organization_of_another_partner_is_answered_like_a_missing_one(
    app: Flask, session: Session, other_tenant: Tenant, browser: Browser
) -> None:
    before = other_tenant.organization.version
    for whose in (other_tenant.organization.id, ABSENT):
        paths = paths_with(app, "POST", "organization_id", whose)
        assert f"/organizations/{whose}/reactivate" in paths
        answers = {
            path: browser.post(path, SETTINGS | NEW, page="/organizations/new").status_code
            for path in paths
        }
        assert answers == dict.fromkeys(paths, 404)
    session.refresh(other_tenant.organization)
    assert other_tenant.organization.version == before


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.STANDARD])
def test_users_who_may_only_read_find_no_form(
    tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    user = user_of(tenant, role)
    browser = signed_in(user)
    base = f"/organizations/{tenant.organization.id}"
    for path in ("/organizations/new", f"{base}/edit", f"{base}/plan", f"{base}/suspend"):
        assert browser.get(path).status_code == 404
    if role is Role.PARTNER_EDITOR:
        page = browser.get(base).text
        for word in ("Suspend", "Change plan", "/edit", "Invite user"):
            assert word not in page


SETTINGS = {
    "calling_hours_start": "08:00",
    "calling_hours_end": "21:00",
    "default_region": "US",
    "allowed_regions": "US",
    "retry_times": "0",
    "retry_minutes": "30",
}


def test_a_full_assistant_limit_leads_to_raising_it_by_one(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    tenant.organization.assistant_limit = 1
    session.commit()
    base = f"/organizations/{tenant.organization.id}"
    page = admin.get(f"{base}/assistants").text.partition("<main")[2]
    assert ("Add assistant" in page, "Raise assistant limit" in page) == (False, True)
    assert f'href="{base}/plan?assistants=2"' in page
    plan = admin.get(f"{base}/plan?assistants=2").text
    assert re.search(r'name="assistant_limit"[^>]* value="2"', plan)
