"""The test call's form, and the form again after a call."""

import re
from collections.abc import Callable
from datetime import time, timedelta
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallStatus, ContactAction, Role
from app.models import Assistant, Call, Contact, User, utcnow
from app.portal.web.formats import phone
from app.services import campaigns, contacts, organizations
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.fixtures.trial import start_trial
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call
from tests.portal.uploader import words

EXACT = {"message_kind": "exact", "intro": "Hello.", "voicemail": "Bye."}


@pytest.fixture
def assistant(session: Session, tenant: Tenant) -> Assistant:
    query = select(Assistant).where(Assistant.organization_id == tenant.organization.id)
    found = session.scalars(query).one()
    found.phone_number, found.phone_enabled, found.phone_configured = "+12025550199", True, True
    found.default_intro, found.default_voicemail = "Good morning.", "Please call back."
    session.commit()
    return found


@pytest.mark.parametrize(
    "message",
    [{"message_kind": "default"}, EXACT, {"message_kind": "instructions", "instructions": "Greet"}],
    ids=lambda message: message["message_kind"],
)
def test_the_form_keeps_the_kind_of_message_after_the_call(
    session: Session, assistant: Assistant, admin: Browser, message: dict[str, str]
) -> None:
    assistant.default_intro = "Good morning {firstName|there}. "
    session.commit()
    person = {"number": "+1 (202) 555-0101", "name": "Ada Lovelace"}
    typed = {"assistant": str(assistant.id), "once": "a", **person, **message}
    placed = admin.post("/test-call", typed, page="/test-call")
    page = admin.get(placed.location).text
    (chosen,) = re.findall(r'<input checked[^>]*name="message_kind"[^>]*value="(\w+)"', page)
    assert chosen == message["message_kind"]


def test_a_number_without_its_area_code_is_refused_as_one(
    assistant: Assistant, admin: Browser
) -> None:
    typed = {"assistant": str(assistant.id), "number": "+1 303 3422", **EXACT}
    page = unescape(admin.post("/test-call/checks", typed, page="/test-call").text)
    assert "The area code is missing: write the whole number after +1." in page


def test_an_unknown_placeholder_of_the_own_messages_is_one_warning_of_the_checks(
    session: Session, assistant: Assistant, admin: Browser
) -> None:
    assistant.default_intro, assistant.default_voicemail = "Hallo {vorname}.", "Hi {firstName}."
    session.commit()
    typed = {"assistant": str(assistant.id), "number": "+1 202 555 0101"}
    own, exact = (
        admin.post("/test-call/checks", typed | message, page="/test-call").text
        for message in ({"message_kind": "default"}, EXACT)
    )
    assert own.count("{vorname} isn’t a known placeholder.") == 1
    assert f'href="/assistants/{assistant.id}">View assistant' in own
    assert "known placeholder" not in exact


def test_a_blank_form_has_no_failed_check_before_it_is_sent(
    assistant: Assistant, admin: Browser
) -> None:
    refused, hint = "Enter the number to call.", "Enter the number to check it too."
    typed = {"assistant": str(assistant.id), "number": "", **EXACT}
    for page in (
        admin.get("/test-call"),
        admin.post("/test-call/checks", typed, page="/test-call"),
    ):
        assert refused not in page.text
        assert hint in page.text
    sent = admin.post("/test-call", typed, page="/test-call")
    assert sent.status_code == 422
    assert refused in sent.text
    assert hint not in sent.text


def test_a_number_with_spaces_is_not_refused_because_of_them(
    assistant: Assistant, admin: Browser
) -> None:
    typed = {"assistant": str(assistant.id), "number": "202 555 0101", **EXACT}
    refused = admin.post("/test-call", typed, page="/test-call")
    assert refused.status_code == 422
    page = unescape(refused.text)
    assert "Enter + and the country code, 8 to 15 digits in total: +442079460000." in page


