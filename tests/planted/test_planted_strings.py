"""No string of one partner reaches the other: not in a page, JSON, file, mail, header or log.

A third of ``PORTAL_TEST_REQUESTS`` goes to each of SQLite, PostgreSQL, and PostgreSQL past its
row-level security. The commit chooses the random requests and one of the three for each test;
`make crawl` and `make check-all` ask all three.
"""

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask, Response, abort

from app.services import tenancy
from app.services.audit.notified import counting_unread
from app.services.overview.figures import _organizations_query
from tests.matrix import is_full, rotating
from tests.planted.conftest import WALLS
from tests.planted.crawl import Crawl, CrawlRequest
from tests.planted.leak_detector import LeakDetector
from tests.planted.planting import PlantedPartner, unplanted

pytestmark = pytest.mark.alternating

REQUESTS = int(os.environ.get("PORTAL_TEST_REQUESTS", "5000" if is_full() else "2400")) // 3
WITHOUT_FILTER = 80
"""Requests that are sent without the tenant filter."""
MIN_SHOWN = 250
"""The least number of its own markers and ids that the asking partner sees."""


@pytest.mark.parametrize("wall", WALLS[:1])
def test_every_text_of_both_partners_is_planted(
    planted_partners: tuple[PlantedPartner, PlantedPartner],
) -> None:
    assert [unplanted(side) for side in planted_partners] == [set(), set()]


@pytest.mark.crawl
@pytest.mark.parametrize("wall", rotating("database of the planted strings", WALLS))
def test_no_request_shows_a_string_of_another_partner(
    crawl: Crawl, leak_detector: LeakDetector
) -> None:
    leak_detector.run(crawl, REQUESTS)
    assert leak_detector.found == []
    assert len(leak_detector.own) >= MIN_SHOWN


@pytest.mark.parametrize("wall", WALLS[:1])
def test_a_marker_is_found_wherever_a_request_can_bring_it(
    app: Flask, crawl: Crawl, leak_detector: LeakDetector, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = crawl.other.rows["organizations"][0]["name"]
    campaign_id = crawl.other.rows["campaigns"][0]["id"]
    phone = crawl.other.rows["contacts"][0]["phone"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as workbook:
        workbook.writestr("sheet.xml", f"<v>{name}</v>")

    def logged() -> Response:
        app.logger.info("read %s", name)
        return Response("nothing")

    answers: dict[str, Callable[[], Response]] = {
        "200 body": lambda: Response(f"<b>{name.upper()}</b>"),
        "200 an id": lambda: Response(str(campaign_id)),
        "200 a number": lambda: Response(f"({phone[2:5]}) {phone[5:8]}-{phone[8:]}"),
        "200 a workbook": lambda: Response(packed.getvalue()),
        "200 headers": lambda: Response(headers={"X-Name": name}),
        "404 body": lambda: abort(Response(name, 404)),
        "log": logged,
        "nothing": lambda: Response("nothing"),
    }
    found = {}
    for place, answer in answers.items():
        monkeypatch.setitem(app.view_functions, "portal.account.show_account", answer)
        leak_detector.found.clear()
        leak_detector.serve(crawl, crawl.visitors[0], CrawlRequest("GET", "/account"))
        found[place] = len(leak_detector.found)
    assert found == dict.fromkeys(answers, 1) | {"nothing": 0}
    leak_detector.found.clear()
    leak_detector.serve(crawl, crawl.visitors[0], CrawlRequest("GET", f"/search?q={name}"))
    assert leak_detector.found == []  # what was asked for may be repeated


def unfiltered(  # takes what `of_tenant` takes
    query: Any,
    caller: Any,
    partner_id: Any,
    organization_id: Any = None,
) -> Any:
    return query


@pytest.fixture
def without_tenant_filter(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove the filter from all queries once the data of ``crawl`` is there, also from those that
    are built once for each caller."""
    monkeypatch.setattr(tenancy.of_tenant, "__code__", unfiltered.__code__)
    built_once = _organizations_query, counting_unread
    for query in built_once:
        query.cache_clear()
    yield
    for query in built_once:
        query.cache_clear()


@pytest.mark.crawl
@pytest.mark.usefixtures("without_tenant_filter")
@pytest.mark.parametrize("wall", rotating("database without the tenant filter", WALLS))
def test_without_the_tenant_filter_strings_leak_unless_row_level_security_hides_them(
    crawl: Crawl, leak_detector: LeakDetector, wall: str
) -> None:
    leak_detector.run(crawl, WITHOUT_FILTER)
    assert bool(leak_detector.found) == (wall != "postgresql")
