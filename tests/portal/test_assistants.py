"""Assistants in the portal: added, set up, what they still need, and their external id keys."""

import re
from collections.abc import Callable
from datetime import time, timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import (
    AnsweredBy,
    CallStatus,
    ContactAction,
    NumberSource,
    OrganizationStatus,
    Role,
)
from app.models import Assistant, AuditEntry, ExternalIdKey, Organization, PhoneNumber, User, utcnow
from app.services import assistants, campaigns, contacts, organizations, phone_numbers
from app.services.assistants.queries import Readiness
from app.validation.urls import is_voice_address
from tests.fixtures.tenants import OPERATOR, Tenant, make_user, open_destinations, organization_of
from tests.portal.conftest import Browser, user_of
from tests.portal.test_calls import make_call

SignedIn = Callable[[User], Browser]
NUMBER = "+12025550148"
READY = {
    "name": "Robin",
    "service": "Dental surgery",
    "timezone": "Europe/London",
    "active": "y",
    "phone_number": "(202) 555-0148",
    "phone_enabled": "y",
    "phone_configured": "y",
    "default_intro": "Hello.",
    "default_voicemail": "Please call back.",
    "voice_address": "sip:robin@voice.example",
}


@pytest.fixture
def admin(session: Session, tenant: Tenant, signed_in: SignedIn) -> Browser:
    open_destinations(session, tenant.partner.id, hosts=["voice.example"])
    session.commit()
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


@pytest.fixture
def assistant(session: Session, tenant: Tenant) -> Assistant:
    """The assistant that came with the organization."""
    [first] = assistants.of_organization(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id
    )
    return first


def room_for_more(session: Session, organization: Organization) -> None:
    session.get_one(Organization, organization.id).assistant_limit = 3
    session.commit()


def stored(session: Session, assistant: Assistant) -> dict[str, Any]:
    session.expire_all()
    found = session.get_one(Assistant, assistant.id)
    names = [name for name in READY if name != "phone_number"]
    return {name: getattr(found, name) for name in (*names, "phone_number")}


def test_an_assistant_is_added_complete_and_is_ready(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    room_for_more(session, tenant.organization)
    address = f"/assistants/new?organization={tenant.organization.id}"
    made = admin.post(address, {**READY, "once": "a1"}, page=address)
    again = admin.post(address, {**READY, "once": "a1"}, page=address)
    found = session.scalars(select(Assistant).where(Assistant.name == "Robin")).one()
    assert (made.status_code, made.location) == (303, f"/assistants/{found.id}")
    assert (again.status_code, again.location) == (303, f"/assistants/{found.id}")
    assert stored(session, found) == {
        **READY,
        "active": True,
        "phone_enabled": True,
        "phone_configured": True,
        "phone_number": NUMBER,
    }
    page = admin.get(f"/assistants/{found.id}").text
    assert "Ready to call" in page
    assert "6 of 6" in page
    entries = select(AuditEntry).where(AuditEntry.target_id == str(found.id))
    [entry] = session.scalars(entries).all()
    assert (entry.action, entry.after["name"], entry.after["phone_number"]) == (
        *("agent.created", "Robin", NUMBER),
    )


def test_a_number_that_only_a_user_confirms_is_called_so(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    room_for_more(session, tenant.organization)
    address = f"/assistants/new?organization={tenant.organization.id}"
    page = str(admin.post(address, {**READY, "once": "a1"}, page=address).location)
    message = "Confirmed by hand: the number is set up with the carrier."
    shown = admin.get(page).text
    assert "Ready to call, confirmed by hand" in shown
    assert message in shown
    number = session.get_one(PhoneNumber, NUMBER)
    number.source, number.confirmed_at = NumberSource.ASSIGNED, utcnow()
    session.commit()
    shown = admin.get(page).text
    assert "Ready to call" in shown
    assert "onfirmed by you" not in shown


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("default_voicemail", "It has no intro. Every call must include both messages."),
        ("default_intro", "It has no voicemail message. Every call must include both messages."),
    ],
)
def test_the_message_that_an_assistant_lacks_is_named(
    session: Session, tenant: Tenant, admin: Browser, field: str, words: str
) -> None:
    found = session.scalars(select(Assistant)).all()[0]
    found.default_intro = found.default_voicemail = None
    setattr(found, field, "Hello.")
    session.commit()
    assert words in admin.get(f"/assistants/{found.id}").text


