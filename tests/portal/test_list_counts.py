"""Lists that count only where a filter is set say how many rows match it."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import AnsweredBy, CallStatus, Role
from app.models import User, utcnow
from app.portal.web import list_pages
from app.services import assistants, calls
from app.services.calls import CallSearch
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant, converse, make_user
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call
from tests.portal.test_overview import make_upload

SignedIn = Callable[[User], Browser]
MANY = 27
FILTERS = {
    "/calls": "state=completed&outcome=completed",
    "/uploads": "state=checked",
    "/assistants": "q=robin",
    "/audit": "action=campaign.created&q=winter",
    "/usage": "tier=customerPlusPlan",
}


@pytest.fixture
def admin(session: Session, tenant: Tenant, signed_in: SignedIn) -> Browser:
    """More than a page of each record that matches, and others."""
    caller, organization = tenant.caller(Role.PARTNER_ADMIN), tenant.organization
    organization.assistant_limit = 0
    session.info["own"] = tenant
    for number in range(MANY):
        make_call(session, organization, f"+12025550{100 + number}", ended_reason="completed")
        assistants.add_assistant(session, caller, organization, name=f"Robin {number}")
        make_upload(session, organization)
        make_user(session, tenant.partner.id, f"u{number}@x.example", tier="customerPlusPlan")
    for number in range(2):
        make_call(session, organization, f"+1202555{number:04}", status=CallStatus.BUSY)
    converse(session, organization, utcnow().date())
    session.commit()
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


def counts_on(page: str) -> tuple[str, str]:
    """Return the counts next to the filters, and at the foot of the list."""
    beside = re.search(r"[\d,]+\+? match(?:es)?\b", page)
    foot = re.search(r"\d+ of [\d,]+\+? shown", page)
    return beside[0] if beside else "", foot[0] if foot else ""


def test_a_filtered_list_says_how_many_rows_match(admin: Browser) -> None:
    message = {
        path: counts_on(admin.get(f"{path}?{query}").text) for path, query in FILTERS.items()
    }
    assert message == {
        **dict.fromkeys(FILTERS, (f"{MANY} matches", f"25 of {MANY} shown")),
        "/usage": (f"{MANY + 1} matches", f"25 of {MANY + 1} shown"),
    }


def test_a_later_page_of_a_filtered_list_says_which_rows_it_shows(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    for number in range(MANY, 55):
        make_call(
            session, tenant.organization, f"+12025550{100 + number}", ended_reason="completed"
        )
    session.commit()
    page, shown = "/calls?state=completed", []
    while page:
        found = unescape(admin.get(page).text)
        shown += re.findall(r"<p>([^<]* of 55[^<]*)</p>", found)
        older = re.search(r'href="([^"]+)" rel="next"', found)
        page = older[1] if older else ""
    assert shown == ["25 of 55 shown", "26 to 50 of 55", "51 to 55 of 55"]


def test_a_list_without_a_filter_is_not_counted_and_takes_a_query_less(
    database: Database, admin: Browser
) -> None:
    assert "25 calls on this page" in admin.get("/calls").text
    taken = {}
    for query in ("", "?state=completed"):
        with counted(database.engine) as statements:
            admin.get(f"/calls{query}")
        taken[query] = sum(each.lstrip().startswith("SELECT") for each in statements)
    assert taken["?state=completed"] == taken[""] + 1


def test_more_matches_than_are_counted_are_shown_with_a_plus(
    admin: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_pages, "MAX_COUNTED", 26)
    page = admin.get("/calls?state=completed").text
    assert counts_on(page) == ("26+ matches", "25 of 26+ shown")


def test_calls_are_not_counted_where_that_reads_many_that_do_not_match(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    call = make_call(
        session, tenant.organization, "+12025559999", utcnow(), answered_by=AnsweredBy.HUMAN
    )

    def found(most: int, **filters: Any) -> int | None:
        return calls.count_if_few(session, caller, CallSearch(**filters), most)

    human = {"answered_by": AnsweredBy.HUMAN}
    assert (found(MANY, **human), found(MANY + 3, **human)) == (None, 1)
    assert found(1, **human, number="+12025559999") == 1
    assert found(1, **human, since=call.created_at - timedelta(minutes=1)) == 1
    assert found(MANY, organization=tenant.organization.id) == MANY + 1
