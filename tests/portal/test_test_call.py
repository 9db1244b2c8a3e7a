"""The test call's form, and the form again after a call."""

import re
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Assistant, Call
from tests.fixtures.cast import Tenant
from tests.portal.conftest import Browser

EXACT = {"message_kind": "exact", "intro": "Hello.", "voicemail": "Bye."}


@pytest.fixture
def assistant(session: Session, own: Tenant) -> Assistant:
    query = select(Assistant).where(Assistant.organization_id == own.organization.id)
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
    assistant: Assistant, admin: Browser, message: dict[str, str]
) -> None:
    typed = {"assistant": str(assistant.id), "number": "+1 (202) 555-0101", "once": "a", **message}
    placed = admin.post("/test-call", typed, page="/test-call")
    page = admin.get(placed.location).text
    (chosen,) = re.findall(r'<input checked[^>]*name="message_kind"[^>]*value="(\w+)"', page)
    assert chosen == message["message_kind"]


def test_a_number_without_its_area_code_is_refused_by_its_name(
    assistant: Assistant, admin: Browser
) -> None:
    typed = {"assistant": str(assistant.id), "number": "+1 303 3422", **EXACT}
    page = unescape(admin.post("/test-call/checks", typed, page="/test-call").text)
    assert "The area code is missing: write the whole number after +1." in page


def test_a_blank_form_has_no_failed_check_before_it_is_sent(
    assistant: Assistant, admin: Browser
) -> None:
    refused, words = "Enter the number to call.", "Enter the number to check it too."
    typed = {"assistant": str(assistant.id), "number": "", **EXACT}
    for page in (
        admin.get("/test-call"),
        admin.post("/test-call/checks", typed, page="/test-call"),
    ):
        assert (refused in page.text, words in page.text) == (False, True)
    sent = admin.post("/test-call", typed, page="/test-call")
    assert (sent.status_code, refused in sent.text, words in sent.text) == (422, True, False)


def test_spaces_in_a_number_are_not_blamed(assistant: Assistant, admin: Browser) -> None:
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


def test_assistants_that_can_call_are_offered_first_each_by_organization(
    session: Session, own: Tenant, assistant: Assistant, admin: Browser
) -> None:
    for organization, name, number in (
        (own.plus, "Zoe", "+12025550177"),
        (own.plus, "Bo", None),
        (own.organization, "Abe", None),
    ):
        session.add(
            Assistant(
                partner_id=own.partner.id,
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
    options = re.findall(r"<option[^>]*>([^,<]+), Northwind (\w+)", select_field)
    assert options[:2] == [(assistant.name, "Bakery"), ("Zoe", "Dental")]
    assert options[2] == ("Abe", "Bakery")
    assert {organization for _name, organization in options[3:]} == {"Dental"}
