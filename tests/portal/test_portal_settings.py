"""Settings of the portal: what of a partner isn't a part of its brand."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import User
from app.services import partners
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser, in_conflict, user_of
from tests.portal.page_text import error_at, version_in

SignedIn = Callable[[User], Browser]
CURRENT_PLACE = re.compile(r'<a class="sidebar-row" href="([^"]+)" aria-current="page">')

PAGE = "/settings"
FORM = {
    "partner_name": "Northwind Ltd",
    "partner_type": "reseller",
    "domain": "portal.northwind.example",
    "email_domain": "northwind.example",
    "support_email": "help@northwind.example",
    "notification_email": "",
    "tracking_email": "",
    "billing_email": "billing@northwind.example",
    "collection_email": "",
    "payment_method_id": "pm_1",
    "default_service": "reception",
    "default_assistant_limit": "3",
    "purchase_link": "https://northwind.example/plans",
    "partner_redirect_link": "",
    "allowed_query_params": "utm_source\n\n utm_medium ",
}
SAVED = {
    "partnerName": "Northwind Ltd",
    "partnerType": "reseller",
    "domain": "portal.northwind.example",
    "emailDomain": "northwind.example",
    "supportEmail": "help@northwind.example",
    "notificationEmail": None,
    "trackingEmail": None,
    "billingEmail": "billing@northwind.example",
    "collectionEmail": None,
    "paymentMethodId": "pm_1",
    "defaultService": "reception",
    "defaultAgentLimit": 3,
    "purchaseLink": "https://northwind.example/plans",
    "partnerRedirectLink": None,
    "allowedQueryParams": {"utm_source": True, "utm_medium": True},
}


def stored(session: Session, tenant: Tenant) -> dict[str, Any]:
    session.expire_all()
    partner = partners.get(session, OPERATOR, tenant.partner.id)
    resource = partners.to_resource(partner, OPERATOR).model_dump(mode="json", by_alias=True)
    return {name: resource[name] for name in SAVED}


def test_each_field_is_saved(admin: Browser, tenant: Tenant, session: Session) -> None:
    answer = admin.post(PAGE, FORM, page=PAGE)
    assert (answer.status_code, answer.location) == (303, "/settings?saved=1")
    assert stored(session, tenant) == SAVED
    assert "Settings saved" in admin.get(answer.location).text


def test_sending_the_shown_values_back_changes_nothing(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.allowed_query_params = {"ref": {"max": 3}, "utm_source": False}
    session.commit()
    before, number = stored(session, tenant), tenant.partner.version
    shown = admin.get(PAGE).text
    found = dict(re.findall(r'<input[^>]* id="(\w+)"[^>]* value="([^"]*)"', shown))
    typed = {name: found.get(name, "") for name in FORM} | {
        "allowed_query_params": "ref\r\nutm_source"
    }
    admin.post(PAGE, typed, page=PAGE)
    assert stored(session, tenant) == before
    assert tenant.partner.version == number


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("partner_name", " ", "Enter a name."),
        ("support_email", "nobody", "Enter an email like"),
        ("purchase_link", "javascript:alert(1)", "web address"),
        ("default_assistant_limit", "many", "whole number"),
        ("default_assistant_limit", "", "whole number"),
        ("default_assistant_limit", "99999999999", "or less"),
        ("default_assistant_limit", "9" * 5000, "whole number"),
    ],
)
def test_a_wrong_value_is_refused_at_its_field_and_nothing_is_saved(
    admin: Browser, tenant: Tenant, session: Session, field: str, value: str, words: str
) -> None:
    before = stored(session, tenant)
    answer = admin.post(f"{PAGE}?saved=1", {**FORM, field: value}, page=PAGE)
    assert answer.status_code == 422
    assert "Settings saved" not in answer.text
    assert "Not saved. Fix the marked fields first." in answer.text
    error = error_at(field, answer.text)
    assert words in error
    assert f'href="#{field}"' in answer.text
    assert 'value="help@northwind.example"' in answer.text or field == "support_email"
    assert stored(session, tenant) == before


def test_the_navigation_leads_to_every_part_and_to_further_settings(admin: Browser) -> None:
    html = admin.get(PAGE).text
    navigation = html.partition('aria-label="Settings"')[2].partition("</nav>")[0]
    links = re.findall(r'<a href="([^"]+)"', navigation)
    parts = [link for link in links if link.startswith("#")]
    assert parts == [f"#{name}" for name in re.findall(r'class="group" id="([^"]+)"', html)]
    pages = [link for link in links if link not in parts]
    assert len(pages) == 11
    assert [admin.get(page).status_code for page in pages] == [200] * len(pages)


def test_the_second_window_to_save_sees_both_versions(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    seen = version_in(admin.get(PAGE).text)
    admin.post(PAGE, {**FORM, "version": seen}, page=PAGE)
    answer = admin.post(PAGE, {**FORM, "version": seen, "partner_name": "Southwind"}, page=PAGE)
    assert answer.status_code == 409
    assert "You changed this in another window, on" in answer.text
    assert in_conflict(answer.text)["Company name"] == ("Northwind Ltd", "Southwind")
    assert stored(session, tenant) == SAVED
    again = {**FORM, "version": version_in(answer.text), "partner_name": "Southwind"}
    assert admin.post(PAGE, again, page=PAGE).status_code == 303
    assert stored(session, tenant) == {**SAVED, "partnerName": "Southwind"}


def test_a_domain_says_what_its_verification_needs(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    page = admin.get(PAGE).text
    assert "Not verified yet" in page
    assert 'href="/settings/domain">Set its DNS records</a>' in page
    partners.verify_domain(session, OPERATOR, tenant.partner.id)
    session.commit()
    assert "Not verified yet" not in admin.get(PAGE).text


def test_a_verified_domain_changes_only_after_its_consequences_are_confirmed(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    partners.verify_domain(session, OPERATOR, tenant.partner.id)
    session.commit()
    answer = admin.post(PAGE, FORM, page=PAGE)
    assert answer.status_code == 422
    neutral = f"http://localhost/p/{tenant.partner.slug}/sign-in"
    asked = answer.text.partition('class="consequences"')[2].partition("</ul>")[0]
    assert re.findall(r"<li>([^<]+)</li>", asked) == [
        (
            "northwind.example stops working for your customers immediately. They are signed out "
            "there."
        ),
        "Links in emails that you have already sent stop working.",
        f"Until the new domain is verified, customers use {neutral}.",
    ]
    assert '<a href="/settings" aria-current="page">General</a>' in answer.text
    assert stored(session, tenant)["domain"] == "northwind.example"
    assert tenant.partner.domain_verified_at is not None
    assert admin.post(PAGE, {**FORM, "confirm_domain": "y"}, page=PAGE).status_code == 303
    assert stored(session, tenant) == SAVED


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD])
def test_only_a_partner_admin_finds_the_settings(
    tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    person = user_of(tenant, role)
    browser = signed_in(person)
    assert browser.get(PAGE).status_code == 404
    assert browser.post(PAGE, FORM, page="/").status_code == 404
    assert f'href="{PAGE}"' not in browser.get("/").text


@pytest.mark.parametrize(
    ("address", "leads_to"),
    [
        ("?utm_source=fair&secret=x", "/?utm_source=fair"),
        ("?next=/users%3Fq%3Dada&utm_source=a%26b", "/users?q=ada&utm_source=a%26b"),
        ("?next=//evil.example&utm_source=fair", "/?utm_source=fair"),
        ("?secret=x", "/"),
    ],
)
def test_url_parameters_kept_after_sign_in_stay_in_the_address(
    browser: Browser, tenant: Tenant, session: Session, address: str, leads_to: str
) -> None:
    tenant.partner.allowed_query_params = {"utm_source": True, "next": True}
    session.commit()
    path = f"/p/{tenant.partner.slug}/sign-in{address}"
    assert browser.sign_in(tenant.user.email, path=path).location == leads_to


@pytest.mark.parametrize(
    ("path", "place"),
    [
        *((f"/settings/{page}", "/settings") for page in ("sign-in", "directory", "domain")),
        *((f"/settings/{page}", "/settings") for page in ("personal-data", "company-accounts")),
        *((f"/settings/{page}", "/settings") for page in ("groups", "directory/tokens/new")),
        *(
            (path, "/settings")
            for path in ("/carriers/accounts", "/carriers/accounts/trunk", "/storage")
        ),
    ],
)
def test_a_subpage_marks_its_place_in_the_sidebar(
    tenant: Tenant, signed_in: SignedIn, path: str, place: str
) -> None:
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(path)
    assert (page.status_code, CURRENT_PLACE.findall(page.text)) == (200, [place])


@pytest.mark.parametrize(
    "path",
    [
        *(f"/settings/{page}" for page in ("domain", "sign-in", "personal-data", "destinations")),
        *(f"/settings/{page}" for page in ("spending", "company-accounts", "directory", "groups")),
        *("/storage", "/carriers/accounts"),
    ],
)
def test_the_pages_of_the_settings_are_tabs(admin: Browser, path: str) -> None:
    page = admin.get(path).text
    beside = page.partition('<nav class="sections')[2].partition("</nav>")[0]
    assert re.findall(r'href="([^"]+)" aria-current="page"', beside) == [path]
    assert {"/settings", "/settings/domain"} <= set(re.findall(r'href="([^"]+)"', beside))
    crumbs = page.partition('<nav class="breadcrumbs"')[2].partition("</nav>")[0]
    assert re.findall(r'href="([^"]+)"', crumbs) == ["/settings"]


def test_the_settings_are_in_groups(admin: Browser) -> None:
    page = admin.get("/settings/domain").text
    beside = page.partition('<nav class="sections')[2].partition("</nav>")[0]
    groups = [
        (group.partition("</p>")[0], re.findall(r"<li><a[^>]*>([^<]+)</a>", group))
        for group in re.split(r'<p class="sections-head"[^>]*>', beside)[1:]
    ]
    assert groups == [
        ("Company", ["General", "Domain and email", "Organization groups"]),
        ("Calling", ["Carrier accounts", "Call destinations", "Spending"]),
        ("Security", ["Sign-in", "Company accounts", "Directory"]),
        ("Data", ["Personal data", "Storage"]),
    ]
    assert re.findall(r"</span>(.+) <svg", beside) == ["Domain and email"]


def test_members_see_their_storage_without_the_settings_of_the_partner(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    page = signed_in(tenant.user).get("/storage").text
    crumbs = page.partition('<nav class="breadcrumbs"')[2].partition("</nav>")[0]
    assert '<nav class="sections' not in page
    assert re.findall(r'href="([^"]+)"', crumbs) == ["/uploads"]


def test_the_parts_of_the_settings_are_links_below_the_menu(admin: Browser) -> None:
    links = admin.get("/settings").text.partition("sections-here")[2].partition("</ul>")[0]
    assert re.findall(r'href="#([^"]+)"', links) == [
        *("company", "addresses", "email", "billing", "new-customers", "links"),
    ]
