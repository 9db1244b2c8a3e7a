"""A damaged file is fixed on the screen, applied, and taken back."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Open
from tests.e2e.test_contact_upload import (
    choose,
    five_counts,
    open_campaign,
    size_of,
    wait_for_heading,
)
from tests.fixtures.stack import Stack

FILE = """Patient,Mobile,E-mail
Anneliese Fixed,20255,anneliese@mail.example
Bob Fixed,+1 202 867 5377,bob(at)mail.example
Nobody Fixed,,
Cy Fixed,+1 202 867 5378,
"""


def test_a_damaged_file_is_fixed_applied_and_undone(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit, path = open_campaign(shared_stack, partner, open_browser, 2, script=script)
    page = visit.page
    before = size_of(page)
    choose(page, "damaged.csv", "text/csv", FILE.encode())
    wait_for_heading(page, "3 of 4 rows need fixing")
    checked = page.url
    if script:
        assert not number_covers(page, "Anneliese Fixed")

    page.get_by_label("Mobile, row 2").fill("+1 202 867 5376")
    page.get_by_label("E-mail, row 3").fill("bob@mail")
    page.get_by_label("Leave out row 4").check()
    page.get_by_role("button", name="Save and check again").click()
    wait_for_heading(page, "1 of 4 rows needs fixing")
    expect(page.get_by_label("E-mail, row 3")).to_have_value("bob@mail")
    if script:
        assert visit.findings() == []
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the whole file").click()
    text = Path(download.value.path()).read_text("utf-8-sig")
    assert "Anneliese Fixed,'+1 202 867 5376,anneliese@mail.example," in text
    assert "E-mail: Enter an email like name@example.com" in text

    page.get_by_label("E-mail, row 3").fill("bob@mail.example")
    page.get_by_role("button", name="Save and check again").click()
    wait_for_heading(page, "3 rows can be applied")
    page.get_by_role("button", name="Apply 3 rows").click()
    wait_for_heading(page, "3 rows applied")
    assert five_counts(page)[1] == [3, 0, 0, 1, 0]
    expect(page.get_by_text("4 rows, 2 cells changed, 1 row left out")).to_be_visible()

    page.get_by_role("link", name="Preview undo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Undo this upload?")
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Undo this upload").click()
    wait_for_heading(page, "Upload undone")
    assert page.url == checked
    expect(page.locator(".stats").first).to_contain_text(re.compile(r"Removed\s*3"))
    if script:
        assert visit.findings() == []
    page.get_by_role("link", name="Open campaign").click()
    expect(page).to_have_url(f"{shared_stack.base_url}{path}")
    assert size_of(page) == before


def number_covers(page: Page, name: str) -> bool:
    """Return whether a row’s number covers its name on a phone."""
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": 390, "height": 844})
    row = page.get_by_role("row").filter(has_text=name)
    left, right = (
        row.locator(cell).evaluate("cell => cell.getBoundingClientRect().toJSON()")
        for cell in ("td.phone-title", "th")
    )
    page.set_viewport_size(size)
    return bool(left["right"] > right["left"] and left["bottom"] > right["top"])
