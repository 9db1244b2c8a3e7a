"""Uploading contacts in the portal: every screen from the file to the result, without script."""

import csv
import io
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from pathlib import Path
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.database import Database
from app.enums import ImportStatus, Role
from app.models import Campaign, Contact, ContactImport, User, utcnow
from app.services.imports import apply
from tests.files.exports import hubspot_contacts
from tests.fixtures.tenants import Tenant
from tests.fixtures.uploads import number
from tests.portal.conftest import Browser, user_of
from tests.portal.paths import paths_with
from tests.portal.uploader import Uploader, heading, make_campaign, words

SignedIn = Callable[[User], Browser]
ANN, BOB = number(1), number(2)


@pytest.fixture
def campaign(session: Session, tenant: Tenant) -> Campaign:
    return make_campaign(session, tenant)


@pytest.fixture
def browser(tenant: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


@pytest.fixture
def uploader(app: Flask, database: Database, browser: Browser, campaign: Campaign) -> Uploader:
    return Uploader(app, database, browser, campaign)


def test_each_page_names_the_organization_of_the_campaign_to_staff(
    uploader: Uploader, tenant: Tenant, campaign: Campaign, signed_in: SignedIn
) -> None:
    whose = f"{campaign.name} of {tenant.organization.name}"
    choose = f"/campaigns/{campaign.id}/upload"
    address = str(uploader.send(f"Name,Phone\nAnn,{ANN}\n".encode()).location)
    for path in (choose, address):
        assert whose in unescape(uploader.browser.get(path).text)
    uploader.work(address)
    for path in (address, "/uploads"):
        assert whose in unescape(uploader.browser.get(path).text)
    member = signed_in(tenant.user)
    assert whose not in unescape(member.get(address).text)
    assert f">{campaign.name}</span>" in unescape(member.get("/uploads").text)


def test_a_real_export_goes_from_the_file_to_the_result(
    uploader: Uploader, database: Database
) -> None:
    export = hubspot_contacts()
    answer = uploader.send(export.data, "all contacts.csv")
    address = str(answer.location)
    waiting = uploader.browser.get(address)
    assert heading(waiting) == "Checking the file"
    assert f'hx-get="{address}/live"' in waiting.text
    assert uploader.browser.get(f"{address}/live").status_code == 200

    uploader.work(address)
    check = uploader.browser.get(address)
    assert heading(check) == "37 of 2,000 rows need fixing"
    message = words(check)
    assert "1,963 + 0 + 0 + 0 + 37 = 2,000 rows in the file." in message
    assert "Nothing has been changed yet" in message
    assert "No phone or email 6" in message
    assert "1,963 good rows can be applied now, 37 rows later." in message
    assert "Apply 1,963 rows" in message
    refreshed = uploader.browser.get(f"{address}/live", headers={"HX-Request": "true"})
    assert refreshed.headers["HX-Refresh"] == "true"

    assert uploader.press(address, "apply").location == address
    applying = uploader.browser.get(address)
    assert heading(applying) == "Applying 1,963 rows"
    assert "0 of 1,963 rows" in words(applying)
    uploader.work(address)
    result = uploader.browser.get(address)
    assert heading(result) == "1,963 rows applied"
    message = words(result)
    assert "1,963 + 0 + 0 + 0 + 37 = 2,000 rows in the file. The same figures" in message
    assert "1,963 contacts added, 37 rows not applied." in message
    with database.transaction(read_only=True) as session:
        assert len(session.scalars(select(Contact.id)).all()) == 1963

    download = uploader.browser.get(f"{address}/failed-rows.csv")
    assert download.headers["Content-Disposition"] == (
        'attachment; filename="failed-rows-of-all-contacts.csv"'
    )
    rows = list(csv.reader(io.StringIO(download.data.decode("cp1252"))))
    assert (len(rows), rows[0][-1]) == (38, "Problem")
    assert all(row[-1] for row in rows)


def test_rows_of_one_kind_can_be_looked_at_page_by_page(uploader: Uploader) -> None:
    bad = "".join(f"P{index},12\n" for index in range(30))
    address = uploader.upload(f"Name,Phone,E-mail\n{bad}Ann,{ANN}\nBob,,bob(at)mail\n")
    page = uploader.browser.get(f"{address}?kind=invalid_phone:too_short")
    assert "Rows 2 to 26 of the file, 25 of 30 rows" in words(page)
    following = re.search(r'href="([^"]+)" rel="next"', page.text)
    assert following
    rest = words(uploader.browser.get(unescape(following.group(1))))
    assert "Rows 27 to 31 of the file, 5 of 30 rows" in rest
    assert "Row 33 of the file, 1 of 1 row" in uploader.shows(f"{address}?kind=invalid_email:")
    for odd in ("kind=nonsense", "cursor=x", "cursor=" + "9" * 30, "cursor=-1", "note=%00"):
        assert "25 of 31 rows" in uploader.shows(f"{address}?{odd}")


def test_a_bad_cell_has_the_message_of_the_api(uploader: Uploader) -> None:
    address = uploader.upload(f"Name,Phone,E-mail,Note\nAnn,{ANN},ann(at)mail,\n<b>,,,\n")
    page = uploader.browser.get(address)
    assert (
        'name="cell-2-2" value="ann(at)mail" placeholder="empty" autocomplete="off" '
        'aria-label="E-mail, row 2" aria-describedby="cell-2-2" aria-invalid="true">'
        '<span id="cell-2-2"><span class="reason">'
        "Enter an email like name@example.com.</span></span></td>"
    ) in page.text
    assert "&lt;b&gt;" in page.text
    assert '<span class="empty-value">empty</span>' in page.text


def test_a_repair_is_offered_with_its_count_and_can_be_undone(uploader: Uploader) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}.0\nBob,{BOB}.0\nCy,{number(3)}\n")
    message = uploader.shows(address)
    assert "2 numbers were turned into decimals" in message
    assert f"In row 2, {ANN}.0 would become +1 201 555 0001." in message
    assert "Fix 2 rows" in message
    assert uploader.press(address, "repairs/decimals").location == address
    uploader.work(address)
    message = uploader.shows(address)
    assert "All 3 rows can be applied" in message
    assert "Fixed: turned into a decimal" in message
    assert uploader.press(address, "repairs/decimals/undo").location == address
    uploader.work(address)
    assert "2 of 3 rows need fixing" in uploader.shows(address)


