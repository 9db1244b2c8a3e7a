"""Fixing a file on the check screen: bad cells are fields, rows are left out, nothing is lost."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from sqlalchemy import update
from werkzeug.test import TestResponse

from app.enums import ImportStatus
from app.models import Partner
from tests.fixtures.uploads import number
from tests.portal.uploader import Uploader, heading, words

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
ANN, BOB = number(1), number(2)
FILE = f"Name,Phone,E-mail\nAnn,12,ann@mail.example\nBob,{BOB},bob(at)mail\nCy,{number(3)},\n"


def fields(page: TestResponse) -> dict[str, str]:
    """The cells that can be typed again, as a browser would send them."""
    found = re.findall(r'name="(cell-\d+-\d+)" value="([^"]*)"', page.text)
    return {name: unescape(value) for name, value in found}


def version(page: TestResponse) -> str:
    found = re.search(r'id="fix-rows".*?name="version" value="(\d+)"', page.text, re.DOTALL)
    assert found
    return found.group(1)


def applying(page: TestResponse) -> dict[str, str]:
    """The fields that the button to apply the rows sends."""
    assert re.search(r'form="fix-rows" formaction="[^"]*/apply"', page.text)
    return {"version": version(page), **fields(page)}


def save(uploader: Uploader, address: str, **typed: Any) -> TestResponse:
    page = uploader.browser.get(address)
    form = {"version": version(page), **fields(page)}
    form |= {name.replace("_", "-"): value for name, value in typed.items() if name != "left_out"}
    form |= {name: value for name, value in typed.items() if name == "left_out"}
    return uploader.browser.post(f"{address}/rows", form, page=address)


def test_bad_cells_are_corrected_and_checked_with_the_same_messages(uploader: Uploader) -> None:
    address = uploader.upload(FILE)
    page = uploader.browser.get(address)
    assert fields(page) == {"cell-2-1": "12", "cell-3-2": "bob(at)mail"}
    assert save(uploader, address, cell_2_1=ANN, cell_3_2="bob@mail").location == f"{address}#rows"
    uploader.work(address)
    page = uploader.browser.get(address)
    assert heading(page) == "1 of 3 rows needs fixing"
    assert fields(page) == {"cell-3-2": "bob@mail"}
    message = words(page)
    assert "Enter an email like name@example.com." in message
    assert "By hand: 2 cells changed" in message
    save(uploader, address, cell_3_2="bob@mail.example")
    uploader.work(address)
    assert heading(uploader.browser.get(address)) == "All 3 rows can be applied"
    uploader.press(address, "apply")
    uploader.work(address)
    result = uploader.shows(address)
    assert "3 rows applied" in result
    assert "3 rows, 2 cells changed" in result
    assert "bob@mail.example" in uploader.shows(f"/campaigns/{uploader.campaign_id}")


def test_one_of_two_possible_numbers_is_chosen_for_its_row(uploader: Uploader) -> None:
    address = uploader.upload("Name,Phone\nAnn,49171123456\n")
    reading = {"sheet": "", "encoding": "", "delimiter": "", "header_row": "", "region": "DE"}
    uploader.browser.post(f"{address}/columns", reading, page=address)
    uploader.work(address)
    text = uploader.shows(address)
    assert "Leading zero or + lost. +49 171123456 +49 491 71123456" in text
    assert "Fix 1 row" not in text
    save(uploader, address, **{"choice-2-1": "+49171123456"})
    uploader.work(address)
    assert heading(uploader.browser.get(address)) == "1 row can be applied"
    assert "+49171123456" in uploader.browser.get(f"{address}/file.csv").text


def test_a_row_is_left_out_and_taken_back_in(uploader: Uploader) -> None:
    address = uploader.upload(FILE)
    save(uploader, address, left_out=["2", "x", "99999999999"])
    uploader.work(address)
    message = uploader.shows(address)
    assert "1 + 0 + 0 + 1 + 1 = 3 rows in the file. Ignored: 1 row that was left out" in message
    assert uploader.press(address, "rows/restore").location == f"{address}#rows"
    uploader.work(address)
    assert "2 of 3 rows need fixing" in uploader.shows(address)


def test_the_page_is_loaded_at_its_rows_once_the_corrections_are_checked(
    uploader: Uploader,
) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,12\nBob,{BOB}\n")
    url = save(uploader, address, cell_2_1="13").location
    uploader.work(address)
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://localhost{url}"}
    answer = uploader.browser.get(f"{address}/live", headers=headers)
    assert answer.headers["HX-Redirect"] == f"{address}?rows=failed#rows"


def test_all_corrections_can_be_undone_together(uploader: Uploader) -> None:
    address = uploader.upload(FILE)
    save(uploader, address, cell_2_1=ANN)
    uploader.work(address)
    assert "1 of 3 rows needs fixing" in uploader.shows(address)
    uploader.press(address, "rows/discard-fixes")
    uploader.work(address)
    assert "2 of 3 rows need fixing" in uploader.shows(address)


def test_edits_are_cancelled_only_after_a_confirmation_and_can_be_downloaded(
    uploader: Uploader,
) -> None:
    address = uploader.upload(FILE)
    assert 'data-dialog="cancel"' not in uploader.browser.get(address).text
    save(uploader, address, cell_2_1=ANN)
    uploader.work(address)
    assert 'data-dialog="cancel"' in uploader.browser.get(address).text
    asked = uploader.shows(f"{address}/cancel")
    assert "Cancel the upload of people.csv? By hand: 1 cell changed." in asked
    assert "The rows with the edits can be downloaded until" in asked
    uploader.press(address, "cancel")
    page = uploader.browser.get(address)
    assert "Step 2 of 3" not in words(page)
    assert "This upload’s data uses storage It is deleted on" in words(page)
    assert f'href="{address}/file.csv"' in page.text
    assert ANN in uploader.browser.get(f"{address}/file.csv").text
    assert "The checked rows are deleted and can’t be" in uploader.shows(f"{address}/delete-data")
    assert uploader.browser.get(f"{address}/cancel").location == address


def test_pages_name_the_day_on_which_the_partner_deletes_the_rows(uploader: Uploader) -> None:
    with uploader.database.transaction() as session:
        session.execute(update(Partner).values(retention_days={"uploads": 10}))
    applied = uploader.applied(FILE)
    finished_at = uploader.now(applied).finished_at
    assert finished_at is not None
    day = f"{finished_at + timedelta(days=10):%-d %B %Y}"
    assert f"It is deleted on {day}" in uploader.shows(applied)
    cancelled = uploader.upload(FILE)
    save(uploader, cancelled, cell_2_1=ANN)
    uploader.work(cancelled)
    assert f"can be downloaded until {day}" in uploader.shows(f"{cancelled}/cancel")
    uploader.press(cancelled, "cancel")
    assert f"It is deleted on {day}" in uploader.shows(cancelled)


def test_a_form_without_a_change_checks_nothing_again(uploader: Uploader) -> None:
    address = uploader.upload(FILE)
    assert save(uploader, address).location == f"{address}#rows"
    assert uploader.now(address).status is ImportStatus.CHECKED


def test_the_second_user_sees_the_new_check_and_keeps_their_corrections(
    uploader: Uploader,
) -> None:
    address = uploader.upload(FILE)
    seen = version(uploader.browser.get(address))
    save(uploader, address, cell_2_1="13")
    uploader.work(address)
    form = {"version": seen, "cell-2-1": ANN}
    late = uploader.browser.post(f"{address}/rows", form, page=address)
    assert late.status_code == 409
    assert "Someone else changed this check" in words(late)
    assert fields(late)["cell-2-1"] == ANN
    again = {**form, "version": version(late)}
    assert uploader.browser.post(f"{address}/rows", again, page=address).status_code == 303
    uploader.work(address)
    assert "1 of 3 rows needs fixing" in uploader.shows(address)


def test_a_check_that_the_user_has_not_seen_is_not_applied(uploader: Uploader) -> None:
    address = uploader.upload(FILE)
    seen = applying(uploader.browser.get(address))
    save(uploader, address, cell_2_1=ANN)
    uploader.work(address)
    late = uploader.browser.post(f"{address}/apply", seen, page=address)
    assert late.status_code == 409
    assert fields(late)["cell-3-2"] == "bob(at)mail"
    assert "This check has changed Nothing was applied yet." in words(late)
    assert uploader.now(address).status is ImportStatus.CHECKED
    answer = uploader.browser.post(f"{address}/apply", applying(late), page=address)
    assert answer.status_code == 303
    uploader.work(address)
    assert "2 rows applied" in uploader.shows(address)


def test_applying_saves_and_checks_first_what_was_typed(uploader: Uploader) -> None:
    address = uploader.upload(FILE)
    form = applying(uploader.browser.get(address)) | {"cell-2-1": ANN, "left_out": "3"}
    checked_first = uploader.browser.post(f"{address}/apply", form, page=address).location
    saved = "Your edits were saved and are checked first. Then apply the rows."
    for _ in "12":
        assert saved in words(uploader.browser.get(checked_first))
    uploader.work(address)
    page = uploader.browser.get(checked_first)
    assert uploader.now(address).status is ImportStatus.CHECKED
    assert "Your edits were saved and checked. Nothing is applied until" in words(page)
    assert heading(page) == "2 rows can be applied"
    uploader.browser.post(f"{address}/apply", applying(page), page=address)
    uploader.work(address)
    assert "2 rows applied" in uploader.shows(address)


def test_a_row_out_of_place_is_fixed_as_a_whole(uploader: Uploader) -> None:
    address = uploader.upload(f"Name,Phone\nLee, Ann,{ANN}\nBob,{BOB}\n")
    page = uploader.browser.get(address)
    assert fields(page) == {"cell-2-0": "Lee", "cell-2-1": " Ann"}
    assert f"After the last column: {ANN}" in words(page)
    save(uploader, address, cell_2_0="Ann Lee", cell_2_1=ANN)
    uploader.work(address)
    assert heading(uploader.browser.get(address)) == "All 2 rows can be applied"


def test_a_row_without_an_identity_is_fixed_in_any_cell_that_could_hold_one(
    uploader: Uploader,
) -> None:
    address = uploader.upload("Name,Phone,E-mail,Note\nAnn,,,x\n")
    assert fields(uploader.browser.get(address)) == {"cell-2-1": "", "cell-2-2": ""}
    save(uploader, address, cell_2_2="ann@mail.example")
    uploader.work(address)
    assert heading(uploader.browser.get(address)) == "1 row can be applied"


def test_fixed_cells_keep_no_markup_or_nul(uploader: Uploader) -> None:
    address = uploader.upload(FILE)
    save(uploader, address, cell_2_1='"><b>\0')
    uploader.work(address)
    page = uploader.browser.get(address)
    assert '"><b>' not in page.text
    assert fields(page)["cell-2-1"] == '"><b>\ufffd'


def test_encoding_and_sheet_can_be_changed_on_the_check_screen(uploader: Uploader) -> None:
    address = uploader.upload("Name,Phone\nAnn,07700 900123\n")
    assert "1 of 1 row needs fixing" in uploader.shows(address)
    reading = {"sheet": "", "encoding": "", "delimiter": "", "header_row": "", "region": "GB"}
    assert uploader.browser.post(f"{address}/columns", reading, page=address).location == address
    uploader.work(address)
    page = uploader.browser.get(address)
    assert heading(page) == "1 row can be applied"
    assert '<option selected value="GB">' in page.text
    assert "without a country code as those of the United Kingdom" in words(page)
    assert "were read as numbers of the organization’s country" not in words(page)
    nowhere = uploader.browser.post(f"{address}/columns", reading | {"region": "XX"}, page=address)
    assert nowhere.status_code == 422


def test_another_country_is_offered_where_most_numbers_do_not_fit(uploader: Uploader) -> None:
    rows = "".join(f"Ann {each},0171 1234{each}\n" for each in range(501, 505))
    address = uploader.upload(f"Name,Phone\n{rows}Bob,{BOB}\n")
    page = uploader.browser.get(address)
    assert "The numbers were read as numbers of the United States" in words(page)
    form = page.text.partition("The numbers were read as")[2].partition("</form>")[0]
    kept = dict(re.findall(r'name="(encoding|delimiter|sheet|header_row)" value="([^"]*)"', form))
    assert kept == dict.fromkeys(["encoding", "delimiter", "sheet", "header_row"], "")
    uploader.browser.post(f"{address}/columns", kept | {"region": "DE"}, page=address)
    uploader.work(address)
    assert heading(uploader.browser.get(address)) == "All 5 rows can be applied"


def test_no_other_country_is_offered_for_single_or_incomplete_numbers(uploader: Uploader) -> None:
    fitting = "".join(f"Cy,202555{each:04d}\n" for each in range(100, 103))
    for rows in (f"{fitting}Ann,0171 1234501\n", "Ann,12\n", "Ann,+49 171 1234501234567\n"):
        text = uploader.shows(uploader.upload(f"Name,Phone\n{rows}"))
        assert "need" in text
        assert "The numbers were read as" not in text
