"""Templates of organizations: kept, changed, and used for one customer or for a file of them."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import time
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from openpyxl import Workbook
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, Role, Tier, UserStatus
from app.errors import ValidationFailed
from app.languages import LANGUAGES, using_language
from app.models import (
    Assistant,
    AuditEntry,
    Campaign,
    Mail,
    MailKind,
    Organization,
    OrganizationTemplate,
    Outreach,
    User,
)
from app.portal.organization_templates.review_messages import LABELS
from app.services import assistants, campaigns, organization_templates, organizations, outreach
from app.services.organization_templates import TemplateContent, content_of
from app.services.organization_templates.updating import MAX_TEMPLATES
from app.services.outreach import CampaignPlan
from tests.fixtures.tenants import Tenant
from tests.portal.checked_lines import form_of
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
PAGE = "/organization-templates"
CUSTOMER = {
    "name": "Bexley Dental",
    "country": "GB",
    "timezone": "Europe/London",
    "email": "ines@bexley.example",
    "user_name": "Ines",
    "once": "abc123",
}


@pytest.fixture
def browser(tenant: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


def text(answer: object) -> str:
    page = getattr(answer, "text", "").replace("<wbr>", "")
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))


def prepare(session: Session, tenant: Tenant) -> Organization:
    """A customer whose setup is worth repeating."""
    admin = tenant.caller(Role.PARTNER_ADMIN)
    source = tenant.plus
    source.assistant_limit, source.user_limit = 3, 8
    source.retry_times, source.retry_minutes = 2, 45
    source.calling_hours_on = True
    first = assistants.of_organization(session, admin, source.id)[0]
    first.name, first.service, first.timezone = "Robin", "Dental surgery", "America/New_York"
    first.default_intro, first.default_voicemail = "Hello, this is Robin.", "Please call back."
    campaign = campaigns.create(session, admin, source.id, name="Recall", all_assistants=True)
    plan = CampaignPlan(first.id, frozenset({2, 4}), time(9), time(17), calls_per_hour=30)
    outreach.change_plan(session, admin, campaign.id, plan, max_at_once=100)
    session.commit()
    return source


def save(session: Session, tenant: Tenant, name: str = "Dentists", **more: Any) -> UUID:
    source = prepare(session, tenant)
    campaign = session.scalars(select(Campaign).where(Campaign.name == "Recall")).first()
    assert campaign is not None
    made = organization_templates.save_organization(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        source.id,
        name,
        campaign_id=campaign.id,
        first_role=more.get("first_role", Role.OWNER),
    )
    session.commit()
    return made.id


def stored(session: Session, template_id: UUID) -> TemplateContent:
    session.expire_all()
    return content_of(session.get_one(OrganizationTemplate, template_id))


def organization_called(session: Session, name: str) -> Organization:
    session.expire_all()
    return session.scalars(select(Organization).where(Organization.name == name)).one()


def test_a_template_saved_from_an_organization_lacks_users_contacts_and_numbers(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    source = prepare(session, tenant)
    path = f"/organizations/{source.id}/save-as-template"
    campaign = session.scalars(select(Campaign)).one()
    form = {"name": "Dentists", "campaign": str(campaign.id), "first_role": "owner", "once": "a1"}
    answer = browser.post(path, form, page=path)
    template = session.scalars(select(OrganizationTemplate)).one()
    assert (answer.status_code, answer.location) == (303, f"{PAGE}/{template.id}")
    content = content_of(template)
    assert (content.payment_tier, content.assistant_limit, content.user_limit) == (Tier.PLUS, 3, 8)
    assert content.rules == organizations.rules_of(source)
    assert [(each.name, each.phone_number) for each in content.assistants] == [("Robin", None)]
    assert content.campaign is not None
    assert content.campaign.plan == CampaignPlan(
        None, frozenset({2, 4}), time(9), time(17), calls_per_hour=30
    )
    page = text(browser.get(answer.location))
    for words in ("Template Dentists added.", "Plus", "Robin", "Recall", "Tue, Thu", "09:00 to"):
        assert words in page


def test_a_single_template_needs_no_choice_and_of_several_one_is_chosen(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    one, file = "/organization-templates?use=one", "/organization-templates?use=file"
    assert "No templates yet" in browser.get(file).text
    first = f"/organization-templates/{save(session, tenant)}"
    assert browser.get(one).location == f"{first}/use"
    assert browser.get(file).location == f"{first}/use-many"
    organization_templates.save_organization(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, "Vets", first_role=None
    )
    session.commit()
    page = browser.get(file).text
    assert "Choose the template for the organizations of your file." in page
    assert f'<a class="btn btn-sm" href="{first}/use-many">' in page


def test_texts_that_name_the_saved_organization_name_the_new_one(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    source = prepare(session, tenant)
    admin = tenant.caller(Role.PARTNER_ADMIN)
    robin = assistants.of_organization(session, admin, source.id)[0]
    robin.default_intro = f"Hello {{firstName|there}}, this is Robin from {source.name.upper()}."
    robin.default_voicemail = f"Call {source.name}'s desk, or {source.name}land."
    campaign = session.scalars(select(Campaign)).one()
    campaign.name = f"{source.name} recall"
    plan = replace(
        outreach.plan_of(session, campaign), call_instructions=f"Speak for {source.name}."
    )
    outreach.change_plan(session, admin, campaign.id, plan, max_at_once=100)
    session.commit()
    path = f"/organizations/{source.id}/save-as-template"
    assert f"The name {source.name} is replaced in all texts" in text(browser.get(path))
    form = {"name": "Dentists", "campaign": str(campaign.id), "first_role": "", "once": "a1"}
    template = browser.post(path, form, page=path).location
    page = text(browser.get(template))
    for words in (
        "4 texts name the new organization",
        "Intro: “Hello {firstName|there}, this is Robin from {organizationName}.”",
        "Speak for {organizationName}.",
    ):
        assert words in page
    use = f"{template}/use"
    browser.post(use, {"name": r"Nord & \1 Optik", "once": "b1"}, page=use)
    made = organization_called(session, r"Nord & \1 Optik")
    spoken = assistants.of_organization(session, admin, made.id)[0]
    assert spoken.default_intro == (rf"Hello {{firstName|there}}, this is Robin from {made.name}.")
    assert spoken.default_voicemail == f"Call {made.name}'s desk, or {source.name}land."
    copied = session.scalars(select(Campaign).where(Campaign.organization_id == made.id)).one()
    assert copied.name == f"{made.name} recall"
    assert outreach.plan_of(session, copied).call_instructions == f"Speak for {made.name}."


def test_an_assistant_with_one_message_is_copied_as_it_is(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    source = prepare(session, tenant)
    robin = assistants.of_organization(session, admin, source.id)[0]
    robin.default_voicemail = None
    session.commit()
    path = f"/organizations/{source.id}/save-as-template"
    template = browser.post(
        path, {"name": "Dentists", "campaign": "", "first_role": "", "once": "a1"}, page=path
    ).location
    use = f"{template}/use"
    browser.post(use, {"name": "Optik", "once": "b1"}, page=use)
    made = organization_called(session, "Optik")
    copied = assistants.of_organization(session, admin, made.id)[0]
    assert (copied.default_intro, copied.default_voicemail) == ("Hello, this is Robin.", None)


def test_a_template_named_like_its_customer_is_marked_as_a_template(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    source = prepare(session, tenant)
    path = f"/organizations/{source.id}/save-as-template"
    form = {"name": source.name, "campaign": "", "first_role": "owner", "once": "a1"}
    page = browser.get(str(browser.post(path, form, page=path).location)).text
    assert '<span class="badge badge-neutral badge-without-dot">Template</span>' in page


def test_a_template_gets_no_customers_name_and_a_campaign_only_when_one_is_chosen(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    source = prepare(session, tenant)
    page = browser.get(f"/organizations/{source.id}/save-as-template").text
    assert 'value="Dental surgery"' in page  # the name: what its assistant is for
    assert f'value="{source.name}"' not in page
    assert re.findall(r'<option ([a-z]*) ?value="[^"]*">Recall<', page) == [""]


def test_limits_are_copied_and_those_that_a_template_uses_up_are_named(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    source = prepare(session, tenant)
    source.user_limit = source.assistant_limit = 1
    session.commit()
    path = f"/organizations/{source.id}/save-as-template"
    form = {"name": "Dentists", "campaign": "", "first_role": "owner", "once": "a1"}
    page = str(browser.post(path, form, page=path).location)
    template = session.scalars(select(OrganizationTemplate)).one()
    assert (content_of(template).user_limit, content_of(template).campaign) == (1, None)
    assert (
        "New organizations start at their limit The one assistant uses up the assistant limit. "
        "The first user uses up the user limit." in text(browser.get(page))
    )


def test_a_campaign_without_a_plan_has_the_standard_one_until_it_is_edited(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    source = prepare(session, tenant)
    session.execute(delete(Outreach))
    session.commit()
    path = f"/organizations/{source.id}/save-as-template"
    campaign = session.scalars(select(Campaign)).one()
    form = {"name": "Dentists", "campaign": str(campaign.id), "first_role": "owner", "once": "a1"}
    page = str(browser.post(path, form, page=path).location)
    words = "Recall had no plan yet. This is the standard plan."
    assert words in text(browser.get(page))
    template = session.scalars(select(OrganizationTemplate)).one()
    saved = {
        "name": "Recall",
        "assistant": "0",
        "weekdays": ["1"],
        "hours_start": "09:00",
        "hours_end": "17:00",
        "message_kind": "default",
        "version": str(template.version),
    }
    answer = browser.post(f"{page}/campaign", saved, page=f"{page}/campaign")
    assert answer.status_code == 303
    assert words not in text(browser.get(page))


def test_a_customer_gets_everything_of_the_template_at_once(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    answer = browser.post(f"{PAGE}/{template_id}/use", CUSTOMER, page=f"{PAGE}/{template_id}/use")
    made = organization_called(session, CUSTOMER["name"])
    assert (answer.status_code, answer.location) == (303, f"/organizations/{made.id}")
    expected = replace(
        stored(session, template_id).rules, default_region="GB", allowed_regions=("GB",)
    )
    assert organizations.rules_of(made) == expected
    assert (made.payment_tier, made.assistant_limit, made.user_limit) == (Tier.PLUS, 3, 8)
    assistant = session.scalars(select(Assistant).where(Assistant.organization_id == made.id)).one()
    assert (assistant.name, assistant.timezone, assistant.phone_number) == (
        "Robin",
        "Europe/London",
        None,
    )
    assert assistant.default_intro == "Hello, this is Robin."
    campaign = session.scalars(select(Campaign).where(Campaign.organization_id == made.id)).one()
    assert (campaign.name, campaign.status) == ("Recall", CampaignStatus.PAUSED)
    plan = session.get_one(Outreach, campaign.id)
    assert (plan.assistant_id, plan.weekdays, plan.calls_per_hour) == (assistant.id, "24", 30)
    user = session.scalars(select(User).where(User.organization_id == made.id)).one()
    assert (user.email, user.name, user.role, user.status) == (
        "ines@bexley.example",
        "Ines",
        Role.OWNER,
        UserStatus.INVITED,
    )
    page = text(browser.get(answer.location))
    assert "Bexley Dental added. ines@bexley.example is invited." in page
    used = select(AuditEntry).where(AuditEntry.action == "organization_template.used")
    entry = session.scalars(used).one()
    assert (entry.target, entry.organization_id, entry.after) == (
        "Dentists",
        made.id,
        {"organization": "Bexley Dental"},
    )


@pytest.mark.parametrize(
    ("country", "chosen", "zone", "warning"),
    [
        ("", "", "America/New_York", ""),
        ("US", "", "America/New_York", ""),
        ("GB", "", "Europe/London", ""),
        ("DE", "", "Europe/Berlin", ""),  # both of its zones have the same time
        ("GB", "Europe/Guernsey", "Europe/Guernsey", ""),
        (
            "GB",
            "America/New_York",
            "America/New_York",
            "The time zone America/New York isn’t used in the United Kingdom.",
        ),
    ],
)
def test_the_assistants_of_another_country_get_its_time_zone(
    session: Session,
    tenant: Tenant,
    browser: Browser,
    country: str,
    chosen: str,
    zone: str,
    warning: str,
) -> None:
    path = f"{PAGE}/{save(session, tenant)}/use"
    form = CUSTOMER | {"country": country, "timezone": chosen}
    answer = browser.post(path, form, page=path)
    made = organization_called(session, CUSTOMER["name"])
    assistant = session.scalars(select(Assistant).where(Assistant.organization_id == made.id)).one()
    assert assistant.timezone == zone
    page = text(browser.get(answer.location))
    assert warning in page
    assert ("isn’t used in" in page) == bool(warning)


def test_a_form_sent_twice_creates_one_organization(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    path = f"{PAGE}/{save(session, tenant)}/use"
    answers = [browser.post(path, CUSTOMER, page=path) for _ in "12"]
    assert answers[0].location == answers[1].location
    count = select(func.count()).where(Organization.name == CUSTOMER["name"])
    assert session.scalar(count) == 1


def counts(session: Session) -> list[int | None]:
    session.expire_all()
    tables = (Organization, Assistant, Campaign, Outreach, User, Mail, AuditEntry)
    return [session.scalar(select(func.count()).select_from(table)) for table in tables]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": " "}, "Name: Enter a name."),
        ({"name": "Northwind Dental"}, "Name: There is an organization Northwind Dental already."),
        ({"email": ""}, "Email of the first user: Enter the email of the first user."),
        ({"email": "nobody"}, "Email of the first user: Enter an email like name@example.com."),
        ({"email": "olga@northwind.example"}, "A user with this email address exists already."),
        ({"timezone": "Mars/Base"}, "Unknown time zone. Use a name like Europe/London."),
        ({"timezone": "Europe/Berlinn"}, "Did you mean Europe/Berlin?"),
        ({"timezone": "new york"}, "Did you mean America/New_York?"),
        ({"country": "XX"}, "Country: Unknown country XX."),
        (
            {"country": "AU", "timezone": ""},
            "Choose a time zone. The template’s isn’t used in Australia.",
        ),
    ],
)
def test_each_problem_is_at_its_field_and_nothing_is_saved(
    session: Session, tenant: Tenant, browser: Browser, changes: dict[str, str], words: str
) -> None:
    path = f"{PAGE}/{save(session, tenant)}/use"
    before = counts(session)
    answer = browser.post(path, CUSTOMER | changes, page=path)
    assert answer.status_code == 422
    assert words in text(answer)
    assert counts(session) == before


def test_a_refusal_at_the_last_step_leaves_nothing(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    template = session.get_one(OrganizationTemplate, template_id)
    assistant = template.content["assistants"][0]
    template.content = template.content | {"assistant_limit": 1, "assistants": [assistant] * 2}
    session.commit()
    before = counts(session)
    path = f"{PAGE}/{template_id}/use"
    answer = browser.post(path, CUSTOMER, page=path)
    assert answer.status_code == 422
    assert "Bexley Dental has 1 of 1 assistants. Raise its assistant limit first." in text(answer)
    assert counts(session) == before


def test_a_template_that_invites_no_one_needs_no_email(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    path = f"{PAGE}/{save(session, tenant, first_role=None)}/use"
    assert "Email of the first user" not in browser.get(path).text
    browser.post(path, CUSTOMER | {"email": "x@x.example"}, page=path)
    made = organization_called(session, CUSTOMER["name"])
    assert session.scalars(select(User).where(User.organization_id == made.id)).all() == []


def test_a_new_template_has_the_partners_default_assistant(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    tenant.partner.default_assistant_name = "Kim"
    session.commit()
    form = {"name": "Salons", "once": "a1"}
    answer = browser.post(f"{PAGE}/new", form, page=f"{PAGE}/new")
    template = session.scalars(select(OrganizationTemplate)).one()
    assert answer.location == f"{PAGE}/{template.id}"
    assert [each.name for each in content_of(template).assistants] == ["Kim"]
    again = browser.post(f"{PAGE}/new", {"name": "SALONS"}, page=f"{PAGE}/new")
    assert again.status_code == 422
    assert "There is a template Salons already." in text(again)
    listed = browser.get(PAGE)
    assert "Free plan, 1 assistant" in text(listed)
    assert "phone-menu" in listed.text.partition("Add from a file")[0]


def fields_of(page: str) -> dict[str, Any]:
    """The version of an edit form."""
    found = re.search(r'name="version" value="(\d+)"', page)
    assert found
    return {"version": found.group(1)}


def test_the_parts_of_a_template_are_changed_one_by_one(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    url = f"{PAGE}/{template_id}"
    edit = {
        "name": "Clinics",
        "tier": Tier.BASIC.value,
        "assistant_limit": "5",
        "user_limit": "0",
        "first_role": "standard",
        "calling_hours_start": "10:00",
        "calling_hours_end": "18:30",
        "default_region": "US",
        "allowed_regions": ["US"],
        "retry_times": "1",
        "retry_minutes": "20",
        **fields_of(browser.get(f"{url}/edit").text),
    }
    assert browser.post(f"{url}/edit", edit, page=f"{url}/edit").location == url
    added = {"name": "Lee", "active": "y", "once": "a1"}
    path = f"{url}/assistants/new"
    assert browser.post(path, added, page=path).location == url
    path = f"{url}/assistants/1"
    named = {
        "name": "Leo",
        "active": "y",
        "default_intro": "Hi {wetter}.",
        "default_voicemail": "Call {organizationName}.",
        **fields_of(browser.get(path).text),
    }
    assert browser.post(path, named, page=path).location == url
    assert "{wetter} isn’t a known placeholder." in browser.get(url).text
    path = f"{url}/campaign"
    plan = {
        "name": "Reminders",
        "assistant": "1",
        "weekdays": ["1"],
        "hours_start": "08:00",
        "hours_end": "12:00",
        "message_kind": "default",
        **fields_of(browser.get(path).text),
    }
    assert browser.post(path, plan, page=path).location == url
    content = stored(session, template_id)
    assert (content.payment_tier, content.user_limit, content.first_role) == (
        Tier.BASIC,
        0,
        Role.STANDARD,
    )
    assert (content.rules.calling_hours_on, content.rules.calling_hours_end) == (
        False,
        time(18, 30),
    )
    assert [each.name for each in content.assistants] == ["Robin", "Leo"]
    assert content.campaign is not None
    assert (content.campaign.name, content.campaign.speaker) == ("Reminders", 1)
    path = f"{url}/assistants/1/remove"
    refused = browser.post(path, page=path)
    assert refused.location == url
    assert "Leo calls for the campaign. Choose another assistant there first." in text(
        browser.get(url)
    )
    path = f"{url}/assistants/0/remove"
    browser.post(path, page=path)
    content = stored(session, template_id)
    assert [each.name for each in content.assistants] == ["Leo"]
    assert content.campaign is not None
    assert content.campaign.speaker == 0
    browser.post(f"{url}/campaign/remove", page=url)
    assert stored(session, template_id).campaign is None


def test_a_position_of_an_older_version_removes_nothing(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    url = f"{PAGE}/{template_id}"
    path = f"{url}/assistants/0/remove"
    answer = browser.post(f"{path}?version=9", page=path)
    assert answer.location == url
    assert "Someone else changed the template. Nothing was saved." in text(browser.get(url))
    assert len(stored(session, template_id).assistants) == 1


@pytest.mark.parametrize(
    ("part", "changes", "words"),
    [
        ("edit", {"assistant_limit": "0", "user_limit": "-1"}, "User limit: "),
        ("edit", {"calling_hours_end": "07:00"}, "The end must be after the start."),
        ("edit", {"allowed_regions": ["US", "FR"]}, "France isn’t open for calls."),
        ("edit", {"name": " "}, "Name: Enter a name."),
        ("assistants/0", {"name": " "}, "Name: Enter a name."),
        ("assistants/0", {"timezone": "Mars/Base"}, "Unknown time zone."),
        ("campaign", {"weekdays": []}, "Choose at least one day of the week."),
        ("campaign", {"assistant": "7"}, "Choose an assistant of the template."),
        ("campaign", {"calls_at_once": "0"}, "Enter a whole number from 1 to"),
    ],
)
def test_an_invalid_part_of_a_template_is_refused(
    session: Session,
    tenant: Tenant,
    browser: Browser,
    part: str,
    changes: dict[str, Any],
    words: str,
) -> None:
    template_id = save(session, tenant)
    path = f"{PAGE}/{template_id}/{part}"
    valid: dict[str, dict[str, Any]] = {
        "edit": {
            "name": "Dentists",
            "tier": Tier.PLUS.value,
            "first_role": "owner",
            "assistant_limit": "3",
            "user_limit": "8",
            "default_region": "US",
            "calling_hours_start": "08:00",
            "calling_hours_end": "21:00",
            "allowed_regions": ["US"],
            "retry_times": "0",
            "retry_minutes": "30",
        },
        "assistants/0": {"name": "Robin", "active": "y"},
        "campaign": {
            "name": "Recall",
            "assistant": "0",
            "weekdays": ["1"],
            "message_kind": "default",
            "hours_start": "08:00",
            "hours_end": "12:00",
        },
    }
    before = stored(session, template_id)
    answer = browser.post(path, valid[part] | changes, page=path)
    assert answer.status_code == 422
    assert words in text(answer)
    assert stored(session, template_id) == before


def test_a_template_is_deleted_after_a_confirmation_and_its_organizations_stay(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    browser.post(f"{PAGE}/{template_id}/use", CUSTOMER, page=f"{PAGE}/{template_id}/use")
    path = f"{PAGE}/{template_id}/delete"
    assert "Delete the template Dentists?" in browser.get(path).text
    assert browser.post(path, page=path).location == PAGE
    assert "No templates yet" in browser.get(PAGE).text
    assert organization_called(session, CUSTOMER["name"]).name == CUSTOMER["name"]
    actions = session.scalars(
        select(AuditEntry.action)
        .where(AuditEntry.target_type == "organization_template")
        .order_by(AuditEntry.id)
    ).all()
    assert actions == [f"organization_template.{verb}" for verb in ("created", "used", "deleted")]
    history = text(browser.get("/audit?kind=organization_template"))
    for words in (
        "Organization template deleted",
        "Calling hours begin: 08:00",
        "Assistants: Robin",
    ):
        assert words in history


def many(browser: Browser, template_id: UUID, data: bytes, name: str = "new.csv") -> Any:
    path = f"{PAGE}/{template_id}/use-many"
    form = {"file": (io.BytesIO(data), name), "once": "m1"}
    return browser.post(f"{path}/check", form, page=path)


def rows_of(answer: Any) -> str:
    found = re.search(r'id="rows" name="rows"[^>]* value="([^"]*)"', answer.text)
    assert found
    return unescape(found.group(1))


FILE = (
    b"Company,E-mail,Contact,Country,Time zone\n"
    b"Alder Dental,ann@alder.example,Ann,United Kingdom,Europe/London\n"
    b"Birch Dental,ben@birch.example,,US,\n"
    b"Birch Dental,other@birch.example,,,\n"
    b"Cedar Dental,olga@northwind.example,,,\n"
    b"Northwind Bakery,bea@bakery.example,,,\n"
    b",dan@elm.example,,Atlantis,Mars/Base\n"
    b"Fir Dental,,,,\n"
)


def test_each_row_of_a_file_is_checked_before_anything_is_created(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    before = counts(session)
    page = text(many(browser, template_id, FILE))
    assert counts(session) == before
    assert "6 rows have a problem" in page
    for words in (
        "Row 4 has the same name.",
        "Row 3 has the same name.",
        "A user with this email address exists already.",
        "There is an organization Northwind Bakery already.",
        "Enter a name.",
        "Unknown time zone. Use a name like Europe/London.",
        "Unknown country Atlantis.",
        "Enter the email of the first user.",
        "Add 1, leave out 6",
    ):
        assert words in page


def test_time_zones_of_other_countries_are_warned_of_before_rows_are_added(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    head = "name,email,country,time zone\n"
    rows = "Aki,a@a.example,JP,\nBea,b@b.example,Germany,America/Chicago\n"
    page = text(many(browser, template_id, (head + rows).encode()))
    assert "Aki a@a.example Japan, Asia/Tokyo Japan Asia/Tokyo" in page
    assert "1 row has a time zone of another country" in page
    assert page.count("Germany, America/Chicago Not a time zone of this country") == 1
    assert "All rows are correct" not in page
    assert "Add 2 organizations" in page
    several = text(many(browser, template_id, (head + "Cy,c@c.example,AU,\n").encode()))
    assert "Choose a time zone. The template’s isn’t used in Australia." in several


def test_columns_that_are_not_used_are_named(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    data = b"name,Phone,email,,problem,Notes <b>\nAlder,1,ann@alder.example,2,3,4\n"
    page = text(many(browser, template_id, data))
    assert "Columns not used: Phone, Notes <b> To use a column" in page
    assert "not used" not in text(many(browser, template_id, FILE))


def test_the_forms_say_that_new_organizations_begin_in_trial_mode(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    page = f"{PAGE}/{save(session, tenant)}"
    for path in (f"{page}/use", f"{page}/use-many", "/organizations/new"):
        assert "New organizations begin in trial mode" in browser.get(path).text


def test_the_sample_file_has_no_problem(session: Session, tenant: Tenant, browser: Browser) -> None:
    template_id = save(session, tenant)
    assert f"{PAGE}/sample.csv" in browser.get(f"{PAGE}/{template_id}/use-many").text
    page = text(many(browser, template_id, browser.get(f"{PAGE}/sample.csv").data))
    assert "Add 2 organizations" in page
    assert "have a problem" not in page


def test_the_correct_rows_are_created_and_the_others_named(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    path = f"{PAGE}/{template_id}/use-many"
    form = {"rows": rows_of(many(browser, template_id, FILE)), "once": "m2"}
    answer = browser.post(path, form, page=path)
    assert answer.status_code == 200
    page = text(answer)
    assert "1 organization added" in page
    assert "6 rows were left out" in page
    assert "Enter a name." in page
    made = organization_called(session, "Alder Dental")
    assert (made.default_region, made.payment_tier) == ("GB", Tier.PLUS)
    again = text(browser.post(path, form, page=path))
    assert "1 organization added" in again
    assert "6 rows were left out" in again
    total = select(func.count()).where(Organization.name == "Alder Dental")
    assert session.scalar(total) == 1


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_rows_that_failed_are_a_file_to_fix_with_the_problem_of_each(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    path = f"{PAGE}/{template_id}/use-many"
    checked = many(browser, template_id, FILE)
    created = browser.post(path, {"rows": rows_of(checked), "once": "m4"}, page=path)
    for page in (checked, created):
        form = page.text.partition(f'action="{path}/corrected-file"')[2]
        refused = re.search(r'name="rows" value="([^"]*)"', form)
        assert refused
        answer = browser.post(f"{path}/corrected-file", {"rows": unescape(refused[1])}, page=path)
        assert "organizations-to-fix.csv" in answer.headers["Content-Disposition"]
        rows = [*csv.reader(answer.text.removeprefix("\ufeff").splitlines())]
        assert rows[0] == ["name", "email", "user name", "country", "time zone", "problem"]
        assert [row[0] for row in rows[1:]] == [
            *("Birch Dental", "Birch Dental", "Cedar Dental", "Northwind Bakery", "", "Fir Dental")
        ]
        assert rows[1][5] == "Name: Row 4 has the same name."
        assert rows[5][3:5] == ["Atlantis", "Mars/Base"]
        fixed = answer.text.replace("Birch Dental", "Beech Dental", 1).encode()
        assert "4 rows have a problem" in text(many(browser, template_id, fixed))


ONE_GOOD = b"name,email,country\nAlder,ann@alder.example,\nBirch,nonsense,Atlantis\nCedar,none,\n"


def problems_on(page: str) -> dict[str, str]:
    """The problems of a checked page by the cells that they are at."""
    found = re.findall(r'id="problem-(\d+-\w+)">([^<]*)<', page)
    return {cell: unescape(words) for cell, words in found}


def test_rows_with_a_problem_are_fixed_on_the_page_and_checked_again(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    path = f"{PAGE}/{template_id}/use-many"
    checked = many(browser, template_id, ONE_GOOD)
    assert problems_on(checked.text) == {
        "1-country": "Unknown country Atlantis. Use its name or a code like GB.",
        "1-email": "Enter an email like name@example.com.",
        "2-email": "Enter an email like name@example.com.",
    }
    form = form_of(checked.text, f'{path}"')
    typed = {"email-1": "ben@birch.example", "country-1": "Germany", "remove-2": "on"}
    again = browser.post(f"{path}/check", form | typed, page=path)
    assert again.status_code == 200
    assert "All rows are correct" in again.text
    assert rows_of(again).splitlines()[1:] == [
        "2,Alder,ann@alder.example,,,",
        "3,Birch,ben@birch.example,,DE,",
    ]
    created = browser.post(path, form_of(again.text, f'{path}"'), page=path)
    assert created.location == "/organizations"
    assert organization_called(session, "Birch").default_region == "DE"


def test_changes_since_the_check_are_reviewed_before_anything_is_created(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    path = f"{PAGE}/{template_id}/use-many"
    form = form_of(many(browser, template_id, ONE_GOOD).text, f'{path}"')
    before = counts(session)
    answer = browser.post(path, form | {"email-1": "ben@birch.example"}, page=path)
    assert (answer.status_code, counts(session)) == (200, before)
    assert "You have changed rows since the check. Review them, then add." in text(answer)
    assert sorted(problems_on(answer.text)) == ["1-country", "2-email"]
    assert form_of(answer.text, f'{path}"')["email-1"] == "ben@birch.example"


def test_rows_that_were_left_out_are_fixed_on_the_page_of_the_result(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    path = f"{PAGE}/{template_id}/use-many"
    form = form_of(many(browser, template_id, ONE_GOOD).text, f'{path}"')
    result = browser.post(path, form | {"remove-2": "on"}, page=path)
    assert "1 organization added" in text(result)
    assert organization_called(session, "Alder").name == "Alder"
    fixed = form_of(result.text, f'{path}"') | {"email-0": "ben@birch.example", "country-0": ""}
    checked = browser.post(f"{path}/check", fixed, page=path)
    browser.post(path, form_of(checked.text, f'{path}"'), page=path)
    assert organization_called(session, "Birch").default_region == "US"


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_administrators_get_one_mail_about_all_new_owners(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    path = f"{PAGE}/{template_id}/use-many"
    data = b"name,email\nAlder,ann@alder.example\nBirch,ben@birch.example\n"
    rows = rows_of(many(browser, template_id, data))
    browser.post(path, {"rows": rows, "once": "m5"}, page=path)
    kind = MailKind.ADMINISTRATOR_ADDED.value
    mails = session.scalars(select(Mail).where(Mail.kind == kind)).all()
    assert len({mail.user_id for mail in mails}) == len(mails) == 1
    owners = [["Alder", "ann@alder.example"], ["Birch", "ben@birch.example"]]
    assert mails[0].details["owners"] == owners
    invitations = select(func.count()).where(Mail.kind == MailKind.INVITATION.value)
    assert session.scalar(invitations) == 2


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_long_file_is_added_in_several_transactions_and_goes_on_after_a_fault(
    session: Session, tenant: Tenant, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organization_templates, "BATCH_SIZE", 2)
    template_id = save(session, tenant)
    path = f"{PAGE}/{template_id}/use-many"
    names = ["Alder", "Birch", "Cedar", "Alder", "Elm"]
    data = "name,email\n" + "".join(f"{n},user{at}@x.example\n" for at, n in enumerate(names))
    form = {"rows": rows_of(many(browser, template_id, data.encode())), "once": "m6"}
    create, parts = organization_templates.create_many, []

    def failing(*given: Any, **named: Any) -> Any:
        parts.append(len(given[3]))
        if len(parts) == 3:
            raise OSError("No space left")
        return create(*given, **named)

    monkeypatch.setattr(organization_templates, "create_many", failing)
    with pytest.raises(OSError, match="No space"):
        browser.post(path, form, page=path)
    made = select(func.count()).where(Organization.name.in_(names))
    mails = select(func.count()).where(Mail.kind == MailKind.ADMINISTRATOR_ADDED.value)
    assert (parts, session.scalar(made), session.scalar(mails)) == ([2, 2, 1], 2, 0)
    session.rollback()
    for _ in range(2):
        page = text(browser.post(path, form, page=path))
        assert "3 organizations added" in page
        assert "2 rows were left out" in page
    assert (parts[3:], session.scalar(made), session.scalar(mails)) == ([1], 3, 1)


def test_a_workbook_without_problems_creates_all(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.append(["Name", "Email"])
    for number in range(3):
        sheet.append([f"=Salon {number}", f"user{number}@salon.example"])
    for row in range(2, 5):
        sheet.cell(row, 1).data_type = "s"
    stream = io.BytesIO()
    workbook.save(stream)
    checked = many(browser, template_id, stream.getvalue(), "new.xlsx")
    assert "All rows are correct" in checked.text
    path = f"{PAGE}/{template_id}/use-many"
    answer = browser.post(path, {"rows": rows_of(checked), "once": "m3"}, page=path)
    assert answer.location == "/organizations"
    assert "3 organizations added. 3 users are invited." in browser.get("/organizations").text
    names = session.scalars(select(Organization.name).where(Organization.name.like("=Salon%")))
    assert sorted(names) == ["=Salon 0", "=Salon 1", "=Salon 2"]


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("Name,Company,Email", ["Bo", "Fern", "fern@x.example"]),
        ("User name,Name,E-mail address", ["Bo", "Fern", "fern@x.example"]),
        ("contact_person,business_name,business_email", ["Bo", "Fern", "fern@x.example"]),
        ("Benutzername,name,email", ["Bo", "Fern", "fern@x.example"]),
        ("Contact phone,Name of the company,Mail of the owner", ["", "Fern", "fern@x.example"]),
    ],
)
def test_columns_are_known_by_many_names(
    session: Session, tenant: Tenant, browser: Browser, header: str, values: list[str]
) -> None:
    template_id = save(session, tenant)
    checked = many(browser, template_id, f"{header}\nBo,Fern,fern@x.example\n".encode())
    user, name, email = values
    assert rows_of(checked).splitlines()[1] == f"2,{name},{email},{user},,"


@pytest.mark.parametrize("language", LANGUAGES)
def test_columns_named_as_on_the_page_are_known_in_each_language(
    session: Session, tenant: Tenant, browser: Browser, language: str
) -> None:
    with using_language(language):
        header = ";".join(map(str, LABELS.values()))
    row = "Fern;fern@x.example;Bo;Deutschland;Europe/Berlin"
    page = many(browser, save(session, tenant), f"{header}\n{row}\n".encode())
    assert rows_of(page).splitlines()[1] == "2,Fern,fern@x.example,Bo,DE,Europe/Berlin"
    assert "not used" not in page.text


@pytest.mark.parametrize(
    "header",
    [
        "Firma;E-Mail-Adresse;Benutzername;Land;Zeitzone",
        "Kunde;E-Mail;Name des Benutzers;Staat;Zeitzone",
        "Raison sociale;Adresse e-mail;Nom d’utilisateur;Pays;Fuseau horaire",
        "Entreprise;Courriel;Nom;Code pays;Fuseau",
        "Empresa;Correo electrónico;Nombre de usuario;País;Zona horaria",
        "Name;E-Mail;Ansprechpartner;Land der Firma;Zeitzone der Firma",
    ],
)
def test_columns_are_known_by_usual_names_of_other_languages(
    session: Session, tenant: Tenant, browser: Browser, header: str
) -> None:
    row = "Fern;fern@x.example;Bo;DE;Europe/Berlin"
    page = many(browser, save(session, tenant), f"{header}\n{row}\n".encode())
    assert rows_of(page).splitlines()[1] == "2,Fern,fern@x.example,Bo,DE,Europe/Berlin"


@pytest.mark.parametrize(
    ("country", "code"),
    [
        *(("Germany", "DE"), ("Deutschland", "DE"), ("Estados Unidos", "US")),
        *(("royaume-uni", "GB"), ("Cote d'Ivoire", "Cote d'Ivoire"), ("Côte d'Ivoire", "CI")),
        *(("The Netherlands", "NL"), ("uk", "GB"), ("at", "AT")),
    ],
)
def test_a_country_is_known_by_its_name_in_each_language_of_the_portal(
    session: Session, tenant: Tenant, browser: Browser, country: str, code: str
) -> None:
    data = f"name,email,country\nFern,fern@x.example,{country}\n".encode()
    checked = many(browser, save(session, tenant), data)
    assert rows_of(checked).splitlines()[1] == f"2,Fern,fern@x.example,,{code},"


def test_a_long_column_of_notes_is_left_out(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    data = b"name,email,notes\nFern,fern@x.example," + b"long " * 2000 + b"\n"
    assert "All rows are correct" in many(browser, save(session, tenant), data).text
    data = b"name,email\n" + b"F" * 5000 + b",fern@x.example\n"
    page = text(many(browser, save(session, tenant, "Second"), data))
    assert "Too long. Use at most 200 characters." in page


def test_a_template_without_a_rule_that_was_added_later_has_the_usual_one(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    template_id = save(session, tenant)
    template = session.get_one(OrganizationTemplate, template_id)
    rules = {
        name: value for name, value in template.content["rules"].items() if "retry" not in name
    }
    template.content = template.content | {"rules": rules | {"of_an_older_version": 1}}
    session.commit()
    assert stored(session, template_id).rules.retry_minutes == 30
    assert browser.get(f"{PAGE}/{template_id}").status_code == 200


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The file is empty."),
        (b"name,email\n", "no rows below it"),
        (b"email,country\na@b.example,US\n", "The first row must name the columns"),
        (
            b"name,email\n" + b"".join(b"N%d,u%d@x.example\n" % (n, n) for n in range(201)),
            "The file has more than 200 rows. Split it into several files.",
        ),
        (b"name,email\n" + b"x" * 1_000_001, "The file is larger than 1 MB."),
        (b"\x89PNG\r\n\x1a\n\0\0", "This is a picture"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_what_to_do(
    session: Session, tenant: Tenant, browser: Browser, data: bytes, words: str
) -> None:
    answer = many(browser, save(session, tenant), data)
    assert answer.status_code == 422
    assert words in text(answer)


def test_other_partners_and_lower_roles_find_no_template(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn, operator: Browser
) -> None:
    template_id = save(session, tenant)
    paths = [
        f"{PAGE}/{template_id}{part}"
        for part in ("", "/edit", "/assistants/0", "/campaign", "/use", "/use-many", "/delete")
    ]
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    assert {stranger.get(path).status_code for path in paths} == {404}
    assert "Dentists" not in stranger.get(PAGE).text
    below = [signed_in(tenant.staff[Role.PARTNER_EDITOR]), signed_in(tenant.plus_user), operator]
    assert {each.get(path).status_code for each in below for path in (PAGE, *paths)} == {404}
    admin = signed_in(tenant.staff[Role.ADMIN])
    assert {admin.get(path).status_code for path in (PAGE, *paths)} == {200}


def test_a_customer_admin_uses_a_template(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.ADMIN])
    path = f"{PAGE}/{save(session, tenant)}/use"
    answer = browser.post(path, CUSTOMER | {"country": "US"}, page=path)
    made = organization_called(session, CUSTOMER["name"])
    assert answer.location == f"/organizations/{made.id}"


def test_a_partner_keeps_at_most_a_hundred_templates(session: Session, tenant: Tenant) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    for number in range(MAX_TEMPLATES):
        organization_templates.create(session, admin, f"Kind {number}")
    with pytest.raises(ValidationFailed, match="You have 100 templates"):
        organization_templates.create(session, admin, "One more")
    assert len(organization_templates.listing(session, admin)) == 100
