"""Groups of organizations: what a limited admin sees, and what is outside of it looks absent."""

import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.routing import Rule

from app.enums import AlertMeasure, AlertPeriod, AlertScope, CallStatus, ExportFormat, Role
from app.gateways.files import StoredFile
from app.models import (
    Assistant,
    Call,
    CallDay,
    Campaign,
    Contact,
    ConversationDay,
    CostDay,
    DoNotCallEntry,
    GroupedOrganization,
    Organization,
    OrganizationGroup,
    PartnerCostDay,
    PartnerDay,
    User,
    new_id,
    utcnow,
)
from app.policy import ROLE_PERMISSIONS, ROUTES, OpenAccess
from app.portal.organization_groups import views
from app.portal.record_lists.registry import LISTS
from app.services import alerts, exports, oauth_clients, organization_groups
from app.services.alerts import RuleInput
from app.services.auth.sessions import caller_of
from app.services.exports import ExportInput
from app.services.organization_groups import GroupInput
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call
from tests.portal.test_organizations import NEW
from tests.portal.uploader import Uploader

SignedIn = Callable[[User], Browser]
OUTSIDE = re.compile(r"Dental|paul@|77[, .\u00a0]?123|Unseen|\+1 202-555-0177|2025550177")
"""Texts that no page of a limited admin may contain: names, numbers and figures of other groups."""


@pytest.fixture
def limited_admin(session: Session, tenant: Tenant, uploader: Uploader) -> User:
    """An admin limited to a group with the Bakery alone; the Dental has one of everything."""
    admin = tenant.caller(Role.PARTNER_ADMIN)
    group = organization_groups.create(
        session, admin, GroupInput("North", [tenant.organization.id])
    )
    user = tenant.staff[Role.ADMIN]
    organization_groups.limit(session, admin, user, {group.id})
    plant(session, tenant)
    session.commit()
    return user


def plant(session: Session, tenant: Tenant) -> None:
    today, plus = utcnow().date(), tenant.plus
    whose = {"partner_id": plus.partner_id, "organization_id": plus.id}
    session.add(ConversationDay(**whose, day=today, conversations=77123, seconds=60))
    day = session.get_one(PartnerDay, (plus.partner_id, today))
    day.conversations, day.seconds = 77123, 60
    session.add(CallDay(**whose, day=today, ended=77123, failed=77123))
    cost = {"day": today, "currency": "USD", "attempts": 77123, "micros": 77123_000_000}
    session.add(CostDay(**whose, **cost))
    session.add(PartnerCostDay(partner_id=plus.partner_id, **cost))
    campaign = Campaign(id=new_id(), **whose, name="Unseen campaign")
    session.add(campaign)
    session.flush()
    session.add(
        Contact(
            id=new_id(),
            organization_id=plus.id,
            campaign_id=campaign.id,
            phone="+12025550177",
            first_name="Unseen",
        )
    )
    session.add(
        DoNotCallEntry(
            **whose, phone="+12025550177", reason="Unseen", source="manual", added_by="x"
        )
    )
    make_call(session, plus, "+12025550177")
    make_call(session, plus, "+12025550177", status=CallStatus.UNKNOWN)
    rule = (AlertMeasure.FAILED_CALLS, AlertScope.EACH_ORGANIZATION, 1, AlertPeriod.TODAY)
    alerts.create(session, tenant.caller(Role.PARTNER_ADMIN), RuleInput(*rule))
    alerts.apply(session, alerts.changes(session, utcnow()), utcnow())


def ids_of(session: Session, organization: Organization) -> dict[str, UUID]:
    """An id outside the group for each parameter that a page can have."""

    def first(model: Any) -> UUID:
        return (
            session.scalars(
                select(model.id).where(model.organization_id == organization.id)
            ).first()
            or uuid4()
        )

    campaign_id = first(Campaign)
    return {
        "organization_id": organization.id,
        "user_id": first(User),
        "assistant_id": first(Assistant),
        "campaign_id": campaign_id,
        "contact_id": first(Contact),
        "call_id": first(Call),
    }


