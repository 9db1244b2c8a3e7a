"""A form that waits until another user has saved the same record doesn't undo what they saved."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.database import Database
from app.enums import Role, Tier
from app.factory import create_app
from app.models import OAuthClient
from app.services import campaigns, contacts, oauth_clients, organization_groups, partners
from app.services.auth import sessions
from app.services.contacts import single_contact
from app.services.contacts.single_contact import ContactFields
from app.services.organization_groups import GroupInput
from app.services.pricing import versions
from tests.fixtures.browser_session import give_session
from tests.fixtures.databases import runs_on
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.waiting import wait_for, waits_for_a_lock

backend = runs_on(["postgresql"])
"""SQLite has one writer at a time."""


@pytest.fixture
def tenant(fresh_database: Database) -> Tenant:
    with fresh_database.transaction() as session:
        return make_tenant(session)


@pytest.fixture
def browser(fresh_database: Database, tenant: Tenant, tmp_path: Path) -> FlaskClient:
    """A browser of a partner admin."""
    admin = tenant.staff[Role.PARTNER_ADMIN]
    with fresh_database.transaction() as session:
        token = sessions.create(session, admin, lifetime=timedelta(hours=1), host="localhost")
    client = create_app(
        settings_for(url_of(fresh_database), tmp_path), fresh_database
    ).test_client()
    give_session(client, token)
    return client


def hidden(page: str, *names: str) -> dict[str, str]:
    return {name: re.findall(rf'name="{name}" value="([^"]+)"', page)[0] for name in names}


def test_showing_a_plan_keeps_the_price_that_another_user_saves_meanwhile(
    fresh_database: Database, tenant: Tenant, browser: FlaskClient
) -> None:
    caller, partner_id = tenant.caller(Role.PARTNER_ADMIN), tenant.partner.id
    form = hidden(browser.get("/pricing").text, "csrf_token")
    path = f"/pricing/plans/{Tier.PLUS.value}/show"
    with ThreadPoolExecutor(1) as worker:
        with fresh_database.transaction() as session:
            partners.get(session, caller, partner_id, for_change=True)
            shown = worker.submit(browser.post, path, data=form)
            wait_for(lambda: waits_for_a_lock(fresh_database))
            plan = plan_of(versions.current(session, caller, partner_id))
            terms = replace(plan.terms, amount=4_242)
            versions.save(session, caller, partner_id, replace(plan, terms=terms))
        assert shown.result().status_code == 303
    with fresh_database.transaction(read_only=True) as session:
        plan = plan_of(versions.current(session, caller, partner_id))
    assert (plan.is_visible, plan.terms.amount) == (True, 4_242)


def test_saving_consent_keeps_what_another_user_saves_of_the_contact_meanwhile(
    fresh_database: Database, tenant: Tenant, browser: FlaskClient
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    organization_id = tenant.organization.id
    with fresh_database.transaction() as session:
        campaign = campaigns.create(session, admin, organization_id, name="Winter recall").id
        old = ContactFields("Ada", "Byron", "+12025550120", "ada@old.example", "new")
        contact = single_contact.add(session, admin, campaign, old)
    page = f"/campaigns/{campaign}/contacts/{contact}"
    form = hidden(browser.get(page).text, "csrf_token") | {"consent": "yes"}
    new = ContactFields("Adah", "King", "+12025550121", "ada@new.example", "hot")
    with ThreadPoolExecutor(1) as worker:
        with fresh_database.transaction() as session:
            single_contact.edit(session, admin, campaign, contact, new)
            saved = worker.submit(browser.post, f"{page}/consent", data=form)
            wait_for(lambda: waits_for_a_lock(fresh_database))
        assert saved.result().status_code == 303
    with fresh_database.transaction(read_only=True) as session:
        found = contacts.get(session, admin, campaign, contact)
    stored = (found.first_name, found.last_name, found.phone, found.email, found.status)
    assert stored == (new.first_name, new.last_name, new.phone, new.email, new.status)
    assert found.contact_metadata["consent"] == "yes"


def plan_of(plan_set: versions.PlanSet) -> versions.EditedPlan:
    return next(plan for plan in plan_set.plans if plan.tier is Tier.PLUS)


def test_a_limit_to_groups_that_another_user_saves_meanwhile_is_not_replaced(
    fresh_database: Database, tenant: Tenant, browser: FlaskClient
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    with fresh_database.transaction() as session:
        mine, theirs = (
            organization_groups.create(session, admin, GroupInput(name, [])).id
            for name in ("Mine", "Theirs")
        )
        client = oauth_clients.create(session, admin, name="Sync", role=Role.ADMIN).client.id
    path = f"/api-access/clients/{client}/groups"
    form = hidden(browser.get(path).text, "csrf_token", "version")
    limiting = {**form, "reach": "some", "groups": str(mine)}
    with ThreadPoolExecutor(1) as worker:
        with fresh_database.transaction() as session:
            subject = oauth_clients.get(session, admin, client, for_change=True)
            organization_groups.limit(session, admin, subject, {theirs})
            saved = worker.submit(browser.post, path, data=limiting)
            wait_for(lambda: waits_for_a_lock(fresh_database))
        assert saved.result().status_code == 409
    with fresh_database.transaction(read_only=True) as session:
        subject = session.get_one(OAuthClient, client)
        names = [group.name for group in organization_groups.groups_of(session, subject)]
    assert names == ["Theirs"]
