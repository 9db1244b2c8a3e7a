"""Calls: filters, pages, one call in words, cancelling; what usage counts is found again here."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import (
    AnsweredBy,
    CallSource,
    CallStatus,
    CarrierKind,
    EndedReason,
    Role,
)
from app.models import (
    Assistant,
    Call,
    CallAttempt,
    Campaign,
    Contact,
    DoNotCallEntry,
    Organization,
    User,
)
from app.models.base import id_at, new_id
from app.services import campaigns, conversations
from app.services.calls import attempts
from app.services.calls.carrier_reports import NOT_ENDED
from app.services.calls.events import add_timeline_entry
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def make_call(
    session: Session, organization: Organization, number: str, at: datetime = NOON, **fields: Any
) -> Call:
    """A call accepted at that moment; one that was answered becomes a conversation."""
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == organization.id)
    ).first()
    assert assistant is not None
    call = Call(
        **{
            "id": type(id_at(at))(int=id_at(at).int | (new_id().int & ((1 << 80) - 1))),
            "partner_id": organization.partner_id,
            "organization_id": organization.id,
            "assistant_id": assistant.id,
            "source": CallSource.API,
            "live": True,
            "carrier": CarrierKind.SIMULATOR,
            "requested_by": "crm-sync",
            "phone_number": number,
            "contact": {"firstName": "Ada"},
            "status": CallStatus.COMPLETED,
            "created_at": at,
            "expires_at": at + timedelta(days=1),
            **fields,
        }
    )
    session.add(call)
    session.flush()
    if call.answered_at is not None and call.live:
        conversations.record(
            session,
            partner_id=call.partner_id,
            organization_id=call.organization_id,
            assistant_id=call.assistant_id,
            call_id=call.id,
            answered_by=call.answered_by or AnsweredBy.UNKNOWN,
            started_at=call.answered_at,
            ended_at=call.answered_at + timedelta(minutes=1),
        )
    return call


def answered(by: AnsweredBy = AnsweredBy.HUMAN, at: datetime = NOON) -> dict[str, Any]:
    return {"answered_by": by, "answered_at": at, "ended_reason": EndedReason.COMPLETED}


@pytest.fixture
def calls_by_name(session: Session, tenant: Tenant, other_tenant: Tenant) -> dict[str, Call]:
    found = {
        "human": make_call(session, tenant.plus, "+12025550101", **answered()),
        "voicemail": make_call(
            session, tenant.plus, "+12025550102", **answered(AnsweredBy.VOICEMAIL)
        ),
        "busy": make_call(session, tenant.organization, "+442079460001", status=CallStatus.BUSY),
        "queued": make_call(session, tenant.plus, "+12025559999", status=CallStatus.QUEUED),
        "test": make_call(session, tenant.plus, "+12025550103", live=False, **answered()),
        "late": make_call(
            session,
            tenant.plus,
            "+12025550104",
            NOON.replace(hour=23, minute=30),
            **answered(at=datetime(2026, 5, 5, 0, 10, tzinfo=UTC)),
        ),
        "theirs": make_call(session, other_tenant.plus, "+12025550101", **answered()),
    }
    session.commit()
    return found


def listed(html: str, calls_by_name: dict[str, Call]) -> set[str]:
    names = {str(call.id): name for name, call in calls_by_name.items()}
    return {names[found] for found in re.findall(r'class="name" href="/calls/([^"]+)"', html)}


MINE = {"human", "voicemail", "busy", "queued", "test", "late"}


def test_costs_have_a_column_for_staff_once_a_call_has_some(
    session: Session,
    tenant: Tenant,
    calls_by_name: dict[str, Call],
    admin: Browser,
    signed_in: SignedIn,
) -> None:
    def headings(browser: Browser = admin) -> list[str]:
        head = browser.get("/calls").text.partition("<thead>")[2].partition("</thead>")[0]
        return re.findall("Cost|Outcome", head)

    assert headings() == ["Outcome"]
    attempt = {"number": 1, "carrier": CarrierKind.SIMULATOR, "status": CallStatus.COMPLETED}
    ids = {
        "organization_id": calls_by_name["human"].organization_id,
        "call_id": calls_by_name["human"].id,
    }
    session.add(CallAttempt(**ids, **attempt, cost=Decimal("0.01"), cost_currency="USD"))
    calls_by_name["human"].cost_micros = 10_000
    session.commit()
    assert headings() == ["Outcome", "Cost"]
    member = signed_in(tenant.plus_user)
    assert headings(member) == ["Outcome"], "what carriers charge is between them and the partner"
    of_member, of_admin = (
        each.get(f"/calls/{calls_by_name['human'].id}") for each in (member, admin)
    )
    assert (of_member.status_code, of_admin.status_code) == (200, 200)
    assert "$0.01" not in of_member.text
    assert "$0.01" in of_admin.text


def test_a_phone_shows_how_long_a_call_took_after_its_outcome(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    ended: dict[str, Any] = {"ended_reason": EndedReason.COMPLETED, "seconds": 61}
    make_call(session, tenant.plus, "+12025550101", **ended)
    busy: dict[str, Any] = {"status": CallStatus.BUSY, "ended_reason": EndedReason.BUSY}
    make_call(session, tenant.plus, "+12025550102", **busy)
    session.commit()
    page = admin.get("/calls").text.replace("\N{NO-BREAK SPACE}", " ")
    shown = re.findall(r'<span class="cell-sub cell-phone">([^<]+)</span>', page)
    assert sorted(set(shown)) == ["Conversation · 1 min 1 s", tenant.plus.name]
    assert ">Requested" in page.partition("<thead>")[2].partition("</thead>")[0]


def test_a_call_to_an_erased_person_says_so_before_the_pseudonym(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    call = make_call(session, tenant.organization, "erased-4db66f3d")
    session.commit()
    for path in ("/calls", f"/calls/{call.id}"):
        page = admin.get(path).text
        assert "Erased person" in page
        assert page.index("Erased person") < page.index("erased-4db66f3d")


def test_the_campaign_has_a_column_once_a_call_of_the_page_has_one(
    session: Session, tenant: Tenant, calls_by_name: dict[str, Call], admin: Browser
) -> None:
    def headings(path: str = "/calls") -> list[str]:
        head = admin.get(path).text.partition("<thead>")[2].partition("</thead>")[0]
        return re.findall("Assistant|Campaign", head)

    chosen = "/calls?column=campaign"
    assert (headings(), headings(chosen)) == (["Assistant"], [])
    found = campaigns.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        calls_by_name["human"].organization_id,
        name="Recall",
    )
    calls_by_name["human"].campaign_id = found.id
    session.commit()
    assert (headings(), headings(chosen)) == (["Assistant", "Campaign"], ["Campaign"])


def test_the_order_of_calls_reveals_no_costs_to_members(
    session: Session,
    tenant: Tenant,
    calls_by_name: dict[str, Call],
    admin: Browser,
    signed_in: SignedIn,
) -> None:
    oldest = min((calls_by_name[name] for name in MINE), key=lambda call: call.id)
    oldest.cost_micros = 10_000
    session.commit()

    def first(browser: Browser) -> list[str]:
        return re.findall(
            r'class="name" href="/calls/([^"]+)"', browser.get("/calls?sort=-cost").text
        )[:1]

    assert first(admin) == [str(oldest.id)]
    assert first(signed_in(tenant.plus_user)) not in ([], [str(oldest.id)])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("", MINE),
        ("state=busy", {"busy"}),
        ("state=unanswered", {"busy"}),
        ("state=open", {"queued"}),
        ("state=nonsense", MINE),
        ("answered=human", {"human", "test", "late"}),
        ("answered=voicemail", {"voicemail"}),
        ("live=no", {"test"}),
        ("live=yes", MINE - {"test"}),
        ("organization=bakery", {"busy"}),
        ("organization=nobody", set()),
        ("number=%2B1+(202)+555-0101", {"human"}),
        ("number=(202)+555-0101", {"human"}),
        ("number=%2B120255501", {"human", "voicemail", "test", "late"}),
        ("number=0044+20", {"busy"}),
        ("number=%2B12025559", {"queued"}),
        ("number=Ada", set()),
        ("start=2026-05-04&end=2026-05-04", MINE),
        ("start=2026-05-05", set()),
        ("end=2026-05-03", set()),
        ("start=0001-01-01&end=9999-12-31", MINE),
        ("counted=yes&start=2026-05-04&end=2026-05-04", {"human", "voicemail"}),
        ("counted=yes&start=2026-05-05&end=2026-05-05", {"late"}),
    ],
)
def test_filters_choose_calls(
    tenant: Tenant,
    calls_by_name: dict[str, Call],
    signed_in: SignedIn,
    asked: str,
    expected: set[str],
) -> None:
    assert (
        listed(signed_in(tenant.staff[Role.ADMIN]).get(f"/calls?{asked}").text, calls_by_name)
        == expected
    )


def test_an_organization_and_an_assistant_are_filtered_by_id_too(
    tenant: Tenant, other_tenant: Tenant, calls_by_name: dict[str, Call], signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.ADMIN])
    for asked, expected in (
        (f"organization={tenant.organization.id}", {"busy"}),
        (f"agent={calls_by_name['busy'].assistant_id}", {"busy"}),
    ):
        page = browser.get(f"/calls?{asked}")
        assert listed(page.text, calls_by_name) == expected
    for asked in (
        f"organization={other_tenant.plus.id}",
        f"agent={calls_by_name['theirs'].assistant_id}",
    ):
        assert browser.get(f"/calls?{asked}").status_code == 404


def test_days_are_those_of_the_time_zone_of_the_user(
    session: Session, tenant: Tenant, calls_by_name: dict[str, Call], signed_in: SignedIn
) -> None:
    tenant.staff[Role.ADMIN].timezone = "Asia/Tokyo"
    session.commit()
    browser = signed_in(tenant.staff[Role.ADMIN])
    assert listed(browser.get("/calls?start=2026-05-05").text, calls_by_name) == {"late"}
    counted = browser.get("/calls?counted=yes&start=2026-05-05").text
    assert listed(counted, calls_by_name) == {"late"}
    assert "Calls counted in usage, by the UTC day" in counted


def test_the_calls_that_usage_counts_are_as_many_as_it_says(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    calls_by_name: dict[str, Call],
    signed_in: SignedIn,
) -> None:
    browser = signed_in(tenant.staff[Role.ADMIN])
    for each in (tenant, other_tenant):
        conversations.record(
            session,
            partner_id=each.partner.id,
            organization_id=each.plus.id,
            assistant_id=None,
            call_id=None,
            answered_by=AnsweredBy.HUMAN,
            started_at=NOON,
            ended_at=NOON + timedelta(minutes=1),
        )
    session.commit()
    for start, end in (("2026-05-04", "2026-05-04"), ("2026-05-01", "2026-05-31")):
        days = browser.get(f"/usage.csv?start={start}&end={end}&rows=days").text.splitlines()[1:]
        listing = browser.get(f"/calls?counted=yes&start={start}&end={end}").text
        assert (
            sum(int(day.split(",")[1]) for day in days) == len(listed(listing, calls_by_name)) + 1
        )
        assert "1 conversation has no call record" in listing
    for nothing in ("", "?counted=yes&start=2026-05-05", "?counted=yes&answered=human"):
        assert "no call records" not in browser.get(f"/calls{nothing}").text


def test_pages_have_no_gaps_or_repeats(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    made = [
        make_call(session, tenant.plus, "+12025550101", NOON + timedelta(seconds=number)).id
        for number in range(60)
    ]
    session.commit()
    browser, path, found = signed_in(tenant.staff[Role.ADMIN]), "/calls?live=yes", []
    while path:
        page = browser.get(path).text
        found += re.findall(r'class="name" href="/calls/([^"]+)"', page)
        further = re.search(r'href="([^"]+)" rel="next"', page)
        path = further[1].replace("&amp;", "&") if further else ""
    assert found == [str(call_id) for call_id in reversed(made)]
    assert browser.get("/calls?cursor=nonsense").status_code == 400


def test_a_day_that_does_not_exist_is_reported_to_the_user(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    page = signed_in(tenant.staff[Role.ADMIN]).get("/calls?start=2026-02-30")
    assert page.status_code == 422
    assert 'href="#start">Enter a day like' in page.text


def test_a_call_is_shown_from_beginning_to_end(
    session: Session, tenant: Tenant, calls_by_name: dict[str, Call], signed_in: SignedIn
) -> None:
    call = calls_by_name["human"]
    attempt = CallAttempt(
        organization_id=call.organization_id,
        call_id=call.id,
        number=1,
        carrier=call.carrier,
        carrier_reference="CA0123456789abcdef",
        status=CallStatus.COMPLETED,
        answered_by=AnsweredBy.HUMAN,
        ended_reason=EndedReason.COMPLETED,
        spoken="Hello, this is Robin.",
        started_at=NOON + timedelta(seconds=1),
        answered_at=NOON + timedelta(seconds=9),
        ended_at=NOON + timedelta(seconds=43),
        cost=Decimal("0.0135"),
        cost_currency="USD",
    )
    session.add(attempt)
    session.flush()
    for kind, status, seconds, detail in (
        ("accepted", CallStatus.QUEUED, 0, None),
        ("dialing", CallStatus.DIALING, 1, None),
        ("answered", CallStatus.IN_PROGRESS, 9, None),
        ("said-intro", CallStatus.IN_PROGRESS, 10, "Hello, this is Robin."),
        ("ended", CallStatus.COMPLETED, 200, None),
    ):
        at = NOON + timedelta(seconds=seconds)
        add_timeline_entry(session, call, kind, status, at=at, detail=detail)
    session.commit()
    page = signed_in(tenant.staff[Role.ADMIN]).get(f"/calls/{call.id}").text
    story = re.findall(
        r'list-row-title">([^<]+)</span>\s*(?:<span class="list-row-text">([^<]+)</span>)?\s*</div>'
        r'\s*(?:<span class="when">([^<]+)</span>)?',
        page,
    )
    assert [tuple(part.replace("\u00a0", " ") for part in entry) for entry in story] == [
        ("Queued", "", "12:00:00"),
        ("Calling", "Attempt 1, carrier reference CA01\u2060…\u2060cdef", "+1.0 s"),
        ("Answered by a person", "", "+9.0 s"),
        ("Intro spoken", "", "+10.0 s"),
        ("Finished after a conversation", "", "+3 min 20 s"),
    ]
    assert "<blockquote>Hello, this is Robin.</blockquote>" in page
    assert ">CA0123456789abcdef</code>" in page
    assert "The call was simulated: its cost is a sample that no one charges." in page
    assert 'data-copy="reference-1"' in page
    assert "34\u00a0s" in page
    assert "$0.0135" in page
    customers = (
        f'href="/organizations/{call.organization_id}"',
        f'href="/assistants/{call.assistant_id}"',
    )
    assert [link for link in customers if link not in page] == []
    member = signed_in(tenant.plus_user).get(f"/calls/{call.id}").text
    assert [link for link in customers if link in member] == []


SIMULATED_PAGE = "The calls shown were simulated: no phone rang."
SIMULATED_ROW = '<span class="badge badge-neutral badge-without-dot">Simulated</span>'


@pytest.mark.parametrize(
    ("carriers", "note", "marks"),
    [
        ((CarrierKind.SIMULATOR, CarrierKind.SIMULATOR), True, 0),
        ((CarrierKind.SIMULATOR, CarrierKind.TWILIO), False, 1),
        ((CarrierKind.TWILIO, CarrierKind.TWILIO), False, 0),
    ],
)
def test_simulated_calls_are_marked_only_beside_calls_over_a_carrier(
    session: Session,
    tenant: Tenant,
    admin: Browser,
    carriers: tuple[CarrierKind, ...],
    note: bool,
    marks: int,
) -> None:
    for carrier in carriers:
        make_call(session, tenant.plus, "+12025550101", carrier=carrier)
    session.commit()
    page = admin.get("/calls").text
    assert (SIMULATED_PAGE in page, page.count(SIMULATED_ROW)) == (note, marks)


@pytest.fixture
def call_of_contact(session: Session, tenant: Tenant) -> Call:
    campaign = Campaign(
        partner_id=tenant.partner.id, organization_id=tenant.plus.id, name="Spring offers"
    )
    session.add(campaign)
    session.flush()
    contact = Contact(
        organization_id=tenant.plus.id,
        campaign_id=campaign.id,
        first_name="Ada",
        phone="+12025550101",
    )
    session.add(contact)
    session.flush()
    call = make_call(
        session, tenant.plus, "+12025550101", campaign_id=campaign.id, contact_id=contact.id
    )
    session.commit()
    return call


def test_the_list_names_the_campaign_and_the_page_of_a_call_leads_to_its_contact(
    tenant: Tenant, call_of_contact: Call, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert ">Spring offers" in browser.get("/calls").text
    page = browser.get(f"/calls/{call_of_contact.id}").text
    path = f"/campaigns/{call_of_contact.campaign_id}/contacts/{call_of_contact.contact_id}"
    assert f'<a href="{path}" dir="auto">Ada</a>' in page
    assert unescape(page).count("Requested on") == 1


def test_the_number_of_a_call_is_never_called_again(
    session: Session, tenant: Tenant, call_of_contact: Call, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    path = f"/calls/{call_of_contact.id}"
    confirmation = browser.get(f"{path}/do-not-call").text
    listed = confirmation.partition('<ul class="consequences">')[2].partition("</ul>")[0]
    assert re.findall("<li>(.+)</li>", listed) == [
        f"The number is added to the do-not-call list of {tenant.plus.name}.",
        "No calls to it are waiting.",
        "Contacts with it stay in their campaigns.",
    ]
    assert "Do not call this number" in browser.get(path).text
    answer = browser.post(f"{path}/do-not-call", {"reason": "Asked us"}, page=path)
    assert (answer.status_code, answer.location) == (303, path)
    page = browser.get(path).text
    assert "is on the do-not-call list." in page
    assert "Call again" not in page
    assert "On the do-not-call list" in page
    assert "This number is on it" in page
    assert "Do not call this number" not in page
    entry = session.get_one(DoNotCallEntry, (tenant.plus.id, "+12025550101"))
    assert (entry.reason, entry.source) == ("Asked us", "portal")


def test_the_number_of_a_call_of_another_tenant_can_not_be_listed(
    session: Session, tenant: Tenant, calls_by_name: dict[str, Call], signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    path = f"/calls/{calls_by_name['theirs'].id}/do-not-call"
    assert browser.get(path).status_code == 404
    assert browser.post(path, page="/calls").status_code == 404
    assert session.scalars(select(DoNotCallEntry)).all() == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Yes"),
        ({"source": CallSource.TEST}, "No, a test call on the simulated carrier"),
        ({"source": CallSource.VERIFICATION}, "No, it verified the number"),
        ({"live": False}, "No, made with a test key"),
    ],
)
def test_the_page_says_whether_a_call_counts(
    session: Session, tenant: Tenant, signed_in: SignedIn, fields: dict[str, Any], words: str
) -> None:
    call = make_call(session, tenant.organization, "+12125550199", **answered(), **fields)
    session.commit()
    page = signed_in(tenant.staff[Role.ADMIN]).get(f"/calls/{call.id}").text
    found = re.search(r"<dt>Counts as a conversation</dt>\s*<dd>([^<]*)", page)
    assert found is not None
    assert found[1].strip() == words


def test_cancelling_asks_with_the_consequences_and_happens_once(
    session: Session, tenant: Tenant, calls_by_name: dict[str, Call], signed_in: SignedIn
) -> None:
    browser, path = signed_in(tenant.plus_user), f"/calls/{calls_by_name['queued'].id}"
    assert "The call is not placed." in browser.get(f"{path}/cancel").text
    for _time in range(2):
        answer = browser.post(f"{path}/cancel", page="/")
        assert (answer.status_code, answer.location) == (303, path)
    session.refresh(calls_by_name["queued"])
    assert calls_by_name["queued"].status is CallStatus.CANCELED
    ended = f"/calls/{calls_by_name['human'].id}"
    assert browser.get(f"{ended}/cancel").location == f"{ended}?problem=call_ended"
    assert browser.post(f"{ended}/cancel", page="/").location == f"{ended}?problem=call_ended"


@pytest.mark.parametrize(
    ("source", "is_counted"), [(CallSource.API, True), (CallSource.TEST, False)]
)
def test_ending_a_call_counts_a_conversation_only_if_the_call_does(
    session: Session, tenant: Tenant, signed_in: SignedIn, source: CallSource, is_counted: bool
) -> None:
    call = make_call(
        session, tenant.plus, "+12025559998", status=CallStatus.IN_PROGRESS, source=source
    )
    call.answered_at = NOON
    session.commit()
    page = signed_in(tenant.plus_user).get(f"/calls/{call.id}/cancel").text
    words = "It was answered, so it counts as 1 conversation."
    assert (words in page) == is_counted


def test_the_page_shows_the_progress_of_cancelling_an_active_call(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.plus_user)
    call = make_call(session, tenant.plus, "+12025559998", status=CallStatus.IN_PROGRESS)
    session.commit()
    path = f"/calls/{call.id}"

    asked, end = "The carrier has been asked to hang up.", "End call…"

    def panel() -> list[str]:
        shown = browser.get(f"{path}/live").text
        assert "Call in progress" in shown
        assert "The call is waiting" not in shown
        return [words for words in (asked, NOT_ENDED, end) if words in shown]

    assert panel() == [end]
    answer = browser.post(f"{path}/cancel", page="/")
    assert (answer.status_code, answer.location) == (303, path)
    assert panel() == [asked]
    session.refresh(call)
    call.cancel_requested_at, call.status_detail = None, NOT_ENDED
    session.commit()
    assert panel() == [NOT_ENDED, end]
    refused = browser.get(f"{path}?problem=cancel_refused").text
    assert "Its carrier account can no longer be used" in refused


def test_the_page_of_a_call_is_loaded_again_when_the_call_is_over(
    session: Session, tenant: Tenant, calls_by_name: dict[str, Call], signed_in: SignedIn
) -> None:
    browser, path = signed_in(tenant.plus_user), f"/calls/{calls_by_name['queued'].id}"

    def refreshes(shown: str) -> str | None:
        headers = {"HX-Request": "true", "HX-Current-URL": f"http://localhost{shown}"}
        return browser.get(f"{path}/live", headers=headers).headers.get("HX-Refresh")

    assert [refreshes(path), refreshes("/test-call")] == [None, None]
    calls_by_name["queued"].status = CallStatus.COMPLETED
    session.commit()
    assert [refreshes(path), refreshes("/test-call")] == ["true", None]


def test_a_call_of_another_tenant_is_answered_like_a_missing_one(
    tenant: Tenant, calls_by_name: dict[str, Call], signed_in: SignedIn
) -> None:
    theirs = f"/calls/{calls_by_name['theirs'].id}"
    browser, member = signed_in(tenant.staff[Role.ADMIN]), signed_in(tenant.user)
    assert [browser.get(theirs + end).status_code for end in ("", "/live", "/cancel")] == [404] * 3
    assert browser.post(f"{theirs}/cancel", page="/").status_code == 404
    assert member.get(f"/calls/{calls_by_name['human'].id}").status_code == 404
    assert listed(member.get("/calls?organization=dental").text, calls_by_name) == {"busy"}


def test_an_outcome_is_shown_where_it_says_more_than_the_status(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    for number, status, reason in (
        ("+12025550101", CallStatus.NO_ANSWER, EndedReason.NO_ANSWER),
        ("+12025550102", CallStatus.FAILED, EndedReason.REJECTED),
    ):
        make_call(session, tenant.organization, number, status=status, ended_reason=reason)
    session.commit()
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/calls").text
    table = page[page.index("<tbody>") : page.index("</tbody>")]
    assert (table.count(">No answer</span>"), table.count(">Refused by carrier</span>")) == (1, 2)


def test_a_call_that_failed_says_what_to_do(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    failed: dict[str, Any] = {
        "status": CallStatus.FAILED,
        "ended_reason": EndedReason.CARRIER_ERROR,
    }
    admin, shown = signed_in(tenant.staff[Role.PARTNER_ADMIN]), {}
    for carrier in (CarrierKind.TWILIO, CarrierKind.SIMULATOR):
        call = make_call(session, tenant.organization, "+12025550102", carrier=carrier, **failed)
        session.commit()
        shown[carrier] = admin.get(f"/calls/{call.id}").text
    advice = "If it happens again, test the carrier account."
    assert advice in shown[CarrierKind.TWILIO]
    simulated = shown[CarrierKind.SIMULATOR]
    assert advice not in simulated
    assert "The call was simulated: no carrier account has a problem." in simulated
    assert ">Carrier accounts</a>\n" not in simulated.partition("<h1>")[2]


def test_a_call_that_may_not_have_been_placed_says_so_in_banner_and_progress(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    call = make_call(session, tenant.organization, "+12025550103", status=CallStatus.DIALING)
    attempt = CallAttempt(
        organization_id=call.organization_id,
        call_id=call.id,
        number=1,
        carrier=call.carrier,
        status=CallStatus.DIALING,
        started_at=NOON,
    )
    session.add(attempt)
    session.flush()
    attempts.end_unknown(session, attempt.id)
    session.commit()
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = browser.get(f"/calls/{call.id}").text
    counts = [page.count(f"could not say whether {which} call") for which in ("this", "the")]
    assert counts == [1, 1]
    assert "Unclear" not in browser.get("/calls").text


def test_a_call_of_a_part_of_the_system_names_it_in_the_readers_language(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    makes = {None: "Sample data", new_id(): "demo"}
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    for credential, name in makes.items():
        call = make_call(
            session, tenant.plus, "+12025550101", requested_by="demo", credential_id=credential
        )
        session.commit()
        assert f" by {name}." in browser.get(f"/calls/{call.id}").text
