"""Used storage on screen, its limits, and deleting the data of uploads."""

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from werkzeug.test import EnvironBuilder, run_wsgi_app

from app.enums import Role
from app.models import AuditEntry, Organization, Partner, User
from app.services.storage.usage import used_by_organization
from tests.fixtures.tenants import Tenant
from tests.fixtures.unread import Unread
from tests.fixtures.uploads import number
from tests.portal.conftest import Browser
from tests.portal.uploader import Uploader, words

SignedIn = Callable[[User], Browser]
FILE = f"Name,Phone\nAnn,{number(1)}\nBob,12\n"


def limit(session: Session, tenant: Tenant, size: int) -> None:
    session.get_one(Organization, tenant.organization.id).storage_limit = size
    session.commit()


def test_used_storage_is_shown_where_limits_are_and_where_files_are_chosen(
    tenant: Tenant, uploader: Uploader, operator: Browser
) -> None:
    address = uploader.applied(FILE)
    pages = {
        "/storage": [
            *("Used storage", "people.csv", "of 2.0 GB", tenant.organization.name),
            "Size with check results",
            f"{len(FILE)} B file",
        ],
        f"/organizations/{tenant.organization.id}/storage": [
            "people.csv",
            "of 500.0 MB",
            "Storage limit",
        ],
        f"/organizations/{tenant.organization.id}": ["Storage", "of 500.0 MB"],
        address: [f"{len(FILE)} B file, ", " kB with check results"],
    }
    for page, expected in pages.items():
        shown = uploader.shows(page)
        assert [text for text in expected if text not in shown] == []
    for page in ("/operator/storage", f"/operator/storage/{tenant.partner.id}"):
        shown = words(operator.get(page))
        assert [text for text in (tenant.partner.name, "people.csv") if text not in shown] == []


def test_the_storage_that_is_left_is_named_when_a_fifth_is_left(
    session: Session, tenant: Tenant, uploader: Uploader
) -> None:
    assert "of storage left" not in uploader.shows(uploader.page)
    uploader.applied(FILE)
    limit(session, tenant, used_by_organization(session, tenant.organization) + 100)
    assert "100 B of" in uploader.shows(uploader.page)


