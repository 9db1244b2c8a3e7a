"""An archived organization takes nothing new until it is restored."""

import re
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import (
    ContactAction,
    ImportStatus,
    OrganizationStatus,
    Role,
    SubscriptionStatus,
    Tier,
    UserStatus,
)
from app.models import AlertRule, Campaign, ContactImport, Subscription, utcnow
from app.services import assistants, contacts, do_not_call, organizations
from app.services.organizations import OrganizationFilter
from tests.fixtures.tenants import OPERATOR, Tenant, converse
from tests.portal.conftest import Browser
from tests.portal.uploader import Uploader, words

REFUSED = "The organization is archived. Restore it first."
FILE = "First name,Phone\nAda,+12025550101\n"


def test_contacts_of_an_archived_organization_can_not_be_uploaded_applied_or_added(
    session: Session, tenant: Tenant, admin: Browser, uploader: Uploader
) -> None:
    checked = uploader.upload(FILE)
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    contact = f"/campaigns/{uploader.campaign_id}/contacts/new"
    answers = (
        uploader.send(FILE, "more.csv"),
        uploader.press(checked, "apply"),
        admin.post(contact, {"first_name": "Bob", "phone": "+12025550102"}, page=contact),
    )
    for answer in answers:
        assert answer.status_code == 409
        assert REFUSED in words(answer)
    assert session.query(ContactImport).count() == 1
    assert uploader.now(checked).status is ImportStatus.CHECKED
    assert session.get_one(Campaign, uploader.campaign_id).contact_count == 0
    organizations.restore(session, OPERATOR, tenant.organization.id)
    session.commit()
    assert uploader.press(checked, "apply").status_code == 303


