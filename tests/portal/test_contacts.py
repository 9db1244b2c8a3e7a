"""One contact in the portal: shown with its history, added, changed, removed, never called."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, CarrierKind, ContactAction, Role
from app.models import (
    AuditEntry,
    Call,
    Campaign,
    Contact,
    DoNotCallEntry,
    IdempotencyRecord,
    User,
    utcnow,
)
from app.services import assistants, campaigns, contacts
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.uploader import Uploader
from tests.portal.uploader import words as words_of

SignedIn = Callable[[User], Browser]
PHONE, OTHER_PHONE = "+12025550120", "+12025550121"
ADA = {
    "firstName": "Ada",
    "lastName": "Lovelace",
    "phone": PHONE,
    "email": "Ada@mail.example",
    "status": "new",
    "contactMetadata": {"plan": "gold", "visits": 3, "vip": True, "note": "two\nlines"},
    "externalIdKey": "crmId",
    "externalIdValue": "C-1",
}
FORM = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "phone": PHONE,
    "email": "Ada@mail.example",
    "status": "new",
    "more": "plan = gold\nvisits = 3\nvip = true\nnote = two\\nlines",
    "external_0": "A-9",
    "external_1": "C-1",
}


@pytest.fixture
def campaign(session: Session, tenant: Tenant) -> Campaign:
    return make_campaign(session, tenant)


def make_campaign(session: Session, tenant: Tenant) -> Campaign:
    """With the key crmId, which identifies, and accountId, which routes."""
    caller = tenant.caller(Role.PARTNER_ADMIN)
    [assistant, *_] = assistants.of_organization(session, caller, tenant.organization.id)
    assistants.define_external_id_key(session, caller, assistant, "accountId")
    assistants.define_external_id_key(session, caller, assistant, "crmId", identifies=True)
    made = campaigns.create(
        session, caller, tenant.organization.id, name="Winter recall", all_assistants=True
    )
    people = [ADA, {"phone": PHONE, "externalIdKey": "accountId", "externalIdValue": "A-9"}]
    contacts.apply(session, made, people, ContactAction.UPSERT)
    session.commit()
    return made


def page_of(campaign: Campaign, contact: Contact) -> str:
    return f"/campaigns/{campaign.id}/contacts/{contact.id}"


def the_contact(session: Session) -> Contact:
    session.expire_all()
    return session.scalars(select(Contact).order_by(Contact.id).limit(1)).one()


def state(session: Session, tenant: Tenant, campaign: Campaign, contact_id: UUID) -> dict[str, Any]:
    session.expire_all()
    caller = tenant.caller(Role.PARTNER_ADMIN)
    stored = contacts.get(session, caller, campaign.id, contact_id)
    return stored.model_dump(by_alias=False, exclude={"id", "created_at", "updated_at"})


AS_STORED = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "phone": PHONE,
    "email": "Ada@mail.example",
    "status": "new",
    "contact_metadata": ADA["contactMetadata"],
    "external_ids": {"accountId": "A-9", "crmId": "C-1"},
}


def version(browser: Browser, path: str) -> str:
    return browser.get(path).text.split('name="version" value="')[1].split('"')[0]


def save(browser: Browser, page: str, **changes: str) -> Any:
    sent = {**FORM, "version": version(browser, f"{page}/edit"), **changes}
    return browser.post(f"{page}/edit", sent, page=f"{page}/edit")


def test_saving_an_unchanged_form_changes_nothing(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    contact = the_contact(session)
    form = admin.get(f"{page_of(campaign, contact)}/edit").text
    for words in ("note = two\\nlines", 'value="A-9"', 'value="C-1"', "visits = 3"):
        assert words in form
    assert save(admin, page_of(campaign, contact)).status_code == 303
    assert state(session, tenant, campaign, contact.id) == AS_STORED


def test_every_field_can_be_changed_at_once_and_keeps_its_kind(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    contact = the_contact(session)
    answer = save(
        admin,
        page_of(campaign, contact),
        first_name="Augusta",
        last_name="",
        phone="(202) 555-0121",
        email="augusta@mail.example",
        status="",
        more="visits = 4\nvip = false\nnote = one\ncolour = red = green",
        external_0="",
        external_1="C-2",
    )
    assert answer.status_code == 303
    assert state(session, tenant, campaign, contact.id) == {
        "first_name": "Augusta",
        "last_name": None,
        "phone": OTHER_PHONE,
        "email": "augusta@mail.example",
        "status": None,
        "contact_metadata": {"visits": 4, "vip": False, "note": "one", "colour": "red = green"},
        "external_ids": {"crmId": "C-2"},
    }
    entry = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None
    assert (entry.action, entry.before["firstName"], entry.after["firstName"]) == (
        "contact.updated",
        "Ada",
        "Augusta",
    )


def test_nul_characters_are_dropped_because_databases_refuse_them(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    contact = the_contact(session)
    page = page_of(campaign, contact)
    sent = {name: f"{text}\0" for name, text in FORM.items()}
    assert save(admin, page, **sent | {"more": FORM["more"].replace("gold", "go\0ld")}).location
    assert state(session, tenant, campaign, contact.id) == AS_STORED
    consent = {"consent": "yes", "source": "Let\0ter"}
    assert admin.post(f"{page}/consent", consent, page=page).status_code == 303
    assert the_contact(session).consent_source == "Letter"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"phone": "", "email": ""}, "Enter a phone number or an email address."),
        ({"phone": "12"}, "Too short"),
        ({"email": "ada"}, "Enter an email like"),
        ({"first_name": "x" * 101}, "Too long. Use at most 100 characters."),
        ({"more": "no equals sign"}, "Line 1 must be written name = value."),
        ({"more": "a = 1\na = 2"}, "Line 2 repeats a. Keep one."),
        ({"more": "x" * 65 + " = 1"}, "Too long. Use at most 64 characters."),
        ({"phone": OTHER_PHONE}, "Another contact of the campaign has this phone number."),
        ({"email": "BOB@mail.example"}, "Another contact of the campaign has this email address."),
        ({"external_1": "C-2"}, "Another contact of the campaign has this external id."),
        ({"more": "=", "phone": "12"}, "Line 1 must be written name = value."),
        ({"more": "=", "phone": "12"}, "Too short"),
    ],
)
def test_each_problem_is_at_its_field_and_nothing_is_saved(
    session: Session,
    tenant: Tenant,
    campaign: Campaign,
    admin: Browser,
    changes: dict[str, str],
    words: str,
) -> None:
    bob = {"phone": OTHER_PHONE, "email": "bob@mail.example"}
    pair = {"externalIdKey": "crmId", "externalIdValue": "C-2"}
    contacts.apply(session, campaign, [{**bob, **pair}], ContactAction.UPSERT)
    session.commit()
    contact = the_contact(session)
    answer = save(admin, page_of(campaign, contact), **changes)
    assert (answer.status_code, answer.text.count(words)) == (422, 2)
    assert state(session, tenant, campaign, contact.id) == AS_STORED


def test_the_second_user_to_save_sees_the_conflict_and_overwrites_nothing(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    contact = the_contact(session)
    page = page_of(campaign, contact)
    seen = version(admin, f"{page}/edit")
    first = save(admin, page, first_name="Augusta", version=seen)
    same_lines = FORM["more"].replace("\n", "\r\n")  # as a browser sends them
    late = save(admin, page, first_name="Ida", more=same_lines, version=seen)
    assert (first.status_code, late.status_code) == (303, 409)
    assert "changed this" in late.text
    assert 'value="Ida"' in late.text
    assert late.text.count("More details") == 1  # the field, and no difference
    assert state(session, tenant, campaign, contact.id)["first_name"] == "Augusta"
    new = late.text.split('name="version" value="')[1].split('"')[0]
    assert save(admin, page, first_name="Ida", version=new).status_code == 303
    assert state(session, tenant, campaign, contact.id)["first_name"] == "Ida"


def test_a_contact_is_added_once_with_all_its_ids(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    address = f"/campaigns/{campaign.id}/contacts/new"
    sent = {
        **FORM,
        "phone": OTHER_PHONE,
        "email": "bob@mail.example",
        "external_1": "C-2",
        "once": "a1",
    }
    made = admin.post(address, sent, page=address)
    again = admin.post(address, sent, page=address)
    assert (made.status_code, made.location) == (303, again.location)
    new = UUID(made.location.rpartition("/")[2])
    assert state(session, tenant, campaign, new) == {
        **AS_STORED,
        "phone": OTHER_PHONE,
        "email": "bob@mail.example",
        "contact_metadata": {"plan": "gold", "visits": "3", "vip": "true", "note": "two\nlines"},
        "external_ids": {"accountId": "A-9", "crmId": "C-2"},
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"external_1": ""}, "A contact with this number, address or ID is in the campaign."),
        (
            {"phone": OTHER_PHONE, "email": "", "external_1": "", "status": "Completed"},
            "This status ends outreach. Choose another for a new contact.",
        ),
        ({"phone": "", "email": "", "external_1": ""}, "Enter a phone number or an email address"),
    ],
)
def test_a_contact_of_the_campaign_or_with_ended_outreach_is_not_added(
    session: Session,
    tenant: Tenant,
    campaign: Campaign,
    admin: Browser,
    changes: dict[str, str],
    words: str,
) -> None:
    contact = the_contact(session)
    address = f"/campaigns/{campaign.id}/contacts/new"
    answer = admin.post(address, {**FORM, **changes}, page=address)
    assert answer.status_code == 422
    assert words in answer.text
    assert session.scalar(select(func.count()).select_from(Contact)) == 1
    assert state(session, tenant, campaign, contact.id) == AS_STORED


def test_a_removed_contact_can_be_restored_with_everything_it_had(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    contact = the_contact(session)
    page = page_of(campaign, contact)
    save(admin, page, status="completed")
    assert "Remove Ada Lovelace?" in admin.get(f"{page}/remove").text
    removed = admin.post(f"{page}/remove", page=page)
    assert removed.location == f"/campaigns/{campaign.id}?removed={contact.id}"
    assert session.scalar(select(func.count()).select_from(Contact)) == 0
    offered = admin.get(removed.location)
    assert "Ada Lovelace was removed" in offered.text
    back = admin.post(f"{page}/restore", page=removed.location)
    new = UUID(back.location.rpartition("/")[2])
    assert state(session, tenant, campaign, new) == {**AS_STORED, "status": "completed"}
    again = admin.post(f"{page}/restore", page="/campaigns")
    assert again.status_code == 404
    assert "was removed" not in admin.get(removed.location).text


def test_a_removal_can_be_undone_for_a_day_by_its_author_if_the_identity_is_free(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser, signed_in: SignedIn
) -> None:
    contact = the_contact(session)
    page = page_of(campaign, contact)
    admin.post(f"{page}/remove", page=page)
    colleague = signed_in(tenant.staff[Role.ADMIN])
    assert colleague.post(f"{page}/restore", page="/campaigns").status_code == 404
    contacts.apply(session, campaign, [{"phone": PHONE}], ContactAction.UPSERT)
    session.commit()
    taken = admin.post(f"{page}/restore", page="/campaigns")
    reported = admin.get(taken.location).text
    assert "The contact was not restored." in reported
    assert session.scalar(select(func.count()).select_from(Contact)) == 1
    session.execute(update(IdempotencyRecord).values(created_at=utcnow() - timedelta(hours=25)))
    session.commit()
    assert admin.post(f"{page}/restore", page="/campaigns").status_code == 404


def test_a_number_is_put_on_the_do_not_call_list_with_its_source(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    contact = the_contact(session)
    page = page_of(campaign, contact)
    asked = admin.get(f"{page}/do-not-call").text
    assert "added to the do-not-call list of Northwind" in asked
    assert f'<li><a href="{page}">{contact.first_name} {contact.last_name}</a></li>' in asked
    answer = admin.post(f"{page}/do-not-call", {"reason": "Asked by mail"}, page=page)
    entry = session.scalars(select(DoNotCallEntry)).one()
    assert (answer.status_code, entry.phone, entry.reason, entry.source, entry.added_by) == (
        303,
        PHONE,
        "Asked by mail",
        "contact",
        tenant.staff[Role.PARTNER_ADMIN].email,
    )
    shown = admin.get(page).text
    assert 'badge-warning">Do not call' in shown
    assert f'href="{page}/do-not-call"' not in shown


def test_the_page_shows_calls_to_the_person_or_their_number(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    contact = the_contact(session)
    assistant = assistants.of_organization(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id
    )[0]
    call = Call(
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        assistant_id=assistant.id,
        contact_id=contact.id,
        source=CallSource.API,
        live=True,
        carrier=CarrierKind.SIMULATOR,
        phone_number=PHONE,
        contact={"phoneNumber": PHONE},
        status=CallStatus.QUEUED,
        requested_by="a script",
        expires_at=utcnow() + timedelta(hours=1),
    )
    session.add(call)
    session.commit()
    page = admin.get(page_of(campaign, contact)).text
    assert f'href="/calls/{call.id}"' in page
    assert "1 waiting call is cancelled." in page


def test_a_contact_of_another_tenant_is_not_found(
    session: Session, other_tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    theirs = make_campaign(session, other_tenant)
    contact = session.scalars(select(Contact).where(Contact.campaign_id == theirs.id)).one()
    seen = []
    for campaign_id, contact_id in (
        (theirs.id, contact.id),
        (campaign.id, contact.id),
        (campaign.id, uuid4()),
    ):
        page = f"/campaigns/{campaign_id}/contacts/{contact_id}"
        acts = ("edit", "remove", "do-not-call", "restore")
        seen.append(
            [
                *(admin.get(path).status_code for path in (page, f"{page}/edit")),
                *(admin.get(f"{page}/{act}").status_code for act in ("remove", "do-not-call")),
                *(admin.post(f"{page}/{act}", FORM, page="/campaigns").status_code for act in acts),
            ]
        )
    assert seen == [[404] * 8] * 3
    assert session.get(Contact, contact.id) is not None


def test_consent_is_kept_with_its_source_and_recorder(
    session: Session, tenant: Tenant, campaign: Campaign, admin: Browser
) -> None:
    page = page_of(campaign, the_contact(session))
    assert "No consent recorded." in admin.get(page).text
    kept = []
    for sent in ({"consent": "yes", "source": "Letter"}, {"consent": "no", "source": ""}):
        assert admin.post(f"{page}/consent", sent, page=page).status_code == 303
        found = the_contact(session)
        kept.append((found.consent, found.consent_source))
        assert found.consent_at is not None
        assert utcnow() - found.consent_at < timedelta(minutes=1)
    assert kept == [("given", "Letter"), ("refused", tenant.staff[Role.PARTNER_ADMIN].email)]
    assert "Refused, by" in admin.get(page).text
    assert admin.post(f"{page}/consent", {"consent": "x"}, page=page).status_code == 303
    assert the_contact(session).consent == "refused"
    metadata = the_contact(session).contact_metadata or {}
    assert {name: metadata[name] for name in ("plan", "visits", "vip")} == {
        "plan": "gold",
        "visits": 3,
        "vip": True,
    }


def test_a_number_that_is_not_in_use_is_explained_and_left_out_by_campaigns(
    uploader: Uploader,
) -> None:
    address = uploader.applied("Name,Phone\nBob,0301234567\n")
    assert uploader.now(address).created == 1
    page = uploader.browser.get(f"/campaigns/{uploader.campaign_id}").text
    (link,) = set(re.findall(rf"/campaigns/{uploader.campaign_id}/contacts/[0-9a-f-]{{36}}", page))
    shown = words_of(uploader.browser.get(link))
    assert (
        "This number can’t be called Country code +1 has no number like this. Check the digits. "
        "Campaigns leave this contact out." in shown
    )
    assert "/test-call" not in uploader.browser.get(link).text.partition("<h1>")[2]
