"""A budget whose alert is sent, and a statement that says the same on its page and in its files."""

import csv
import io
import re
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from playwright.sync_api import Page, expect

from app.jobs.housekeeping import close_months, report_budgets
from tests.e2e.conftest import Open
from tests.e2e.outbox import open_mail
from tests.e2e.scripts import ask
from tests.e2e.tasks import beside, run
from tests.fixtures.pdf_text import texts_of
from tests.fixtures.stack import Stack
from tests.fixtures.worker import outcome

Partner = dict[str, Any]

CELLS = """
(rows) => rows.map((row) => {
  const detail = row.querySelector(".cell-sub:not(.cell-phone)")?.textContent ?? "";
  const [name, ...others] = [...row.cells];
  const texts = others.map((cell) => cell.innerText.trim());
  return [name.firstChild.textContent.trim(), detail, ...texts];
})
"""


def spend(stack: Stack, organization: dict[str, Any]) -> None:
    """Place a call for a minute's price, which ends."""
    body = {
        "agentId": organization["agents"][0]["id"],
        "contact": {"phoneNumber": organization["simulator"]["human"], "firstName": "Ada"},
    }
    made = ask(stack, "POST", "/api/v1/outbound/call", body=body, key=organization["apiKey"])
    with beside(stack) as worker:
        assert outcome(worker.database, UUID(made["callId"]))[0] == "completed"


def test_a_budget_that_is_spent_is_notified_and_mailed(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    organization, reader = partner["organizations"][2], f"ada@{uuid4().hex[:12]}.example"
    name = organization["name"]
    spend(shared_stack, organization)
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(partner["users"][0], then=f"/organizations/{organization['id']}/spending")
    page.get_by_role("link", name="Set a budget").click()
    page.get_by_label("Budget a month").fill("a penny")
    page.get_by_label("Alert levels").fill("80, 1000")
    page.get_by_label("More recipients").fill("ada at hillside")
    page.get_by_role("button", name="Save budget").click()
    problems = page.get_by_role("alert")
    expect(problems).to_contain_text("Enter an amount like 12.50.")
    expect(problems).to_contain_text("Enter 1 to 5 percentages from 1 to 200, like 50, 80, 100.")
    expect(problems).to_contain_text("“ada at hillside” isn’t an email address.")
    assert visit.faults(script) == []
    page.get_by_label("Budget a month").fill("0.01")
    page.get_by_label("Alert levels").fill("80, 100")
    page.get_by_label("More recipients").fill(reader)
    page.get_by_role("button", name="Save budget").click()
    expect(page.locator(".result")).to_have_text(
        "Budget saved. An alert is sent within minutes: the level of 100 % is already reached."
    )
    expect(page.get_by_text("The budget is spent.")).to_be_visible()

    run(shared_stack, report_budgets)
    page.goto("/notifications?kind=organization&state=unread")
    notified = page.get_by_role("listitem").filter(has_text=name)
    expect(notified).to_contain_text("100 %")
    assert visit.faults(script) == []
    notified.locator(".list-row-title").first.click()
    expect(page.get_by_role("heading", level=2, name="Budget this month")).to_be_visible()
    open_mail(visit, f"100 % of the budget of {name} spent", reader)
    letter = page.frame_locator("iframe")
    expect(letter.get_by_text("The budget is $0.01.")).to_be_visible()

    page.goto(f"/organizations/{organization['id']}/budget")
    for label in ("Budget a month", "Alert levels", "More recipients"):
        page.get_by_label(label).fill("")
    page.get_by_role("button", name="Save budget").click()
    expect(page.get_by_role("link", name="Set a budget")).to_be_visible()


def downloaded(page: Page, link: str) -> bytes:
    with page.expect_download() as file:
        page.get_by_role("link", name=link).click()
    return file.value.path().read_bytes()


def in_numbers(line: list[str]) -> list[str | Decimal]:
    """The words of a statement's line, then quantity, price and amount, as far as it has them."""
    numbers = (re.sub(r"[^\d.-]", "", cell) for cell in line[2:])
    return [*line[:2], *(Decimal(number) for number in numbers if number)]


def test_page_csv_and_pdf_of_a_statement_agree(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    organization = partner["organizations"][1]
    run(shared_stack, close_months)
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(partner["users"][0], then=f"/statements/{organization['id']}")
    expect(page.get_by_text("A preview until it is closed on")).to_be_visible()
    closed = page.get_by_label("Month").locator("option").last  # the last month may wait
    month = closed.inner_text()
    page.get_by_label("Month").select_option(label=month)
    if not script:
        page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Statement for {month}")
    expect(page.get_by_text("This month is closed")).to_be_visible()
    assert visit.faults(script) == []

    *lines, (_, _, _, _, total) = page.locator("tbody tr, tfoot tr").evaluate_all(CELLS)
    table = list(
        csv.DictReader(io.StringIO(downloaded(page, "Export CSV").decode("utf-8-sig"), newline=""))
    )
    columns = ("Description", "Detail", "Quantity", "Unit price", "Amount")
    *listed, summed = [in_numbers([row[column] for column in columns]) for row in table]
    assert listed == [in_numbers(line) for line in lines]
    assert summed == ["Total", "", *in_numbers(["", "", total])[2:]]
    *amounts, whole = [Decimal(row["Amount"]) for row in table]
    assert sum(amounts) == whole
    assert {row["Buyer"] for row in table} == {organization["name"]}

    paper = texts_of(downloaded(page, "Download PDF"))
    start, end = paper.index("Amount"), paper.index("Total")
    assert paper[start + 1 : end] == [cell for line in lines for cell in line if cell]
    assert paper[end + 1] == total
    assert f"Statement for {month}" in paper
    assert table[0]["Invoice number"] in paper
