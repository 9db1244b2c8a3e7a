"""The list of organizations on the usage screen: columns, filters, files, saved views, tenancy."""

import io
import re
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from openpyxl import load_workbook
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app import extensions
from app.enums import OrganizationStatus, Role
from app.models import ListExport, Mail, MailKind, Organization, PartnerTier, SavedView, User
from app.portal.usage.listing import USAGE
from app.services import rollup
from tests.fixtures.tenants import Tenant, converse, make_user, organization_of
from tests.portal.conftest import Browser
from tests.portal.page_text import rows_of
from tests.portal.test_usage import file_of, text_of

SignedIn = Callable[[User], Browser]
DAY = date(2026, 5, 4)
BEFORE = date(2026, 4, 4)
RANGE = "start=2026-05-01&end=2026-05-04"
EVERY = "&".join(f"column={column.name}" for column in USAGE.columns)
NAMES = re.compile(r'class="name" href="/usage[^"]+" dir="auto">([^<]+)')


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    """Lists of more than three rows are written by the worker."""
    return make_app(export_rows=3)


@pytest.fixture
def tenant_with_usage(session: Session, tenant: Tenant, other_tenant: Tenant) -> Tenant:
    """Dental fell, Bakery is new, and an archived organization was active before; another partner
    has more."""
    converse(session, tenant.plus, DAY, 6)
    converse(session, tenant.plus, BEFORE, 8)
    converse(session, tenant.organization, DAY, 3)
    archived = organization_of(
        session,
        make_user(session, tenant.partner.id, "a@x.example", businessName="Northwind Archive"),
    )
    converse(session, archived, BEFORE, 1)
    archived.status = OrganizationStatus.ARCHIVED
    converse(session, other_tenant.plus, DAY, 50)
    for cost, currency in (("0.0135", "USD"), ("3", "EUR")):
        rollup.add_cost(
            session,
            partner_id=tenant.partner.id,
            campaign_id=None,
            organization_id=tenant.plus.id,
            day=DAY,
            cost=Decimal(cost),
            currency=currency,
        )
    session.commit()
    return tenant


@pytest.fixture
def admin(tenant_with_usage: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant_with_usage.staff[Role.PARTNER_ADMIN])


def expected(session: Session) -> list[list[str]]:
    """Every column of the three organizations, most conversations first."""
    ids = {each.name: str(each.id) for each in session.scalars(select(Organization))}
    rows = [
        "Northwind Dental;Plus;6;3;3;66.7;;3.00 EUR, 0.0135 USD;-25.0;360;8;;Active",
        "Northwind Bakery;Free;3;2;1;33.3;;;;180;0;;Active",
        "Northwind Archive;Free;0;0;0;0.0;;;-100.0;0;1;;Archived",
    ]
    return [[*row.split(";"), ids[row.partition(";")[0]]] for row in rows]


def names_listed(browser: Browser, query: str) -> list[str]:
    return NAMES.findall(browser.get(f"/usage?{query}").text)


def test_chosen_columns_are_shown_also_in_the_total(
    tenant_with_usage: Tenant, admin: Browser
) -> None:
    names = ("organization", "seconds", "before", "status", "id")
    chosen = "&".join(f"column={name}" for name in names)
    html = admin.get(f"/usage?{RANGE}&{chosen}").text
    heads = html[html.index("table-lines") :].partition("</thead>")[0].split("<th")[3:]
    assert [re.findall(r">([A-Za-z ]+)<", head)[0] for head in heads] == [
        *("Organization", "Talk time", "Previous period", "Status", "ID"),
    ]
    page = text_of(html)
    assert f"Northwind Dental 6 min 8 Active {tenant_with_usage.plus.id}" in page
    assert "Total 9 min 9" in page


