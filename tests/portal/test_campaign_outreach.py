"""The outreach of a campaign in the portal: planned, started with its consequences, paused."""

import re
from collections.abc import Callable
from datetime import date, time, timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.database import Database
from app.enums import (
    AnsweredBy,
    CallStatus,
    CampaignStatus,
    ContactAction,
    EndedReason,
    OutreachStatus,
    Role,
)
from app.languages.dates import NO_BREAK
from app.models import (
    Assistant,
    AuditEntry,
    Call,
    Campaign,
    Contact,
    ConversationDay,
    Organization,
    Outreach,
    OutreachContact,
    User,
    utcnow,
)
from app.portal.campaigns.plan_labels import days_label
from app.portal.web.formats import short_datetime
from app.services import (
    assistants,
    campaigns,
    contacts,
    do_not_call,
    organizations,
    outreach,
    pauses,
    spending,
)
from app.services.calls.lifecycle import end_call
from app.services.outreach import dispatcher
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser, statements_of_page
from tests.portal.test_calls import make_call
from tests.portal.uploader import words as words_of

SignedIn = Callable[[User], Browser]

ADA, BOB = "+12025550101", "+12025550102"
NOT_CALLED = (
    "2 won’t be called: 1 on the do-not-call list or asked not to be called, "
    "1 without a phone number"
)
TYPED: dict[str, Any] = {
    "weekdays": ["1", "2", "3", "4", "5", "6", "7"],
    "hours_start": "00:00",
    "hours_end": "00:00",
    "calls_per_hour": "",
    "calls_at_once": "",
    "message_kind": "exact",
    "intro": "Hello {firstName|there}.",
    "voicemail": "Call us back.",
    "instructions": "left from before",
}


@pytest.fixture
def assistant(session: Session, tenant: Tenant) -> Assistant:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    found = assistants.of_organization(session, caller, tenant.organization.id)[0]
    found.phone_number, found.phone_enabled, found.phone_configured = "+12025550199", True, True
    return found


@pytest.fixture
def campaign(session: Session, tenant: Tenant, assistant: Assistant) -> Campaign:
    made = campaigns.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        tenant.organization.id,
        name="Winter recall",
        all_assistants=True,
    )
    people = [
        {"firstName": "Ada", "phone": ADA},
        {"firstName": "Bob", "phone": BOB},
        {"firstName": "Cleo", "email": "cleo@mail.example"},
    ]
    contacts.apply(session, made, people, ContactAction.UPSERT)
    do_not_call.add(session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, BOB)
    session.commit()
    return made


@pytest.fixture
def outreach_path(campaign: Campaign) -> str:
    return f"/campaigns/{campaign.id}/outreach"


@pytest.fixture
def planned_outreach_path(
    admin: Browser, outreach_path: str, campaign: Campaign, assistant: Assistant
) -> str:
    sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)}
    assert (
        admin.post(f"{outreach_path}/plan", sent, page=f"{outreach_path}/plan").status_code == 303
    )
    return outreach_path


def feed(session: Session, campaign: Campaign) -> int:
    fed = dispatcher.dispatch(session, campaign.id, CallSettings(), utcnow())
    session.commit()
    return fed


def status_of(session: Session, campaign: Campaign) -> CampaignStatus:
    session.expire_all()
    return campaign.status


def test_a_campaign_needs_a_plan_before_it_can_start(
    session: Session, campaign: Campaign, admin: Browser, outreach_path: str
) -> None:
    page = admin.get(outreach_path)
    asked = admin.get(f"{outreach_path}/start")
    assert "No plan yet" in page.text
    assert "Start campaign" not in page.text
    assert (asked.status_code, asked.location) == (303, f"{outreach_path}/plan")
    tried = admin.post(f"{outreach_path}/start", page="/campaigns")
    assert (tried.status_code, tried.location) == (303, outreach_path)
    assert status_of(session, campaign) is CampaignStatus.PAUSED


def test_a_new_campaign_leads_to_its_plan_and_then_to_the_upload(
    admin: Browser, outreach_path: str, campaign: Campaign, assistant: Assistant
) -> None:
    plan, upload = f"{outreach_path}/plan?new=1", f"/campaigns/{campaign.id}/upload?new=1"
    first = admin.get(plan).text
    assert "Next: upload contacts." in first
    assert f'href="{upload}">Skip this step' in first
    sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)}
    saved = admin.post(plan, sent, page=plan)
    assert (saved.status_code, saved.location) == (303, upload)
    second = admin.get(upload).text
    assert f'href="/campaigns/{campaign.id}">Upload later' in second
    assert [step_of(page) for page in (first, second)] == [
        "Step 2 of 4: Plan",
        "Step 3 of 4: Contacts: Choose file",
    ]


def test_an_upload_into_a_started_campaign_has_its_own_three_steps(
    session: Session, admin: Browser, campaign: Campaign, planned_outreach_path: str
) -> None:
    session.get_one(Outreach, campaign.id).started_at = utcnow()
    session.commit()
    page = admin.get(f"/campaigns/{campaign.id}/upload").text
    assert step_of(page) == "Step 1 of 3: Choose file"


def step_of(page: str) -> str:
    """Return the current step of a wizard, as it is read on a phone."""
    wizard = page.partition('<ol class="wizard"')[2].partition("</ol>")[0]
    words = wizard.partition('class="step-of">')[2].partition("</li>")[0]
    return " ".join(re.sub("<[^>]+>", "", words).split())


