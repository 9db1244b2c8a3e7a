"""Every list as it is declared: sort orders, filters, columns, files and saved views."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from itertools import groupby
from typing import cast
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

import pytest
from babel.support import LazyProxy
from flask import Flask
from openpyxl import load_workbook
from sqlalchemy import select
from sqlalchemy.orm import Session

from app import languages
from app.enums import EndedReason, Role
from app.models import SavedView, User, new_id, utcnow
from app.portal.record_lists import exporting
from app.portal.record_lists.registry import LISTS
from app.portal.web.list_definitions import ListColumn
from app.services import campaigns, do_not_call, webhooks
from app.services.csv_files import Cell
from tests.fixtures.tenants import Tenant, converse, make_user, organization_of
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call
from tests.portal.uploader import Uploader, make_campaign

SignedIn = Callable[[User], Browser]
PAGES = {
    "organizations": "/organizations",
    "users": "/users",
    "assistants": "/assistants",
    "campaigns": "/campaigns",
    "contacts": "/campaigns/{campaign}",
    "uploads": "/uploads",
    "campaign-uploads": "/campaigns/{campaign}/uploads",
    "calls": "/calls",
    "do-not-call": "/organizations/{organization}/do-not-call",
    "webhooks": "/api-access/webhooks",
    "history": "/audit",
    "report": "/report",
    "usage": "/usage",
    "partner-calls": "/operator/calls",
}
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
OF_OPERATORS = {"partner-calls"}
NAME = re.compile(
    r'<(?:a|span) class="name"[^>]*>(.*?)</'
    r'|history-who">(?:Name of [^<]*<span[^>]*>(?=\S+@))?(.*?)<',
    re.DOTALL,
)
"""The name of a row: the first column of a file; in the history, the user's email."""


@dataclass(frozen=True)
class Lists:
    """The browsers of an administrator and an operator, and the addresses of the lists."""

    browser: Browser
    operator: Browser
    campaign_id: UUID
    organization_id: UUID

    def reader(self, name: str) -> Browser:
        return self.operator if name in OF_OPERATORS else self.browser

    def page(self, name: str, query: str = "") -> str:
        ids = {"campaign": self.campaign_id, "organization": self.organization_id}
        path = PAGES[name].format(**ids)
        return f"{path}?{query}" if query else path

    def needed(self, name: str) -> str:
        """What a page about the list needs in its query string."""
        return "".join(f"{key}={getattr(self, key)}" for key in LISTS[name].path)

    def about(self, name: str, path: str, query: str = "") -> str:
        """The address of a file of a list, or of the form that saves its view."""
        return f"/lists/{name}/{path}?" + "&".join(filter(None, (self.needed(name), query)))

    def names(self, name: str, query: str = "") -> list[str]:
        """The names in the rows of all pages."""
        found: list[str] = []
        url: str | None = self.page(name, query)
        while url:
            page = self.reader(name).get(url).text.replace("<wbr>", "")
            rows = table_of(page).partition("<tbody>")[2].partition("</tbody>")[0]
            found += (plain("".join(match.groups(""))) for match in NAME.finditer(rows))
            following = re.search(r'href="([^"]+)" rel="next"', page)
            url = unescape(following.group(1)) if following else None
        return found

    def file(self, name: str, query: str = "") -> list[list[str]]:
        answer = self.reader(name).get(self.about(name, "export.csv", query))
        assert answer.status_code == 200
        return list(csv.reader(io.StringIO(answer.data.decode("utf-8-sig"), newline="")))


def table_of(page: str) -> str:
    """The last table of records; others hold figures, like that of the days of usage below it."""
    page = page.partition('aria-label="Conversations by day"')[0]
    start = max(page.rfind(f'<table class="table table-{kind}') for kind in ("lines", "history"))
    return page[start : page.find("</table>", start)]


def reverse_of(sort: str) -> str:
    return sort.removeprefix("-") if sort.startswith("-") else f"-{sort}"


def plain(words: str) -> str:
    """The letters and digits: screens write numbers with spaces, files guard formulas."""
    return "".join(filter(str.isalnum, unescape(words)))