def test_the_unit_of_the_limit_is_that_of_the_language(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    session.execute(update(User).where(User.role == Role.OPERATOR).values(language="fr"))
    session.commit()
    page = words(operator.get(f"/operator/storage/{tenant.partner.id}"))
    assert " Mo " in page
    assert " MB " not in page


def test_a_member_sees_the_storage_of_their_organization_and_sets_no_limit(
    tenant: Tenant, uploader: Uploader, signed_in: SignedIn
) -> None:
    uploader.applied(FILE)
    member = signed_in(tenant.user)
    page = f"/organizations/{tenant.organization.id}/storage"
    assert "of 500.0 MB" in words(member.get("/storage"))
    assert member.get(page).status_code == 404
    assert member.post(page, {"megabytes": "9000"}, page="/account").status_code == 404
    assert member.get("/operator/storage").status_code == 404


def test_pages_of_another_partner_show_and_change_nothing(
    other_tenant: Tenant, uploader: Uploader, signed_in: SignedIn
) -> None:
    address = uploader.applied(FILE)
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    shown = stranger.get("/storage")
    assert "people.csv" not in shown.text
    assert "0 B of 2.0 GB" in words(shown)
    assert stranger.get(f"{address}/delete-data").status_code == 404
    assert stranger.post(f"{address}/delete-data", page="/account").status_code == 404


def test_a_partner_limits_an_organization_and_the_operator_a_partner(
    session: Session, tenant: Tenant, uploader: Uploader, operator: Browser
) -> None:
    page = f"/organizations/{tenant.organization.id}/storage"
    form = {"megabytes": "250", "version": str(tenant.organization.version)}
    assert uploader.browser.post(page, form, page=page).location == page
    theirs = f"/operator/storage/{tenant.partner.id}"
    form = {"megabytes": "3000", "version": str(tenant.partner.version)}
    assert operator.post(theirs, form, page=theirs).location == "/operator/storage"
    session.expire_all()
    found = session.get_one(Organization, tenant.organization.id)
    assert found.storage_limit == 250_000_000
    assert session.get_one(Partner, tenant.partner.id).storage_limit == 3_000_000_000
    entries = session.scalars(select(AuditEntry).where(AuditEntry.action.contains("storage")))
    assert [(entry.action, entry.after) for entry in entries] == [
        ("organization.storage_limited", {"storageLimit": 250_000_000}),
        ("partner.storage_limited", {"storageLimit": 3_000_000_000}),
    ]
    refused = uploader.browser.post(page, {"megabytes": "lots"}, page=page)
    assert refused.status_code == 422
    assert "Enter a whole number" in words(refused)


def test_a_file_over_the_limit_is_refused_before_it_is_read(
    app: Flask, session: Session, tenant: Tenant, uploader: Uploader
) -> None:
    limit(session, tenant, 1_000_000)
    cookie = uploader.browser.client.get_cookie(
        "portal_session"
    ) or uploader.browser.client.get_cookie("__Host-portal_session")
    built = EnvironBuilder(
        path=uploader.page, method="POST", content_type="multipart/form-data; boundary=x"
    ).get_environ()
    cookies = f"{cookie.key}={cookie.value}" if cookie else ""
    environ = {
        **built,
        "wsgi.input": Unread(),
        "CONTENT_LENGTH": "2000000",
        "HTTP_COOKIE": cookies,
        "HTTP_SEC_FETCH_SITE": "same-origin",
    }
    body, status, _ = run_wsgi_app(app, environ)
    page = b"".join(body).decode()
    assert status.startswith("413")
    assert "This file needs" in page
    assert 'href="/storage"' in page


def test_a_file_just_over_the_limit_is_refused_at_its_field_and_not_kept(
    session: Session, tenant: Tenant, uploader: Uploader
) -> None:
    limit(session, tenant, len(FILE) - 1)
    answer = uploader.send(FILE)
    assert answer.status_code == 413
    assert "of storage" in words(answer)
    limit(session, tenant, len(FILE))
    assert uploader.send(FILE).status_code == 303


def test_deleting_data_asks_with_the_consequences_and_frees_the_storage(uploader: Uploader) -> None:
    address = uploader.applied(FILE)
    asked = uploader.shows(f"{address}/delete-data")
    assert [
        text
        for text in (
            "Delete the data of people.csv?",
            "The file and its rows are deleted and can’t be downloaded again.",
            "The upload can’t be undone any more.",
            "Contacts, figures and history stay.",
        )
        if text not in asked
    ] == []
    answer = uploader.press(address, "delete-data")
    assert (answer.status_code, answer.location) == (303, "/storage")
    assert "Delete…" not in uploader.shows("/storage")
    assert uploader.browser.get(f"{address}/failed-rows.csv").status_code == 410
    kept = uploader.shows(address)
    assert "Delete data…" not in kept
    assert "Undo is not possible any more" in kept
    assert "Undo was possible until" not in kept, "its last day is still to come"


def test_a_checked_upload_can_be_cancelled_and_an_undone_one_deleted(
    uploader: Uploader,
) -> None:
    undone = uploader.applied(FILE)
    uploader.press(undone, "undo")
    uploader.work(undone)
    checked = uploader.upload(f"Name,Phone\nCy,{number(2)}\n")
    uploader.work(checked)
    page = uploader.browser.get("/storage").text
    assert f'href="{checked}/cancel"' in page
    assert f'href="{undone}/delete-data"' in page
    assert f'href="{undone}/delete-data"' in uploader.browser.get(undone).text


def test_the_data_of_an_upload_in_progress_is_not_deleted(uploader: Uploader) -> None:
    address = uploader.upload(FILE)
    assert uploader.browser.get(f"{address}/delete-data").location == address
    assert uploader.browser.post(f"{address}/delete-data", page=address).location == address
    assert uploader.now(address).rows_forgotten_at is None


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_check_screen_says_that_not_all_rows_are_listed(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.services.imports.packing.LISTED_ROWS", 30)
    address = uploader.upload("Name,Phone\n" + "Bob,12\n" * 90)
    shown = uploader.shows(address)
    assert "Not all rows are listed here" in shown
    assert "90 of 90 rows need fixing" in shown
    rows = uploader.browser.get(f"{address}/failed-rows.csv").text.splitlines()
    assert len(rows) == 91