def test_csv_and_excel_hold_exactly_the_rows_columns_and_order_of_the_page(
    session: Session, admin: Browser
) -> None:
    rows = expected(session)
    by_conversations = file_of(admin, f"/lists/usage/export.csv?{RANGE}&{EVERY}")
    assert by_conversations == [
        [
            *("Organization", "Plan", "Conversations", "With a person", "With voicemail"),
            *("Share (%)", "Included this month", "Reported carrier costs", "Change (%)"),
            *("Seconds", "Conversations in the previous period", "Expected to be used up"),
            *("Status", "ID"),
        ],
        *rows,
    ]
    assert names_listed(admin, RANGE) == [row[0] for row in rows]
    query = f"{RANGE}&sort=-voicemail&status=active&q=northwind&column=share&column=change"
    page = admin.get(f"/usage?{query}").text
    found = {}
    for ending in ("csv", "xlsx"):
        link = re.search(rf'href="(/lists/usage/export\.{ending}[^"]+)"', page)
        assert link
        found[ending] = admin.get(unescape(link[1])).data
    assert rows_of(found["csv"].decode()) == [
        ["Organization", "Share (%)", "Change (%)"],
        ["Northwind Dental", "66.7", "-25.0"],
        ["Northwind Bakery", "33.3", ""],
    ]
    sheet = load_workbook(io.BytesIO(found["xlsx"])).active
    assert sheet is not None
    assert list(sheet.values)[1:] == [
        ("Northwind Dental", 66.7, -25),
        ("Northwind Bakery", 33.3, None),
    ]
    assert NAMES.findall(page) == ["Northwind Dental", "Northwind Bakery"]


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("change", ["Archive", "Dental", "Bakery"]),
        ("-change", ["Bakery", "Dental", "Archive"]),
        ("-before", ["Dental", "Archive", "Bakery"]),
        ("seconds", ["Archive", "Bakery", "Dental"]),
    ],
)
def test_the_list_is_sorted_by_what_changed_and_what_was_before(
    admin: Browser, sort: str, names: list[str]
) -> None:
    rows = [f"Northwind {name}" for name in names]
    assert names_listed(admin, f"{RANGE}&sort={sort}") == rows
    assert [row[0] for row in file_of(admin, f"/usage.csv?{RANGE}&sort={sort}")[1:]] == rows


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("tier=customerPlusPlan", ["Dental"]),
        ("tier=customerFreePlan", ["Bakery", "Archive"]),
        ("status=archived", ["Archive"]),
        ("q=bak", ["Bakery"]),
        ("q=nothing", []),
    ],
)
def test_filters_apply_to_the_file_and_the_other_organizations_are_one_row(
    admin: Browser, query: str, names: list[str]
) -> None:
    rows = [f"Northwind {name}" for name in names]
    page = admin.get(f"/usage?{RANGE}&{query}").text
    assert NAMES.findall(page) == rows
    assert "Last counted conversation: " in page
    for path in ("/lists/usage/export.csv", "/usage.csv"):
        assert [row[0] for row in file_of(admin, f"{path}?{RANGE}&{query}")[1:]] == rows
    assert ("All others" in page) is bool(rows)
    clear = re.findall(r'href="([^"]+)"(?: hx-[^<]+)?>Clear filters', page)
    assert {unescape(each) for each in clear} == {f"/usage?{RANGE}"}


def test_the_range_keeps_what_the_list_shows_and_the_list_keeps_the_range(admin: Browser) -> None:
    asked = f"{RANGE}&q=north&tier=customerFreePlan&sort=name&column=organization&column=share"
    page = admin.get(f"/usage?{asked}").text
    range_form, list_form = re.findall(r'<form class="filters.*?</form>', page, re.DOTALL)
    hidden = {
        name: re.findall(rf'type="hidden" name="{name}" value="([^"]+)"', form)
        for form, names in ((range_form, ("q", "tier", "sort")), (list_form, ("start", "end")))
        for name in names
    }
    assert hidden == {
        "q": ["north"],
        "tier": ["customerFreePlan"],
        "sort": ["name"],
        "start": ["2026-05-01"],
        "end": ["2026-05-04"],
    }
    preset = re.search(r'href="([^"]+)"[^>]*>90 days', page)
    assert preset
    kept = parse_qs(urlsplit(unescape(preset[1])).query)
    assert {name: kept[name] for name in ("q", "tier", "sort", "column")} == {
        "q": ["north"],
        "tier": ["customerFreePlan"],
        "sort": ["name"],
        "column": ["organization", "share"],
    }


def test_the_range_of_one_organization_is_changed_without_leaving_it(
    tenant_with_usage: Tenant, admin: Browser
) -> None:
    page = admin.get(f"/usage?organization={tenant_with_usage.plus.id}&{RANGE}").text
    [form] = re.findall(r'<form class="filters.*?</form>', page, re.DOTALL)
    assert f'type="hidden" name="organization" value="{tenant_with_usage.plus.id}"' in form