def offered(app: Flask, wanted: Callable[[Rule], bool]) -> list[Rule]:
    """The pages that an admin may open."""
    return [
        rule
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("portal.")
        and "GET" in (rule.methods or ())
        and (
            ROUTES[rule.endpoint] is OpenAccess.SIGNED_IN
            or ROUTES[rule.endpoint] in ROLE_PERMISSIONS[Role.ADMIN]
        )
        and wanted(rule)
    ]


def test_pages_lists_and_files_of_a_limited_admin_hold_only_their_groups(
    app: Flask, limited_admin: User, signed_in: SignedIn
) -> None:
    browser = signed_in(limited_admin)
    found = {}
    paths = [rule.rule for rule in offered(app, lambda rule: not rule.arguments)]
    paths += [f"/lists/{name}/export.csv" for name in LISTS]
    paths += [f"/search?q={words}" for words in ("Dental", "paul@northwind.example", "Unseen")]
    paths += ["/report/month", "/report?q=dental", "/usage", "/users?q=paul", "/calls?status=any"]
    for path in paths:
        answer = browser.get(path, follow_redirects=True)
        words = answer.get_data().decode("utf-8", "replace")
        text = re.sub(r'value="(Dental|paul@northwind.example|Unseen)"', "", words)
        text = text.replace('placeholder="Dental surgery"', "")
        text = re.sub(r"[“”](Dental|paul@northwind.example|Unseen)[“”]", "", text)
        text = unescape(text).replace("Northwind Bakery", "").replace("Dental surgery", "")
        if leaked := OUTSIDE.findall(text):
            found[path] = leaked
    assert found == {}


def test_an_admin_without_a_limit_sees_all_groups_on_the_same_pages(
    session: Session, tenant: Tenant, limited_admin: User, signed_in: SignedIn
) -> None:
    organization_groups.limit(session, tenant.caller(Role.PARTNER_ADMIN), limited_admin, None)
    browser = signed_in(limited_admin)
    paths: tuple[str, ...] = (
        *("/organizations", "/users", "/campaigns", "/calls", "/usage", "/report/month"),
        *("/alerts", "/search?q=Unseen", "/do-not-call", "/", "/costs", "/assistants"),
    )
    held = {path: bool(OUTSIDE.search(unescape(browser.get(path).text))) for path in paths}
    assert held == dict.fromkeys(paths, True)


def test_each_page_answers_an_id_outside_the_groups_like_an_unknown_one(
    app: Flask, session: Session, tenant: Tenant, limited_admin: User, signed_in: SignedIn
) -> None:
    browser = signed_in(limited_admin)
    outside, inside = ids_of(session, tenant.plus), ids_of(session, tenant.organization)
    tried = 0
    for rule in offered(app, lambda rule: bool(rule.arguments & outside.keys())):
        others: Mapping[str, Any] = {"phone": "12025550177", "entry_id": uuid4(), "digits": "1"}
        for name in rule.arguments & outside.keys():
            seen = []
            for given in (outside[name], uuid4()):
                values = {
                    each: inside.get(each) or others.get(each, uuid4()) for each in rule.arguments
                } | {name: given}
                with app.test_request_context():
                    try:
                        path = app.url_map.bind("localhost").build(rule.endpoint, values)
                    except ValueError:
                        values |= {"ending": "csv", "month": "2026-10"}
                        path = app.url_map.bind("localhost").build(rule.endpoint, values)
                answer = browser.get(path)
                seen.append((answer.status_code, plain(answer.text, path, given)))
            assert seen[0] == seen[1], (rule.endpoint, name)
            assert seen[0][0] == 404, (rule.endpoint, name)
            tried += 1
    assert tried > 40


