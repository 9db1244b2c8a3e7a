"""The data about those who were called but aren't contacts: found, exported and erased."""

import re
from collections.abc import Callable
from urllib.parse import quote
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app import extensions
from app.enums import Role
from app.models import Call, Erasure, ListExport, User
from app.services.personal_data import exporting, preview
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import answered, make_call
from tests.portal.test_personal_data import contact, erase, page_of  # noqa: F401 - a fixture
from tests.portal.uploader import words

GRACE, NUMBER = {"firstName": "Grace", "lastName": "Möller"}, "+13035550102"
SignedIn = Callable[[User], Browser]


@pytest.fixture
def call(session: Session, tenant: Tenant) -> Call:
    make_call(session, tenant.organization, NUMBER, **answered(), contact={})
    found = make_call(session, tenant.organization, NUMBER, **answered(), contact=GRACE)
    session.commit()
    return found


@pytest.fixture
def admin(signed_in: SignedIn, tenant: Tenant) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


def found_by(browser: Browser, asked: str) -> list[str]:
    page = browser.get("/personal-data", query_string={"q": asked}).text
    return re.findall(r'class="list-row-title" href="(.*?)"', page)


@pytest.mark.parametrize("asked", ["grace", "Grace Moeller", "möl", "+1 303 555 0102"])
def test_a_called_person_is_found_once_by_name_or_number(
    admin: Browser, call: Call, asked: str
) -> None:
    [url] = found_by(admin, asked)
    assert re.fullmatch("/calls/[^/]+/data", url)
    calls = f'<a class="name" dir="auto" href="/calls?number={quote(NUMBER)}">Calls</a>'
    assert calls in admin.get(url).text


def test_people_called_are_others_only_below_contacts(
    session: Session,
    tenant: Tenant,
    admin: Browser,
    contact: Call,  # noqa: F811
) -> None:
    def headings(asked: str) -> list[str]:
        page = admin.get("/personal-data", query_string={"q": asked}).text
        return re.findall("<h2[^>]*>(.*?)</h2>", page)

    make_call(session, tenant.organization, NUMBER, **answered(), contact={"firstName": "Greta"})
    make_call(session, tenant.organization, "+13035550103", **answered(), contact=GRACE)
    session.commit()
    assert headings("Grace") == ["People called"]
    assert headings("Greta") == ["Contacts", "Other people called"]


@pytest.mark.parametrize("asked", ["race", "Grace Vale", "+1 303 555 010", "grace@x.example"])
def test_a_part_of_a_number_or_another_name_finds_nothing(
    admin: Browser, call: Call, asked: str
) -> None:
    assert found_by(admin, asked) == []


def test_a_called_contact_is_found_only_as_a_contact(admin: Browser, contact: Call) -> None:  # noqa: F811
    assert found_by(admin, "+1 202 555 0143") == [f"{page_of(contact)}/data"]  # type: ignore[arg-type]


def test_the_page_of_a_call_leads_to_the_data_and_the_erasure(admin: Browser, call: Call) -> None:
    page = admin.get(f"/calls/{call.id}").text
    assert f'href="/calls/{call.id}/data"' in page
    assert f'href="/calls/{call.id}/erase"' in page


def test_the_data_of_a_called_person_is_exported(
    app: Flask, session: Session, tenant: Tenant, admin: Browser, call: Call
) -> None:
    page = f"/calls/{call.id}/data"
    assert admin.post(f"{page}-export", page=page).location == "/exports"
    assert "Data about a person Grace Möller" in words(admin.get("/exports"))
    export = session.scalars(select(ListExport)).one()
    caller = tenant.caller(Role.PARTNER_ADMIN)
    subject = exporting.subject_of(session, caller, export.list_name, export.query)
    lines = preview.erasure_lines(session, subject)
    assert {line.table: line.rows for line in lines}["calls"] == 2
    with app.app_context():
        extensions.write_export(export.id)
    session.refresh(export)
    assert export.problem is None


def test_a_called_person_is_erased_after_their_name_is_typed(
    app: Flask, session: Session, admin: Browser, call: Call
) -> None:
    page = f"/calls/{call.id}/erase"
    assert admin.post(page, {"typed": "Grace"}, page=page).status_code == 422
    done = admin.post(page, {"typed": "grace möller"}, page=page)
    erasure_id: UUID = session.scalars(select(Erasure.id)).one()
    assert done.location == f"/erasures/{erasure_id}"
    with app.app_context():
        erase(erasure_id)
    session.expire_all()
    left = session.scalars(select(Call)).all()
    assert {each.is_erased for each in left} == {True}
    assert {each.name for each in left} == {""}
    assert found_by(admin, "grace") == found_by(admin, NUMBER) == []
    assert [admin.get(f"/calls/{call.id}/{each}").status_code for each in ("data", "erase")] == [
        404,
        404,
    ]
    assert "Erase this person" not in admin.get(f"/calls/{call.id}").text


def test_the_page_of_an_erased_call_offers_no_call_to_its_number_and_no_list_for_it(
    session: Session, admin: Browser, call: Call
) -> None:
    assert {"Call again", "Do not call this number"} <= offered_actions(admin, call)
    call.phone_number = "erased-1e68206e"
    session.commit()
    assert offered_actions(admin, call) == {"The data of this call was erased."}
    assert 'value="erased-' not in admin.get(f"/test-call?again={call.id}").text
    confirmation = f"/calls/{call.id}/do-not-call"
    assert admin.get(confirmation).status_code == 404
    assert admin.post(confirmation, page="/account").status_code == 404


def offered_actions(browser: Browser, call: Call) -> set[str]:
    page = browser.get(f"/calls/{call.id}").text
    shown = {"Call again", "Do not call this number", "The data of this call was erased."}
    return {each for each in shown if each in page}


@pytest.mark.parametrize("path", ["data", "erase", "data-export"])
def test_members_and_other_partners_find_no_data_of_a_call(
    session: Session,
    signed_in: SignedIn,
    tenant: Tenant,
    other_tenant: Tenant,
    call: Call,
    path: str,
) -> None:
    for browser in (signed_in(tenant.user), signed_in(other_tenant.staff[Role.PARTNER_ADMIN])):
        page = f"/calls/{call.id}/{path}"
        typed = {"typed": "Grace Möller"}
        assert found_by(browser, "grace") == []
        answer = browser.get(page) if path == "data" else browser.post(page, typed, page="/account")
        assert answer.status_code == 404
        assert "Grace" not in answer.text
    assert session.scalars(select(Erasure)).all() == []
    assert session.scalars(select(ListExport)).all() == []
    session.refresh(call)
    assert (call.name, call.is_erased) == ("Grace Möller", False)