def test_a_saved_view_keeps_range_search_order_and_columns(
    session: Session, admin: Browser, tenant_with_usage: Tenant, signed_in: SignedIn
) -> None:
    asked = "q=north&start=2026-05-01&end=2026-05-04&sort=name&column=organization&column=share"
    new = f"/lists/usage/views/new?{asked}"
    form = {"name": "Shares in May", "is_shared": "y", "is_default": "y"}
    answer = admin.post(new, form, page=new)
    view = session.scalars(select(SavedView)).one()
    assert (view.query, answer.location) == (asked, f"/usage?{asked}&view={view.id}")
    assert admin.get("/usage").location == answer.location
    page = text_of(admin.get(answer.location).text)
    assert "1 May 2026 to 4 May 2026, UTC." in page
    assert "Share Northwind Archive Archived – Northwind Bakery 33.3 % Northwind Dental" in page
    history = text_of(admin.get("/audit").text)
    assert "1–4 May 2026" in history
    colleague = signed_in(tenant_with_usage.staff[Role.ADMIN])
    assert f"view={view.id}" in colleague.get("/usage").text


def test_a_long_list_is_written_by_the_worker_with_the_same_rows(
    app: Flask, session: Session, tenant_with_usage: Tenant, admin: Browser
) -> None:
    added = make_user(
        session, tenant_with_usage.partner.id, "z@x.example", businessName="Northwind Zinc"
    )
    row = ["Northwind Zinc", "Free", *"000", "0.0", "", "", "", "0", "0", "", "Active"]
    rows = [*expected(session)[:3], [*row, str(organization_of(session, added).id)]]
    session.commit()
    asked = f"{RANGE}&sort=name&{EVERY}"
    confirmation = admin.get(f"/lists/usage/export.csv?{asked}").location
    assert confirmation.startswith("/lists/usage/exports?format=csv&start=2026-05-01")
    assert admin.post(confirmation, page=confirmation).location == "/exports"
    with app.app_context():
        extensions.write_export(session.scalars(select(ListExport.id)).one())
    session.expire_all()
    export = session.scalars(select(ListExport)).one()
    file = rows_of(admin.get(f"/exports/{export.id}/file").text)
    assert file[1:] == sorted(rows)
    assert "Usage of organizations CSV Ready" in text_of(admin.get("/exports").text)
    mail = session.scalars(select(Mail).where(Mail.kind == MailKind.EXPORT_FINISHED.value)).one()
    assert mail.details["list"] == "usage"


def test_very_many_organizations_are_listed_newest_first_also_in_the_file(
    session: Session, tenant_with_usage: Tenant, admin: Browser
) -> None:
    session.execute(update(PartnerTier).values(organizations=2001))
    newest = session.scalars(
        select(Organization)
        .where(Organization.partner_id == tenant_with_usage.partner.id)
        .order_by(Organization.created_at.desc(), Organization.id.desc())
    )
    rows = [each.name for each in newest]
    session.commit()
    page = admin.get(f"/usage?{RANGE}&sort=name").text
    assert NAMES.findall(page) == rows
    table = page[page.index("table-lines") :]
    assert "sort=" not in table[: table.index("<tbody>")]
    file = file_of(admin, f"/lists/usage/export.csv?{RANGE}&sort=name&column=before")
    assert [row[0] for row in file[1:]] == rows
    assert {row[0]: row[1] for row in file[1:]}["Northwind Archive"] == "1"


def test_only_staff_of_the_partner_have_the_list(
    tenant_with_usage: Tenant, other_tenant: Tenant, operator: Browser, signed_in: SignedIn
) -> None:
    paths = ("/lists/usage/export.csv", "/lists/usage/export.xlsx", "/lists/usage/views/new")
    for browser in (signed_in(tenant_with_usage.user), operator):
        assert [browser.get(path).status_code for path in paths] == [404] * 3
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    asked = f"{RANGE}&status=archived&q=northwind"
    assert file_of(stranger, f"/lists/usage/export.csv?{asked}")[1:] == []
    assert {row[0] for row in file_of(stranger, f"/usage.csv?{RANGE}")[1:]} == {
        other_tenant.plus.name,
        other_tenant.organization.name,
    }
    assert not re.search("Northwind", stranger.get(f"/usage?{RANGE}").text)


def test_an_impossible_range_has_no_file(admin: Browser) -> None:
    until = DAY - timedelta(days=400)
    for path in ("/lists/usage/export.csv", "/usage.csv"):
        answer = admin.get(f"{path}?start={DAY}&end={until}")
        assert answer.status_code == 400
        assert "The last day is before the first day. Swap them." in answer.text
