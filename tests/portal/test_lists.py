"""Every list as it is declared: sort orders, filters, columns, files and saved views."""

import csv
import io
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from flask import Flask
from openpyxl import load_workbook
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import SavedView, User
from app.portal.record_lists.registry import LISTS
from app.services import campaigns
from tests.fixtures.cast import Tenant, make_user
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
PAGES = {"organizations": "/organizations", "campaigns": "/campaigns"}


@pytest.fixture
def admin(session: Session, own: Tenant, other: Tenant, signed_in: SignedIn) -> Browser:
    """An administrator of a partner with two pages of some records, beside another partner."""
    for number in range(26):
        make_user(session, own.partner.id, f"u{number}@x.example", businessName=f"B{number:02d}")
    for tenant in (own, other):
        for name in ("=1+1", "Łódź", "Autumn"):
            campaigns.create(
                session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, name=name
            )
    session.commit()
    return signed_in(own.staff[Role.PARTNER_ADMIN])


def names_shown(page: str) -> list[str]:
    """The names in the rows of a page."""
    table = page[page.find("<tbody>") : page.find("</tbody>")]
    return [
        re.sub(r"\s+", " ", name).strip().replace("&#39;", "'").replace("&amp;", "&")
        for name in re.findall(r'<a class="name"[^>]*>(.*?)</a>', table, re.DOTALL)
    ]


def names_on_all_pages(browser: Browser, path: str) -> list[str]:
    found: list[str] = []
    url: str | None = path
    while url:
        page = browser.get(url).text
        found += names_shown(page)
        following = re.search(r'href="([^"]+)" rel="next"', page)
        url = following.group(1).replace("&amp;", "&") if following else None
    return found


def csv_rows(browser: Browser, path: str) -> list[list[str]]:
    answer = browser.get(path)
    assert answer.status_code == 200
    return list(csv.reader(io.StringIO(answer.data.decode("utf-8-sig"), newline="")))


def unguarded(name: str) -> str:
    return name.removeprefix("'")


@pytest.mark.parametrize("name", PAGES)
def test_every_list_is_tried_here(name: str) -> None:
    assert PAGES.keys() == LISTS.keys()


@pytest.mark.parametrize("name", PAGES)
def test_every_sort_order_lists_the_same_records_and_its_reverse_is_reversed(
    admin: Browser, name: str
) -> None:
    path, columns = PAGES[name], LISTS[name].columns
    usual = names_on_all_pages(admin, path)
    assert usual
    for column in columns:
        if column.sort is None:
            continue
        up = names_on_all_pages(admin, f"{path}?sort={column.sort}")
        down = names_on_all_pages(admin, f"{path}?sort=-{column.sort}")
        assert (sorted(up), up) == (sorted(usual), down[::-1])


@pytest.mark.parametrize("name", PAGES)
def test_a_file_holds_exactly_the_rows_that_each_filter_and_sort_order_shows(
    admin: Browser, name: str
) -> None:
    definition = LISTS[name]
    queries = ["", *(f"sort={sort}" for sort in definition.sorts)]
    for each in definition.filters:
        queries += [f"{each.name}={value}" for value in each.options or ["b1"]]
    for query in queries:
        shown = names_on_all_pages(admin, f"{PAGES[name]}?{query}")
        head, *rows = csv_rows(admin, f"/lists/{name}/export.csv?{query}")
        assert [unguarded(row[0]) for row in rows] == shown, query
        assert head == [c.heading or c.label for c in definition.columns if c.usual]


@pytest.mark.parametrize("name", PAGES)
def test_an_excel_file_holds_the_same_as_the_csv_file(admin: Browser, name: str) -> None:
    every = "&".join(f"column={column.name}" for column in LISTS[name].columns)
    answer = admin.get(f"/lists/{name}/export.xlsx?{every}")
    sheet = load_workbook(io.BytesIO(answer.data)).active
    assert sheet is not None
    cells = [["" if cell is None else str(cell)[:16] for cell in row] for row in sheet.values]
    lines = csv_rows(admin, f"/lists/{name}/export.csv?{every}")
    assert cells == [[unguarded(cell)[:16] for cell in row] for row in lines]