def test_a_campaign_without_contacts_and_plan_says_on_both_tabs_how_to_begin(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    made = campaigns.create(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, name="Bare"
    )
    session.commit()
    for path in (f"/campaigns/{made.id}", f"/campaigns/{made.id}/outreach"):
        page = admin.get(path).text
        box = page.partition('class="empty-state"')[2].partition("</div>")[0]
        assert "A campaign needs contacts, and a plan with the assistant" in box
        links = [f"/campaigns/{made.id}/upload", f"/campaigns/{made.id}/outreach/plan"]
        assert re.findall(r'href="(/campaigns[^"]*)"', box) == links
        assert page.count("btn-primary") == 1


def test_a_plan_keeps_the_values_of_the_chosen_way_and_is_in_the_history(
    session: Session,
    campaign: Campaign,
    admin: Browser,
    planned_outreach_path: str,
    assistant: Assistant,
) -> None:
    plan = outreach.plan_of(session, campaign)
    assert (
        plan.assistant_id,
        plan.intro_message,
        plan.voicemail_message,
        plan.call_instructions,
    ) == (
        assistant.id,
        "Hello {firstName|there}.",
        "Call us back.",
        None,
    )
    actions = select(AuditEntry.action).where(AuditEntry.target_id == str(campaign.id))
    assert session.scalars(actions.order_by(AuditEntry.id)).all()[-1] == "campaign.planned"
    assert "00:00 to 24:00, every day, local to each person" in unescape(
        admin.get(planned_outreach_path).text
    )


def test_saving_a_plan_warns_of_placeholders_that_calls_cant_fill(
    session: Session,
    campaign: Campaign,
    admin: Browser,
    planned_outreach_path: str,
    assistant: Assistant,
) -> None:
    person = {"phone": ADA, "contactMetadata": {"city": "Graz"}}
    contacts.apply(session, campaign, [person], ContactAction.UPSERT)
    session.commit()
    page = f"{planned_outreach_path}/plan"
    version = session.get_one(Campaign, campaign.id, populate_existing=True).version
    typed = TYPED | {"assistant": str(assistant.id), "version": str(version)}
    texts = {"intro": "Hello {city}, {wetter}.", "voicemail": "{ort|there} {firstName}"}
    shown = admin.get(str(admin.post(page, typed | texts, page=page).location)).text
    assert "{ort}, {wetter} aren’t known placeholders." in shown
    assert "Known: {firstName}, {lastName}, {city}." in shown


@pytest.mark.parametrize(
    ("days", "words"),
    [
        ({1, 2, 3, 4, 5, 6}, "Monday to Saturday"),
        ({1, 2, 3, 4, 5}, "Monday to Friday"),
        ({2, 3, 4}, "Tuesday to Thursday"),
        ({1, 2}, "Monday, Tuesday"),
        ({1, 2, 3, 5}, "Monday, Tuesday, Wednesday, Friday"),
        ({7}, "Sunday"),
        ({*range(1, 8)}, "every day"),
    ],
)
def test_days_in_a_row_are_named_by_the_first_and_the_last(days: set[int], words: str) -> None:
    assert days_label(frozenset(days)) == words


def test_a_plan_has_a_first_and_a_last_day(
    session: Session,
    admin: Browser,
    planned_outreach_path: str,
    campaign: Campaign,
    assistant: Assistant,
) -> None:
    path = f"{planned_outreach_path}/plan"
    typed = TYPED | {"assistant": str(assistant.id)}
    wrong = admin.post(path, typed | {"starts_on": "tomorrow"}, page=path)
    assert wrong.status_code == 422
    assert "Enter a day like 2026-02-28." in wrong.text
    days = {"starts_on": "2099-12-02", "ends_on": "2099-12-01"}
    wrong = admin.post(path, typed | days, page=path)
    message = "Last day: The last day can’t be before the first day."
    assert wrong.status_code == 422
    assert message in unescape(wrong.text)
    assert admin.post(path, typed | days | {"ends_on": "2099-12-20"}, page=path).status_code == 303
    plan = outreach.plan_of(session, campaign)
    assert (plan.starts_on, plan.ends_on) == (date(2099, 12, 2), date(2099, 12, 20))
    assert re.findall(r'name="(?:starts|ends)_on"[^>]*value="([^"]*)"', admin.get(path).text) == [
        "2099-12-02",
        "2099-12-20",
    ]
    page = unescape(admin.get(planned_outreach_path).text).replace("\N{NO-BREAK SPACE}", " ")
    for words in ("2 Dec 2099", "20 Dec 2099", "The first day of the plan hasn’t come yet."):
        assert words in page


def test_an_assistant_that_can_not_call_is_marked_in_the_plan(
    session: Session, admin: Browser, outreach_path: str, assistant: Assistant
) -> None:
    def offered() -> list[str]:
        return re.findall(r"<option[^>]*>([^<]*)</option>", admin.get(f"{outreach_path}/plan").text)

    name = assistant.name
    assert name in offered()
    assistant.phone_configured = False
    session.commit()
    assert f"{name} (phone not ready)" in offered()
    assistant.phone_number = None
    session.commit()
    assert f"{name} (no phone number)" in offered()
    assistant.active = False
    session.commit()
    assert f"{name} (switched off)" in offered()


def test_a_new_plan_proposes_calls_by_day(admin: Browser, outreach_path: str) -> None:
    page = admin.get(f"{outreach_path}/plan").text
    assert re.findall(r'name="hours_\w+"[^>]*value="([^"]*)"', page) == ["08:00", "21:00"]


@pytest.mark.parametrize(
    ("plan", "organization", "warned"),
    [
        (("00:00", "00:00"), None, True),
        (("07:30", "12:00"), None, True),
        (("08:00", "21:30"), None, True),
        (("08:00", "21:00"), None, False),
        (("00:00", "00:00"), (time(9), time(18)), False),
        (("00:00", "00:00"), (time(6), time(18)), True),
    ],
)
def test_calls_at_night_are_warned_about(
    session: Session,
    tenant: Tenant,
    admin: Browser,
    planned_outreach_path: str,
    assistant: Assistant,
    plan: tuple[str, str],
    organization: tuple[time, time] | None,
    warned: bool,
) -> None:
    if organization:
        tenant.organization.calling_hours_on = True
        tenant.organization.calling_hours_start, tenant.organization.calling_hours_end = (
            organization
        )
        session.commit()
    typed = TYPED | {"assistant": str(assistant.id), "hours_start": plan[0], "hours_end": plan[1]}
    assert (
        admin.post(
            f"{planned_outreach_path}/plan", typed, page=f"{planned_outreach_path}/plan"
        ).status_code
        == 303
    )
    warning = "Calls before 08:00 or after 21:00 are allowed"
    assert (warning in admin.get(f"{planned_outreach_path}/start").text) is warned
    admin.get(planned_outreach_path)  # shows once what saving the plan warned about
    admin.post(f"{planned_outreach_path}/start", page=planned_outreach_path)
    assert warning not in admin.get(planned_outreach_path).text


def test_saving_hours_at_night_warns_once(
    admin: Browser, outreach_path: str, campaign: Campaign, assistant: Assistant
) -> None:
    hint = "Many countries forbid calls before 08:00 or after 21:00."
    assert hint in admin.get(f"{outreach_path}/plan").text
    sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)}
    admin.post(f"{outreach_path}/plan", sent, page=f"{outreach_path}/plan")
    warnings = [admin.get(outreach_path).text.count("Calls before 08:00") for _ in range(2)]
    assert warnings == [2, 1], "once above, and each time where the campaign is started"


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        (("8:00", "20:30"), ("08:00", "20:30")),
        (("08:00:00", "24:00"), ("08:00", "00:00")),
        (("830", "1230"), ("08:30", "12:30")),
    ],
)
def test_hours_are_typed_in_24_hours(
    admin: Browser,
    planned_outreach_path: str,
    assistant: Assistant,
    typed: tuple[str, str],
    stored: tuple[str, str],
) -> None:
    hours = {"hours_start": typed[0], "hours_end": typed[1]}
    sent = TYPED | {"assistant": str(assistant.id)} | hours
    assert (
        admin.post(
            f"{planned_outreach_path}/plan", sent, page=f"{planned_outreach_path}/plan"
        ).status_code
        == 303
    )
    page = admin.get(f"{planned_outreach_path}/plan").text
    assert 'type="time"' not in page
    assert tuple(re.findall(r'name="hours_\w+"[^>]*value="([^"]*)"', page)) == stored