def test_saving_warns_of_placeholders_that_calls_cant_fill(
    session: Session, tenant: Tenant, admin: Browser, assistant: Assistant
) -> None:
    metadata = {"tooth": "left", "is_new": True}
    make_call(session, tenant.organization, NUMBER, call_metadata=metadata)
    address = f"/assistants/{assistant.id}/edit"
    typed = READY | {
        "version": str(assistant.version),
        "default_intro": "Grüß Gott {unbekannt} {firstName|there}",
        "default_voicemail": "Your {tooth} tooth.",
    }
    page = admin.get(str(admin.post(address, typed, page=address).location)).text
    assert "{unbekannt} isn’t a known placeholder." in page
    assert "Known: {firstName}, {lastName}, {tooth}." in page
    form = admin.get(address).text
    shown = r'id="default_intro-foot">\s*<span><span class="is-warning">{unbekannt} isn’t a known'
    assert re.search(shown, form)
    assert form.count("known placeholder") == 1
    again = typed | {"version": str(assistant.version + 1), "default_intro": "Hi {firstName}"}
    page = admin.get(str(admin.post(address, again, page=address).location)).text
    assert "known placeholder" not in page


def test_members_of_an_organization_edit_assistants(
    session: Session, tenant: Tenant, assistant: Assistant, signed_in: SignedIn
) -> None:
    tenant.user.role = Role.OWNER
    session.commit()
    engineers = ("set up with the carrier", "sip:voice@example.com")
    people = ("The number is ready for calls", "Technical settings")
    for user, seen in ((tenant.staff[Role.PARTNER_ADMIN], engineers), (tenant.user, people)):
        page = signed_in(user).get(f"/assistants/{assistant.id}/edit").text
        assert [words for words in (*engineers, *people) if words in page] == list(seen)


def test_the_form_suggests_numbers_of_the_organization_that_no_assistant_has(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    room_for_more(session, tenant.organization)
    for number, each in (
        ("+12025550161", tenant),
        ("+12025550162", tenant),
        ("+12025550163", other_tenant),
    ):
        ids = {"partner_id": each.partner.id, "organization_id": each.organization.id}
        session.add(
            PhoneNumber(number=number, source=NumberSource.ASSIGNED, confirmed_by="", **ids)
        )
    session.flush()
    found = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.organization.id)
    ).all()[0]
    found.phone_number = "+12025550161"
    session.commit()
    for path in (
        f"/assistants/new?organization={tenant.organization.id}",
        f"/assistants/{found.id}/edit",
    ):
        suggested = re.findall(r'<option value="(\+[0-9]+)">', admin.get(path).text)
        assert suggested == ["+12025550162"], path