def test_a_test_call_leads_to_its_page_which_does_not_lead_to_itself(
    session: Session, assistant: Assistant, admin: Browser
) -> None:
    typed = {"assistant": str(assistant.id), "number": "+12025550101", "once": "a", **EXACT}
    placed = admin.post("/test-call", typed, page="/test-call").location
    call = session.scalars(select(Call)).one()
    link = f'<a href="/calls/{call.id}">View call</a>'
    live = f"/calls/{call.id}/live"
    shown = {
        "form": admin.get(placed).text,
        "page": admin.get(f"/calls/{call.id}").text,
        "part of the form": admin.client.get(live, headers={"HX-Current-URL": placed}).text,
        "part of the page": admin.client.get(
            live, headers={"HX-Current-URL": f"http://localhost/calls/{call.id}"}
        ).text,
    }
    assert {place: link in page for place, page in shown.items()} == {
        "form": True,
        "page": False,
        "part of the form": True,
        "part of the page": False,
    }


def test_ready_assistants_are_offered_before_the_others_each_group_by_name(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    for organization, name, number in (
        (tenant.plus, "Ada", "+12025550177"),
        (tenant.organization, "Zoe", "+12025550178"),
        (tenant.plus, "Łucja", None),
        (tenant.organization, "Mia", None),
        (tenant.organization, "Łucja", None),
    ):
        session.add(
            Assistant(
                partner_id=tenant.partner.id,
                organization_id=organization.id,
                name=name,
                phone_number=number,
                phone_enabled=bool(number),
                phone_configured=bool(number),
            )
        )
    session.commit()
    page = admin.get("/test-call").text
    select_field = page.partition('name="assistant"')[2].partition("</select>")[0]
    ready, label, others = re.split(r'<optgroup label="([^"]+)">', unescape(select_field))
    option = re.compile(r"<option[^>]*>([^,<]+), Northwind (\w+)")
    assert option.findall(ready) == [
        ("Ada", "Dental"),
        (assistant.name, "Bakery"),
        ("Zoe", "Bakery"),
    ]
    assert label == "Can’t call yet"
    assert [each for each in option.findall(others) if each[0] in ("Łucja", "Mia")] == [
        ("Łucja", "Bakery"),
        ("Łucja", "Dental"),
        ("Mia", "Bakery"),
    ]


def test_an_assistant_that_can_not_call_is_shown_with_the_reason_but_not_chosen(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    for name, number, changes in (
        ("Off", "+12025550171", {"active": False}),
        ("Bare", None, {}),
        ("Unset", "+12025550172", {"phone_configured": False}),
    ):
        ready = {"phone_enabled": True, "phone_configured": True, "active": True}
        session.add(
            Assistant(
                partner_id=tenant.partner.id,
                organization_id=tenant.organization.id,
                name=name,
                phone_number=number,
                **ready | changes,
            )
        )
    session.commit()
    page = admin.get("/test-call").text.replace("\N{NO-BREAK SPACE}", " ")
    select_field = page.partition('name="assistant"')[2].partition("</select>")[0]
    options = re.findall(r"<option ([a-z]+)[^>]*>([A-Z][a-z]+), [^(<]*\(([^)]*)\)", select_field)
    assert {name: (mark, why) for mark, name, why in options if name != assistant.name} == {
        "Off": ("disabled", "switched off"),
        "Bare": ("disabled", "no number"),
        "Unset": ("disabled", "+1 202 555 0172 is not ready"),
    }


def test_an_assistant_of_a_suspended_organization_can_not_be_chosen(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    organizations.suspend(session, OPERATOR, assistant.organization_id)
    session.commit()
    page = admin.get("/test-call").text
    assert f"{tenant.organization.name} (organization suspended)</option>" in page
    assert "The organization is suspended: it places no calls." in page


def test_the_checks_say_that_the_number_is_still_to_be_checked(
    assistant: Assistant, admin: Browser
) -> None:
    typed = {"assistant": str(assistant.id), "number": "", **EXACT}
    before = words(admin.post("/test-call/checks", typed, page="/test-call"))
    after = words(
        admin.post("/test-call/checks", typed | {"number": "+12025550101"}, page="/test-call")
    )
    assert re.findall(r"\d+ checks passed, the number is not checked yet", before)
    assert not re.findall(r"\d+ of \d+ passed", before)
    assert re.findall(r"\d+ of \d+ passed", after)


def test_the_clock_of_a_call_counts_from_its_answer(
    session: Session, assistant: Assistant, admin: Browser
) -> None:
    typed = {"assistant": str(assistant.id), "number": "+12025550101", "once": "a", **EXACT}
    placed = admin.post("/test-call", typed, page="/test-call").location
    ringing = admin.get(placed).text
    assert "The clock starts when someone answers." in ringing
    assert 'class="clock"' not in ringing
    call = session.scalars(select(Call)).one()
    call.status, call.answered_at = CallStatus.IN_PROGRESS, utcnow() - timedelta(seconds=64)
    session.commit()
    assert re.findall(r'class="clock">(\d\d:\d)', admin.get(placed).text) == ["01:0"]


def test_a_test_call_begins_with_a_contact(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    campaign = campaigns.create(
        session, caller, tenant.organization.id, name="Winter", all_assistants=True
    )
    people = [{"firstName": "Ada", "lastName": "Lee", "phone": "+12025550101"}]
    contacts.apply(session, campaign, people, ContactAction.UPSERT)
    session.commit()
    contact = session.scalars(select(Contact)).one()
    page = unescape(admin.get(f"/campaigns/{campaign.id}/contacts/{contact.id}").text)
    (link,) = re.findall(r'href="(/test-call\?[^"]*)"', page)
    form = admin.get(link).text
    assert re.findall(r'name="(?:number|name)"[^>]*value="([^"]*)"', form) == [
        "+1 202 555 0101",
        "Ada Lee",
    ]
    assert f'<option selected value="{assistant.id}"' in form


def test_a_call_that_would_wait_is_scheduled_for_the_time_that_the_checks_name(
    session: Session, tenant: Tenant, assistant: Assistant, clock: SetClock, admin: Browser
) -> None:
    tenant.organization.calling_hours_on = True
    tenant.organization.calling_hours_start = time(8, 10)
    tenant.organization.calling_hours_end = time(17)
    session.commit()
    typed = {"assistant": str(assistant.id), "number": "+12025550101", **EXACT}
    page = words(admin.post("/test-call/checks", typed, page="/test-call"))
    assert "will wait until 15 October 2026, 12:10 UTC, when it is next allowed." in page
    assert "outside calling hours in the person’s time zone." in page
    assert "It is 08:00 for the person called." in page
    assert "Schedule for 12:10" in page
    clock.set("2026-10-15T12:11")
    assert words(admin.post("/test-call/checks", typed, page="/test-call")).endswith(" Call ")


def test_members_choose_assistants_by_number_and_staff_by_organization(
    session: Session,
    tenant: Tenant,
    assistant: Assistant,
    admin: Browser,
    signed_in: Callable[[User], Browser],
) -> None:
    def words(browser: Browser) -> str:
        page = browser.get("/test-call").text.replace("\N{NO-BREAK SPACE}", " ")
        (found,) = re.findall(rf'<option[^>]*value="{assistant.id}"[^>]*>([^<]+)', page)
        return str(found)

    number = phone(assistant.phone_number).replace("\N{NO-BREAK SPACE}", " ")
    assert words(signed_in(tenant.user)) == f"{assistant.name} ({number})"
    assert words(admin) == f"{assistant.name}, {tenant.organization.name}"


def test_a_call_placed_again_names_the_earlier_one_and_leads_back_to_it(
    session: Session, assistant: Assistant, admin: Browser
) -> None:
    typed = {"assistant": str(assistant.id), "number": "+12025550101", "once": "a", **EXACT}
    admin.post("/test-call", typed, page="/test-call")
    earlier = session.scalars(select(Call)).one()
    back, form = f'<a href="/calls/{earlier.id}">call to ', f"/test-call?again={earlier.id}"
    page = admin.get(form).text
    assert back in page
    action = unescape(re.findall(r'action="(/test-call[^"]*)"', page)[0])
    placed = admin.post(action, {**typed, "once": "b"}, page=form).location
    assert re.search(rf"call=(?!{earlier.id})[0-9a-f-]+&again={earlier.id}", placed)
    shown = admin.get(placed).text
    assert 'id="live-call"' in shown
    assert back in shown


def detail_paths(html: str) -> dict[str, list[str]]:
    """The paths that the details of a call lead to, by their label."""
    found: dict[str, list[str]] = {}
    for label, path in re.findall(r'<dt>([^<]+)</dt>\s*<dd><a href="([^"]+)"', html):
        found.setdefault(label, []).append(path)
    return found


def test_a_call_and_its_repetitions_link_to_each_other(
    session: Session, assistant: Assistant, admin: Browser
) -> None:
    typed = {"assistant": str(assistant.id), "number": "+12025550101", **EXACT}
    admin.post("/test-call", {**typed, "once": "a"}, page="/test-call")
    earlier = session.scalars(select(Call)).one()
    form = f"/test-call?again={earlier.id}"
    for once in ("b", "c"):
        admin.post(form, {**typed, "once": once}, page=form)
    first, *later = [
        f"/calls/{call.id}" for call in session.scalars(select(Call).order_by(Call.id))
    ]
    shown = detail_paths(admin.get(first).text)
    assert shown["Called again"] == later
    assert "Placed again after" not in shown
    for path in later:
        shown = detail_paths(admin.get(path).text)
        assert shown["Placed again after"] == [first]
        assert "Called again" not in shown


@pytest.mark.parametrize("what", ["another number", "another organization", "another partner"])
def test_only_the_organizations_call_to_the_same_number_is_the_earlier_one(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    assistant: Assistant,
    admin: Browser,
    what: str,
) -> None:
    of = {"another partner": other_tenant.organization, "another organization": tenant.plus}
    number = "+12025550102" if what == "another number" else "+12025550101"
    earlier = make_call(session, of.get(what, tenant.organization), number)
    session.commit()
    typed = {"assistant": str(assistant.id), "number": "+12025550101", "once": "a", **EXACT}
    form = f"/test-call?again={earlier.id}"
    assert admin.post(form, typed, page="/test-call").status_code == 303
    of_assistant = select(Call).where(Call.assistant_id == assistant.id)
    placed = session.scalars(of_assistant.order_by(Call.id)).all()[-1]
    assert placed.id != earlier.id
    assert placed.after_call_id is None


def test_a_repeated_call_is_shown_without_the_deleted_earlier_one(
    session: Session, assistant: Assistant, admin: Browser
) -> None:
    typed = {"assistant": str(assistant.id), "number": "+12025550101", "once": "a", **EXACT}
    placed = admin.post("/test-call", typed, page="/test-call").location
    shown = admin.get(f"{placed}&again=00000000-0000-7000-8000-000000000000")
    assert shown.status_code == 200
    assert "<h1>Test call</h1>" in shown.text


def test_a_number_in_a_closed_country_leads_to_the_page_that_opens_it(
    assistant: Assistant, tenant: Tenant, admin: Browser, signed_in: Callable[[User], Browser]
) -> None:
    typed = {"assistant": str(assistant.id), "number": "+41446681800", **EXACT}
    member = signed_in(tenant.user)
    for browser in (admin, member):
        page = browser.post("/test-call/checks", typed, page="/test-call").text
        link = 'href="/settings/destinations">Open Switzerland</a>'
        assert (link in page) == (browser is admin)
        assert "View settings" not in page
        assert '<a href="#checks">1 thing stops the call</a>' in page


def test_everything_that_stops_a_call_is_counted_when_it_is_refused(
    session: Session, assistant: Assistant, tenant: Tenant, admin: Browser
) -> None:
    start_trial(session, tenant.organization.id)
    typed = {"assistant": str(assistant.id), "number": "+41446681800", **EXACT}
    refused = admin.post("/test-call", typed, page="/test-call")
    assert refused.status_code == 422
    for sentence in ("2 things need changing", "2 things stop the call"):
        assert sentence in words(refused)
