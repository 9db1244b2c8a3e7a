"""The page with the DNS records that a partner sets."""

import re
from collections.abc import Callable, Iterator
from html import unescape

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import DomainPurpose, Role
from app.gateways.dns_lookups import DnsResolver
from app.jobs.check_domain import check
from app.models import PartnerDomain, User
from app.services import domains, partners
from tests.fixtures.dns_server import DnsServer
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser, user_of

PAGE = "/settings/domain"
SPF = "spf.platform.example"


@pytest.fixture
def dns() -> Iterator[DnsServer]:
    with DnsServer().open() as opened:
        yield opened


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    return make_app(mail_spf_include=SPF, public_url="http://host.platform.example")


def page_text(admin: Browser, path: str = PAGE) -> str:
    """Return the page without the places where long names may break."""
    return " ".join(unescape(admin.get(path).text.replace("<wbr>", "")).split())


def work_off(app: Flask, dns: DnsServer, tenant: Tenant) -> None:
    """Do what the worker does with the checks."""
    settings = app.extensions["settings"].model_copy(update={"dns_servers": dns.setting})
    for purpose in DomainPurpose:
        check(app.extensions["database"], settings, tenant.partner.id, purpose)


def records(
    session: Session, tenant: Tenant, purpose: DomainPurpose
) -> list[domains.RequiredRecord]:
    session.expire_all()
    domain = session.get_one(PartnerDomain, (tenant.partner.id, purpose))
    return domains.records_of(domain, "host.platform.example", SPF)


def test_the_page_shows_each_record_with_its_state(
    admin: Browser, tenant: Tenant, app: Flask, dns: DnsServer, session: Session
) -> None:
    ownership, address = records(session, tenant, DomainPurpose.PORTAL)
    page = page_text(admin)
    assert ">_portal-challenge.northwind.example</code>" in page
    assert f">{ownership.value}</code>" in page
    assert ">host.platform.example</code>" in page
    assert page.count("Not checked yet") == 2
    assert "Checking the records…" in page
    dns.set_all([address])
    work_off(app, dns, tenant)
    page = page_text(admin)
    assert [page.count(f'">{word}</span>') for word in ("Found", "Missing")] == [1, 1]
    assert "Add this record at your DNS provider." in page
    assert "<li>Sign in to the DNS provider of northwind.example" in page
    assert "The next one is within an hour." in page
    assert "Not verified yet" in page
    assert '<button class="btn btn-primary" data-busy="Checking…">Check now</button>' in page
    dns.set_all([ownership])
    admin.post(f"{PAGE}/check", page=PAGE)
    assert "Checking the records…" in page_text(admin)
    work_off(app, dns, tenant)
    page = page_text(admin)
    assert "<dd>https://northwind.example</dd>" in page
    assert "Check now" in page
    assert "Sign in to the DNS provider" not in page
    assert "The next one is within a day." in page


def test_a_domain_that_the_operator_verified_needs_no_records_and_shows_them(
    admin: Browser, tenant: Tenant, app: Flask, dns: DnsServer, session: Session
) -> None:
    partners.verify_domain(session, OPERATOR, tenant.partner.id)
    session.commit()
    work_off(app, dns, tenant)
    page = page_text(admin)
    assert re.search(r'<strong dir="auto">northwind.example</strong>\s*<span[^>]*>Verified<', page)
    assert "<dd>https://northwind.example</dd>" in page
    assert "<strong>Nothing to do.</strong>" in page
    assert '<button class="btn" data-busy="Checking…">Check now</button>' in page
    assert "With these records the portal checks it itself." in page
    assert [page.count(word) for word in (">Missing<", ">Not needed<")] == [0, 2]
    assert ">_portal-challenge.northwind.example</code>" in page


@pytest.mark.parametrize(
    ("host", "kind"),
    [("host.platform.example", "CNAME"), ("192.0.2.1", "A"), ("2001:db8::1", "AAAA")],
)
def test_a_domain_leads_to_a_name_or_to_an_address(
    session: Session, tenant: Tenant, dns: DnsServer, host: str, kind: str
) -> None:
    domain = session.get_one(PartnerDomain, (tenant.partner.id, DomainPurpose.PORTAL))
    wanted = domains.records_of(domain, host, SPF)[1]
    assert (wanted.type, wanted.name, wanted.value) == (kind, "northwind.example", host)
    dns.set_all([wanted])
    resolver = DnsResolver([("127.0.0.1", dns.port)])
    assert [found.status for found in domains.examine([wanted], resolver)] == ["seen"]


