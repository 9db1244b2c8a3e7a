"""Webhooks for the whole portal, as a partner's administrator adds, finds and exports them."""

import re
from functools import partial

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import PauseReason, Role, WebhookEvent
from app.extensions import settings
from app.models import AuditEntry, Webhook, WebhookDelivery, utcnow
from app.policy.caller import system_caller
from app.services import webhooks
from app.services.webhooks.publishing import publish
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_webhooks import LIST, NEW, SECRET, SignedIn, make, page_of

backend = runs_on(["sqlite"])
WHOLE = {**NEW, "scope": "portal", "organization": ""}
URL = "https://all.example/hooks"


def make_for_portal(app: Flask, session: Session, tenant: Tenant) -> Webhook:
    with app.app_context():
        made = webhooks.add(
            session,
            system_caller("the owner", tenant.partner.id),
            settings(),
            organization_id=None,
            url=URL,
            events=["alert.opened"],
        )
    session.commit()
    return made.webhook


def names(page: str) -> list[str]:
    found = re.findall(r'<a class="name"[^>]*>(.*?)</a><span class="cell-sub">(.*?)<', page)
    return [f"{url.replace('<wbr>', '')} {owner}" for url, owner in found]


def test_a_webhook_for_the_whole_portal_is_added_and_its_secret_is_shown_once(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    form = admin.get(f"{LIST}/new").text
    assert re.findall(r'name="scope" type="radio" value="(\w+)"', form) == [
        "organization",
        "portal",
    ]
    made = admin.post(f"{LIST}/new", WHOLE)
    [_secret] = set(SECRET.findall(made.text))
    webhook = session.scalars(select(Webhook)).one()
    assert (webhook.partner_id, webhook.organization_id) == (tenant.partner.id, None)
    page = admin.get(page_of(webhook)).text
    assert "Receives events for all organizations" in page
    assert re.search(r"Organization</dt>\s*<dd[^>]*>The whole portal<", page)
    again = admin.post(f"{LIST}/new", WHOLE)
    assert (again.status_code, again.location) == (303, page_of(webhook))


def test_a_webhook_for_the_whole_portal_needs_no_organization(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    address = f"{LIST}/new?organization={tenant.organization.id}"
    assert admin.post(address, WHOLE, page=address).status_code == 200
    assert session.scalars(select(Webhook.organization_id)).all() == [None]


def test_a_refused_form_keeps_the_choice_and_saves_nothing(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    answer = admin.post(f"{LIST}/new", {**WHOLE, "url": "crm.example", "events": []})
    assert answer.status_code == 422
    for words in ("Enter an address like https://host/path.", "Choose at least one event."):
        assert words in answer.text
    assert re.search(r'<input(?=[^>]*value="portal")[^>]*checked', answer.text)
    assert tenant.plus.name in answer.text
    assert session.scalars(select(Webhook)).all() == []


def test_a_webhook_for_one_organization_asks_for_it(session: Session, admin: Browser) -> None:
    answer = admin.post(f"{LIST}/new", {**WHOLE, "scope": "planet"})
    assert answer.status_code == 422
    assert "Enter the organization." in answer.text
    assert session.scalars(select(Webhook)).all() == []


def test_list_filter_and_files_name_the_whole_portal(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    make(app, session, tenant)
    make_for_portal(app, session, tenant)
    one, whole = f"https://crm.example/hooks {tenant.organization.name}", f"{URL} The whole portal"
    assert names(admin.get(LIST).text) == [whole, one]
    of_portal = admin.get(f"{LIST}?organization=portal").text
    assert names(of_portal) == [whole]
    [new] = re.findall(rf'href="({LIST}/new[^"]*)"', of_portal)
    assert re.search(r'<input(?=[^>]*value="portal")[^>]*checked', admin.get(new).text)
    filtered = admin.get(f"{LIST}?organization={tenant.organization.id}").text
    assert names(filtered) == [one]
    [select_] = re.findall(r'<select[^>]*name="organization".*?</select>', filtered, re.DOTALL)
    options = re.findall(r'<option value="([^"]*)"( selected)?>([^<]*)', select_)
    assert options == [
        ("", "", "Any organization"),
        ("portal", "", "The whole portal"),
        (str(tenant.organization.id), " selected", tenant.organization.name),
    ]
    file = admin.get("/lists/webhooks/export.csv?column=organization&organization=portal").text
    assert [line.split(",")[:2] for line in file.splitlines()[1:]] == [[URL, "The whole portal"]]
    assert admin.get(f"{LIST}?organization=planet").status_code == 404


def test_a_webhook_for_the_whole_portal_has_the_actions_of_others(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make_for_portal(app, session, tenant)
    page = page_of(webhook)
    assert admin.post(f"{page}/test", {"once": "t1"}, page=page).status_code == 303
    delivery = session.scalars(select(WebhookDelivery)).one()
    assert '"organizationId": null' in admin.get(f"{page}/deliveries/{delivery.id}").text.replace(
        "&#34;", '"'
    )
    for act in ("pause", "resume"):
        assert admin.post(f"{page}/{act}", page=page).status_code == 303
    edit = f"{page}/edit"
    moved = {"url": "https://new.example/x", "events": ["call.completed", "alert.resolved"]}
    version = re.search(r'name="version"[^>]*value="(\d+)"', admin.get(edit).text)
    assert version
    assert admin.post(edit, {**moved, "version": version[1]}, page=edit).status_code == 303
    rotated = admin.post(f"{page}/rotate", {"overlap": "1", "once": "r1"}, page=f"{page}/rotate")
    assert SECRET.search(rotated.text)
    webhook.paused_at, webhook.pause_reason = utcnow(), PauseReason.FAILING
    session.commit()
    assert "The receiver accepted nothing for 24 hours." in admin.get(page).text
    assert admin.post(f"{page}/remove", page=f"{page}/remove").location == LIST
    actions = session.scalars(
        select(AuditEntry.action)
        .where(AuditEntry.target_type == "webhook", AuditEntry.organization_id.is_(None))
        .order_by(AuditEntry.id)
    ).all()
    acts = ("created", "tested", "paused", "resumed", "updated", "rotated", "removed")
    assert actions == [f"webhook.{act}" for act in acts]


def test_its_log_names_the_organization_of_each_delivery(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    webhook = make_for_portal(app, session, tenant)
    for whose in (tenant.organization.id, None):
        event = WebhookEvent.ALERT_OPENED
        publish(session, tenant.partner.id, whose, event, partial(dict, organizationId=whose))
    session.commit()
    of_organization, of_portal = session.scalars(
        select(WebhookDelivery).order_by(WebhookDelivery.id)
    ).all()
    name = tenant.organization.name
    assert admin.get(page_of(webhook)).text.count(f"· {name}</span>") == 1
    for delivery, count in ((of_organization, 1), (of_portal, 0)):
        page = admin.get(f"{page_of(webhook)}/deliveries/{delivery.id}").text
        assert page.count(name) == count


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.OWNER, Role.STANDARD])
def test_other_roles_do_not_find_webhooks_for_the_whole_portal(
    app: Flask, session: Session, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    page = page_of(make_for_portal(app, session, tenant))
    is_member = role in (Role.OWNER, Role.STANDARD)
    tenant.user.is_owner = role is Role.OWNER
    session.commit()
    visitor = signed_in(tenant.user if is_member else tenant.staff[role])
    for path in (LIST, f"{LIST}/new", page, f"{page}/edit", "/lists/webhooks/export.csv"):
        assert visitor.get(path).status_code == 404
    for path in (f"{LIST}/new", f"{page}/remove", f"{page}/test"):
        assert visitor.post(path, WHOLE, page="/account").status_code == 404
    assert URL not in visitor.get("/search?q=all.example").text
    assert len(session.scalars(select(Webhook)).all()) == 1


def test_a_webhook_for_the_whole_portal_of_another_partner_is_not_found(
    app: Flask, session: Session, other_tenant: Tenant, admin: Browser
) -> None:
    theirs = make_for_portal(app, session, other_tenant)
    assert URL not in admin.get(f"{LIST}?organization=portal").text
    for path in (page_of(theirs), f"{page_of(theirs)}/edit", f"{page_of(theirs)}/remove"):
        assert admin.get(path).status_code == 404
    assert admin.post(f"{page_of(theirs)}/remove", page=f"{LIST}/new").status_code == 404
    assert session.scalars(select(Webhook.id)).all() == [theirs.id]