def test_a_limit_leads_those_who_set_it_to_its_page(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    tenant.partner.partner_upgrade_message = "Room for more assistants."
    tenant.partner.purchase_link = "https://northwind.example/plans"
    session.commit()
    address = f"/assistants/new?organization={tenant.organization.id}"
    refused = admin.post(address, READY, page=address)
    assert refused.status_code == 422
    assert "has 1 of 1 assistants" in refused.text
    assert 'value="Robin"' in refused.text
    place = f"/organizations/{tenant.organization.id}"
    overview = admin.get(place).text
    assert f'href="{place}/plan">Change plan and limits' in overview
    assert "northwind.example/plans" not in overview
    tab = admin.get(f"{place}/assistants").text
    assert f'href="{place}/plan' in refused.text.partition('class="result result-warning"')[2]
    assert f'href="{place}/plan?assistants=2"' in tab
    assert "Raise assistant limit" in tab
    assert "northwind.example/plans" not in refused.text + tab


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", " ", "Enter a name."),
        ("name", "x" * 201, "Too long. Use at most 200 characters."),
        ("timezone", "Europe/Atlantis", "Unknown time zone"),
        ("phone_number", "12", "Too short"),
        ("default_intro", "x" * 1001, "Too long. Use at most 1,000 characters."),
        ("default_intro", " ", "Enter an intro too, or leave both blank."),
        ("default_voicemail", " ", "Enter a voicemail message too, or leave both blank."),
        ("voice_address", "http://voice.example", "Enter a SIP address like"),
        ("voice_address", "javascript:alert(1)", "Enter a SIP address like"),
    ],
)
def test_each_problem_is_at_its_field_and_nothing_is_saved(
    session: Session, assistant: Assistant, admin: Browser, field: str, value: str, words: str
) -> None:
    address = f"/assistants/{assistant.id}/edit"
    before = stored(session, assistant)
    answer = admin.post(address, {**READY, field: value, "version": "1"}, page=address)
    assert (answer.status_code, answer.text.count(words)) == (422, 2)
    assert stored(session, assistant) == before


def test_the_missing_message_is_named_before_an_organization_is_chosen(admin: Browser) -> None:
    address = "/assistants/new"
    answer = admin.post(address, {**READY, "organization": "", "default_intro": ""}, page=address)
    assert answer.status_code == 422
    assert 'id="default_intro-error"' in answer.text
    assert 'id="default_voicemail-error"' not in answer.text


def test_one_message_that_was_stored_before_stays_until_it_is_changed(
    session: Session, assistant: Assistant, admin: Browser
) -> None:
    assistant.default_intro, assistant.default_voicemail = "Hello.", None
    session.commit()
    address = f"/assistants/{assistant.id}/edit"
    sent = {**READY, "default_voicemail": "", "version": str(assistant.version)}
    assert admin.post(address, sent, page=address).status_code == 303
    session.expire_all()
    assert (assistant.default_intro, assistant.default_voicemail) == ("Hello.", None)
    sent |= {"default_intro": "Good morning.", "version": str(assistant.version)}
    refused = admin.post(address, sent, page=address)
    assert refused.status_code == 422
    assert "Enter a voicemail message too, or leave both blank." in unescape(refused.text)
    session.expire_all()
    assert assistant.default_intro == "Hello."