@pytest.fixture
def lists(
    app: Flask,
    session: Session,
    uploader: Uploader,
    tenant: Tenant,
    other_tenant: Tenant,
    operator: Browser,
) -> Lists:
    """More than a page of each record of a partner, and another partner."""
    for number in range(27):
        user = make_user(
            session, tenant.partner.id, f"u{number}@x.example", businessName=f"B{number}"
        )
        make_call(session, tenant.organization, f"+12025550{100 + number}")
        organization = organization_of(session, user)
        converse(session, organization, utcnow().date() - timedelta(days=number), number % 4)
        converse(session, organization, utcnow().date() - timedelta(days=40), number % 3)
    for each in (tenant, other_tenant):
        staff = each.caller(Role.PARTNER_ADMIN)
        for name in ("=1+1", "Łódź", "Autumn"):
            campaigns.create(session, staff, each.organization.id, name=name)
        for number in (1, 2):
            do_not_call.add(session, staff, each.organization.id, f"+1202555000{number}")
            webhooks.add(
                session,
                staff,
                app.extensions["settings"],
                organization_id=each.organization.id,
                url=f"https://crm.example/{number}",
                events=["call.completed"],
            )
    for user in session.scalars(select(User)):
        user.name = f"Name of {user.email}"
    session.commit()
    people = "".join(f"+12025550{100 + number},Ann{number},Lee\n" for number in range(27))
    for name in ("b.csv", "a.csv"):
        uploader.applied(f"phone,first_name,last_name\n{people}", name)
    session.expire_all()
    return Lists(uploader.browser, operator, uploader.campaign_id, tenant.organization.id)


def test_every_list_is_tested_here() -> None:
    assert PAGES.keys() == LISTS.keys()


@pytest.mark.alternating
def test_files_and_reversed_orders_hold_the_rows_of_each_filter_and_sort_order(
    lists: Lists,
) -> None:
    for name, definition in LISTS.items():
        queries = ["", *(f"sort={sort}" for sort in definition.sorts)]
        for each in definition.filters:
            queries += [f"{each.name}={value}" for value in [*(each.shown_options or ["1"])][:4]]
        shown = {query: lists.names(name, query) for query in queries}
        files = {query: lists.file(name, query) for query in queries}
        heads = {
            query: [
                column.heading
                for column in definition.columns
                if column.is_default or query.startswith(f"{column.default_with}=")
            ]
            for query in queries
        }
        at = 1 if name == "history" else 0
        rows = {query: [plain(row[at]) for row in file[1:]] for query, file in files.items()}
        assert (name, rows) == (name, shown)
        assert (name, {query: file[0] for query, file in files.items()}) == (name, heads)
        assert len(shown[""]) > 1, name
        for sort in definition.sorts:
            up, down = shown[f"sort={sort}"], shown[f"sort={reverse_of(sort)}"]
            assert (name, sort, sorted(up), up) == (name, sort, sorted(shown[""]), down[::-1])


@pytest.mark.alternating
def test_lists_are_sorted_by_the_words_of_their_columns(lists: Lists) -> None:
    wanted = {
        "organizations": ("plan",),
        "users": ("role",),
        "contacts": ("phone", "email"),
        "uploads": ("status", "author"),
        "calls": ("status", "outcome"),
        "do-not-call": ("reason", "source"),
        "webhooks": ("address",),
        "report": ("status",),
        "usage": ("plan", "status"),
    }
    for name, columns in wanted.items():
        first = LISTS[name].columns[0].name
        for column in columns:
            assert next(c.sort for c in LISTS[name].columns if c.name == column), (name, column)
            for sort in (column, f"-{column}"):
                query = f"column={first}&column={column}&sort={sort}"
                words = [row[-1].casefold() for row in lists.file(name, query)[1:]]
                groups = [word for word, _rows in groupby(filter(None, words))]
                ordered = sorted(set(groups), reverse=sort.startswith("-"))
                if column not in ("plan", "role", "status"):
                    assert (name, sort, groups) == (name, sort, ordered)
                assert (name, sort, len(groups)) == (name, sort, len(ordered)), "once each"
                blanks = [place for place, word in enumerate(words) if not word]
                assert blanks == list(range(len(words) - len(blanks), len(words)))