def plain(text: str, path: str, given: UUID) -> str:
    """The page without what differs between any two requests."""
    text = text.replace(path, "").replace(str(given), "")
    return re.sub(r"reference <code>[^<]+</code>[^<]*|value=\"[^\"]+\"", "", text)


def test_bulk_actions_find_nothing_outside_the_groups(
    session: Session, tenant: Tenant, limited_admin: User, signed_in: SignedIn
) -> None:
    browser = signed_in(limited_admin)
    campaign = session.scalars(
        select(Campaign).where(Campaign.organization_id == tenant.plus.id)
    ).one()
    page = browser.get(f"/lists/campaigns/actions/archive?key={campaign.id}")
    assert "Unseen" not in page.text
    browser.post("/lists/campaigns/actions/archive", {"key": str(campaign.id)}, page="/campaigns")
    session.refresh(campaign)
    assert campaign.status.value != "archived"


def test_a_new_organization_joins_the_first_group_of_the_limited_admin(
    session: Session, tenant: Tenant, limited_admin: User, signed_in: SignedIn
) -> None:
    browser = signed_in(limited_admin)
    made = browser.post(
        "/organizations/new", {**NEW, "name": "Newcomer", "once": "a1"}, page="/organizations/new"
    )
    assert made.status_code == 303, made.text
    assert "Newcomer" in browser.get("/organizations").text
    group = session.scalars(select(OrganizationGroup)).one()
    names = [each.name for each in organization_groups.organizations_of(session, group)]
    assert names == ["Newcomer", "Northwind Bakery"]