def test_columns_are_changed_by_hand(uploader: Uploader) -> None:
    address = uploader.upload(f"A,B\nAnn,{ANN}\n")
    assert "No column identifies contacts" in uploader.shows(address)
    page = uploader.shows(f"{address}/columns")
    assert "For example: Ann" in page
    changed = uploader.browser.post(
        f"{address}/columns", {"column": ["firstName", "phone"]}, page=f"{address}/columns"
    )
    assert changed.location == address
    uploader.work(address)
    assert "1 row can be applied" in uploader.shows(address)


def test_an_impossible_mapping_is_explained_and_keeps_the_choices(uploader: Uploader) -> None:
    address = uploader.upload(f"A,B\nAnn,{ANN}\n")
    refused = uploader.browser.post(
        f"{address}/columns",
        {"column": ["phone", "nonsense"], "header_row": "x"},
        page=f"{address}/columns",
    )
    assert refused.status_code == 422
    twice = uploader.browser.post(
        f"{address}/columns", {"column": ["firstName", "firstName"]}, page=f"{address}/columns"
    )
    assert twice.status_code == 422
    assert "B: “A” is already this field. Keep one of the two." in words(twice)
    assert twice.text.count('<option value="firstName" selected>') == 2


def test_an_unreadable_file_is_explained_with_the_next_step(uploader: Uploader) -> None:
    address = uploader.upload(b"MZ\x00\x00" * 50, "people.csv")
    page = uploader.browser.get(address)
    assert heading(page) == "The file can’t be checked"
    message = words(page)
    assert "This is a program, not a contact file. Save the list as CSV or XLSX." in message
    assert "Nothing was changed." in message
    assert "Upload another file" in message
    assert uploader.shows(f"{address}/columns")


@pytest.mark.parametrize(
    ("data", "name", "sentence"),
    [
        (b"", "people.csv", "The file is empty. Export it again and upload the new file."),
        (b"x", "", "Choose a contact file."),
        (b"x" * 3000, "people.csv", "The file is larger than 2 kB. Split it."),
    ],
    ids=["empty", "none", "too large"],
)
def test_a_file_that_is_refused_at_once_says_why_at_the_field(
    make_app: Callable[..., Flask],
    app: Flask,
    uploader: Uploader,
    tmp_path: Path,
    data: bytes,
    name: str,
    sentence: str,
) -> None:
    small = make_app(max_upload_bytes=2048).test_client()
    for cookie in (uploader.browser.client._cookies or {}).values():
        small.set_cookie(cookie.key, cookie.value)
    uploader.browser = Browser(small)
    answer = uploader.send(data, name)
    assert answer.status_code in (413, 422)
    assert words(answer).count(sentence) == 2
    assert not [path for path in (tmp_path / "uploads").glob("*") if path.is_file()]