def test_members_are_offered_only_the_orders_with_an_index_for_them(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    make_call(session, tenant.organization, "+12025550100")
    session.commit()
    offered = [
        [order for order in ("status", "outcome") if f"sort={order}" in browser.get("/calls").text]
        for browser in (signed_in(tenant.staff[Role.PARTNER_ADMIN]), signed_in(tenant.user))
    ]
    assert offered == [["status", "outcome"], ["outcome"]]
    assert signed_in(tenant.user).get("/calls?sort=status").status_code == 200


def test_an_excel_file_holds_the_same_as_the_csv_file(lists: Lists) -> None:
    for name, definition in LISTS.items():
        every = "&".join(f"column={column.name}" for column in definition.columns)
        answer = lists.reader(name).get(lists.about(name, "export.xlsx", every))
        sheet = load_workbook(io.BytesIO(answer.data)).active
        assert sheet is not None
        cells = [["" if cell is None else str(cell) for cell in row] for row in sheet.values]
        # To the minute: a workbook rounds times.
        written = [[plain(cell[:16]) for cell in row] for row in cells]
        expected = [[plain(cell[:16]) for cell in row] for row in lists.file(name, every)]
        assert (name, written) == (name, expected)


def test_a_column_of_an_excel_file_is_as_wide_as_its_values_up_to_a_limit() -> None:
    values: list[Cell] = ["Castell Property Management", "x" * 300, None, 12, utcnow()]
    headings = ["Name", "Note", "Answered calls in total", "Cost", "Called (UTC)"]
    rows: list[list[Cell]] = [["a", "b", "c", 1, utcnow()], values]
    sheet = load_workbook(exporting.write_xlsx("Calls", headings, [rows])).active
    assert sheet is not None
    widths = [round(sheet.column_dimensions[letter].width) for letter in "ABCDE"]
    assert widths == [30, 61, 26, 13, 19]


def test_a_list_offers_the_orders_of_its_columns_where_it_has_no_heads(lists: Lists) -> None:
    page = lists.browser.get("/users?q=x.example&column=name&column=last-sign-in&sort=-name").text
    menu = page[page.index('id="list-sort"') : page.index('id="list-columns"')]
    found = re.findall(r'href="([^"]+)"( aria-current="true")? hx-.*?">([\w ]+?) ?<', menu)
    assert [(words, bool(current)) for _, current, words in found] == [
        *(("A to Z", False), ("Z to A", True)),
        *(("Newest first", False), ("Oldest first", False)),
        *(("Newest first", False), ("Oldest first", False)),
    ]
    kept = [("q", "x.example"), ("column", "name"), ("column", "last-sign-in")]
    for (url, *_), order in zip(found[:3], ["name", "-name", "-last-sign-in"], strict=True):
        query = parse_qsl(urlsplit(unescape(url)).query)
        assert sorted(query) == sorted([*kept, ("sort", order)])
        assert lists.browser.get(unescape(url)).status_code == 200


def test_every_list_that_sorts_offers_its_orders_and_each_of_them_is_one(lists: Lists) -> None:
    offered = {
        name: parse_qsl(urlsplit(unescape(url)).query)
        for name in LISTS
        for page in [lists.reader(name).get(lists.page(name)).text]
        if 'id="list-sort"' in page
        for url in re.findall(r'class="menu-row" href="([^"]+)"', page[page.index("list-sort") :])
        if "sort=" in url
    }
    assert all(dict(query)["sort"] in LISTS[name].sorts for name, query in offered.items())
    assert {"calls", "organizations", "users"} <= offered.keys()


def test_the_page_says_in_other_languages_that_files_are_in_english(lists: Lists) -> None:
    note = "CSV and Excel files are in English."
    assert note not in lists.browser.get("/users").text
    with languages.using_language("fr"):
        words = languages.translation(note)
    page = lists.browser.get("/users", headers={"Accept-Language": "fr"}).text
    assert words in page


@pytest.mark.alternating
def test_selected_rows_are_exported_in_the_chosen_columns_and_no_others(
    lists: Lists, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    exporting_some = [name for name, each in LISTS.items() if each.bulk and each.bulk.exports]
    assert exporting_some == [
        *("organizations", "assistants", "campaigns", "uploads", "campaign-uploads"),
        *("calls", "history", "report", "usage"),
    ]
    for name in exporting_some:
        definition = LISTS[name]
        columns = [column.name for column in definition.columns if column.name != "next-call"]
        chosen = "&".join(f"column={column}" for column in columns)
        page = lists.browser.get(lists.page(name, chosen)).text
        form = page[page.find("data-selection") :]
        keys = re.findall(r'name="id" value="([^"]+)"', form)[:2]
        bar = form[form.find("bulk-actions") :]
        kept = [(field, unescape(value)) for field, value in HIDDEN.findall(bar)]
        urls = re.findall(rf'formaction="(/lists/{name}/selected\.[a-z]+)', bar)
        assert [url.rpartition(".")[2] for url in urls] == ["csv", "xlsx"], name
        wanted = urlencode([*kept, *(("id", key) for key in [*keys, keys[0], "x", str(new_id())])])
        answers = [lists.browser.get(f"{url}?{wanted}") for url in urls]
        text = io.StringIO(answers[0].data.decode("utf-8-sig"), newline="")
        head, *rows = csv.reader(text)
        every = lists.file(name, chosen)
        assert (name, head) == (name, every[0])
        assert (name, len(rows), [row for row in rows if row not in every]) == (name, 2, [])
        sheet = load_workbook(io.BytesIO(answers[1].data)).active
        assert sheet is not None
        cells = [["" if cell is None else str(cell) for cell in row] for row in sheet.values]
        written = [[plain(cell[:16]) for cell in row] for row in cells]
        assert written == [[plain(cell[:16]) for cell in row] for row in [head, *rows]]
        theirs = stranger.get(f"{urls[0]}?{wanted}")
        assert theirs.status_code == 404 or len(theirs.text.splitlines()) == 1, name
        asked = lists.browser.get(f"{urls[1]}?{wanted}&all=yes")
        assert asked.status_code == 303
        whole = load_workbook(io.BytesIO(lists.browser.get(asked.location or "").data)).active
        assert whole is not None
        assert (name, whole.max_row) == (name, len(every))


def test_the_columns_of_the_address_are_shown_and_kept_by_its_links(lists: Lists) -> None:
    for name, definition in LISTS.items():
        if definition.has_fixed_columns:
            continue
        first, *_, last = definition.columns
        page = lists.reader(name).get(lists.page(name, f"column={last.name}")).text
        heads = re.findall(r"<th .*?</th>", table_of(page), re.DOTALL)
        words = [re.sub(r"<[^>]+>", "", re.sub(r'"[^"]*"', "", head)).strip() for head in heads]
        assert [word for word in words if word not in ("Selected", "Actions")] == [
            first.label,
            last.label,
        ]
        links = [unescape(link) for link in re.findall(r'href="([^"]*[?;]sort=[^"]*)"', page)]
        kept = {("column", last.name) in parse_qsl(urlsplit(link).query) for link in links}
        assert (name, kept - {True}) == (name, set())
        sorts = "sort=" in table_of(page).partition("</thead>")[0]
        assert (name, sorts) == (name, bool(first.sort or last.sort))


def test_filters_of_a_list_alone_are_fields_of_its_page(lists: Lists) -> None:
    expected = {
        "calls": {"organization", "agent", "live", "start", "end"},
        "history": {"start", "end"},
        "report": {"since", "until"},
        "usage": {"start", "end"},
        "partner-calls": {"start", "end"},
    }
    found = {}
    for name, fields in expected.items():
        page = lists.reader(name).get(lists.page(name)).text
        tags = re.findall(r"<(?:input|select)[^>]*>", page)
        shown = "".join(tag for tag in tags if 'type="hidden"' not in tag)
        found[name] = {field for field in fields if f'name="{field}"' in shown}
    assert found == expected


def test_filters_after_the_second_are_in_a_panel_and_its_button_counts_those_in_use(
    lists: Lists,
) -> None:
    panel = re.compile(r"More filters(?: <span[^>]*>(\d)</span>)?.*?(<form .*?</form>)", re.DOTALL)
    found = {}
    for query in ("tier=customerPlusPlan", "trial=yes&tier=customerPlusPlan&view=all"):
        match = panel.search(lists.browser.get(f"/organizations?{query}").text)
        assert match
        clear = re.search(r'href="([^"]*)" [^<]*>Clear<', match[2])
        fields = re.findall(r'<(?:select|input)[^>]* name="(\w+)"', match[2])
        found[query] = (match[1], fields, clear and unescape(clear[1]))
    assert found == {
        "tier=customerPlusPlan": (None, ["tier", "status", "use", "trial"], None),
        "trial=yes&tier=customerPlusPlan&view=all": (
            "1",
            ["view", "tier", "status", "use", "trial"],
            "/organizations?tier=customerPlusPlan&view=all",
        ),
    }
    assert "More filters" not in lists.browser.get("/do-not-call").text


def test_a_first_and_a_last_day_count_as_one_filter(lists: Lists) -> None:
    shown = lists.browser.get("/calls?start=2026-01-01&end=2026-01-31&outcome=busy").text
    assert re.findall(r"More filters <span[^>]*>(\d)</span>", shown) == ["2"]


def test_unknown_parameters_change_nothing(tenant: Tenant, signed_in: SignedIn) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    statuses = {
        browser.get(f"{path}?{name}=x").status_code
        for path in ("/organizations", "/audit", "/assistants/new")
        for name in ("_scheme", "_anchor", "_external", "_method", "endpoint", "self")
    }
    assert statuses == {200}


def test_a_saved_view_opens_with_its_filters_and_can_be_changed_and_deleted(
    session: Session, lists: Lists
) -> None:
    browser = lists.browser
    for name in LISTS.keys() - OF_OPERATORS:  # operators have no saved views
        definition = LISTS[name]
        sort = min(set(definition.sorts) - {definition.default_sort})
        filtered = definition.filters[0].name
        new = lists.about(name, "views/new", f"{filtered}=b&sort={sort}&unknown=1")
        answer = browser.post(new, {"name": "My view"}, page=new)
        view = session.scalars(select(SavedView)).one()
        url = lists.page(name, f"{filtered}=b&sort={sort}&view={view.id}")
        assert (answer.status_code, answer.location) == (303, url)
        page = browser.get(url).text
        assert re.search(rf'view={view.id}" aria-current="page">My view', page), name
        assert "The view “My view” was saved." in page, name
        other_url = url.replace("=b&", "=a&")
        update = re.search(r'action="(/views/[^"]+/filters[^"]*)"', browser.get(other_url).text)
        assert update, name
        assert browser.post(unescape(update.group(1)), page="/account").location == other_url
        needed = f"?{lists.needed(name)}"
        edit, delete = f"/views/{view.id}{needed}", f"/views/{view.id}/delete{needed}"
        answer = browser.post(edit, {"name": " ", "version": "2"}, page=edit)
        assert answer.status_code == 422
        assert "Enter a name." in answer.text
        browser.post(edit, {"name": "Renamed", "is_default": "y", "version": "2"}, page=edit)
        assert browser.get(lists.page(name)).location == other_url
        assert browser.get(lists.page(name, "view=all")).status_code == 200
        answer = browser.post(delete, page=delete)
        assert (answer.status_code, answer.location) == (303, lists.page(name))
        assert session.scalars(select(SavedView)).all() == []


def test_with_a_wrong_filter_there_are_no_rows_no_view_and_no_file(
    session: Session, lists: Lists
) -> None:
    days = {"start": "2026-08-22", "end": "2026-08-16", "since": "2026-08-22", "until": "soon"}
    named = [name for name, definition in LISTS.items() if definition.problems is not list]
    assert len(named) >= 4
    for name in named:
        browser, backwards = lists.reader(name), urlencode(days)
        page = browser.get(lists.page(name, backwards)).text
        for offered in (
            "views/new",
            "Save view",
            "list-export",
            "Update view",
            'name="all"',
            "selected.csv",
            "matches",
        ):
            assert offered not in page, (name, offered)
        # Usage shows its usual days, in its figures and in its rows.
        assert ("Nothing is listed until the filters are right." in page) is (name != "usage"), name
        assert (lists.names(name, backwards) == []) is (name != "usage"), name
        answer = browser.get(lists.about(name, "export.csv", backwards))
        assert answer.status_code == 400, name
        if name in OF_OPERATORS:
            continue
        right = urlencode(days | {"end": "2026-08-23", "until": "2026-08-23"})
        new = lists.about(name, "views/new", right)
        browser.post(new, {"name": "Right"}, page=new)
        view = session.scalars(select(SavedView)).one()
        new = lists.about(name, "views/new", backwards)
        assert browser.get(new).status_code == 400, name
        assert browser.post(new, {"name": "Wrong"}, page="/account").status_code == 422, name
        update = f"/views/{view.id}/filters?{lists.needed(name)}&{backwards}"
        page = browser.get(lists.page(name, f"{backwards}&view={view.id}")).text
        assert f"/views/{view.id}/filters" not in page, name
        assert browser.post(update, page="/account").status_code == 400, name
        kept = session.scalars(select(SavedView.query)).one()
        assert days["until"] not in kept, name
        assert "2026-08-23" in kept, name
        session.delete(view)
        session.commit()


def test_the_page_of_a_view_names_what_it_keeps(tenant: Tenant, signed_in: SignedIn) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    address = "q=oak&tier=customerPlusPlan&trial=yes&sort=-name&column=plan&column=users"
    page = browser.get(f"/lists/organizations/views/new?{address}").text
    facts = re.findall(r"<dt>([^<]*)</dt>\s*<dd>([^<]*)</dd>", page)
    assert [(label, unescape(value)) for label, value in facts] == [
        ("Filters", "Name, email or referral code: oak · Plan: Plus · Trial mode: In trial mode"),
        ("Order", "Name, descending"),
        ("Columns", "Name, Plan, Users"),
    ]


def test_a_shared_view_is_offered_to_colleagues_only_and_changed_by_its_owner_only(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    for each in (tenant, other_tenant):
        make_campaign(session, each)
    owner = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    shared: dict[str, dict[str, str]] = {"Shared": {"is_shared": "y"}, "Mine": {}}
    for name, more in shared.items():
        new = "/lists/campaigns/views/new?q=autumn"
        owner.post(new, {"name": name, **more}, page=new)
    views = {view.name: view.id for view in session.scalars(select(SavedView))}
    others = {
        "colleague": signed_in(tenant.staff[Role.PARTNER_EDITOR]),
        "stranger": signed_in(other_tenant.staff[Role.PARTNER_ADMIN]),
        "member": signed_in(tenant.user),
    }

    def offered(browser: Browser) -> list[str]:
        page = browser.get("/campaigns?view=all").text
        return [view for view in views if f"view={views[view]}" in page]

    edit = f"/views/{views['Shared']}"
    assert offered(owner) == ["Shared", "Mine"]
    assert {
        who: (
            offered(browser),
            browser.get(edit).status_code,
            browser.post(f"{edit}/delete", page="/account").status_code,
        )
        for who, browser in others.items()
    } == {
        "colleague": (["Shared"], 404, 404),
        "stranger": ([], 404, 404),
        "member": ([], 404, 404),
    }


def test_a_shared_view_of_a_partner_is_not_offered_to_operators(
    tenant: Tenant, signed_in: SignedIn, operator: Browser
) -> None:
    owner, new = signed_in(tenant.staff[Role.PARTNER_ADMIN]), "/lists/organizations/views/new?q=oak"
    owner.post(new, {"name": "Shared", "is_shared": "y"}, page=new)
    assert "Shared" in owner.get("/organizations").text
    assert "Shared" not in operator.get("/organizations").text


def test_a_list_that_a_user_may_not_open_has_no_files_and_no_views(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    member = signed_in(tenant.user)
    paths = ("export.csv", "export.xlsx", "views/new")
    for name in ("organizations", "unknown"):
        assert [member.get(f"/lists/{name}/{path}").status_code for path in paths] == [404] * 3


def test_an_excel_file_with_more_rows_than_a_sheet_holds_is_refused(
    session: Session, tenant: Tenant, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "MAX_ROWS", 1)
    for _ in range(2):
        make_campaign(session, tenant)
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    answer = admin.get("/lists/campaigns/export.xlsx")
    message = "An Excel file holds at most 1 rows. Export CSV instead."
    assert answer.status_code == 413
    assert message in answer.text


def test_a_file_has_english_headings_and_its_values_are_text_in_the_users_language() -> None:
    label = cast(str, LazyProxy(languages.language, enable_cache=False))
    with languages.using_language("de"):
        column: ListColumn[None] = ListColumn("status", label, lambda _row: label)
        value = column.value(None)
        assert (column.heading, str(column.label), value) == ("en", "de", "de")
    assert type(value) is str


def test_a_file_names_its_columns_as_the_list_does() -> None:
    others = {
        (definition.name, column.name)
        for definition in LISTS.values()
        for column in definition.columns
        if re.sub(r" \(.*\)$", "", column.heading) != re.sub(r" \(.*\)$", "", str(column.label))
    }
    # A file has other figures there, no column next to it that names their subject, or the name
    # that scripts know.
    assert others == {
        ("calls", "contact"),
        *(("campaigns", "progress"), ("report", "conversations")),
        *(("usage", "seconds"), ("usage", "before")),
    }


@pytest.mark.parametrize("name", LISTS)
def test_no_filter_offers_the_same_words_twice(name: str) -> None:
    offered = [
        [str(words) for words in (each.blank, *each.shown_options.values())]
        for each in LISTS[name].filters
        if each.shown_options
    ]
    assert [words for words in offered if len(set(words)) < len(words)] == []


def test_a_view_names_each_filter_in_words(lists: Lists, tenant: Tenant) -> None:
    query = (
        f"state=busy&organization={tenant.organization.id}&within=7-days&start=2026-11-02&live=no"
        "&round=current"
    )
    page = unescape(lists.browser.get(f"/lists/calls/views/new?{query}").text)
    assert (
        f"Status: Busy · Organization: {tenant.organization.name} · "
        "Campaign round: Current round · Time: 7 days · "
        "From 2 Nov 2026 · Live or test: Made with a test key"
    ) in re.sub(r"<[^>]+>", "", page).replace("\N{NO-BREAK SPACE}", " ")


def test_calls_are_filtered_by_days_up_to_now(
    tenant: Tenant, session: Session, lists: Lists
) -> None:
    now = utcnow()
    tenant.staff[Role.PARTNER_ADMIN].timezone = "UTC"
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    ages = {
        "+12025550161": midnight,
        "+12025550162": midnight - timedelta(hours=1),
        "+12025550163": midnight - timedelta(days=6),
        "+12025550164": midnight - timedelta(days=29),
        "+12025550165": midnight - timedelta(days=29, seconds=1),
    }
    for number, at in ages.items():
        make_call(session, tenant.organization, number, at)
    session.commit()
    found = {}
    for value in ("today", "yesterday", "7-days", "30-days", "nonsense"):
        rows = lists.browser.get(f"/lists/calls/export.csv?within={value}&column=number").text
        found[value] = [number[-1] for number in sorted(ages) if number in rows]
    assert found == {
        "today": ["1"],
        "yesterday": ["2"],
        "7-days": ["1", "2", "3"],
        "30-days": ["1", "2", "3", "4"],
        "nonsense": ["1", "2", "3", "4", "5"],
    }


def test_last_week_is_monday_to_sunday_of_the_week_before_this_one(
    tenant: Tenant, session: Session, lists: Lists
) -> None:
    tenant.staff[Role.PARTNER_ADMIN].timezone = "UTC"
    now = utcnow()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    monday = midnight - timedelta(days=midnight.weekday())
    week, second = timedelta(days=7), timedelta(seconds=1)
    ages = {
        "+12025550161": monday,
        "+12025550162": monday - second,
        "+12025550163": monday - week,
        "+12025550164": monday - week - second,
    }
    for number, at in ages.items():
        make_call(session, tenant.organization, number, at)
    session.commit()
    rows = lists.browser.get("/lists/calls/export.csv?within=last-week&column=number").text
    assert [number[-1] for number in sorted(ages) if number in rows] == ["2", "3"]


def test_columns_menu_table_and_file_of_calls_agree(
    tenant: Tenant, session: Session, lists: Lists
) -> None:
    contact = {"phoneNumber": "+12025550161", "firstName": "Ada", "lastName": "Byron"}
    # The newest: the others are of one moment, and fill more than a page in any order.
    make_call(session, tenant.organization, "+12025550161", utcnow(), contact=contact)
    session.commit()
    page = lists.browser.get("/calls").text
    assert page.count("Ada Byron</span>") == 1
    menu = re.findall(r'checked>\s*<span>(\w+)( <span class="hint">empty here: hidden)?', page)
    shown = {name for name, hidden in menu if not hidden}
    head = page[page.index("<thead>") : page.index("</thead>")]
    assert {name for name in shown if name not in head} == {"Name"}
    assert {name for name, hidden in menu if hidden} == {"Campaign", "Cost"}
    chosen = ("", True), ("?column=number&column=contact", True), ("?column=status", False)
    for query, names in chosen:
        assert (lists.browser.get(f"/calls{query}").text.count("Ada Byron</span>") == 1) is names
        assert ("Ada Byron" in lists.browser.get(f"/lists/calls/export.csv{query}").text) is names


def test_columns_without_a_value_stay_hidden_beside_chosen_ones_and_phones_show_none(
    tenant: Tenant, session: Session, lists: Lists
) -> None:
    make_call(session, tenant.organization, "+12025550161", utcnow())
    session.commit()
    chosen = ("number", "campaign", "status", "duration", "cost", "attempts", "ended")
    page = lists.browser.get(f"/calls?{urlencode({'column': chosen}, doseq=True)}").text
    menu = re.findall(r'checked>\s*<span>(\w+)( <span class="hint">empty here: hidden)?', page)
    assert {name for name, hidden in menu if hidden} == {"Campaign", "Cost"}
    head = page[page.index("<thead>") : page.index("</thead>")]
    names = ("Called", "Campaign", "Status", "Attempts", "Duration", "Cost", "Ended")
    assert {name for name in names if name not in head} == {"Campaign", "Cost"}
    row = page[page.index("<tbody>") : page.index("</tr>", page.index("<tbody>"))]
    assert re.findall(r'phone-extra" data-label="(\w+)"', row) == ["Attempts"]


def test_phones_show_an_email_once_also_if_its_column_is_chosen(lists: Lists) -> None:
    page = lists.browser.get("/users?column=name&column=email&column=organization").text
    row = page[page.index("<tbody>") : page.index("</tr>", page.index("<tbody>"))]
    assert re.findall(r'phone-extra" data-label="(\w+)"', row) == ["Organization"]


def test_a_file_of_calls_names_the_outcome_as_the_list_does(
    tenant: Tenant, session: Session, lists: Lists
) -> None:
    failed = {"ended_reason": EndedReason.CARRIER_ERROR}
    make_call(session, tenant.organization, "+12025550162", utcnow(), **failed)
    session.commit()
    columns = "column=number&column=outcome"
    assert ' title="Carrier error"' in lists.browser.get(f"/calls?{columns}").text
    file = lists.browser.get(f"/lists/calls/export.csv?{columns}").text
    assert "+12025550162,Carrier error" in file
