"""A file that corrects the failed rows of an earlier upload, on both of their pages."""

import io

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.services.overview import ActionItemKind, find_action_items
from tests.fixtures.tenants import Tenant
from tests.portal.uploader import Uploader

ANN, BOB, CY = "+12025550143", "+12025550144", "+12025550145"
THREE = f"Name;Phone\nAnn;{ANN}\nBob;12\nCy;13\n"


def corrected(uploader: Uploader, first: str, data: str, name: str) -> str:
    """Send a corrected file from the page of the upload, and has it applied."""
    page = f"{uploader.page}?corrects={first.rsplit('/', 1)[1]}"
    assert f'href="{page}"' in uploader.browser.get(first).text
    form = {"file": (io.BytesIO(data.encode()), name), "action": "upsert"}
    answer = uploader.browser.post(page, form, page=page)
    assert answer.status_code == 303
    uploader.work(answer.location)
    uploader.press(answer.location, "apply")
    uploader.work(answer.location)
    return str(answer.location)


def uploads_to_do(session: Session, tenant: Tenant) -> list[tuple[str, str]]:
    session.expire_all()
    items = find_action_items(
        session, tenant.caller(Role.PARTNER_ADMIN), worker_silent_after=60
    ).items
    return [(item.title, item.text) for item in items if item.kind is ActionItemKind.UPLOAD]


def test_a_corrected_file_and_its_upload_name_each_other(
    uploader: Uploader, session: Session, tenant: Tenant
) -> None:
    first = uploader.applied(THREE, "people.csv")
    assert uploads_to_do(session, tenant) == [("2 rows were not applied", "people.csv")]
    page = f"{uploader.page}?corrects={first.rsplit('/', 1)[1]}"
    assert "For 2 failed rows of people.csv" in uploader.shows(page)
    later = corrected(uploader, first, f"Name;Phone\nBob;{BOB}\nCy;{CY}\n", "fixed.csv")
    shown = uploader.shows(first)
    assert "2 of 2 failed rows fixed by fixed.csv" in shown
    assert "Fix 2 rows" not in shown
    assert "It corrects failed rows of people.csv ." in uploader.shows(later)
    assert uploads_to_do(session, tenant) == []
    assert "rows failed" not in uploader.shows("/uploads")


def test_rows_that_fail_again_stay_to_fix_in_the_corrected_file(
    uploader: Uploader, session: Session, tenant: Tenant
) -> None:
    first = uploader.applied(THREE, "people.csv")
    later = corrected(uploader, first, f"Name;Phone\nBob;{BOB}\nCy;14\n", "fixed.csv")
    shown = uploader.shows(first)
    assert "1 of 2 failed rows fixed by fixed.csv" in shown
    assert "1 row failed there." in shown
    assert "Fix 2 rows" not in shown
    assert "Fix 1 row" in uploader.shows(later)
    assert uploads_to_do(session, tenant) == [("1 row was not applied", "fixed.csv")]
    corrected(uploader, later, f"Name;Phone\nCy;{CY}\n", "last.csv")
    assert uploads_to_do(session, tenant) == []


def test_an_undone_correction_leaves_the_rows_to_fix(
    uploader: Uploader, session: Session, tenant: Tenant
) -> None:
    first = uploader.applied(THREE, "people.csv")
    later = corrected(uploader, first, f"Name;Phone\nBob;{BOB}\nCy;{CY}\n", "fixed.csv")
    uploader.press(later, "undo")
    uploader.work(later)
    assert "Fix 2 rows" in uploader.shows(first)
    assert uploads_to_do(session, tenant) == [("2 rows were not applied", "people.csv")]


def test_failed_rows_that_became_an_upload_wait_there(
    uploader: Uploader, session: Session, tenant: Tenant
) -> None:
    first = uploader.applied(THREE, "people.csv")
    later = str(uploader.press(first, "fix-failed").location)
    uploader.work(later)
    shown = uploader.shows(first)
    assert "failed-rows-of-people.csv is not applied yet" in shown
    assert "Fix 2 rows" not in shown
    assert "It corrects failed rows of people.csv ." in uploader.shows(later)
    name = "failed-rows-of-people.csv"
    assert uploads_to_do(session, tenant) == [("2 rows need fixing", name)]
    uploader.press(later, "cancel")
    assert "Fix 2 rows" in uploader.shows(first)


@pytest.mark.parametrize("named", ["people.csv", "01a22572-0800-7a2b-8c70-4d727fea1bbf"])
def test_a_file_that_corrects_no_upload_of_the_campaign_is_not_found(
    uploader: Uploader, named: str
) -> None:
    page = f"{uploader.page}?corrects={named}"
    assert uploader.browser.get(page).status_code == 404
    form = {"file": (io.BytesIO(THREE.encode()), "people.csv"), "action": "upsert"}
    assert uploader.browser.post(page, form, page=uploader.page).status_code == 404
    assert uploader.shows("/uploads").count("people.csv") == 0