@pytest.mark.parametrize(
    ("first", "last", "first_call"),
    [
        ("", "9999-12-31", "Right after the start"),
        ("2031-03-03", "", "at the earliest"),
        ("0001-01-01", "9999-12-31", "Right after the start"),
    ],
)
def test_a_plan_may_have_days_far_away(
    session: Session,
    admin: Browser,
    outreach_path: str,
    campaign: Campaign,
    assistant: Assistant,
    first: str,
    last: str,
    first_call: str,
) -> None:
    assistant.timezone = "Asia/Tokyo"
    session.commit()
    address = f"{outreach_path}/plan"
    sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)}
    sent |= {"starts_on": first, "ends_on": last}
    assert first_call in admin.post(f"{address}/outlook", sent, page=address).text
    assert admin.post(address, sent, page=address).status_code == 303
    for page in (outreach_path, address, f"{outreach_path}/start"):
        assert admin.get(page).status_code == 200


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"assistant": "nonsense"}, "Choose an assistant of the campaign."),
        ({"weekdays": []}, "Choose at least one day of the week."),
        ({"weekdays": ["9"]}, "Choose at least one day of the week."),
        ({"weekdays": ["1" * 5000]}, "Choose at least one day of the week."),
        ({"hours_start": "09:00", "hours_end": "09:00"}, "The end must be after"),
        ({"hours_start": "soon"}, "Enter a time like 08:00."),
        ({"calls_per_hour": "0"}, "Enter a whole number from 1 to 10,000."),
        ({"calls_at_once": "many"}, "Enter a whole number in digits."),
        ({"voicemail": " "}, "Send both the intro"),
        ({"message_kind": "default"}, "The assistant has no messages of its own"),
    ],
)
def test_each_problem_of_a_plan_is_at_its_field(
    session: Session,
    campaign: Campaign,
    admin: Browser,
    outreach_path: str,
    assistant: Assistant,
    changes: dict[str, Any],
    words: str,
) -> None:
    address = f"{outreach_path}/plan"
    assistant.default_intro = assistant.default_voicemail = None
    session.commit()
    sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)} | changes
    answer = admin.post(address, sent, page=address)
    assert answer.status_code == 422
    assert words in unescape(answer.text)
    assert outreach.stored_plan(session, campaign) is None


@pytest.mark.parametrize(
    "changes",
    [
        {
            "hours_start": "25:00",
            "starts_on": "2026-08-22",
            "ends_on": "2026-08-16",
            "calls_per_hour": "-3",
            "voicemail": " ",
        },
        {"hours_end": "soon", "calls_per_hour": "many", "calls_at_once": "0"},
    ],
)
def test_all_problems_of_a_plan_are_shown_at_once(
    session: Session,
    campaign: Campaign,
    admin: Browser,
    outreach_path: str,
    assistant: Assistant,
    changes: dict[str, str],
) -> None:
    address = f"{outreach_path}/plan"
    sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)} | changes
    answer = admin.post(address, sent, page=address)
    assert answer.status_code == 422
    wrong = re.findall(r'<li><a href="#([\w-]+)">', answer.text)
    expected = set(changes) - {"starts_on"}
    assert (len(wrong), set(wrong)) == (len(expected), expected)
    assert outreach.stored_plan(session, campaign) is None


def test_the_second_user_to_change_a_plan_sees_the_conflict(
    admin: Browser,
    planned_outreach_path: str,
    campaign: Campaign,
    assistant: Assistant,
    session: Session,
) -> None:
    sent = TYPED | {"assistant": str(assistant.id), "calls_per_hour": "60"}
    late = admin.post(
        f"{planned_outreach_path}/plan",
        sent | {"version": "1"},
        page=f"{planned_outreach_path}/plan",
    )
    assert late.status_code == 409
    assert "changed this" in late.text
    assert outreach.plan_of(session, campaign).calls_per_hour is None


def test_a_campaign_without_contacts_offers_to_add_some_instead_of_its_start(
    session: Session, admin: Browser, planned_outreach_path: str
) -> None:
    assert "Start campaign" in admin.get(planned_outreach_path).text
    session.execute(delete(Contact))
    session.execute(update(Campaign).values(contact_count=0))
    session.commit()
    page = admin.get(planned_outreach_path).text
    assert "Start campaign" not in page
    assert "The campaign can’t call anyone until it has contacts." in page
    base = planned_outreach_path.removesuffix("/outreach")
    contacts_page = words_of(admin.get(base))
    for words in ("The plan is ready. Add contacts to start.", "Add contacts, then start"):
        assert words in contacts_page
    assert "and a plan with" not in contacts_page
    assert f'<a class="btn btn-primary" href="{base}/upload">' in page
    assert f'href="{base}/contacts/new"' in page


