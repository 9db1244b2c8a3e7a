"""The file of an upload again: in its own kind, and gone when its rows are."""

import csv
import io
import re
from datetime import timedelta

import pytest
from openpyxl import load_workbook
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.jobs.purging import purge_rows
from app.models import Contact, ContactImport, utcnow
from app.services.imports import expiry
from tests.files.corpus.workbooks import xlsx
from tests.fixtures.uploads import number
from tests.portal.uploader import Uploader, words

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
ANN, BOB = number(1), number(2)


def test_the_whole_file_and_its_failed_rows_come_back(uploader: Uploader) -> None:
    address = uploader.upload(f"Name;Phone\nAnn;{ANN}\nBob;12\n", "Zürich people.csv")
    whole = uploader.browser.get(f"{address}/file.csv")
    assert whole.headers["Content-Disposition"] == (
        'attachment; filename="problems-in-zurich-people.csv"'
    )
    rows = list(csv.reader(io.StringIO(whole.data.decode("utf-8-sig")), delimiter=";"))
    assert [row[:2] for row in rows] == [["Name", "Phone"], ["Ann", f"'{ANN}"], ["Bob", "12"]]
    failed = uploader.browser.get(f"{address}/failed-rows.csv").data.decode("utf-8-sig")
    assert failed.splitlines() == [";".join(rows[0]), ";".join(rows[2])]


def test_rows_that_failed_become_an_upload_of_their_own_to_fix_there(
    session: Session, uploader: Uploader
) -> None:
    rows = f"Name;Mobile;Notes;Region\nAnn;{ANN};x;y\nBob;12;x;y\nCy;;x;y\n"
    address = uploader.upload(rows, "my people.csv")
    uploader.press(address, "apply")
    uploader.work(address)
    assert "Fix 2 rows" in uploader.shows(address)
    first = uploader.press(address, "fix-failed")
    assert first.status_code == 303
    of_failed = str(first.location)
    assert of_failed != address
    uploader.work(of_failed)
    made, before = uploader.now(of_failed), uploader.now(address)
    assert (made.file_name, made.rows_total, made.failed) == ("failed-rows-of-my-people.csv", 2, 2)
    assert (made.action, made.campaign_id) == (before.action, before.campaign_id)
    assert made.mapping[: len(before.mapping)] == before.mapping
    shown = uploader.browser.get(of_failed).text
    assert "Problem becomes" not in shown
    targets = re.findall(
        r'<option value="([^"]*)" selected|form="columns" name="column" value="([^"]*)"', shown
    )
    assert [one or other for one, other in targets] == made.mapping
    assert re.search(r'btn-primary" form="fix-rows"[^>]*>\s*Save and check again', shown)
    assert shown.count("Save and check again") == 1
    assert shown.count("btn-primary") == 1
    assert re.findall(r'name="cell-2-1"[^>]*value="([^"]*)"', shown) == ["12"]
    uploader.browser.post(
        f"{of_failed}/rows",
        {"cell-2-1": BOB, "left_out": "3", "version": str(made.check_number)},
        page=of_failed,
    )
    uploader.work(of_failed)
    uploader.press(of_failed, "apply")
    uploader.work(of_failed)
    names = session.scalars(select(Contact.first_name).order_by(Contact.first_name)).all()
    assert names == ["Ann", "Bob"]


def test_a_workbook_comes_back_as_a_workbook(uploader: Uploader) -> None:
    address = uploader.upload(xlsx(["Name", "Phone"], ["Ann", ANN], ["Bob", "12"]), "people.xlsx")
    assert f'href="{address}/file.xlsx"' in uploader.browser.get(address).text
    assert uploader.browser.get(f"{address}/file.csv").status_code == 404
    answer = uploader.browser.get(f"{address}/file.xlsx")
    assert answer.headers["Content-Disposition"].endswith('filename="problems-in-people.xlsx"')
    sheet = load_workbook(io.BytesIO(answer.data)).worksheets[0]
    assert [cell.value for cell in sheet["B"]] == ["Phone", ANN, "12"]