def test_a_form_far_over_the_limit_gets_an_error_page(
    make_app: Callable[..., Flask], uploader: Uploader
) -> None:
    small = make_app(max_upload_bytes=2048).test_client()
    for cookie in (uploader.browser.client._cookies or {}).values():
        small.set_cookie(cookie.key, cookie.value)
    uploader.browser = Browser(small)
    answer = uploader.send(b"x" * 200_000)
    assert answer.status_code == 413
    assert "The request is over the limit of 2.0 kB. Nothing was changed." in words(answer)


def test_an_unknown_action_is_refused(uploader: Uploader) -> None:
    refused = uploader.send("Name\nAnn\n", action="destroy")
    assert refused.status_code == 422
    assert "Action: Not a valid choice." in words(refused)
    assert uploader.shows("/uploads").count("people.csv") == 0


def test_an_upload_can_be_cancelled_and_its_file_is_removed(
    uploader: Uploader, tmp_path: Path
) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\n")
    assert len(list((tmp_path / "uploads").iterdir())) == 1
    assert uploader.press(address, "cancel").location == address
    page = uploader.browser.get(address)
    assert heading(page) == "Upload cancelled"
    assert list((tmp_path / "uploads").iterdir()) == []
    for act in ("cancel", "apply", "check", "repairs/decimals"):
        assert uploader.browser.post(f"{address}/{act}", page=uploader.page).location == address
    assert uploader.now(address).status is ImportStatus.CANCELLED


@pytest.mark.parametrize(
    "act", [*("cancel", "apply", "check", "repairs/decimals", "rows", "rows/discard-fixes"), "undo"]
)
def test_an_upload_says_why_its_state_refuses_a_step(uploader: Uploader, act: str) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\n")
    uploader.press(address, "cancel")
    assert uploader.browser.post(f"{address}/{act}", page=uploader.page).location == address
    refused = "can no longer be undone. Nothing was changed."
    reason = refused if act == "undo" else "The upload has changed. Nothing was saved."
    assert reason in uploader.shows(address)


def test_an_upload_without_good_rows_says_that_nothing_can_be_applied(uploader: Uploader) -> None:
    address = uploader.upload("Name,Phone\nAnn,12\n")
    uploader.press(address, "apply")
    assert "No row of the file can be applied." in uploader.shows(address)


def test_the_rate_and_the_time_left_are_shown_while_rows_are_applied(uploader: Uploader) -> None:
    rows = "".join(f"P{index},{number(index)}\n" for index in range(apply.BATCH_SIZE + 1))
    address = uploader.upload("Name,Phone\n" + rows)
    uploader.press(address, "apply")
    assert "a second" not in uploader.shows(f"{address}/live")
    with uploader.database.transaction() as session:
        assert apply.apply_batch(session, uploader.now(address).id, 1)
    message = re.search(
        r"500 of 501 rows ([\d,]+) rows? a second, about 1 s left", uploader.shows(address)
    )
    assert message
    with uploader.database.transaction() as session:
        session.execute(
            update(ContactImport).values(apply_started_at=utcnow() - timedelta(minutes=1000))
        )
    assert "500 of 501 rows about 3 min left" in uploader.shows(address)


def test_a_campaign_that_changed_since_the_check_is_shown_before_and_after(
    uploader: Uploader, database: Database, campaign: Campaign
) -> None:
    first = uploader.upload(f"Name,Phone\nAnn,{ANN}\n")
    second = uploader.upload(f"Name,Phone\nAnna,{ANN}\n")
    uploader.press(first, "apply")
    uploader.work(first)
    assert "The campaign has changed since this check" in uploader.shows(second)
    uploader.press(second, "apply")
    uploader.work(second)
    message = uploader.shows(second)
    assert "The campaign changed between the check and applying" in message
    assert "0 created instead of 1, 1 updated instead of 0." in message