def test_the_start_page_counts_the_contacts_it_calls_and_leaves_out(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    asked = unescape(admin.get(f"{planned_outreach_path}/start").text)
    for words in (
        "1 contact will be called: 00:00 to 24:00, every day, local to each person.",
        "1 will not be called: no phone number.",
        "1 will not be called: on the do-not-call list.",
    ):
        assert words in asked
    page = unescape(admin.get(planned_outreach_path).text)
    for words in ("0 of 1 contact called", "1 left", NOT_CALLED):
        assert words in page
    contacts_page = planned_outreach_path.removesuffix("/outreach")
    links = re.findall(rf'href="({contacts_page}\?hindrance=[^"]+)"', asked)
    shown = [re.findall("Ada|Bob|Cleo", admin.get(link).text.split("<tbody>")[1]) for link in links]
    assert [set(names) for names in shown] == [{"Bob"}, {"Cleo"}]
    assert (feed(session, campaign), status_of(session, campaign)) == (0, CampaignStatus.PAUSED)
    started = admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    assert (started.status_code, started.location) == (303, planned_outreach_path)
    assert (status_of(session, campaign), feed(session, campaign)) == (CampaignStatus.ACTIVE, 1)
    page = unescape(admin.get(planned_outreach_path).text)
    for words in ("0 of 1 contact called", NOT_CALLED, "The last calls are in progress."):
        assert words in page
    fragment = admin.get(f"{planned_outreach_path}/live").text
    assert 'hx-trigger="every 2s"' in fragment
    assert "<html" not in fragment


def test_every_tab_of_a_campaign_leads_to_its_start(
    admin: Browser,
    campaign: Campaign,
    outreach_path: str,
    assistant: Assistant,
) -> None:
    page = f"/campaigns/{campaign.id}"
    without_plan = admin.get(page).text
    sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)}
    admin.post(f"{outreach_path}/plan", sent, page=f"{outreach_path}/plan")
    assert f'<a class="inline" href="{outreach_path}/plan">create a plan</a>' in without_plan
    assert f'<a class="inline" href="{outreach_path}">start it</a>' in admin.get(page).text


@pytest.mark.parametrize(
    ("hindrance", "message", "fixed_at"),
    [
        ("off", "The assistant is switched off.", "/assistants/{assistant}"),
        (
            "left",
            "The plan's assistant was removed from the campaign.",
            "/campaigns/{campaign}/outreach/plan",
        ),
        ("paused", "Calling is paused: A storm.", "/carriers"),
        (
            "spent",
            "The organization's spending limit for today is reached.",
            "/organizations/{organization}/spending",
        ),
    ],
)
def test_a_blocker_of_a_whole_campaign_links_to_the_page_that_fixes_it(
    session: Session,
    campaign: Campaign,
    admin: Browser,
    planned_outreach_path: str,
    assistant: Assistant,
    tenant: Tenant,
    signed_in: SignedIn,
    hindrance: str,
    message: str,
    fixed_at: str,
) -> None:
    assert "No one would be called" not in admin.get(planned_outreach_path).text
    if hindrance == "off":
        assistant.active = False
    elif hindrance == "left":
        campaigns.assign_assistants(session, tenant.caller(Role.PARTNER_ADMIN), campaign.id, [])
    elif hindrance == "spent":
        subject = spending.LimitSubject(organization_id=tenant.organization.id)
        spending.change(session, OPERATOR, subject, spending.SpendingLimits(day_micros=0))
    else:
        pauses.pause(session, OPERATOR, pauses.PauseScope(), "A storm.")
    session.commit()
    ids = {
        "assistant": assistant.id,
        "campaign": campaign.id,
        "organization": tenant.organization.id,
    }
    link = f'href="{fixed_at.format(**ids)}"'
    page = unescape(admin.get(planned_outreach_path).text)
    assert all(words in page for words in ("No one would be called", message, link))
    asked = unescape(admin.get(f"{planned_outreach_path}/start").text)
    hold, called = f"No calls for now. {message}", "1 contact will be called"
    assert asked.index(hold) < asked.index(called)

    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    fed = feed(session, campaign)
    for path in (planned_outreach_path, f"{planned_outreach_path}/live"):
        shown = unescape(admin.get(path).text)
        assert "No calls right now" in shown
        assert message in shown
    member = signed_in(tenant.user)
    assert message in unescape(member.get(planned_outreach_path).text)
    overview = unescape(member.get("/").text)
    if hindrance == "paused":
        assert fed == 1
        assert "Calling is paused: A storm." in overview
    else:
        assert fed == 0
        assert f"{campaign.name} isn’t calling" in overview
        assert message in overview


