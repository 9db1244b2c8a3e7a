"""A real export with bad rows: chosen, checked, applied, and the failures taken home."""

import csv
import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.e2e.conftest import Open
from tests.e2e.polling import follow_until
from tests.e2e.visits import Visit
from tests.files.exports import Export, hubspot_contacts, hubspot_workbook
from tests.fixtures.stack import Stack

KIND_OF_CHIP = {
    "Rounded by the spreadsheet": "excel_damaged_phone",
    "Written as a power of ten": "excel_damaged_phone",
    "Turned into a decimal": "excel_damaged_phone",
    "Only # signs saved": "excel_damaged_phone",
    "Extra apostrophe": "excel_damaged_phone",
    "Phone too short": "invalid_phone",
    "Country code unknown": "invalid_phone",
    "Letters in the phone": "invalid_phone",
    "Email not an address": "invalid_email",
    "No phone or email": "missing_identifier",
    "Several phones in one cell": "several_phones",
    "Text too long": "value_too_long",
}


def open_campaign(
    stack: Stack, partner: dict[str, Any], open_browser: Open, place: int, *, script: bool
) -> tuple[Visit, str]:
    """A member of an organization before its campaign; with the campaign's path."""
    organization = partner["organizations"][place]
    visit = open_browser(stack, partner, script=script)
    path = f"/campaigns/{organization['campaigns'][0]['id']}"
    visit.sign_in(organization["users"][0], then=path)
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("Winter recall")
    return visit, path


def number(words: str) -> int:
    return int(words.replace(",", ""))


def size_of(page: Page) -> int:
    """How many contacts the campaign's page says that it holds."""
    sentence = page.get_by_text(
        re.compile(r"^A campaign of .* with [\d,]+ contacts\.")
    ).inner_text()
    found = re.search(r"with ([\d,]+) contacts", sentence)
    assert found
    return number(found.group(1))


def choose(page: Page, name: str, kind: str, data: bytes) -> None:
    page.get_by_role("link", name="Upload contacts").click()
    page.get_by_label("Contact file").set_input_files(
        {"name": name, "mimeType": kind, "buffer": data}
    )
    page.get_by_role("button", name="Check file").click()


def wait_for_heading(page: Page, words: str) -> None:
    follow_until(page, page.get_by_role("heading", level=1, name=words))


def five_counts(page: Page) -> tuple[list[str], list[int]]:
    """Their labels and figures as JSON counts: unchanged rows are among the updated ones."""
    tiles = page.locator(".stats .stat")
    expect(tiles.nth(4)).to_be_visible()
    labels = tiles.locator(".stat-label").all_inner_texts()
    counts = [number(text) for text in tiles.locator(".stat-figure").all_inner_texts()]
    if "Unchanged" in labels:
        place = labels.index("Unchanged")
        labels.pop(place)
        counts[place - 1] += counts.pop(place)
    return labels, counts


def kinds(chips: Locator) -> Counter[str]:
    """Rows by kind, as the chips count them; the first chip counts all of them."""
    everything, *of_a_kind = [chip.inner_text().split() for chip in chips.all()]
    found: Counter[str] = Counter()
    for *words, rows in of_a_kind:
        found[KIND_OF_CHIP[" ".join(words)]] += number(rows)
    assert everything == ["All", f"{found.total():,}"]
    return found


def rows_of(file: Path, kind: str) -> list[dict[str, str]]:
    """The rows of a download, which is of the same kind and encoding as what was uploaded."""
    if kind == "text/csv":
        with file.open(encoding="cp1252", newline="") as opened:
            return list(csv.DictReader(opened))
    workbook = load_workbook(io.BytesIO(file.read_bytes()))
    names, *rows = workbook.worksheets[0].iter_rows(values_only=True)
    return [dict(zip(map(str, names), map(str, row), strict=True)) for row in rows]


