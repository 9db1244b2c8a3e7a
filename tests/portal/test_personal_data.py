"""Users and contacts are exported and erased from their pages, after a preview."""

import re
from collections.abc import Callable
from urllib.parse import quote
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app import extensions
from app.database import Database
from app.enums import ErasureStatus, ExportFormat, ExportStatus, Role, UserStatus
from app.extensions import files, settings
from app.gateways.mailers import open_outbox
from app.jobs.erase_subject import SubjectErasure
from app.models import Contact, Erasure, ListExport, Partner, User, utcnow
from app.portal.web.formats import phone
from app.services import campaigns
from app.services.contacts import single_contact
from app.services.contacts.single_contact import ContactFields
from app.services.personal_data import erasing, subjects
from tests.fixtures.mails import send_waiting
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import answered, make_call
from tests.portal.uploader import Uploader, make_campaign, words

PHONE = "+12025550143"


@pytest.fixture
def contact(session: Session, tenant: Tenant) -> Contact:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    campaign = campaigns.create(session, admin, tenant.organization.id, name="Recall")
    contact_id = single_contact.add(
        session, admin, campaign.id, ContactFields("Greta", "Vale", PHONE)
    )
    make_call(session, tenant.organization, PHONE, **answered())
    session.commit()
    return session.get_one(Contact, contact_id)


def erase(erasure_id: UUID) -> None:
    """Does what the worker does."""
    SubjectErasure(extensions.database(), files(), open_outbox(settings()), erasure_id).run()


def lines_of(html: str) -> list[tuple[str, str, str]]:
    """Return name, number and fate of each line of a person's data."""
    row = r'<td class="cell-name">(.*?)</td>.*?data-label="Number">(\d+)</td>\s*<td[^>]*>(.*?)</td>'
    return [
        (re.sub("<[^>]+>", "", name).strip(), number, fate)
        for name, number, fate in re.findall(row, html, re.DOTALL)
    ]


def page_of(contact: Contact) -> str:
    return f"/campaigns/{contact.campaign_id}/contacts/{contact.id}"