def test_a_number_that_another_assistant_has_is_refused(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    room_for_more(session, tenant.organization)
    caller = tenant.caller(Role.PARTNER_ADMIN)
    second = assistants.add_assistant(session, caller, tenant.organization, name="Second")
    assistants.configure_assistant(session, caller, second, phone_number=NUMBER)
    session.commit()
    address = f"/assistants/{assistant.id}/edit"
    answer = admin.post(address, {**READY, "version": "1"}, page=address)
    words = "Another assistant of the organization has this number."
    assert (answer.status_code, answer.text.count(words)) == (422, 2)


def test_the_second_user_to_save_sees_the_conflict_and_overwrites_nothing(
    session: Session, assistant: Assistant, admin: Browser
) -> None:
    address = f"/assistants/{assistant.id}/edit"
    first = admin.post(address, {**READY, "version": str(assistant.version)}, page=address)
    late = admin.post(
        address, {**READY, "name": "Kim", "version": str(assistant.version)}, page=address
    )
    assert (first.status_code, late.status_code) == (303, 409)
    assert "changed this" in late.text
    assert stored(session, assistant)["name"] == "Robin"
    [version] = [p.split('"')[0] for p in late.text.split('name="version" value="')[1:]]
    again = admin.post(address, {**READY, "name": "Kim", "version": version}, page=address)
    assert (again.status_code, stored(session, assistant)["name"]) == (303, "Kim")


def test_saving_records_the_earlier_values_in_the_history(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    address = f"/assistants/{assistant.id}/edit"
    admin.post(address, {**READY, "version": "1"}, page=address)
    entry = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None
    assert (entry.action, entry.actor, entry.before["phone_number"], entry.after["name"]) == (
        "agent.updated",
        tenant.staff[Role.PARTNER_ADMIN].email,
        None,
        "Robin",
    )


def test_each_condition_that_is_not_met_leads_to_where_it_is_fixed(
    tenant: Tenant, assistant: Assistant, admin: Browser, signed_in: SignedIn
) -> None:
    page = admin.get(f"/assistants/{assistant.id}").text
    led_to = re.findall(rf'href="/assistants/{assistant.id}/edit#(\w+)"', page)
    assert led_to == ["phone_number", "default_intro"]
    edit = admin.get(f"/assistants/{assistant.id}/edit").text
    for place in ("phone_number", "phone_enabled", "phone_configured", "default_intro"):
        assert f'id="{place}"' in edit
    reader = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    seen = reader.get(f"/assistants/{assistant.id}")
    assert seen.status_code == 200
    assert "/edit" not in seen.text


def test_the_page_shows_calling_hours_campaigns_and_the_latest_calls(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    chosen: dict[str, dict[str, Any]] = {
        "Recall": {"assistant_ids": [assistant.id]},
        "Renewals": {"all_assistants": True},
        "Others": {},
    }
    ids = {
        name: campaigns.create(session, caller, tenant.organization.id, name=name, **whose).id
        for name, whose in chosen.items()
    }
    page = f"/assistants/{assistant.id}"
    assert "Calls at any hour." in admin.get(page).text
    tenant.organization.calling_hours_on = True
    tenant.organization.calling_hours_start = time(9)
    tenant.organization.calling_hours_end = time(17)
    make_call(session, tenant.organization, "+12025550101", utcnow())
    session.commit()
    shown = admin.get(page).text
    assert "Calls from 09:00 to 17:00, local to the person called." in shown
    assert "Latest calls" in shown
    named = [name for name in ids if f'href="/campaigns/{ids[name]}"' in shown]
    assert named == ["Recall", "Renewals"]


def test_the_list_filters_by_readiness_and_searches_names_and_numbers(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    room_for_more(session, tenant.organization)
    caller = tenant.caller(Role.PARTNER_ADMIN)
    ready = assistants.add_assistant(session, caller, tenant.organization, name="Ready Rita")
    assistants.configure_assistant(
        session, caller, ready, phone_number=NUMBER, phone_enabled=True, phone_configured=True
    )
    off = assistants.add_assistant(session, caller, tenant.organization, name="Off Otto")
    assistants.configure_assistant(session, caller, off, active=False)
    session.commit()
    of_organization = f"organization={tenant.organization.id}"

    def names(query: str) -> list[str]:
        page = admin.get(f"/assistants?{query}").text
        return [
            name for name in ("Ready Rita", "Off Otto", assistant.name) if f">{name}</a>" in page
        ]

    assert names(f"{of_organization}&readiness=ready") == ["Ready Rita"]
    assert names(f"{of_organization}&readiness=off") == ["Off Otto"]
    assert names(f"{of_organization}&readiness=not-ready") == [assistant.name]
    assert names("q=rita") == ["Ready Rita"]
    assert names("q=202+555+0148") == ["Ready Rita"]
    assert names(f"q={tenant.organization.name.upper()}") == [
        "Ready Rita",
        "Off Otto",
        assistant.name,
    ]
    tenant.organization.status = OrganizationStatus.SUSPENDED
    session.commit()
    assert assistants.readiness_of(ready, tenant.organization) is Readiness.NOT_READY
    assert names(f"{of_organization}&readiness=ready") == []


def test_staff_filter_the_list_by_organization(tenant: Tenant, admin: Browser) -> None:
    def shown(query: str) -> list[str]:
        page = admin.get(f"/assistants?{query}").text
        return re.findall(r"<a[^>]*>(Northwind (?:Bakery|Dental))</a>\s*</td>", page)

    assert sorted(shown("")) == ["Northwind Bakery", "Northwind Dental"]
    assert shown("organization=dent") == ["Northwind Dental"]
    assert shown(f"organization={tenant.organization.id}") == ["Northwind Bakery"]


def test_assistants_of_the_same_name_are_listed_by_organization(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    for name in ("Zebra Books", "Alder Books", "Miller Roofing"):
        made = organization_of(
            session, make_user(session, tenant.partner.id, f"{name[0]}@x.example")
        )
        made.name = name
    session.commit()
    found = {}
    for sort in ("name", "-name"):
        page = admin.get(f"/assistants?sort={sort}").text
        owners = re.findall(r"<a[^>]*>([A-Z]\w+ (?:Books|Roofing))</a>\s*</td>", page)
        found[sort] = owners
    assert found["name"] == ["Alder Books", "Miller Roofing", "Zebra Books"]
    assert found["-name"] == found["name"][::-1]


@pytest.mark.parametrize("place", ["/assistants?organization={}", "/organizations/{}/assistants"])
def test_each_list_names_the_first_condition_that_an_assistant_misses(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser, place: str
) -> None:
    steps: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "No phone number yet."),
        ({"phone_number": NUMBER}, "Calls from its number are switched off."),
        ({"phone_enabled": True}, "The number isn’t marked as set up with the carrier yet."),
        ({"phone_configured": True}, ""),
        ({"active": False}, ""),
    )
    caller, cell = tenant.caller(Role.PARTNER_ADMIN), r'phone-first">\s*<span class="badge[^>]*>'
    seen = []
    for change, _words in steps:
        assistants.configure_assistant(session, caller, assistant, **change)
        session.commit()
        page = admin.get(place.format(tenant.organization.id)).text
        badge = re.search(cell + r'[^<]*</span>(?:<span class="cell-sub[^>]*>(.*?)<)?', page)
        seen.append(badge.group(1) or "" if badge else None)
    assert seen == [words for _change, words in steps]


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.OWNER])
def test_without_a_number_the_number_is_the_only_step_and_the_others_come_after_it(
    session: Session, tenant: Tenant, assistant: Assistant, signed_in: SignedIn, role: Role
) -> None:
    tenant.user.role = Role.OWNER
    session.commit()
    browser = signed_in(tenant.user if role is Role.OWNER else tenant.staff[role])
    page = browser.get(f"/assistants/{assistant.id}").text
    seen = re.findall(r"(Stops the call|After that): </span>(.*?)</span>", page)
    by_partner = f"{tenant.partner.name} does this." in page
    assert (seen, by_partner) == (
        [
            ("Stops the call", "No phone number yet."),
            ("After that", "Calls from its number are switched off."),
            ("After that", "The number isn’t marked as set up with the carrier yet."),
        ],
        role is Role.OWNER,
    )


def test_a_key_is_added_once_and_its_removal_names_the_contacts_that_have_it(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    page = f"/assistants/{assistant.id}"
    sent = {"key": " crmId ", "meaning": "identifies"}
    added = admin.post(f"{page}/keys", sent, page=page)
    again = admin.post(f"{page}/keys", sent, page=page)
    key = session.scalars(select(ExternalIdKey)).one()
    assert (added.status_code, again.status_code, key.key, key.identifies) == (
        303,
        422,
        "crmId",
        True,
    )
    assert again.text.count("The assistant already has this key.") == 2
    campaign = campaigns.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        tenant.organization.id,
        name="Recall",
        all_assistants=True,
    )
    person = {"phone": NUMBER, "externalIdKey": "crmId", "externalIdValue": "C-1"}
    contacts.apply(session, campaign, [person], ContactAction.UPSERT)
    session.commit()
    confirmation = admin.get(f"{page}/keys/remove?key=crmId")
    assert "1 contact has a value for it" in confirmation.text
    assert "Files and scripts that send it will be refused" in confirmation.text
    removed = admin.post(f"{page}/keys/remove?key=crmId", page=page)
    left = session.scalar(select(func.count()).select_from(ExternalIdKey))
    assert (removed.status_code, left) == (303, 0)


@pytest.mark.parametrize("key", ["", " ", "x" * 101])
def test_a_key_without_a_name_or_with_too_long_a_one_is_refused(
    session: Session, assistant: Assistant, admin: Browser, key: str
) -> None:
    page = f"/assistants/{assistant.id}"
    answer = admin.post(f"{page}/keys", {"key": key, "meaning": "routes"}, page=page)
    assert answer.status_code == 422
    assert session.scalar(select(func.count()).select_from(ExternalIdKey)) == 0


def test_an_assistant_of_another_tenant_is_not_found(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    theirs = assistants.of_organization(
        session, other_tenant.caller(Role.PARTNER_ADMIN), other_tenant.organization.id
    )[0]
    seen = []
    for assistant_id, organization_id in (
        (theirs.id, other_tenant.organization.id),
        (uuid4(), uuid4()),
    ):
        page = f"/assistants/{assistant_id}"
        new = f"/assistants/new?organization={organization_id}"
        seen.append(
            [
                *(admin.get(path).status_code for path in (page, f"{page}/edit", new)),
                admin.get(f"{page}/keys/remove?key=x").status_code,
                admin.post(f"{page}/edit", READY, page="/assistants").status_code,
                admin.post(f"{page}/keys", {"key": "x"}, page="/assistants").status_code,
                admin.post(new, READY, page="/assistants").status_code,
            ]
        )
    assert seen == [[404] * 7, [404] * 7]
    assert theirs.name == session.get_one(Assistant, theirs.id).name


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.STANDARD])
def test_users_who_may_not_change_assistants_find_no_form(
    tenant: Tenant, assistant: Assistant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(user_of(tenant, role))
    statuses = [
        browser.get(path).status_code
        for path in ("/assistants/new", f"/assistants/{assistant.id}/edit")
    ]
    assert statuses == [404, 404]


@pytest.mark.parametrize(
    ("address", "accepted"),
    [
        ("sip:robin@voice.example", True),
        ("sips:robin@voice.example:5061;transport=tls", True),
        ("wss://voice.example/stream?agent=1", True),
        ("https://voice.example", True),
        ("ws://voice.example", False),
        ("sip:voice.example", False),
        ("wss://user:secret@voice.example", False),
        ("sip:robin@voice.example\r\nX: y", False),
    ],
)
def test_voice_addresses_are_checked(address: str, accepted: bool) -> None:
    assert is_voice_address(address) is accepted


def test_the_page_of_an_assistant_starts_its_test_call_among_very_many_assistants(
    session: Session, tenant: Tenant, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.portal.calls.call_test_views.MAX_ASSISTANTS", 1)
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    found = session.scalars(
        select(Assistant.id).where(Assistant.partner_id == tenant.partner.id)
    ).all()
    assert len(found) > 1
    for assistant_id in found:
        page = browser.get(f"/test-call?agent={assistant_id}").text
        assert f'<option selected value="{assistant_id}">' in page
        assert "Showing the first 200" in page
        assert f'href="/assistants/{assistant_id}">View assistant' in page


def test_a_phone_shows_the_number_of_an_assistant_but_no_dash_without_one(
    session: Session, assistant: Assistant, admin: Browser
) -> None:
    def number() -> list[str]:
        page = admin.get("/assistants").text
        row = page[page.index(f"/assistants/{assistant.id}") :].partition("</tr>")[0]
        return re.findall(r'<td class="phone-second">([^<]+)', row)

    assistant.phone_number = "+12025550199"
    session.commit()
    assert [each.replace("\N{NO-BREAK SPACE}", " ") for each in number()] == ["+1 202 555 0199"]
    assistant.phone_number = None
    session.commit()
    assert number() == []


def test_the_page_counts_the_calls_of_30_days_and_links_to_each_list(
    session: Session, tenant: Tenant, assistant: Assistant, admin: Browser
) -> None:
    page = f"/assistants/{assistant.id}"
    assert "No calls in these days." in admin.get(page).text
    now, today = utcnow(), utcnow().date()
    answered: list[tuple[CallStatus, AnsweredBy | None, int | None, int]] = [
        (CallStatus.COMPLETED, AnsweredBy.HUMAN, 60, 0),
        (CallStatus.COMPLETED, AnsweredBy.HUMAN, 90, 29),
        (CallStatus.COMPLETED, AnsweredBy.VOICEMAIL, 30, 1),
        (CallStatus.NO_ANSWER, None, None, 2),
        (CallStatus.COMPLETED, AnsweredBy.HUMAN, 900, 31),
    ]
    for status, by, seconds, age in answered:
        call = make_call(session, tenant.organization, "+12025550101", now - timedelta(days=age))
        call.status, call.answered_by, call.seconds = status, by, seconds
        call.assistant_id = assistant.id
    make_call(session, tenant.plus, "+12025550101", now)
    session.commit()
    section = admin.get(page).text.partition("Last 30 days")[2].partition("</section>")[0]
    figures = re.findall(r'<a href="([^"]+)" aria-label="([^"]+)"', unescape(section))
    shown = {}
    for url, label in figures:
        assert f"agent={assistant.id}&start={today - timedelta(days=29)}&end={today}" in url
        shown[label.replace("\N{NO-BREAK SPACE}", " ")] = admin.get(url).text.count(
            'href="/calls/0'
        )
    assert shown == {"Calls: 4": 4, "Reached a person: 50.0 %": 2, "Average duration: 1 min": 3}


def test_operators_see_the_partner_of_an_assistant_and_narrow_the_list_to_one(
    tenant: Tenant, other_tenant: Tenant, operator: Browser, admin: Browser
) -> None:
    def listed(page: str) -> set[str]:
        names = {each.partner.name for each in (tenant, other_tenant)}
        return {name for name in names if f'<span class="cell-sub">{name}</span>' in page}

    assert listed(operator.get("/assistants").text) == {
        tenant.partner.name,
        other_tenant.partner.name,
    }
    one = operator.get(f"/assistants?partner={tenant.partner.id}").text
    assert listed(one) == {tenant.partner.name}
    assert f"call for customers of {tenant.partner.name} from" in one
    assert listed(admin.get(f"/assistants?partner={other_tenant.partner.id}").text) == set()


def test_an_assistant_and_its_number_have_the_same_mark(
    session: Session, tenant: Tenant, admin: Browser, assistant: Assistant
) -> None:
    phone_numbers.assign(session, OPERATOR, tenant.organization.id, [NUMBER])
    assistant.phone_number = NUMBER
    session.commit()

    def marks() -> list[str]:
        of_organization = f"/organizations/{tenant.organization.id}/assistants"
        pages = ("/numbers", f"/assistants?organization={tenant.organization.id}", of_organization)
        badges = (re.findall(r'"(badge [^"]*)"', admin.get(page).text) for page in pages)
        return [found[-1] for found in badges]

    organizations.suspend(session, OPERATOR, tenant.organization.id)
    session.commit()
    assert marks() == ["badge badge-warning badge-hollow"] * 3
    organizations.reactivate(session, OPERATOR, tenant.organization.id)
    assistant.active = False
    session.commit()
    assert marks() == ["badge badge-neutral"] * 3


def test_all_problems_of_a_new_assistant_are_shown_with_an_unknown_organization(
    admin: Browser,
) -> None:
    typed = {"organization": "Nowhere", "name": "", "phone_number": "abc", "voice_address": "x y"}
    refused = admin.post("/assistants/new", typed, page="/assistants/new")
    assert refused.status_code == 422
    assert set(re.findall(r'id="(\w+)-error"', refused.text)) == typed.keys()
    local = admin.post("/assistants/new", typed | {"phone_number": "555 0100"}, page="/account")
    assert 'id="phone_number-error"' not in local.text