@pytest.mark.parametrize("name", PAGES)
def test_the_columns_of_the_address_are_shown_and_stay_on_the_next_pages(
    admin: Browser, name: str
) -> None:
    first, *others = LISTS[name].columns
    last = others[-1]
    page = admin.get(f"{PAGES[name]}?column={last.name}").text
    heads = re.findall(r"<th[^>]*>(.*?)</th>", page, re.DOTALL)
    words = [re.sub(r"<[^>]+>", "", re.sub(r'"[^"]*"', "", head)).strip() for head in heads]
    assert words[:2] == [first.label, last.label]
    links = re.findall(r'href="([^"]*sort=[^"]*)"', page)
    assert links
    assert {("column", last.name)} <= set(parse_qsl(urlsplit(links[0].replace("&amp;", "&")).query))


@pytest.mark.parametrize("name", PAGES)
def test_a_saved_view_opens_with_its_filters_and_can_be_changed_and_deleted(
    session: Session, admin: Browser, name: str
) -> None:
    definition, path = LISTS[name], PAGES[name]
    new = f"/lists/{name}/views/new?q=b&sort=name&unknown=1"
    answer = admin.post(new, {"name": "My view"}, page=new)
    view = session.scalars(select(SavedView)).one()
    url = f"{path}?q=b&sort=name&view={view.id}"
    assert (answer.status_code, answer.location) == (303, url)
    page = admin.get(url).text
    assert re.search(rf'view={view.id}" aria-current="page">My view', page)
    changed = admin.get(url.replace("q=b", "q=a")).text
    update = re.search(r'action="(/views/[^"]+/filters[^"]*)"', changed)
    assert update
    answer = admin.post(update.group(1).replace("&amp;", "&"), page="/account")
    assert answer.location == url.replace("q=b", "q=a")
    edit = f"/views/{view.id}"
    answer = admin.post(edit, {"name": " ", "version": "2"}, page=edit)
    assert (answer.status_code, "Enter a name." in answer.text) == (422, True)
    admin.post(edit, {"name": "Renamed", "is_default": "y", "version": "2"}, page=edit)
    assert admin.get(path).location == url.replace("q=b", "q=a")
    assert admin.get(f"{path}?view=all").status_code == 200
    answer = admin.post(f"{edit}/delete", page=f"{edit}/delete")
    assert (answer.status_code, answer.location) == (303, path)
    assert session.scalars(select(SavedView)).all() == []
    assert definition.name == name


def test_a_shared_view_is_offered_to_colleagues_only_and_changed_by_its_owner_only(
    session: Session, app: Flask, own: Tenant, other: Tenant, signed_in: SignedIn, admin: Browser
) -> None:
    for name, more in (("Shared", {"is_shared": "y"}), ("Mine", {})):
        new = "/lists/campaigns/views/new?q=autumn"
        admin.post(new, {"name": name, **more}, page=new)
    views = {view.name: view.id for view in session.scalars(select(SavedView))}
    editor = signed_in(own.staff[Role.PARTNER_EDITOR])
    stranger = signed_in(other.staff[Role.PARTNER_ADMIN])
    member = signed_in(own.user)

    def offered(browser: Browser) -> list[str]:
        page = browser.get("/campaigns").text
        return [view for view in views if f"view={views[view]}" in page]

    assert {
        "owner": offered(admin),
        "colleague": offered(editor),
        "member": offered(member),
        "stranger": offered(stranger),
    } == {"owner": ["Shared", "Mine"], "colleague": ["Shared"], "member": [], "stranger": []}
    refused: dict[str, Any] = {}
    for who, browser in {"colleague": editor, "stranger": stranger, "member": member}.items():
        edit = f"/views/{views['Shared']}"
        refused[who] = (
            browser.get(edit).status_code,
            browser.post(f"{edit}/delete", page="/account").status_code,
        )
    assert refused == dict.fromkeys(("colleague", "stranger", "member"), (404, 404))


def test_a_list_that_a_user_may_not_open_has_no_files_and_no_views(
    own: Tenant, signed_in: SignedIn, admin: Browser
) -> None:
    member = signed_in(own.user)
    paths = ("export.csv", "export.xlsx", "views/new")
    for name in ("organizations", "unknown"):
        assert [member.get(f"/lists/{name}/{path}").status_code for path in paths] == [404] * 3
