"""The do-not-call lists in the portal: added one by one and by file, removed, taken home."""

import csv
import io
import re
from collections.abc import Callable
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import DoNotCallEntry, User
from app.portal.web.formats import phone
from app.services import do_not_call
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

CURRENT_PLACE = re.compile(r'<a class="sidebar-row" href="([^"]+)" aria-current="page">')
SignedIn = Callable[[User], Browser]
ADA, BOB = "+12025550101", "+12025550102"
EXPORT = "/lists/do-not-call/export.csv?organization_id={}"


@pytest.fixture
def browser(tenant: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


@pytest.fixture
def path(tenant: Tenant) -> str:
    return f"/organizations/{tenant.organization.id}/do-not-call"


def stored_entries(session: Session, tenant: Tenant) -> dict[str, tuple[str | None, str]]:
    session.expire_all()
    rows = session.scalars(
        select(DoNotCallEntry).where(DoNotCallEntry.organization_id == tenant.organization.id)
    )
    return {row.phone: (row.reason, row.source) for row in rows}


def kept_rows(page: str) -> dict[str, str]:
    """Return the hidden fields of the review with its rows."""
    hidden = re.findall(r'<input[^>]* name="(rows|from_file|reason)"[^>]* value="([^"]*)"', page)
    return {name: unescape(value) for name, value in hidden}


def test_numbers_are_added_with_their_reasons(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.name = "Maren Oduya"
    session.commit()
    typed = {"numbers": f"(202) 555-0101, asked us\n{BOB}\n{BOB}", "reason": "a campaign"}
    answer = browser.post(f"{path}/add", typed, page=f"{path}/add")
    assert (answer.status_code, answer.location) == (303, path)
    assert stored_entries(session, tenant) == {
        ADA: ("asked us", "portal"),
        BOB: ("a campaign", "portal"),
    }
    page = unescape(browser.get(path).text)
    assert "2 numbers added. 1 line repeated a number." in page
    assert f'"wrap">{admin.name}</td>' in page
    assert f"{admin.email}</td>" not in page


def test_the_history_says_which_numbers_were_added_without_a_reason(
    browser: Browser, tenant: Tenant, path: str
) -> None:
    browser.post(f"{path}/add", {"numbers": f"{ADA}, asked us\n{BOB}"}, page=f"{path}/add")
    changes = browser.get(f"/organizations/{tenant.organization.id}/activity").text
    assert "asked us" in changes
    assert "no reason" in changes


def test_only_the_exact_name_of_a_column_is_skipped_as_a_heading(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    typed = {"numbers": f"not a number\n12\n{ADA}"}
    refused = unescape(browser.post(f"{path}/add", typed, page=f"{path}/add").text)
    assert "2 rows have a problem" in refused
    assert "as a heading" not in refused
    browser.post(f"{path}/add", {"numbers": f"Mobile phone\n{ADA}"}, page=f"{path}/add")
    assert stored_entries(session, tenant) == {ADA: (None, "portal")}
    assert "1 number added. Line 1 was skipped as a heading." in browser.get(path).text
    browser.post(f"{path}/add", {"numbers": f"{BOB}, mobile"}, page=f"{path}/add")
    assert stored_entries(session, tenant)[BOB] == ("mobile", "portal")


@pytest.mark.parametrize("heads", ["telefono;motivo", "Telefon;Sperrgrund", "Téléphone;Raison"])
def test_reasons_are_read_from_a_column_with_a_name_in_each_language(
    session: Session, tenant: Tenant, browser: Browser, path: str, heads: str
) -> None:
    sent = {"numbers": f"{heads};Stadt\n{ADA};no llamar;Ulm\n{BOB};;Ulm"}
    browser.post(f"{path}/add", sent, page=f"{path}/add")
    assert stored_entries(session, tenant) == {ADA: ("no llamar", "portal"), BOB: (None, "portal")}
    assert "Column not used: Stadt." in browser.get(path).text


def test_a_number_with_00_for_the_plus_sign_is_read(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    sent = {"numbers": "0034 600 123 456\n00999 1"}
    refused = browser.post(f"{path}/add", sent, page=f"{path}/add")
    assert "1 row has a problem" in refused.text
    browser.post(f"{path}/add-valid", kept_rows(refused.text), page=f"{path}/add")
    assert list(stored_entries(session, tenant)) == ["+34600123456"]


def test_members_see_the_company_as_author_and_own_users_by_name_or_email(
    session: Session, tenant: Tenant, browser: Browser, path: str, signed_in: SignedIn
) -> None:
    tenant.user.is_owner, tenant.user.name = True, None
    session.commit()
    owner = signed_in(tenant.user)
    browser.post(f"{path}/add", {"numbers": ADA}, page=f"{path}/add")
    owner.post(f"{path}/add", {"numbers": BOB}, page=f"{path}/add")
    page = unescape(owner.get(path).text)
    assert re.findall(r'"wrap">([^<]*)</td>', page)[1::2] == [
        tenant.partner.name,
        tenant.user.email,
    ]
    removal = owner.get(f"{path}/remove", query_string={"number": ADA}).text
    assert tenant.staff[Role.PARTNER_ADMIN].email not in removal


def test_bad_lines_are_named_and_nothing_is_saved(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    text = f"{ADA}\nnobody\n12\n{BOB}"
    refused = browser.post(f"{path}/add", {"numbers": text}, page=f"{path}/add")
    shown = unescape(refused.text)
    assert refused.status_code == 422
    assert "2 rows have a problem" in shown
    assert "Has letters. Write the number in digits." in shown
    assert "Add 2, leave out 2" in shown
    assert stored_entries(session, tenant) == {}
    answer = browser.post(f"{path}/add-valid", kept_rows(refused.text), page=f"{path}/add")
    assert answer.status_code == 303
    assert set(stored_entries(session, tenant)) == {ADA, BOB}
    assert "2 lines left out." in unescape(browser.get(path).text)


def test_a_number_that_another_country_may_have_is_not_taken_for_a_local_one(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    text = f"Name;Number\nAda;{ADA}\nAda;{ADA}\nJo;0170 123456\nMo;+49 170 1234567"
    refused = browser.post(f"{path}/add", {"numbers": text}, page=f"{path}/add")
    shown = unescape(refused.text)
    assert refused.status_code == 422
    assert "1 row has a problem" in shown
    assert "as a heading. Column not used: Name. 1 line repeated a number." in shown
    assert re.findall(r'aria-label="Leave out row (\d+)"', shown) == ["4"]
    assert "Not a number of the United States. For another country, start with +" in shown
    assert 'value="0170 123456"' in shown
    browser.post(f"{path}/add-valid", kept_rows(refused.text), page=f"{path}/add")
    assert set(stored_entries(session, tenant)) == {ADA, "+491701234567"}


def test_rows_of_a_file_are_corrected_on_the_page_and_added(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    content = "\ufeffNumber;Reason\n020 7946 0000;wrong country\nrubbish\n+1 202 555 0101;asked\n"
    file = {"file": (io.BytesIO(content.encode()), "list.csv")}
    refused = browser.post(f"{path}/add", file, page=f"{path}/add")
    assert refused.status_code == 422
    corrected = {
        **kept_rows(refused.text),
        "number-0": "+44 20 7946 0000",
        "reason-0": "asked too",
        "remove-1": "on",
    }
    changed = browser.post(f"{path}/add-valid", corrected, page=f"{path}/add").text
    assert "You have changed rows since the check. Review them, then add." in changed
    assert stored_entries(session, tenant) == {}
    checked = browser.post(f"{path}/add/check", corrected, page=f"{path}/add").text
    assert "All rows are correct" in checked
    answer = browser.post(f"{path}/add-valid", kept_rows(checked), page=f"{path}/add")
    assert answer.status_code == 303
    assert stored_entries(session, tenant) == {
        "+442079460000": ("asked too", "file"),
        ADA: ("asked", "file"),
    }


def test_a_long_list_shows_the_first_rows_with_a_problem_and_keeps_the_others(
    browser: Browser, path: str
) -> None:
    text = "\n".join([*(f"12{place}" for place in range(201)), ADA])
    refused = browser.post(f"{path}/add", {"numbers": text}, page=f"{path}/add").text
    assert "The first 200 of 201." in refused
    assert 'name="number-199"' in refused
    assert 'name="number-200"' not in refused
    left_out = {f"remove-{position}": "on" for position in range(200)}
    rest = browser.post(f"{path}/add/check", {**kept_rows(refused), **left_out}, page=f"{path}/add")
    assert "1 row has a problem" in rest.text
    assert 'value="12200"' in rest.text


@pytest.mark.parametrize("region", ["US", "DE"])
def test_a_short_number_with_00_is_refused_as_one_of_the_country_of_its_code(
    session: Session, tenant: Tenant, browser: Browser, path: str, region: str
) -> None:
    tenant.organization.default_region = region
    session.commit()
    refused = browser.post(f"{path}/add", {"numbers": "0049301"}, page=f"{path}/add")
    assert "Too short for Germany: 3 digits after +49" in unescape(refused.text)


def test_a_number_with_00_is_not_taken_for_one_that_no_one_can_have(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    browser.post(f"{path}/add", {"numbers": "0049 170 123"}, page=f"{path}/add")
    assert list(stored_entries(session, tenant)) == ["+49170123"]


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "Numbers: Enter at least one number"),
        (b"\x89PNG\r\n\x1a\n\0\0", "Or choose a file: "),
        (b"1" * 3_000_000, "Or choose a file: The file is larger"),
    ],
)
def test_an_unreadable_input_is_reported_at_its_field(
    browser: Browser, path: str, sent: bytes, words: str
) -> None:
    file = {"file": (io.BytesIO(sent), "x.csv")} if sent else {}
    answer = browser.post(f"{path}/add", {"numbers": " ", **file}, page=f"{path}/add")
    assert answer.status_code == 422
    assert words in unescape(answer.text)


def test_a_number_is_removed_after_a_confirmation(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    do_not_call.add(session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, ADA)
    session.commit()
    confirmation = browser.get(f"{path}/remove", query_string={"number": ADA})
    assert "may call this number again" in confirmation.text
    for _ in range(2):
        answer = browser.post(f"{path}/remove", {"number": ADA}, page=f"{path}/add")
        assert answer.status_code == 303
    assert stored_entries(session, tenant) == {}
    assert f"{phone(ADA)} was removed from the list" in browser.get(path).text
    changes = browser.get(f"/organizations/{tenant.organization.id}/activity").text
    assert f"Removed from the do-not-call list: {phone(ADA)}" in changes
    assert browser.get(f"{path}/remove", query_string={"number": ADA}).status_code == 404
    assert browser.post(f"{path}/remove", {"number": "x"}, page=f"{path}/add").status_code == 404


def test_the_export_is_safe_for_spreadsheets_and_can_be_added_again(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    do_not_call.add(session, caller, tenant.organization.id, ADA, reason="=1+1")
    session.commit()
    content = browser.get(EXPORT.format(tenant.organization.id)).text
    [row] = list(csv.reader(io.StringIO(content.removeprefix("\ufeff"))))[1:]
    assert row[:3] == [f"'{ADA}", "'=1+1", caller.label]
    target = f"/organizations/{tenant.plus.id}/do-not-call"
    answer = browser.post(
        f"{target}/add", {"file": (io.BytesIO(content.encode()), "x.csv")}, page=f"{path}/add"
    )
    assert answer.status_code == 303
    entry = do_not_call.entry(session, caller, tenant.plus.id, ADA)
    assert entry.reason == "=1+1"


def test_a_number_is_found_in_any_spelling(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    for number in (ADA, BOB):
        do_not_call.add(session, caller, tenant.organization.id, number)
    session.commit()
    page = browser.get(path, query_string={"q": "(202) 555-0101"}).text
    assert ADA in page
    assert BOB not in page
    for written in ("+1 202 555 0101", "(202) 555-0101"):
        lists = unescape(browser.get("/do-not-call", query_string={"q": written}).text)
        assert "Northwind Bakery" in lists
        assert "Northwind Dental" not in lists
    tenant.plus.default_region = "DE"
    session.commit()
    lists = unescape(browser.get("/do-not-call", query_string={"q": "030 12345678"}).text)
    assert "+49 30 12345678 is on no list." in lists.replace("\N{NO-BREAK SPACE}", " ")


def test_a_member_keeps_the_list_of_their_own_organization_only(
    session: Session, tenant: Tenant, signed_in: SignedIn, path: str
) -> None:
    member = signed_in(tenant.user)
    assert member.post(f"{path}/add", {"numbers": ADA}, page=f"{path}/add").status_code == 303
    assert set(stored_entries(session, tenant)) == {ADA}
    page = member.get("/do-not-call").text
    assert "<h1>Do-not-call list</h1>" in page
    assert "Your role doesn’t allow" not in page
    assert ADA in member.get("/do-not-call", query_string={"q": ADA}).text
    assert ADA not in member.get("/do-not-call", query_string={"q": BOB}).text
    assert member.get(f"/organizations/{tenant.plus.id}/do-not-call").status_code == 404


@pytest.mark.parametrize("act", ["add", "add/check", "add-valid", "remove"])
def test_the_list_of_another_partner_is_answered_like_a_missing_one(
    session: Session, tenant: Tenant, other_tenant: Tenant, browser: Browser, path: str, act: str
) -> None:
    theirs = f"/organizations/{other_tenant.organization.id}/do-not-call"
    sent = {"numbers": ADA, "number": ADA}
    assert browser.post(f"{theirs}/{act}", sent, page=f"{path}/add").status_code == 404
    assert browser.get(theirs).status_code == 404
    assert browser.get(EXPORT.format(other_tenant.organization.id)).status_code == 404
    assert stored_entries(session, other_tenant) == {}


@pytest.mark.parametrize("page", ["", "/add", "/remove?number=%2B12025550101"])
def test_the_list_of_an_organization_is_a_page_of_it_for_all_but_members(
    session: Session, tenant: Tenant, signed_in: SignedIn, path: str, page: str
) -> None:
    do_not_call.add(session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, ADA)
    session.commit()
    admin, member = signed_in(tenant.staff[Role.PARTNER_ADMIN]), signed_in(tenant.user)
    assert CURRENT_PLACE.findall(admin.get(f"{path}{page}").text) == ["/organizations"]
    assert CURRENT_PLACE.findall(admin.get("/do-not-call").text) == ["/do-not-call"]
    assert CURRENT_PLACE.findall(member.get(f"{path}{page}").text) == ["/do-not-call"]