def test_an_unreadable_file_has_no_rows_to_download(uploader: Uploader) -> None:
    address = uploader.upload(b"MZ\x00\x00" * 50)
    assert uploader.browser.get(f"{address}/file.csv").status_code == 404


def test_a_file_that_is_read_again_can_be_downloaded_only_as_a_whole(uploader: Uploader) -> None:
    rows = "".join(f"P{index},12\n" for index in range(1500))
    address = uploader.upload("Name,Phone\n" + rows)
    begun = uploader.browser.get(f"{address}/failed-rows.csv", buffered=False)
    pieces = begun.iter_encoded()
    next(pieces), next(pieces)
    uploader.press(address, "check")
    with pytest.raises(Conflict):
        next(pieces)
    assert uploader.browser.get(f"{address}/failed-rows.csv").status_code == 404
    uploader.work(address)
    whole = uploader.browser.get(f"{address}/failed-rows.csv").data
    assert len(whole.splitlines()) == 1501


@pytest.mark.parametrize("ends", ["deletion", "retention"])
def test_a_download_whose_rows_are_deleted_meanwhile_is_interrupted(
    uploader: Uploader, ends: str
) -> None:
    rows = "".join(f"P{index},12\n" for index in range(2500))
    address = uploader.applied(f"Name,Phone\nAnn,{ANN}\n{rows}")
    begun = uploader.browser.get(f"{address}/failed-rows.csv", buffered=False)
    pieces = begun.iter_encoded()
    next(pieces), next(pieces)
    if ends == "deletion":
        uploader.press(address, "delete-data")
    else:
        with uploader.database.transaction() as session:
            expiry.purge_some(session, uploader.now(address).id)
    with pytest.raises(Conflict):
        next(pieces)


def test_a_file_that_is_refused_when_read_again_offers_no_download(uploader: Uploader) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,12\n")
    form = {"encoding": "", "delimiter": "", "sheet": "", "region": "", "header_row": "500"}
    uploader.browser.post(f"{address}/columns", form, page=address)
    uploader.work(address)
    assert "Row 500 does not exist" in uploader.shows(address)
    assert uploader.browser.get(f"{address}/file.csv").status_code == 404
    assert "Download" not in uploader.shows("/uploads")


def test_after_their_days_the_rows_are_gone_and_the_figures_stay(uploader: Uploader) -> None:
    address = uploader.applied(f"Name,Phone\nAnn,{ANN}\nBob,12\n")
    with uploader.database.transaction() as session:
        session.execute(update(ContactImport).values(finished_at=utcnow() - timedelta(days=31)))
    purge_rows(uploader.database, 30)
    for part in ("file.csv", "failed-rows.csv"):
        gone = uploader.browser.get(f"{address}/{part}")
        assert gone.status_code == 410
        assert "The rows of this upload were removed on" in words(gone)
    message = uploader.shows(address)
    assert "1 + 0 + 0 + 0 + 1 = 2 rows in the file." in message
    assert "Rows no longer available" in message
    assert "Download" not in message


def test_the_result_names_the_rows_that_were_not_applied_and_the_next_step(
    uploader: Uploader,
) -> None:
    address = uploader.applied(f"Name,Phone\nAnn,{number(1)}\nBob,12\nCy,\n")
    message = uploader.shows(address)
    assert "1 contact added, 2 rows not applied." in message
    assert re.search(r"Phone: 12 .{20,80} Row 3 ", message)
    assert "Phone: empty " in message
    page = uploader.browser.get(address).text
    plan = f"/campaigns/{uploader.campaign_id}/outreach/plan"
    assert f'<a class="btn btn-primary" href="{plan}">Create plan</a>' in page
    assert page.count("btn-primary") == 1