def test_only_the_hint_of_a_cname_mentions_it(
    make_app: Callable[..., Flask], tenant: Tenant
) -> None:
    app = make_app(public_url="http://192.0.2.1:8000")
    admin = Browser(app.test_client())
    admin.sign_in(tenant.staff[Role.PARTNER_ADMIN].email)
    page = page_text(admin)
    assert ">192.0.2.1</code>" in page
    assert "CNAME" not in page


def test_a_local_installation_says_that_records_are_not_checked(
    make_app: Callable[..., Flask], tenant: Tenant
) -> None:
    admin = Browser(make_app(public_url="http://127.0.0.1:8000").test_client())
    admin.sign_in(tenant.staff[Role.PARTNER_ADMIN].email)
    page = page_text(admin)
    assert "Nothing to do yet: this installation runs at 127.0.0.1" in page
    assert page.count("Not checked here") == 1
    assert re.findall(r">(_portal-[^<]*|127[^<]*)</code>", page) == [
        "_portal-challenge.northwind.example"
    ]
    for words in ("Check now", "Not verified yet", "Checking the records", "every 2s", "warning"):
        assert words not in page.partition("<main")[2]


def test_an_installation_without_senders_says_what_emails_come_from(
    make_app: Callable[..., Flask], tenant: Tenant
) -> None:
    app = make_app(public_url="http://host.platform.example")
    admin = Browser(app.test_client())
    admin.sign_in(tenant.staff[Role.PARTNER_ADMIN].email)
    page = page_text(admin)
    assert "<dd>Northwind <no-reply@host.platform.example></dd>" in page
    assert "To send from your own domain, ask your platform provider" in page


def test_the_part_that_refreshes_itself_stops_when_the_check_is_done(
    admin: Browser, tenant: Tenant, app: Flask, dns: DnsServer
) -> None:
    assert "hx-get" in page_text(admin, f"{PAGE}/records")
    work_off(app, dns, tenant)
    assert "hx-get" not in page_text(admin, f"{PAGE}/records")


def test_a_sender_is_chosen_in_the_settings_and_shown_with_its_records(
    admin: Browser, tenant: Tenant, app: Flask, dns: DnsServer, session: Session
) -> None:
    assert save_sender(admin, "no-reply@northwind.example") == 303
    page = page_text(admin)
    assert "until all records are found" in page.lower()
    assert f"v=spf1 include:{SPF} ~all" in page
    assert "portal._domainkey.northwind.example" in page
    dns.set_all(records(session, tenant, DomainPurpose.MAIL))
    work_off(app, dns, tenant)
    assert "<dd>Northwind <no-reply@northwind.example></dd>" in page_text(admin)
    assert save_sender(admin, "") == 303
    page = page_text(admin)
    assert "<dd>Northwind <no-reply@host.platform.example></dd>" in page
    assert f"The SPF record includes {SPF}" in page


@pytest.mark.parametrize("typed", ["northwind.example", "a@localhost", "ünal@northwind.example"])
def test_an_invalid_email_is_refused(admin: Browser, typed: str) -> None:
    assert save_sender(admin, typed) == 422


def save_sender(admin: Browser, email: str) -> int:
    """Save the settings as they are, with this sender."""
    page = admin.get("/settings").text
    values = dict(re.findall(r'name="(\w+)"[^>]*? value="([^"]*)"', page))
    kept = {name: unescape(value) for name, value in values.items() if name != "csrf_token"}
    return admin.post("/settings", kept | {"sender_email": email}, page="/settings").status_code


def test_a_partner_without_a_domain_is_sent_to_the_settings(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.domain = tenant.partner.domain_key = None
    session.delete(session.get_one(PartnerDomain, (tenant.partner.id, DomainPurpose.PORTAL)))
    session.commit()
    page = page_text(admin)
    sign_in = '<span class="nowrap">sign-in</span>'
    assert f"<dd>http://host.platform.example/p/{tenant.partner.slug}/{sign_in}</dd>" in page
    assert "You have no domain of your own. To use one:" in page
    assert "leads it to host.platform.example" in page
    assert '<a class="btn btn-sm" href="/settings#domain">Add domain</a>' in page
    assert admin.post(f"{PAGE}/check", page="/settings").status_code == 404


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD])
def test_only_a_partner_admin_finds_the_page(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser], role: Role
) -> None:
    asked = session.scalars(select(PartnerDomain.asked_at)).all()
    browser = signed_in(user_of(tenant, role))
    found = [
        browser.get(PAGE),
        browser.get(f"{PAGE}/records"),
        browser.post(f"{PAGE}/check", page="/"),
    ]
    assert [answer.status_code for answer in found] == [404, 404, 404]
    assert session.scalars(select(PartnerDomain.asked_at)).all() == asked