def test_without_a_group_left_a_limited_admin_sees_nothing_and_adds_nothing(
    session: Session, tenant: Tenant, limited_admin: User, signed_in: SignedIn
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    group = session.scalars(select(OrganizationGroup)).one()
    organization_groups.remove(session, admin, group.id)
    browser = signed_in(limited_admin)
    assert "Bakery" not in browser.get("/organizations").text
    typed = {**NEW, "name": "New", "once": "a"}
    browser.post("/organizations/new", typed, page="/organizations/new")
    assert session.scalars(select(Organization.id).where(Organization.name == "New")).all() == []


def test_a_limited_admin_watches_single_organizations_only(
    session: Session, tenant: Tenant, limited_admin: User, signed_in: SignedIn
) -> None:
    browser = signed_in(limited_admin)
    typed = {"measure": "failed-calls", "scope": "partner", "threshold": "1", "period": "today"}
    page = "/alerts/rules/new?measure=failed-calls"
    answer = browser.post(page, {**typed, "once": "a"}, page=page)
    assert answer.status_code == 422
    assert "Your access is limited" in answer.text


def choices(page: str) -> list[tuple[str, bool]]:
    boxes = re.findall(r'<input ([^>]*name="kept"[^>]*)>\s*<label[^>]*>([^<]*)', page)
    return [(name, "checked" in attributes) for attributes, name in boxes]


def test_the_organizations_of_a_group_are_selected_in_a_list(
    session: Session, tenant: Tenant, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert "Example: the group “North”" in browser.get("/settings/groups").text
    page = "/settings/groups/new"
    offered = browser.get(page).text
    assert choices(offered) == [("Northwind Bakery", False), ("Northwind Dental", False)]
    assert "Add organizations" not in offered
    typed = {"name": "North", "kept": str(tenant.plus.id), "once": "a"}
    assert browser.post(page, typed, page=page).status_code == 303
    group = session.scalars(select(OrganizationGroup)).one()
    assert choices(browser.get(f"/settings/groups/{group.id}").text) == [
        ("Northwind Bakery", False),
        ("Northwind Dental", True),
    ]
    monkeypatch.setattr(views, "OFFERED", 1)
    of_many = browser.get(f"/settings/groups/{group.id}").text
    assert len(choices(of_many)) == 2
    assert "Enter others here: one name or ID per line." in of_many
    assert choices(browser.get(page).text) == [("Northwind Bakery", False)]


def test_a_partner_admin_makes_a_group_and_limits_an_admin_and_a_client(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = "/settings/groups/new"
    wrong = browser.post(page, {"name": "North", "added": "Nowhere", "once": "a"}, page=page)
    assert wrong.status_code == 422
    assert "no organization called “Nowhere”" in wrong.text
    typed = {"name": "North", "added": f"Northwind Bakery\n{tenant.plus.id}", "once": "b"}
    assert browser.post(page, typed, page=page).status_code == 303
    group = session.scalars(select(OrganizationGroup)).one()
    saved = f"/settings/groups/{group.id}"
    kept = {"name": "North", "kept": str(tenant.organization.id), "version": str(group.version)}
    assert browser.post(saved, kept, page=saved).status_code == 303
    members = select(GroupedOrganization.organization_id)
    assert session.scalars(members).all() == [tenant.organization.id]
    client = oauth_clients.create(
        session, tenant.caller(Role.PARTNER_ADMIN), name="Sync", role=Role.ADMIN
    ).client
    session.commit()
    user = tenant.staff[Role.ADMIN]
    for path in (f"/users/{user.id}/groups", f"/api-access/clients/{client.id}/groups"):
        none = browser.post(path, {"reach": "some"}, page=path)
        assert none.status_code == 422
        assert "Choose at least one group." in none.text
        limiting = {"reach": "some", "groups": str(group.id)}
        assert browser.post(path, limiting, page=path).status_code == 303
    session.expire_all()
    assert (user.is_limited, client.is_limited) == (True, True)
    assert "2" in browser.get("/settings/groups").text
    editor = tenant.staff[Role.PARTNER_EDITOR]
    assert browser.get(f"/users/{editor.id}/groups").status_code == 404
    assert browser.post(f"{saved}/delete", page=f"{saved}/delete").status_code == 303
    assert session.scalars(select(OrganizationGroup)).all() == []
    session.expire_all()
    assert user.is_limited


def test_a_group_of_another_partner_is_not_found(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    caller = other_tenant.caller(Role.PARTNER_ADMIN)
    group = organization_groups.create(session, caller, GroupInput("South", []))
    session.commit()
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert browser.get(f"/settings/groups/{group.id}").status_code == 404
    user = tenant.staff[Role.ADMIN]
    page = f"/users/{user.id}/groups"
    answer = browser.post(page, {"reach": "some", "groups": str(group.id)}, page=page)
    assert (answer.status_code, user.is_limited) == (404, False)


def test_exports_end_when_their_user_sees_less(session: Session, tenant: Tenant) -> None:
    """Their files hold what the user saw before; one that is being written keeps no file."""
    admin, user = tenant.caller(Role.PARTNER_ADMIN), tenant.staff[Role.ADMIN]
    mine = caller_of(user)
    north = GroupInput("North", [tenant.organization.id, tenant.plus.id])
    group = organization_groups.create(session, admin, north)

    def is_kept(change: Callable[[], object]) -> bool:
        wanted = ExportInput("people", "", ExportFormat.CSV, "UTC")
        export = exports.create(session, mine, wanted)
        task = exports.begin(session, export.id)
        assert task is not None
        change()
        unneeded = exports.finish(
            session, export.id, task.attempt_number, StoredFile("key", 1, "0"), 1
        )
        session.expire_all()
        listed = export in exports.of_user(session, mine)
        assert unneeded == ("" if listed else "key")
        session.delete(export)
        session.flush()
        return listed

    def save(*organizations: Organization) -> Callable[[], object]:
        wanted = GroupInput("North", [each.id for each in organizations])
        return lambda: organization_groups.update(session, admin, group.id, wanted)

    assert not is_kept(lambda: organization_groups.limit(session, admin, user, {group.id}))
    assert is_kept(save(tenant.organization, tenant.plus))
    assert not is_kept(save(tenant.organization))
    assert is_kept(save(tenant.organization, tenant.plus))
    assert not is_kept(lambda: organization_groups.remove(session, admin, group.id))