def follow(visit: Visit, path: str, export: Export, name: str, kind: str, *, script: bool) -> None:
    """Chooses, checks and applies the file, and takes the failures home."""
    page = visit.page
    before = size_of(page)
    bad = Counter(kind for _, kind in export.bad)
    good = export.rows - len(export.bad)

    choose(page, name, kind, export.data)
    wait_for_heading(page, "37 of 2,000 rows need fixing")
    labels, checked = five_counts(page)
    assert labels == [
        *("Would be created", "Would be updated", "Would be deleted", "Ignored", "Failed"),
    ]
    assert (sum(checked), checked[4]) == (2000, 37)
    assert kinds(page.get_by_role("list", name="Problems").get_by_role("link")) == bad
    if script:
        assert visit.findings() == []

    page.get_by_role("list", name="Problems").get_by_role("link", name="No phone or email").click()
    shown = page.get_by_role("region", name="Your columns and rows").locator("tbody tr")
    expect(shown).to_have_count(bad["missing_identifier"])
    page.go_back()

    page.get_by_role("button", name=f"Apply {good:,} rows").click()
    wait_for_heading(page, f"{good:,} rows applied")
    labels, applied = five_counts(page)
    assert labels == ["Created", "Updated", "Deleted", "Ignored", "Failed"]
    assert applied == checked
    sums = " + ".join(f"{count:,}" for count in applied)
    expect(page.get_by_text(f"{sums} = 2,000 rows in the file.")).to_be_visible()
    if script:
        assert visit.findings() == []

    with page.expect_download() as download:
        page.get_by_role("link", name="Download 37 rows").click()
    failures = rows_of(Path(download.value.path()), kind)
    assert [int(row["Record ID"]) for row in failures] == [
        51_000_000 + number - 2 for number, _ in export.bad
    ]
    assert [row for row in failures if not row["Problem"]] == []

    page.get_by_role("link", name="Open campaign").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Winter recall")
    assert page.url.endswith(path)
    assert size_of(page) == before + applied[0]
    search = page.get_by_label("Name, number, email or ID")
    search.fill("contact11@mail.example")
    search.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("Léa Åkesson")


def test_an_export_with_bad_rows_goes_from_the_file_to_the_campaign(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit, path = open_campaign(
        shared_stack, partner, open_browser, 0 if script else 1, script=script
    )
    export = hubspot_contacts()
    follow(visit, path, export, "all-contacts.csv", "text/csv", script=script)


def test_the_same_export_as_a_workbook_gives_the_same_result(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit, path = open_campaign(shared_stack, partner, open_browser, 2, script=True)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.review-table"
    follow(visit, path, hubspot_workbook(), "all-contacts.xlsx", kind, script=True)


def test_a_file_that_is_no_table_is_refused_with_a_sentence_and_the_next_step(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit, _path = open_campaign(shared_stack, partner, open_browser, 0, script=script)
    page = visit.page
    choose(page, "picture.csv", "text/csv", b"\x89PNG\r\n\x1a\n" + b"\0" * 64)
    wait_for_heading(page, "The file can’t be checked")
    expect(page.get_by_role("alert")).not_to_be_empty()
    expect(page.get_by_role("link", name="Upload another file")).to_be_visible()
    if script:
        assert visit.findings() == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], "Choose a contact file."),
        ([{"name": "nothing.csv", "mimeType": "text/csv", "buffer": b""}], "The file is empty."),
    ],
    ids=["none", "an empty one"],
)
def test_a_form_without_a_file_or_with_an_empty_one_is_refused_at_its_field(
    shared_stack: Stack,
    partner: dict[str, Any],
    open_browser: Open,
    files: list[FilePayload],
    words: str,
) -> None:
    visit, _path = open_campaign(shared_stack, partner, open_browser, 0, script=True)
    page = visit.page
    page.get_by_role("link", name="Upload contacts").click()
    page.get_by_label("Contact file").set_input_files(files)
    page.get_by_role("button", name="Check file").click()
    expect(page.get_by_role("alert")).to_contain_text(words)
    expect(page.get_by_label("Contact file")).to_have_attribute("aria-invalid", "true")
    assert visit.findings() == []
