"""The journeys' own eyes: a page that does something wrong does not pass unseen."""

from typing import Any

from playwright.sync_api import Route

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack

WRONGS = """<h1>Twice</h1><p style="color: red">styled</p><script>alert(1)</script>
<img src="/nowhere.png"><svg width="2000" height="2"></svg>"""


def test_the_checks_of_a_visit_find_each_fault_of_a_page(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)

    def spoil(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("<h1>", f"{WRONGS}<h1>"))

    visit.page.route("**/sign-in", spoil)
    visit.page.goto(f"/p/{visit.slug}/sign-in")
    visit.page.evaluate("() => { setTimeout(() => { throw new Error('a fault') }) }")
    visit.page.evaluate("() => { setTimeout(() => alert('a question')) }")
    visit.page.wait_for_timeout(100)
    seen, findings = " ".join(visit.problems), " ".join(visit.findings())
    visit.problems.clear()
    for wrong in (
        *("style-src-attr: inline", "script-src-elem: inline", "nowhere.png: 404"),
        *("script: a fault", "dialog: a question"),
    ):
        assert wrong in seen
    for wrong in ("too wide", "2 h1", "image-alt"):
        assert wrong in findings