def test_the_same_file_is_recognised(uploader: Uploader) -> None:
    data = f"Name,Phone\nAnn,{ANN}\n"
    first = uploader.upload(data)
    uploader.press(first, "apply")
    uploader.work(first)
    message = uploader.shows(uploader.upload(data, "another name.csv"))
    assert "This file was applied before" in message
    assert "people.csv" in message
    assert "Applying it again adds no duplicates." in message
    message = uploader.shows(uploader.upload(data, action="remove"))
    assert "This file was applied before" in message
    assert "adds no duplicates" not in message


def test_a_form_sent_twice_uploads_once_and_another_file_is_another_upload(
    uploader: Uploader, tmp_path: Path
) -> None:
    def send(data: str) -> str:
        form = {"file": (io.BytesIO(data.encode()), "people.csv"), "action": "upsert", "once": "a1"}
        return str(uploader.browser.post(uploader.page, form, page=uploader.page).location)

    first = send(f"Name,Phone\nAnn,{ANN}\n")
    assert send(f"Name,Phone\nAnn,{ANN}\n") == first
    assert len(list((tmp_path / "uploads").iterdir())) == 1
    assert send(f"Name,Phone\nBob,{BOB}\n") != first


def test_the_list_leads_to_uploads_in_every_state(uploader: Uploader, browser: Browser) -> None:
    assert "No uploads yet" in uploader.shows("/uploads")
    names = ("first.csv", "second.csv")
    addresses = [uploader.upload(f"Name,Phone\nAnn,{ANN}\n", name) for name in names]
    uploader.press(addresses[0], "cancel")
    page = browser.get("/uploads").text
    assert [page.count(f'href="{address}"') for address in addresses] == [1, 1]
    waiting = browser.get("/uploads?state=checked").text
    assert [waiting.count(f'href="{address}"') for address in addresses] == [0, 1]
    assert "No upload matches" in uploader.shows("/uploads?state=failed")


def test_an_upload_is_found_by_its_file_or_its_campaign(
    session: Session, uploader: Uploader, campaign: Campaign, browser: Browser
) -> None:
    campaign.name = "Frühling"
    session.commit()
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\n", "100%_people.csv")
    of_campaign = f"/campaigns/{campaign.id}/uploads"
    found = {
        "/uploads?q=PEOPLE": True,
        "/uploads?q=0%25_p": True,
        "/uploads?q=fruehling": True,
        "/uploads?q=%25x": False,
        "/uploads?q=FRUHL&state=checked": True,
        "/uploads?q=people&state=failed": False,
        f"{of_campaign}?q=people": True,
        f"{of_campaign}?q=fruhling": False,
    }
    assert {asked: f'href="{address}"' in browser.get(asked).text for asked in found} == found


@pytest.mark.parametrize("words", ["lodz", "ŁÓDŹ", "ubersicht", "uebersicht"])
def test_an_upload_is_found_without_accents(
    uploader: Uploader, campaign: Campaign, browser: Browser, words: str
) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\n", "Łódź Übersicht.csv")
    for listed in ("/uploads", f"/campaigns/{campaign.id}/uploads"):
        assert f'href="{address}"' in browser.get(f"{listed}?q={words}").text


@pytest.mark.parametrize(
    "role", [*(Role.PARTNER_ADMIN, Role.PARTNER_EDITOR), Role.ADMIN, Role.STANDARD]
)
def test_every_user_who_may_change_contacts_may_upload(
    app: Flask,
    database: Database,
    tenant: Tenant,
    campaign: Campaign,
    signed_in: SignedIn,
    role: Role,
) -> None:
    uploader = Uploader(app, database, signed_in(user_of(tenant, role)), campaign)
    assert f'href="{uploader.page}"' in uploader.browser.get(f"/campaigns/{campaign.id}").text
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\n")
    uploader.press(address, "apply")
    uploader.work(address)
    assert "1 row applied" in uploader.shows(address)