def test_a_contact_is_erased_after_its_name_is_typed(
    session: Session, signed_in: Callable[..., Browser], tenant: Tenant, contact: Contact
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = f"{page_of(contact)}/erase"
    shown = admin.get(page).text
    for each in ("Erase Greta Vale?", "do-not-call list are kept", "Pseudonymized", "Deleted"):
        assert each in shown
    refused = admin.post(page, {"typed": "Greta"}, page=page)
    assert (refused.status_code, session.scalar(select(Erasure))) == (422, None)
    assert "The text doesn’t match." in refused.text
    assert refused.text.count('Type <strong dir="auto">Greta Vale</strong> to confirm.') == 1
    done = admin.post(page, {"typed": "greta vale"}, page=page)
    erasure = session.scalars(select(Erasure)).one()
    assert (done.status_code, done.location) == (303, f"/erasures/{erasure.id}")
    running = admin.get(done.location).text
    assert erasure.pseudonym in running
    assert "<dt>Finished</dt>\n  <dd>–</dd>" in running
    assert "every 2s" in admin.get(f"{done.location}/live").text


def test_texts_that_mention_a_single_name_are_shown_before_an_erasure(
    session: Session, signed_in: Callable[..., Browser], tenant: Tenant, contact: Contact
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = f"{page_of(contact)}/erase"
    assert "Texts to check" not in admin.get(page).text
    second = campaigns.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        tenant.organization.id,
        name="Neighbours of Greta",
    )
    session.commit()
    shown = admin.get(page).text
    assert "These texts mention Greta." in shown
    assert f'<a class="inline" href="/campaigns/{second.id}">Name of a campaign</a>' in shown
    assert "Neighbours of Greta" in shown


def test_a_user_is_deactivated_at_once_and_then_erased(
    session: Session, signed_in: Callable[..., Browser], tenant: Tenant
) -> None:
    admin, user = signed_in(tenant.staff[Role.PARTNER_ADMIN]), tenant.staff[Role.PARTNER_EDITOR]
    page = f"/users/{user.id}/erase"
    assert f'Type <strong dir="auto">{user.email}</strong> to confirm.' in admin.get(page).text
    done = admin.post(page, {"typed": user.email}, page=page)
    session.expire_all()
    erasure = session.scalars(select(Erasure)).one()
    assert (done.status_code, done.location) == (303, f"/erasures/{erasure.id}")
    assert session.get_one(User, user.id).status is UserStatus.DEACTIVATED


def test_users_cannot_erase_themselves_on_their_page(
    session: Session, signed_in: Callable[..., Browser], tenant: Tenant
) -> None:
    admin, user = signed_in(tenant.staff[Role.PARTNER_ADMIN]), tenant.staff[Role.PARTNER_ADMIN]
    page = f"/users/{user.id}/erase"
    assert page not in admin.get(f"/users/{user.id}").text
    assert admin.post(page, {"typed": user.email}, page=page).status_code == 303
    assert session.scalar(select(Erasure)) is None


def test_exports_about_people_are_listed_among_the_users_exports(
    session: Session, signed_in: Callable[..., Browser], tenant: Tenant, contact: Contact
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    for page in (f"/users/{tenant.user.id}", page_of(contact)):
        sent = admin.post(f"{page}/data-export", page=page)
        assert (sent.status_code, sent.location) == (303, "/exports")
    shown = admin.get("/exports").text
    assert "Data about a user" in shown
    assert "Data about a person" in shown
    formats = session.scalars(select(ListExport.file_format)).all()
    assert formats == [ExportFormat.ZIP, ExportFormat.ZIP]


def test_people_are_found_by_name_email_and_number(
    signed_in: Callable[..., Browser], tenant: Tenant, contact: Contact
) -> None:
    admin, user = signed_in(tenant.staff[Role.PARTNER_ADMIN]), tenant.staff[Role.PARTNER_EDITOR]

    def found(words: str) -> list[str]:
        page = admin.get("/personal-data", query_string={"q": words}).text
        return re.findall(r'class="list-row-title" href="(.*?)"', page)

    of_contact, of_user = f"{page_of(contact)}/data", f"/users/{user.id}/data"
    assert (found(PHONE), found("+1 202 555 0143")) == ([of_contact], [of_contact])
    assert (found(user.email), found("nothing like it")) == ([of_user], [])
    assert (found("gréta VALE"), found("vale"), found("ale")) == ([of_contact],) * 2 + ([],)


def test_people_with_a_name_are_grouped_by_kind_with_details(
    session: Session, signed_in: Callable[..., Browser], tenant: Tenant, contact: Contact
) -> None:
    session.get_one(User, tenant.user.id).name = "Greta Hall"
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = admin.get("/personal-data?q=greta").text
    shown = re.findall(
        r'<h2[^>]*>(Users|Contacts)|list-row-title"[^>]*>([^<]+)|list-row-text">([^<]+)', page
    )
    assert ["".join(each) for each in shown] == [
        *("Users", "Greta Hall", f"{tenant.organization.name}, Member, {tenant.user.email}"),
        *("Contacts", "Greta Vale", f"{tenant.organization.name}, Recall, {phone(PHONE)}"),
    ]


def test_contacts_of_others_are_not_found_by_name(
    signed_in: Callable[..., Browser], tenant: Tenant, other_tenant: Tenant, contact: Contact
) -> None:
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    page = stranger.get("/personal-data?q=greta").text
    assert 'value="greta"' in page
    assert "list-row-title" not in page


def test_the_data_about_a_contact_is_counted_and_linked(
    signed_in: Callable[..., Browser], tenant: Tenant, contact: Contact
) -> None:
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(f"{page_of(contact)}/data").text
    row = r'class="name"[^>]*>(.*?)</.*?data-label="Number">(\d+)<'
    rows = re.findall(row, page, re.DOTALL)
    assert ("Contacts, in all campaigns of the organization", "1") in rows
    assert f'<a class="name" dir="auto" href="/calls?number={quote(PHONE)}">Calls</a>' in page
    assert f'action="{page_of(contact)}/data-export"' in page
    assert f'href="{page_of(contact)}/erase"' in page


def test_search_confirmation_and_result_of_an_erasure_show_the_same_counts(
    app: Flask,
    session: Session,
    signed_in: Callable[..., Browser],
    tenant: Tenant,
    contact: Contact,
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    admin.post(f"{page_of(contact)}/data-export", page=page_of(contact))
    session.execute(update(ListExport).values(status=ExportStatus.READY))
    session.commit()

    def lines(path: str) -> list[tuple[str, str, str]]:
        return [each for each in lines_of(admin.get(path).text) if each[2] != "Kept"]

    known = lines(f"{page_of(contact)}/data")
    page = f"{page_of(contact)}/erase"
    asked = admin.get(page).text
    assert "Exports that are deleted" in asked
    assert f"<li>Data about a person, {utcnow().day} " in asked
    assert lines(page) == known
    assert ("Calls", "1", "Pseudonymized") in known
    assert ("Exports", "1", "Deleted") in known
    admin.post(page, {"typed": "Greta Vale"}, page=page)
    erasure_id = session.scalars(select(Erasure.id)).one()
    with app.app_context():
        erase(erasure_id)
    assert lines(f"/erasures/{erasure_id}") == known


def test_the_confirmation_names_an_export_that_is_being_prepared(
    app: Flask,
    session: Session,
    signed_in: Callable[..., Browser],
    tenant: Tenant,
    contact: Contact,
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    admin.post(f"{page_of(contact)}/data-export", page=page_of(contact))
    page = f"{page_of(contact)}/erase"
    asked = admin.get(page)
    assert ("Exports", "1", "Deleted") in lines_of(asked.text)
    assert "Being prepared" in words(asked)
    assert "Those being prepared are deleted too: wait for them if you need them." in words(asked)
    admin.post(page, {"typed": "Greta Vale"}, page=page)
    with app.app_context():
        erase(session.scalars(select(Erasure.id)).one())
    assert session.scalar(select(ListExport)) is None


def test_all_pages_about_an_uploaded_contact_show_the_same_counts(
    app: Flask,
    database: Database,
    session: Session,
    signed_in: Callable[..., Browser],
    tenant: Tenant,
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    uploader = Uploader(app, database, admin, make_campaign(session, tenant))
    uploader.applied(
        "first name,last name,phone\nGreta,Vale,+1 202 555 0143\nAda,Bell,+1 202 555 0777\n"
    )
    contact = session.scalars(select(Contact).where(Contact.phone == PHONE)).one()
    known = lines_of(admin.get(f"{page_of(contact)}/data").text)
    assert known == [
        ("Files and rows of uploads", "1", "Deleted"),
        ("Contacts, in all campaigns of the organization", "1", "Deleted"),
    ]
    page = f"{page_of(contact)}/erase"
    asked = admin.get(page).text
    assert lines_of(asked) == known
    assert asked.count('data-label="If erased"') == len(known)
    crumbs = asked.partition('aria-label="Breadcrumbs"')[2].partition("</nav>")[0]
    assert re.findall(r">([^<>]+)</(?:a|span)>", crumbs) == [
        "Campaigns",
        "Winter recall",
        "Greta Vale",
        "Erase this person",
    ]
    assert "contacts and the figures of the upload stay." in asked
    admin.post(page, {"typed": "Greta Vale"}, page=page)
    erasure_id = session.scalars(select(Erasure.id)).one()
    with app.app_context():
        erase(erasure_id)
    result = admin.get(f"/erasures/{erasure_id}").text
    assert lines_of(result) == known
    assert "What was erased" in result
    facts = [each.replace("<wbr>", "") for each in re.findall(r"<dd>(.*?)</dd>", result)]
    assert facts[1:3] == [tenant.organization.name, tenant.staff[Role.PARTNER_ADMIN].email]
    proof = admin.get(f"/erasures/{erasure_id}/proof.txt").text
    assert "Erasure of a person’s data" in proof
    assert f"Organization: {tenant.organization.name}\n" in proof
    assert f"Requested: {facts[3]}\nFinished: {facts[4]}\n" in proof
    assert "Contacts, in all campaigns of the organization: 1 (Deleted)\n" in proof
    assert "Vale" not in proof
    history = words(admin.get("/audit"))
    assert (
        "Contacts, in all campaigns of the organization: 1 Files and rows of uploads: 1" in history
    )


def test_an_export_of_an_erased_person_says_so_on_the_page_and_by_email(
    app: Flask,
    session: Session,
    signed_in: Callable[..., Browser],
    tenant: Tenant,
    contact: Contact,
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = f"{page_of(contact)}/erase"
    admin.post(page, {"typed": "Greta Vale"}, page=page)
    admin.post(f"{page_of(contact)}/data-export", page=page_of(contact))
    assert "Data about a person Greta Vale ZIP (JSON) Being prepared" in words(
        admin.get("/exports")
    )
    with app.app_context():
        erasure_id = session.scalars(select(Erasure.id)).one()
        erase(erasure_id)
        extensions.write_export(session.scalars(select(ListExport.id)).one())
        letters = send_waiting(session, settings())
    [text] = [each.text for each in letters if each.subject == "Your export could not be written"]
    reason = "The person was erased or removed before the file was written"
    assert f"Data about a person ZIP (JSON) Failed {reason}" in words(admin.get("/exports"))
    assert reason in text


def test_retention_periods_are_shown_beside_their_defaults(
    signed_in: Callable[..., Browser], tenant: Tenant
) -> None:
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/settings/personal-data").text
    standards = re.findall(r'<td class="end nowrap">(\d+) days</td>', page)
    assert standards == ["90", "365", "30", "30", "30"]


def test_data_about_people_of_others_is_not_found(
    signed_in: Callable[..., Browser], tenant: Tenant, other_tenant: Tenant, contact: Contact
) -> None:
    member, stranger = signed_in(tenant.user), signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    for page in (page_of(contact), f"/users/{tenant.staff[Role.ADMIN].id}"):
        assert [browser.get(f"{page}/data").status_code for browser in (member, stranger)] == [
            404,
            404,
        ]


@pytest.mark.parametrize("path", ["erase", "data-export"])
def test_members_and_other_partners_find_no_data_of_a_contact(
    session: Session,
    signed_in: Callable[..., Browser],
    tenant: Tenant,
    other_tenant: Tenant,
    contact: Contact,
    path: str,
) -> None:
    member, stranger = signed_in(tenant.user), signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    for browser in (member, stranger):
        for page in (page_of(contact), f"/users/{tenant.staff[Role.ADMIN].id}"):
            assert browser.post(f"{page}/{path}", page="/account").status_code == 404
    assert session.scalars(select(Erasure)).all() == []
    assert session.scalars(select(ListExport)).all() == []


def test_an_erasure_of_another_partner_is_not_found(
    session: Session,
    signed_in: Callable[..., Browser],
    tenant: Tenant,
    other_tenant: Tenant,
    contact: Contact,
) -> None:
    page = f"{page_of(contact)}/erase"
    signed_in(tenant.staff[Role.PARTNER_ADMIN]).post(page, {"typed": "Greta Vale"}, page=page)
    erasure_id: UUID = session.scalars(select(Erasure.id)).one()
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    for path in ("", "/proof.txt"):
        answer = stranger.get(f"/erasures/{erasure_id}{path}")
        assert answer.status_code == 404
        assert "Greta" not in answer.text


def test_a_failed_erasure_can_be_continued(
    session: Session, signed_in: Callable[..., Browser], tenant: Tenant, contact: Contact
) -> None:
    admin, page = signed_in(tenant.staff[Role.PARTNER_ADMIN]), f"{page_of(contact)}/erase"
    admin.post(page, {"typed": "Greta Vale"}, page=page)
    erasure_id = session.scalars(select(Erasure.id)).one()
    erasing.fail(session, erasure_id)
    session.commit()
    shown = f"/erasures/{erasure_id}"
    assert admin.get(f"{shown}/proof.txt").status_code == 404
    assert "Try again" in admin.get(shown).text
    assert admin.post(f"{shown}/retry", page=shown).location == shown
    session.expire_all()
    found = session.get_one(Erasure, erasure_id)
    assert (found.status, found.finished_at) == (ErasureStatus.WAITING, None)


def test_retention_is_shortened_and_erasures_are_listed(
    session: Session, signed_in: Callable[..., Browser], tenant: Tenant, contact: Contact
) -> None:
    admin, page = signed_in(tenant.staff[Role.PARTNER_ADMIN]), f"{page_of(contact)}/erase"
    admin.post(page, {"typed": "Greta Vale"}, page=page)
    page = "/settings/personal-data"
    version = tenant.partner.version
    saved = admin.post(page, {"mails": "7", "version": str(version)}, page=page)
    assert (saved.status_code, saved.location) == (303, page)
    session.expire_all()
    assert session.get_one(Partner, tenant.partner.id).retention_days == {"mails": 7}
    shown = admin.get(page).text
    assert session.scalars(select(Erasure.pseudonym)).one() in shown
    refused = admin.post(page, {"mails": "31", "version": str(version + 1)}, page=page)
    assert refused.status_code == 422
    assert "Enter a number from 1 to 30." in refused.text


def test_an_owner_erases_a_member_and_sees_how_far_it_is(
    session: Session, signed_in: Callable[..., Browser], tenant: Tenant
) -> None:
    member = tenant.plus_user
    member.organization_id, tenant.user.role = tenant.organization.id, Role.OWNER
    session.commit()
    owner, page = signed_in(tenant.user), f"/users/{member.id}/erase"
    done = owner.post(page, {"typed": member.email}, page=page)
    erasure = session.scalars(select(Erasure)).one()
    assert (done.status_code, done.location) == (303, f"/erasures/{erasure.id}")
    assert erasure.organization_id == tenant.organization.id
    assert subjects.of_erasure(erasure).organization_id is None  # the whole partner is searched
    assert erasure.pseudonym in owner.get(done.location).text