def test_a_pause_takes_calls_back_and_a_resume_goes_on(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    feed(session, campaign)
    paused = admin.post(f"{planned_outreach_path}/pause", page=planned_outreach_path)
    assert (paused.status_code, status_of(session, campaign)) == (303, CampaignStatus.PAUSED)
    assert session.scalars(select(Call.status)).all() == [CallStatus.CANCELED]
    page = unescape(admin.get(planned_outreach_path).text)
    assert "Resume campaign" in page
    assert "Paused. No calls" in page
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    assert feed(session, campaign) == 1


def test_a_campaign_is_finished_everywhere_once_its_last_call_has_ended(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    admin.post(f"{planned_outreach_path}/start", page=planned_outreach_path)
    while feed(session, campaign):
        pass

    def states() -> str:
        pages = [admin.get(path).text for path in ("/campaigns", planned_outreach_path)]
        words = [re.findall(r'<span class="badge[^>]*>([^<]*)</span>', page) for page in pages]
        assert words[0][-1] == words[1][0]
        return str(words[1][0])

    assert states() == "Running"
    call = session.scalars(select(Call)).one()
    end_call(session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    session.commit()
    assert states() == "Finished"

    def notices() -> int:
        """How often the dispatcher has noted the end after two more turns."""
        for _ in range(2):
            session.execute(update(Outreach).values(next_at=None))
            feed(session, campaign)
        return admin.get("/notifications").text.count("Campaign finished: Winter recall<")

    assert notices() == 1
    people = [{"firstName": "Dan", "phone": "+12025550105"}]
    contacts.apply(session, campaign, people, ContactAction.UPSERT)
    session.commit()
    assert notices() == 1
    end_call(
        session,
        session.scalars(select(Call).where(Call.ended_at.is_(None))).one(),
        CallStatus.BUSY,
        EndedReason.BUSY,
        at=utcnow(),
    )
    session.commit()
    assert notices() == 1
    admin.post(
        f"{planned_outreach_path}/call-again?only=not-reached",
        page=f"{planned_outreach_path}/call-again?only=not-reached",
    )
    assert notices() == 1
    for call in session.scalars(select(Call).where(Call.ended_at.is_(None))):
        end_call(session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    session.commit()
    assert notices() == 2


def test_a_campaign_can_call_again_when_everyone_was_called(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    feed(session, campaign)
    early = admin.get(f"{planned_outreach_path}/call-again")
    assert (early.status_code, early.location) == (303, planned_outreach_path)
    call = session.scalars(select(Call)).one()
    end_call(session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    session.commit()
    page = unescape(admin.get(planned_outreach_path).text)
    assert "All callable contacts were called." in page
    assert "every 2s" not in page
    shown = unescape(admin.get(f"{planned_outreach_path}/call-again").text)
    assert "1 contact will be called" in shown
    admin.post(f"{planned_outreach_path}/call-again", page=f"{planned_outreach_path}/call-again")
    assert feed(session, campaign) == 1


def call_three(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> list[Call]:
    """Start the campaign with three callable contacts, and return their calls."""
    people = [{"firstName": "Dan", "phone": "+12025550105"}, {"phone": "+12025550106"}]
    contacts.apply(session, campaign, people, ContactAction.UPSERT)
    session.commit()
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    feed(session, campaign)
    return list(session.scalars(select(Call).order_by(Call.id)))


def end(session: Session, calls: list[Call], *statuses: CallStatus) -> None:
    for call, status in zip(calls, statuses, strict=True):
        call.started_at = utcnow()
        if status is CallStatus.COMPLETED:
            call.status, call.answered_by = CallStatus.IN_PROGRESS, AnsweredBy.HUMAN
        end_call(session, call, status, EndedReason(status.value.replace("-", "_")), at=utcnow())
    session.commit()


def test_a_finished_campaign_calls_only_those_again_who_were_not_reached(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    calls = call_three(session, campaign, admin, planned_outreach_path)
    end(session, calls, CallStatus.COMPLETED, CallStatus.BUSY, CallStatus.NO_ANSWER)
    page = admin.get(planned_outreach_path).text
    assert re.findall(r'btn-primary" href="([^"]+)"', page) == [
        f"{planned_outreach_path}/call-again?only=not-reached"
    ]
    shown = words_of(admin.get(planned_outreach_path))
    for words in ("Stop calling new contacts", "Reached a person 33.3 %", "Duration 1 minute"):
        assert words in shown
    again = f"{planned_outreach_path}/call-again?only=not-reached"
    asked = words_of(admin.get(again))
    assert "2 contacts will be called" in asked
    assert "1 contact of this round was already called." in asked
    admin.post(again, page=again)
    assert feed(session, campaign) == 2
    shown = words_of(admin.get(planned_outreach_path))
    assert "1 of 3 contacts called 2 in progress" in shown
    called = session.scalars(select(Call).order_by(Call.id)).all()[3:]
    assert {call.phone_number for call in called} == {call.phone_number for call in calls[1:]}


def test_a_pause_is_shown_with_its_author_and_the_calls_that_are_ending(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    calls = call_three(session, campaign, admin, planned_outreach_path)
    end(session, calls[:1], CallStatus.BUSY)
    calls[1].status = CallStatus.IN_PROGRESS
    session.commit()
    admin.post(f"{planned_outreach_path}/pause", page=planned_outreach_path)
    shown = words_of(admin.get(planned_outreach_path))
    assert "Paused. 1 call is ending. No more calls until you resume the campaign." in shown
    assert "Paused by " in shown
    assert '<progress class="progress-static"' in admin.get(planned_outreach_path).text


def test_the_time_left_is_estimated_from_a_handful_of_calls(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    calls = call_three(session, campaign, admin, planned_outreach_path)
    more = [{"phone": f"+1202555030{number}"} for number in range(4)]
    contacts.apply(session, campaign, more, ContactAction.UPSERT)
    session.commit()
    assert "The end time appears after the first calls." in words_of(
        admin.get(planned_outreach_path)
    )
    end(session, calls, *[CallStatus.BUSY] * 3)
    shown = words_of(admin.get(planned_outreach_path))
    assert "About 1 minute left." in shown
    assert "Latest calls Called Status Requested" in re.sub(r" \(\w+\)", "", shown)


def test_contacts_show_their_last_call(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    base = planned_outreach_path.removesuffix("/outreach")
    calls = call_three(session, campaign, admin, planned_outreach_path)
    end(session, calls, CallStatus.BUSY, CallStatus.NO_ANSWER, CallStatus.COMPLETED)
    page = admin.get(base).text
    shown = re.findall(r'href="/calls/([^"]+)"><span class="badge[^>]*>([^<]+)<', page)
    assert {
        (str(call.id), words)
        for call, words in zip(calls, ("Busy", "No answer", "Completed"), strict=True)
    } == set(shown)
    tenant.staff[Role.PARTNER_ADMIN].language = "de"
    session.commit()
    assert "von Kampagne Winter recall." in words_of(admin.get(f"/calls/{calls[0].id}"))
    contact_calls = words_of(admin.get(f"{base}/contacts/{calls[0].contact_id}"))
    assert "Besetzt Kampagne Weitere Angaben" in contact_calls


def test_the_start_page_names_assistant_calls_at_once_and_duration(
    session: Session, admin: Browser, planned_outreach_path: str, assistant: Assistant
) -> None:
    session.execute(update(Outreach).values(ends_on=date(2099, 12, 31), calls_at_once=2))
    session.commit()
    asked = words_of(admin.get(f"{planned_outreach_path}/start"))
    for words in (
        f"{assistant.name} calls from +1 202 555 0199, at most 2 people at the same time.",
        "Last day: 31 Dec 2099.",
        "Takes about 1 minute if each call takes a minute.",
        "The calls are simulated: no phone rings.",
    ):
        assert words in asked
    lately = utcnow().date() - timedelta(days=40)
    session.add(
        ConversationDay(
            partner_id=assistant.partner_id,
            organization_id=assistant.organization_id,
            day=lately,
            conversations=20,
            seconds=20 * 600,
        )
    )
    session.commit()
    assert (
        "Takes about 5 minutes if each call takes 10 min, the average of the last 90 days."
        in words_of(admin.get(f"{planned_outreach_path}/start"))
    )


def test_a_campaign_between_two_calls_says_when_the_next_one_starts(
    session: Session, admin: Browser, planned_outreach_path: str
) -> None:
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    session.execute(
        update(Outreach).values(calls_per_hour=60, next_at=utcnow() + timedelta(seconds=35))
    )
    session.commit()
    assert "Next call in about 40 s." in words_of(admin.get(planned_outreach_path))
    session.execute(update(Outreach).values(next_at=utcnow()))
    session.commit()
    assert "The next call is about to start." in words_of(admin.get(planned_outreach_path))


def test_a_campaign_of_a_resumed_organization_shows_calling_only_once_it_calls(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    organizations.suspend(session, OPERATOR, campaign.organization_id)
    assert dispatcher.dispatch(session, campaign.id, CallSettings(), utcnow()) == 0
    organizations.reactivate(session, OPERATOR, campaign.organization_id)
    session.commit()
    shown = words_of(admin.get(planned_outreach_path))
    assert "Calling now." not in shown
    assert "Next call in about 30 s." in shown
    session.execute(update(Outreach).values(next_at=None))
    assert dispatcher.dispatch(session, campaign.id, CallSettings(), utcnow()) > 0
    session.commit()
    assert "The last calls are in progress." in words_of(admin.get(planned_outreach_path))


def test_a_single_contact_waits_in_the_singular(
    session: Session, campaign: Campaign, admin: Browser, outreach_path: str, assistant: Assistant
) -> None:
    in_three_days = str((utcnow() + timedelta(days=3)).isoweekday())
    sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)}
    plan = f"{outreach_path}/plan"
    assert admin.post(plan, sent | {"weekdays": [in_three_days]}, page=plan).status_code == 303
    admin.post(f"{outreach_path}/start", page=f"{outreach_path}/start")
    assert feed(session, campaign) == 0
    shown = words_of(admin.get(outreach_path))
    assert "1 waits for the plan’s hours in its time zone." in shown


def test_a_suspended_organizations_campaign_says_that_no_calls_are_placed(
    session: Session, campaign: Campaign, admin: Browser, outreach_path: str, assistant: Assistant
) -> None:
    page, notice = f"/campaigns/{campaign.id}", "No calls are placed until it is reactivated."
    tabs = (page, outreach_path, f"{page}/uploads", f"{page}/settings")
    pages = (
        *tabs,
        f"{outreach_path}/plan",
        f"{outreach_path}/plan?new=1",
        f"{outreach_path}/excluded",
    )
    organizations.suspend(session, OPERATOR, campaign.organization_id)
    session.commit()
    for with_plan in (False, True):
        for path in pages:
            shown = words_of(admin.get(path))
            assert shown.count(notice) == 1, (path, with_plan)
            assert "Calls begin when you" not in shown, (path, with_plan)
            assert "right after the start" not in shown, (path, with_plan)
        sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)}
        admin.post(f"{outreach_path}/plan", sent, page=f"{outreach_path}/plan")
    asked = words_of(admin.get(f"{outreach_path}/start"))
    hold = "No calls until the organization is reactivated. After that, 1 contact will be called"
    assert hold in asked
    assert "Takes about" not in asked


def test_the_first_call_is_the_same_before_and_after_the_start_and_in_the_list(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    """By the hours of the organization, where the contact is; the assistant is somewhere else."""
    today = utcnow().isoweekday()
    session.execute(update(Outreach).values(weekdays=str((today + 2) % 7 + 1)))
    session.execute(update(Assistant).values(timezone="Pacific/Auckland"))
    session.execute(
        update(Organization).values(
            calling_hours_on=True, calling_hours_start=time(10), calling_hours_end=time(11)
        )
    )
    session.commit()
    foreseen = words_of(admin.get(f"{planned_outreach_path}/plan"))
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    started = words_of(admin.get(planned_outreach_path))
    assert feed(session, campaign) == 0
    due = session.scalars(select(func.min(OutreachContact.due_at))).one()
    assert due is not None
    at = short_datetime(due).replace(NO_BREAK, " ")
    assert f"First call {at} UTC at the earliest" in foreseen
    assert "End Ends about" in foreseen
    assert "Duration" not in foreseen
    assert f"Next call: {at} UTC." in started
    assert f"Next call: {at} UTC." in words_of(admin.get(planned_outreach_path))
    assert at in words_of(admin.get("/campaigns?column=next-call"))


def test_the_start_page_of_a_running_campaign_asks_for_no_confirmation(
    admin: Browser, planned_outreach_path: str
) -> None:
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    shown = admin.get(f"{planned_outreach_path}/start")
    assert "is already running" in words_of(shown)
    assert "Resume" not in words_of(shown)
    assert f'href="{planned_outreach_path}"' in shown.text
    admin.post(f"{planned_outreach_path}/pause", page=planned_outreach_path)
    assert "Resume campaign" in words_of(admin.get(f"{planned_outreach_path}/start"))


def test_a_plan_says_before_it_is_saved_what_it_means(
    admin: Browser, outreach_path: str, assistant: Assistant
) -> None:
    shown = words_of(admin.get(f"{outreach_path}/plan"))
    assert "With this plan Contacts 3" in shown
    assert "Calls at night" not in shown
    sent = TYPED | {"assistant": str(assistant.id), "calls_at_once": "2"}
    shown = words_of(
        admin.post(f"{outreach_path}/plan/outlook", sent, page=f"{outreach_path}/plan")
    )
    assert "Calls at night Calls before 08:00 or after 21:00 are allowed" in shown
    assert (
        "Concurrent calls At most 2 First call Right after the start Duration Takes about" in shown
    )
    wrong = sent | {"calls_at_once": "-1"}
    shown = words_of(
        admin.post(f"{outreach_path}/plan/outlook", wrong, page=f"{outreach_path}/plan")
    )
    assert "Concurrent calls" not in shown


def test_calls_count_when_their_contacts_were_removed(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    def shown() -> tuple[list[str], list[str]]:
        page = words_of(admin.get(planned_outreach_path))
        campaigns_list = words_of(admin.get("/campaigns?column=called&column=answered"))
        found = re.findall(r"\d+ of \d+ contacts? called|Not reached \d+|\d+ of them was", page)
        return found, re.findall(r"Winter recall .*?((?: \d+){2})", campaigns_list)

    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    feed(session, campaign)
    assert shown() == (["0 of 1 contact called", "Not reached 0"], [" 1 0"])
    assert "1 in progress" in words_of(admin.get(planned_outreach_path))
    call = session.scalars(select(Call)).one()
    call.started_at = utcnow()
    end_call(session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    session.commit()
    before = shown()
    assert before == (["1 of 1 contact called", "Not reached 1"], [" 1 0"])
    people = [{"phone": ADA}, {"phone": BOB}, {"email": "cleo@mail.example"}]
    contacts.apply(session, campaign, people, ContactAction.REMOVE)
    session.commit()
    assert shown() == (
        ["1 of 1 contact called", "1 of them was", "Not reached 1"],
        [" 1 0"],
    )
    page = words_of(admin.get(planned_outreach_path))
    assert "All contacts were removed. Add contacts to continue." in page
    assert "All callable contacts were called" not in page


def test_progress_counts_only_contacts_that_can_be_called_on_every_page(
    session: Session,
    campaign: Campaign,
    admin: Browser,
    planned_outreach_path: str,
    assistant: Assistant,
) -> None:
    """With one call an hour: contacts whose turn has not come count as those that were checked."""
    people = [{"firstName": "Dan", "phone": "+12025550105"}]
    contacts.apply(session, campaign, people, ContactAction.UPSERT)
    session.commit()
    sent = TYPED | {"assistant": str(assistant.id), "calls_per_hour": "1"}
    session.refresh(campaign)
    sent["version"] = str(campaign.version)
    admin.post(f"{planned_outreach_path}/plan", sent, page=f"{planned_outreach_path}/plan")
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    assert feed(session, campaign) == 1
    call = session.scalars(select(Call)).one()
    end_call(session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    session.commit()
    page = words_of(admin.get(planned_outreach_path))
    for words in ("1 of 2 contacts called", "1 left", NOT_CALLED, "Next call: "):
        assert words in page
    assert "1 of 2" in words_of(admin.get("/campaigns"))
    listed = admin.get(f"{planned_outreach_path}/excluded").text
    assert "Contacts that won’t be called" in listed
    assert [name for name in ("Ada", "Bob", "Cleo", "Dan") if f'">{name}' in listed] == [
        "Bob",
        "Cleo",
    ]


def test_a_number_in_a_closed_country_is_counted_alike_before_and_during_calls(
    session: Session,
    campaign: Campaign,
    admin: Browser,
    planned_outreach_path: str,
    assistant: Assistant,
) -> None:
    """With one call an hour: the turn of the numbers in Germany doesn't come."""
    people = [{"phone": phone} for phone in ("+12025550105", "+4930901820", "+4930901821")]
    contacts.apply(session, campaign, people, ContactAction.UPSERT)
    session.commit()
    session.refresh(campaign)
    sent = TYPED | {"assistant": str(assistant.id), "calls_per_hour": "1"}
    sent["version"] = str(campaign.version)
    admin.post(f"{planned_outreach_path}/plan", sent, page=f"{planned_outreach_path}/plan")
    asked = words_of(admin.get(f"{planned_outreach_path}/start"))
    assert "2 contacts will be called" in asked
    assert "2 will not be called: Germany isn’t open for calls. Call destinations" in asked
    assert "0 of 2 contacts called" in words_of(admin.get(planned_outreach_path))
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    assert feed(session, campaign) == 1
    page = words_of(admin.get(planned_outreach_path))
    for words in ("0 of 2 contacts called", "1 in progress, 1 left", "2 in Germany, which isn’t"):
        assert words in page
    assert "0 of 2" in words_of(admin.get("/campaigns"))
    session.scalars(select(Call)).one().status = CallStatus.IN_PROGRESS
    session.commit()
    admin.post(f"{planned_outreach_path}/pause", page=planned_outreach_path)
    assert "1 contact will be called" in admin.get(f"{planned_outreach_path}/start").text
    listed = words_of(admin.get(f"{planned_outreach_path}/excluded?reason=number_not_allowed"))
    assert listed.count("Germany isn’t open for calls Call destinations") == 2


def test_of_many_contacts_unfit_numbers_are_found_when_their_turn_comes(
    session: Session,
    campaign: Campaign,
    admin: Browser,
    planned_outreach_path: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reading the numbers of thousands would take longer than the page may."""
    monkeypatch.setattr("app.services.outreach.forecasting.NUMBERS_READ", 2)
    germans = [{"phone": phone} for phone in ("+4930901820", "+4930901821", "+4930901822")]
    contacts.apply(session, campaign, [{"phone": BOB}], ContactAction.REMOVE)
    contacts.apply(session, campaign, germans, ContactAction.UPSERT)
    session.commit()
    assert "1 won’t be called: no phone number" in words_of(admin.get(planned_outreach_path))
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    feed(session, campaign)
    assert "4 won’t be called: 3 " in words_of(admin.get(planned_outreach_path))


def test_a_single_reason_for_not_calling_is_named_once(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    people = [{"phone": BOB}, {"email": "cleo@mail.example"}]
    contacts.apply(session, campaign, people, ContactAction.REMOVE)
    contacts.apply(session, campaign, [{"phone": "+4930901820"}], ContactAction.UPSERT)
    session.commit()
    page = words_of(admin.get(planned_outreach_path))
    assert "1 won’t be called: Germany isn’t open for calls" in page


def test_a_call_in_progress_is_not_counted_as_answered(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    def shown() -> list[str]:
        campaigns_list = words_of(admin.get("/campaigns?column=called&column=answered"))
        return re.findall(r"Winter recall .*?((?: \d+){2})", campaigns_list)

    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    feed(session, campaign)
    call = session.scalars(select(Call)).one()
    call.status, call.answered_by = CallStatus.IN_PROGRESS, AnsweredBy.HUMAN
    session.commit()
    assert shown() == [" 1 0"]
    end_call(session, call, CallStatus.COMPLETED, EndedReason.COMPLETED, at=utcnow())
    session.commit()
    assert shown() == [" 1 1"]


def test_the_page_of_a_plan_does_not_offer_a_second_plan(
    campaign: Campaign, admin: Browser, outreach_path: str, assistant: Assistant
) -> None:
    def heads() -> list[int]:
        pages = (f"{outreach_path}/plan", f"{outreach_path}/plan?new=1")
        return [admin.get(page).text.count("Create plan") for page in pages]

    assert heads() == [0, 1]
    sent = TYPED | {"assistant": str(assistant.id), "version": str(campaign.version)}
    admin.post(f"{outreach_path}/plan", sent, page=f"{outreach_path}/plan")
    assert heads() == [0, 0]


def test_a_confirmation_on_its_own_page_leads_back(
    admin: Browser, planned_outreach_path: str
) -> None:
    page = admin.get(f"{planned_outreach_path}/start").text
    crumbs = page.partition('aria-label="Breadcrumbs"')[2].partition("</nav>")[0]
    assert re.findall(r'<a href="([^"]+)">([^<]+)', crumbs) == [
        ("/campaigns", "Campaigns"),
        (planned_outreach_path, "Winter recall"),
    ]
    assert "Step 4 of 4:" in page
    assert '<span aria-current="page">Start campaign</span>' in crumbs
    assert 'href="/organizations"' in page, "the sidebar"


def test_contacts_that_the_round_leaves_out_are_listed_by_reason(
    session: Session, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    feed(session, campaign)
    shown = {
        query: [name for name in ("Ada", "Bob", "Cleo") if f'">{name}' in page]
        for query in ("", "?reason=no_phone", "?reason=no_hour")
        for page in [admin.get(f"{planned_outreach_path}/excluded{query}").text]
    }
    assert shown == {"": ["Bob", "Cleo"], "?reason=no_phone": ["Cleo"], "?reason=no_hour": []}


def test_each_result_links_to_as_many_calls_as_it_counts(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser, planned_outreach_path: str
) -> None:
    ends: list[tuple[CallStatus, AnsweredBy | None]] = [
        *[(CallStatus.COMPLETED, AnsweredBy.HUMAN)] * 5,
        *[(CallStatus.COMPLETED, AnsweredBy.VOICEMAIL)] * 4,
        *[(CallStatus.COMPLETED, AnsweredBy.UNKNOWN)] * 2,
        *[(status, None) for status in (CallStatus.BUSY, *[CallStatus.NO_ANSWER] * 2)],
        *[(CallStatus.QUEUED, None), (CallStatus.RINGING, None)],
        (CallStatus.IN_PROGRESS, AnsweredBy.HUMAN),
        *[(status, None) for status in (CallStatus.FAILED, *[CallStatus.EXPIRED] * 2)],
        *[(CallStatus.UNKNOWN, None), (CallStatus.CANCELED, None)],
    ]
    plan = session.scalars(select(Outreach)).one()
    plan.started_at, plan.round = utcnow(), 2
    numbers = [f"+1202555{number:04}" for number in range(300, 300 + len(ends))]
    contacts.apply(session, campaign, [{"phone": each} for each in numbers], ContactAction.UPSERT)
    called = session.scalars(select(Contact).where(Contact.phone.in_(numbers))).all()
    for call_round in (1, 2):
        for contact, (status, answered_by) in zip(called, ends, strict=True):
            call = make_call(
                session,
                tenant.organization,
                contact.phone or "",
                campaign_id=campaign.id,
                contact_id=contact.id,
                status=status,
                answered_by=answered_by,
            )
            row = OutreachContact(contact_id=contact.id, campaign_id=campaign.id, round=call_round)
            row.status, row.decided_at, row.call_id = OutreachStatus.CALLED, utcnow(), call.id
            session.add(row)
            session.flush()
    make_call(session, tenant.organization, ADA)
    session.commit()
    page = admin.get(planned_outreach_path).text
    links = re.findall(r'<a href="(/calls\?[^"]+)" aria-label="([^"]+): (\d+)"', page)
    assert {label: int(count) for _, label, count in links} == {
        "Answered by a person": 5,
        "Voicemail": 4,
        "Person or voicemail unclear": 2,
        "Not reached": 3,
        "In progress": 3,
        "Failed, expired or unknown": 4,
        "Cancelled": 1,
    }
    every = re.search(r'<a href="(/calls\?[^"]+)">View calls', page)
    assert every
    for link, count in [*[(link, int(count)) for link, _, count in links], (every[1], len(ends))]:
        query = unescape(link).partition("?")[2]
        listed = admin.get(f"/calls?{query}").text
        exported = admin.get(f"/lists/calls/export.csv?{query}").text
        assert (listed.count('<a class="name" href="/calls/'), exported.count("\n") - 1) == (
            count,
            count,
        )
        assert 'value="Winter recall"' in listed


def test_calls_are_filtered_by_the_id_or_a_part_of_the_name_of_their_campaign(
    session: Session, tenant: Tenant, other_tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    make_call(session, tenant.organization, ADA, campaign_id=campaign.id)
    make_call(session, tenant.organization, BOB)
    theirs = campaigns.create(
        session,
        other_tenant.caller(Role.PARTNER_ADMIN),
        other_tenant.organization.id,
        name="Winter sale",
    )
    make_call(session, other_tenant.organization, ADA, campaign_id=theirs.id)
    session.commit()

    def shown(wanted: object) -> tuple[int, int]:
        answer = admin.get("/calls", query_string={"campaign": str(wanted)})
        return answer.status_code, answer.text.count('<a class="name" href="/calls/')

    assert [shown(each) for each in (campaign.id, "winter", "summer", theirs.id, uuid4())] == [
        (200, 1),
        (200, 1),
        (200, 0),
        (404, 0),
        (404, 0),
    ]


def test_the_page_costs_as_many_queries_however_many_contacts_there_are(
    session: Session,
    database: Database,
    campaign: Campaign,
    admin: Browser,
    planned_outreach_path: str,
) -> None:
    admin.post(f"{planned_outreach_path}/start", page=f"{planned_outreach_path}/start")
    feed(session, campaign)
    with_few = statements_of_page(database.engine, admin, planned_outreach_path)
    people = [{"phone": f"+1202555{number:04}"} for number in range(200, 300)]
    contacts.apply(session, campaign, people, ContactAction.UPSERT)
    session.commit()
    feed(session, campaign)
    assert statements_of_page(database.engine, admin, planned_outreach_path) == with_few


def test_outreach_of_another_tenant_is_not_found(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn, campaign: Campaign
) -> None:
    strangers = [signed_in(other_tenant.staff[Role.PARTNER_ADMIN]), signed_in(tenant.plus_user)]
    gets = ("", "/live", "/excluded", "/plan", "/start", "/call-again")
    posts = ("/plan", "/start", "/call-again", "/pause")
    for browser in strangers:
        for campaign_id in (campaign.id, uuid4()):
            page = f"/campaigns/{campaign_id}/outreach"
            seen = [browser.get(page + tab).status_code for tab in gets]
            seen += [browser.post(page + act, page="/campaigns").status_code for act in posts]
            assert seen == [404] * 10
    assert status_of(session, campaign) is CampaignStatus.PAUSED