def test_the_do_not_call_list_of_an_archived_organization_can_still_be_changed(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    page = f"/organizations/{tenant.organization.id}/do-not-call"
    assert admin.post(f"{page}/add", {"numbers": "+12025550101"}, page=page).status_code == 303
    assert do_not_call.is_listed(session, tenant.organization.id, "+12025550101")


def test_no_count_includes_an_archived_organization(
    session: Session, tenant: Tenant, admin: Browser, operator: Browser
) -> None:
    converse(session, tenant.plus, utcnow().date(), 7)
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    of_partner = f"/operator/partners/{tenant.partner.id}"
    counts: dict[Browser, dict[str, tuple[str, ...]]] = {
        admin: {"/": ("All 1", "Free 0"), "/report": ("Organizations 1",)},
        operator: {"/": ("Active 1",), of_partner: ("Organizations 1",)},
    }
    for browser, shown in counts.items():
        for page, expected in shown.items():
            answer = browser.get(page)
            assert [each for each in expected if each not in words(answer)] == [], page
            assert "status=any" not in answer.text, page


def test_assistants_of_an_archived_organization_do_not_wait_to_be_set_up(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    name = tenant.organization.name
    before = words(admin.get("/assistants?readiness=not-ready"))
    assert (name in before, f"{name}:" in words(admin.get("/"))) == (True, True)
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    assert name not in words(admin.get("/assistants?readiness=not-ready"))
    assert f"{name}:" not in words(admin.get("/"))
    of_it = words(admin.get(f"/assistants?organization={tenant.organization.id}"))
    assert "Organization archived" in of_it
    assert f"{name} is archived" not in of_it
    assert name not in words(admin.get("/test-call"))


def test_lists_say_that_an_organization_is_archived(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    tenant.user.status = UserStatus.INVITED
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    for page in ("/do-not-call", "/users", f"/users/{tenant.user.id}"):
        answer = admin.get(page)
        assert "Organization archived</span>" in answer.text, page
        assert not re.search(rf"actions/resend\?|{tenant.user.id}/resend", answer.text), page


NEW: dict[str, dict[str, Any]] = {
    "/campaigns/new": {"name": "Spring", "who": "all"},
    "/assistants/new": {"name": "Robin"},
    "/api-access/keys/new": {"name": "CRM", "kind": "test", "scopes": ["calls:create"]},
    "/api-access/webhooks/new": {"url": "https://x.example/hook", "events": ["call.completed"]},
    "/users/invite": {"email": "new@x.example", "role": "standard"},
}
"""The forms of what belongs to an organization."""


@pytest.mark.parametrize("form", NEW)
def test_forms_say_at_the_organization_that_it_is_archived(
    session: Session, tenant: Tenant, admin: Browser, form: str
) -> None:
    name = tenant.organization.name
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    suggested = re.search(r"<datalist.*?</datalist>", admin.get(form).text, re.DOTALL)
    assert suggested is not None
    assert tenant.plus.name in suggested[0]
    assert name not in suggested[0]
    of_url = f"{form}?organization={tenant.organization.id}"
    for path in (form, of_url):
        answer = admin.post(path, NEW[form] | {"organization": name}, page=form)
        at_field = re.search(r'id="organization-error"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
        assert answer.status_code == 422
        assert at_field is not None
        assert at_field is not None
        assert REFUSED in at_field[1]


def test_forms_for_an_archived_organization_do_not_open(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    for form in ("campaigns", "assistants", "api-access/keys", "api-access/webhooks"):
        answer = admin.get(f"/{form}/new?organization={tenant.organization.id}")
        assert answer.status_code == 409, form
        assert REFUSED in words(answer), form
        assert f'href="/organizations/{tenant.organization.id}"' in answer.text, form


def test_alert_rules_of_an_archived_organization_can_be_changed_but_not_added(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    name, page = tenant.organization.name, "/alerts/rules/new?measure=failed-calls"
    form = {"scope": "organization", "organization": name, "threshold": "3", "period": "7-days"}
    assert admin.post(page, form, page=page).status_code == 303
    rule = session.scalars(select(AlertRule)).one()
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    held = f"/alerts/rules/{rule.id}"
    assert admin.post(held, form | {"threshold": "4", "version": "1"}, page=held).status_code == 303
    session.refresh(rule)
    assert (rule.organization_id, rule.threshold) == (tenant.organization.id, 4)
    answer = admin.post(page, form, page=page)
    at_field = re.search(r'id="organization-error"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
    assert answer.status_code == 422
    assert at_field is not None
    assert at_field is not None
    assert REFUSED in at_field[1]


OFFERS = (
    "Upload contacts",
    "Add contact",
    "Create campaign",
    "Create plan",
    "Start campaign",
    "Add assistant",
    "Create key",
    "Add webhook",
    "Invite user",
    "Invite several",
    "Resend invitation",
    "Raise user limit",
    "Upload another file",
    "Apply 1 row",
)


def offered_actions(answer: Any) -> list[str]:
    """The acts that the content of a page offers."""
    content = answer.text.partition("<main")[2]
    links = re.findall(r"<(?:a|button)\b.*?</(?:a|button)>", content, re.DOTALL)
    shown = {" ".join(re.sub(r"<[^>]+>", " ", each).split()).rstrip("…") for each in links}
    return [each for each in OFFERS if each in shown]


def test_pages_of_an_archived_organization_offer_nothing_that_is_refused(
    session: Session, tenant: Tenant, admin: Browser, uploader: Uploader
) -> None:
    campaign = session.get_one(Campaign, uploader.campaign_id)
    checked = uploader.upload(FILE)
    ada = [{"firstName": "Ada", "phone": "+12025550109"}]
    contacts.apply(session, campaign, ada, ContactAction.UPSERT)
    caller = tenant.caller(Role.PARTNER_ADMIN)
    assistant = assistants.of_organization(session, caller, tenant.organization.id)[0]
    session.commit()
    base, of_it = (
        f"/organizations/{tenant.organization.id}",
        f"?organization={tenant.organization.id}",
    )
    pages = (
        base,
        f"{base}/users",
        f"{base}/assistants",
        f"{base}/campaigns",
        f"{base}/usage",
        f"{base}/settings",
        f"/campaigns{of_it}",
        f"/assistants{of_it}",
        f"/assistants/{assistant.id}",
        f"/api-access{of_it}",
        f"/api-access/webhooks{of_it}",
        f"/campaigns/{campaign.id}",
        f"/campaigns/{campaign.id}/outreach",
        f"/campaigns/{campaign.id}/uploads",
        f"/campaigns/{campaign.id}/settings",
        checked,
    )
    before = {offer for page in pages for offer in offered_actions(admin.get(page))}
    usual = {"Add contact", "Create campaign", "Create plan", "Create key", "Apply 1 row"}
    assert before >= usual | {"Upload contacts", "Invite several", "Add webhook", "Add assistant"}
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    assert {page: found for page in pages if (found := offered_actions(admin.get(page)))} == {}
    of_campaign = words(admin.get(f"/campaigns/{campaign.id}"))
    assert f"{tenant.organization.name} is archived." in of_campaign
    assert REFUSED in words(admin.get(checked))
    assert "Winter recall" not in words(admin.get("/uploads/new"))


def test_pages_of_an_archived_organization_still_offer_what_is_allowed(
    session: Session, tenant: Tenant, admin: Browser, uploader: Uploader
) -> None:
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    base = f"/organizations/{tenant.organization.id}"
    shown = {
        base: ("Edit", "Restore"),
        f"{base}/settings": ("Save settings",),
        f"{base}/do-not-call": ("Add numbers",),
        f"/campaigns/{uploader.campaign_id}/settings": ("Save campaign", "Archive…"),
    }
    for page, acts in shown.items():
        answer = words(admin.get(page))
        assert [act for act in acts if act not in answer] == [], page
    assert (
        organizations.search(
            session, OPERATOR, OrganizationFilter(query=tenant.organization.name)
        ).items
        == []
    )


def test_an_archived_organization_says_what_happens_with_its_data(
    session: Session, tenant: Tenant, admin: Browser, uploader: Uploader
) -> None:
    campaign = session.get_one(Campaign, uploader.campaign_id)
    ada = [{"firstName": "Ada", "lastName": "Byron", "phone": "+12025550109"}]
    contacts.apply(session, campaign, ada, ContactAction.UPSERT)
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    page = admin.get(f"/organizations/{tenant.organization.id}")
    assert "are deleted when their retention periods end." in words(page)
    link = re.search(r'href="([^"]+)">find their data<', page.text)
    assert link is not None
    assert "Ada Byron" in words(admin.get(f"{link[1]}?q=%2B12025550109"))


def test_an_archived_organization_is_restored_from_the_menu_of_its_row(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    organization = tenant.organization
    organizations.archive(session, OPERATOR, organization.id)
    session.commit()
    page = admin.get("/organizations?status=archived").text
    button = re.search(r'<button class="menu-row" form="([^"]+)">Restore</button>', page)
    assert button is not None
    form = re.search(rf'<form id="{button[1]}" method="post"\s+action="([^"]+)"', page)
    assert form is not None
    admin.post(form[1], page="/organizations?status=archived")
    session.refresh(organization)
    assert organization.status is OrganizationStatus.ACTIVE
    assert 'form="restore-' not in admin.get("/organizations").text


def test_archiving_and_suspending_say_that_a_subscription_goes_on(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    sentence = "Its subscription goes on. Cancel it in Stripe if the customer should stop paying."
    paths = [f"/organizations/{tenant.organization.id}/{act}" for act in ("archive", "suspend")]
    assert [sentence in words(admin.get(path)) for path in paths] == [False, False]
    subscription = Subscription(
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        reference="sub_1",
        customer="cus_1",
        tier=Tier.BASIC,
        status=SubscriptionStatus.ACTIVE,
        seen_at=utcnow(),
    )
    session.add(subscription)
    session.commit()
    assert [sentence in words(admin.get(path)) for path in paths] == [True, True]
    subscription.ends_at = utcnow()
    session.commit()
    assert [sentence in words(admin.get(path)) for path in paths] == [False, False]