def test_an_upload_of_another_partner_answers_exactly_as_an_absent_one(
    app: Flask, uploader: Uploader, session: Session, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}.0\nBob,{BOB}\n")
    upload_id, absent_id = address.rpartition("/")[2], uuid4()
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    elsewhere = make_campaign(session, other_tenant)

    def plain(answer: TestResponse) -> tuple[int, str]:
        text = answer.text.replace(answer.headers["X-Request-ID"], "")
        text = re.sub(r'name="csrf_token" value="[^"]+"', "", text)
        return answer.status_code, re.sub(r"\d\d:\d\d", "", text)

    page = f"/campaigns/{elsewhere.id}/upload"
    for method, known in (("GET", f"{address}/live"), ("POST", f"{address}/apply")):
        paths = paths_with(app, method, "upload_id", upload_id)
        assert known in paths
        for path, absent in zip(
            paths, paths_with(app, method, "upload_id", absent_id), strict=True
        ):
            theirs, none = (
                stranger.get(each) if method == "GET" else stranger.post(each, page=page)
                for each in (path, absent)
            )
            assert (path, theirs.status_code) == (path, 404)
            assert plain(theirs) == plain(none)
    own_campaign = stranger.post(uploader.page, {"action": "upsert"}, page=page)
    assert own_campaign.status_code == 404
    assert uploader.now(address).status is ImportStatus.CHECKED


def test_a_member_sees_no_upload_of_another_organization(
    uploader: Uploader, tenant: Tenant, signed_in: SignedIn
) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\n")
    assert signed_in(tenant.user).get(address).status_code == 200
    assert signed_in(tenant.plus_user).get(address).status_code == 404
    assert address not in signed_in(tenant.plus_user).get("/uploads").text


def test_a_phone_shows_how_many_rows_an_upload_has_and_how_many_failed(
    uploader: Uploader, browser: Browser
) -> None:
    uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,12\nCy,{BOB}\n", "mixed.csv")
    page = browser.get("/uploads").text
    assert '<span class="cell-sub cell-phone">3 rows · 1 failed</span>' in page


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_list_counts_what_was_applied_and_not_what_would_be(
    uploader: Uploader, browser: Browser
) -> None:
    def figures() -> list[str]:
        """Rows, created, updated, deleted, ignored and failed of the newest upload."""
        row = browser.get("/uploads").text.partition("<tbody>")[2].partition("</tr>")[0]
        cells = re.findall(r'<td class="end[^"]*"[^>]*>(.*?)</td>', row, re.DOTALL)[:6]
        return [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in cells]

    data = f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n"
    uploader.upload(data, "people.csv")
    assert figures() == ["2", "", "", "", "", "–"]
    address = uploader.applied(data.encode())
    assert figures() == ["2", "2", "–", "–", "–", "–"]
    uploader.applied(data.encode())
    assert figures() == ["2", "–", "– 2 unchanged", "–", "–", "–"]
    assert address


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_an_applied_upload_with_failed_rows_says_so_in_the_list(
    uploader: Uploader, session: Session, tenant: Tenant
) -> None:
    address = uploader.applied(f"phone\n{ANN}\n12\n13\n".encode())
    assert address
    page = uploader.browser.get("/uploads").text
    assert re.search(r'badge-warning">.*?2 rows failed<', page)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_filter_of_the_status_has_each_badge_of_the_list(
    uploader: Uploader, browser: Browser
) -> None:
    files = {
        "good.csv": ("checked", "Ready to apply"),
        "bad.csv": ("to-fix", "1 to fix"),
        "mixed.csv": ("to-fix", "1 to fix"),
        "applied.csv": ("done", "Applied"),
        "partly.csv": ("rows-failed", "1 row failed"),
        "undone.csv": ("undone", "Undone"),
    }
    uploader.upload(f"Name,Phone\nAnn,{ANN}\n", "good.csv")
    uploader.upload("Name,Phone\nBob,12\n", "bad.csv")
    uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,12\n", "mixed.csv")
    uploader.applied(f"Name,Phone\nAnn,{ANN}\n", "applied.csv")
    uploader.applied(f"Name,Phone\nAnn,{ANN}\nCy,13\n", "partly.csv")
    undone = uploader.applied(f"Name,Phone\nAn,{ANN}\n", "undone.csv")
    uploader.press(undone, "undo")
    uploader.work(undone)
    for status in {status for status, _ in files.values()}:
        page = browser.get(f"/uploads?state={status}").text
        listed = {name for name in files if f">{name}<" in page}
        assert listed == {name for name, (own, _) in files.items() if own == status}
        badges = {badge for own, badge in files.values() if own == status}
        assert (
            set(re.findall(r'class="badge[^"]*">(?:<span[^>]*></span>)?\s*([^<]+?)\s*<', page))
            == badges
        )
