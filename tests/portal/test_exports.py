"""Long lists as files: the worker writes them, and their user downloads them for a week."""

import csv
import io
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from flask import Flask
from openpyxl import load_workbook
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app import extensions
from app.database import Database
from app.enums import ExportFormat, ExportProblem, ExportStatus, Role, UserStatus
from app.gateways.files import StoredFile
from app.models import (
    AuditEntry,
    ListExport,
    Mail,
    MailKind,
    Organization,
    PortalSession,
    User,
    utcnow,
)
from app.portal.record_lists import export_views, exporting
from app.services import campaigns, exports
from app.services.exports import ExportInput
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.uploader import words

SignedIn = Callable[[User], Browser]
EXPORT_ROWS = 3
NAMES = ("Autumn", "Łódź", "=1+1", "Winter", "Spring")


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    return make_app(export_rows=EXPORT_ROWS, exports_at_once=2)


@pytest.fixture
def tenant_with_campaigns(session: Session, tenant: Tenant, other_tenant: Tenant) -> Tenant:
    """More campaigns than are exported at once, and those of another partner."""
    for each in (tenant, other_tenant):
        for name in NAMES:
            staff = each.caller(Role.PARTNER_ADMIN)
            campaigns.create(session, staff, each.organization.id, name=name)
    session.commit()
    return tenant


@pytest.fixture
def admin(tenant_with_campaigns: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant_with_campaigns.staff[Role.PARTNER_ADMIN])


def order(browser: Browser, ending: str = "csv", query: str = "") -> None:
    url = f"/lists/campaigns/exports?format={ending}&{query}"
    answer = browser.post(url, page=url)
    assert (answer.status_code, answer.location) == (303, "/exports")


def only(session: Session) -> ListExport:
    session.expire_all()
    return session.scalars(select(ListExport)).one()


def write(app: Flask, session: Session) -> ListExport:
    """Does what the worker's process does."""
    with app.app_context():
        extensions.write_export(only(session).id)
    return only(session)


def rows_of(answer_data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(answer_data.decode("utf-8-sig"), newline="")))


def file_path(export: ListExport) -> str:
    return f"/exports/{export.id}/file"


def mails(session: Session) -> Sequence[Mail]:
    query = select(Mail).where(Mail.kind == MailKind.EXPORT_FINISHED.value)
    return session.scalars(query).all()


def test_a_short_list_is_sent_at_once_and_a_long_one_leads_to_the_confirmation(
    admin: Browser,
) -> None:
    short = admin.get("/lists/campaigns/export.csv?q=autumn")
    assert [row[0] for row in rows_of(short.data)[1:]] == ["Autumn"]
    for ending in ("csv", "xlsx"):
        answer = admin.get(f"/lists/campaigns/export.{ending}?kind=any&column=name")
        url = f"/lists/campaigns/exports?format={ending}&kind=any&column=name"
        assert (answer.status_code, answer.location) == (303, url)
        shown = words(admin.get(url))
        assert "The list has more than 3 rows" in shown
        assert "Download the file within 7 days." in shown


def test_the_file_holds_exactly_what_the_list_shows(
    app: Flask, session: Session, admin: Browser
) -> None:
    query = "kind=any&sort=-name&column=name&column=organization"
    order(admin, "csv", query)
    export = write(app, session)
    answer = admin.get(file_path(export))
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=campaigns-")
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert rows_of(answer.data) == [
        ["Name", "Organization"],
        *([name, "Northwind Bakery"] for name in ("Winter", "Spring", "Łódź", "Autumn", "'=1+1")),
    ]
    assert (export.status, export.rows, export.size) == (ExportStatus.READY, 5, len(answer.data))


def test_an_excel_file_holds_the_same(app: Flask, session: Session, admin: Browser) -> None:
    order(admin, "xlsx", "sort=name&column=name")
    export = write(app, session)
    sheet = load_workbook(io.BytesIO(admin.get(file_path(export)).data)).active
    assert sheet is not None
    assert [row[0] for row in sheet.values] == ["Name", "=1+1", *sorted(NAMES[:2]), *NAMES[:2:-1]]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_an_export_that_is_sent_makes_room_for_the_next(admin: Browser, ending: str) -> None:
    more = 3  # than are answered at once
    answers = [admin.get(f"/lists/organizations/export.{ending}") for _ in range(more)]
    kind = export_views.MEDIA_TYPES[ExportFormat(ending)]
    answered = [(answer.status_code, answer.headers["Content-Type"]) for answer in answers]
    assert answered == [(200, kind)] * more


def test_the_user_gets_one_mail_and_the_page_shows_the_file(
    app: Flask, session: Session, tenant_with_campaigns: Tenant, admin: Browser
) -> None:
    order(admin)
    page = admin.get("/exports")
    assert "Campaigns CSV Being prepared" in words(page)
    assert 'data-label="Kept until"' in page.text
    assert 'hx-get="/exports" hx-trigger="every 2s"' in page.text
    assert "Refresh" in words(page)  # without script
    export = write(app, session)
    write(app, session)
    [mail] = mails(session)
    assert (mail.user_id, mail.partner_id) == (
        tenant_with_campaigns.staff[Role.PARTNER_ADMIN].id,
        tenant_with_campaigns.partner.id,
    )
    assert mail.details == {
        "list": "campaigns",
        "rows": 5,
        "problem": None,
        "until": export.expires_at.isoformat(),
    }
    assert export.finished_at
    assert export.expires_at == export.finished_at + timedelta(days=7)
    page = admin.get("/exports")
    assert "Campaigns CSV Ready 5" in words(page)
    assert file_path(export) in page.text
    assert 'hx-get="/exports"' not in page.text
    assert "Refresh" not in words(page)


def test_the_same_export_twice_is_one_and_is_in_the_history(
    session: Session, admin: Browser
) -> None:
    order(admin, "csv", "q=a")
    order(admin, "csv", "q=a")
    export = only(session)
    entries = select(AuditEntry).where(AuditEntry.target_type == "list_export")
    [entry] = session.scalars(entries)
    assert (entry.action, entry.target_id, entry.after) == (
        "list_export.requested",
        str(export.id),
        {"list": "campaigns", "filters": "q=a", "format": "csv"},
    )


def test_only_its_user_reaches_an_export(
    app: Flask,
    session: Session,
    admin: Browser,
    tenant_with_campaigns: Tenant,
    other_tenant: Tenant,
    signed_in: SignedIn,
) -> None:
    order(admin)
    export = write(app, session)
    users = {
        "colleague": tenant_with_campaigns.staff[Role.PARTNER_EDITOR],
        "member": tenant_with_campaigns.user,
        "stranger": other_tenant.staff[Role.PARTNER_ADMIN],
    }
    reached = {}
    for name, user in users.items():
        browser = signed_in(user)
        reached[name] = (
            browser.get(file_path(export)).status_code,
            browser.post(f"/exports/{export.id}/delete", page="/account").status_code,
            "No exports" in words(browser.get("/exports")),
        )
    assert reached == dict.fromkeys(users, (404, 404, True))
    assert admin.get(file_path(export)).status_code == 200


def test_a_changed_role_loses_the_files_of_the_earlier_role(
    app: Flask, session: Session, admin: Browser, tenant_with_campaigns: Tenant
) -> None:
    order(admin)
    export = write(app, session)
    session.execute(
        update(User)
        .where(User.id == tenant_with_campaigns.staff[Role.PARTNER_ADMIN].id)
        .values(user_type=Role.ADMIN)
    )
    session.commit()
    assert admin.get(file_path(export)).status_code == 404


@pytest.mark.parametrize("lost", ["suspended", "role", "partner"])
def test_a_user_who_lost_access_gets_no_file(
    app: Flask,
    session: Session,
    admin: Browser,
    tenant_with_campaigns: Tenant,
    tmp_path: Path,
    lost: str,
) -> None:
    order(admin)
    user, partner = tenant_with_campaigns.staff[Role.PARTNER_ADMIN], tenant_with_campaigns.partner
    match lost:
        case "suspended":
            user.status = UserStatus.SUSPENDED
        case "role":
            user.user_type = Role.ADMIN
        case "partner":
            partner.suspended_at = utcnow()
    session.commit()
    export = write(app, session)
    assert (export.status, export.problem, export.file_key) == (
        ExportStatus.FAILED,
        ExportProblem.NO_ACCESS,
        "",
    )
    assert not (tmp_path / "uploads").exists()


def test_a_list_that_no_longer_exists_has_no_file(
    app: Flask, session: Session, tenant_with_campaigns: Tenant, admin: Browser
) -> None:
    missing = UUID(int=7)
    with session.begin_nested():
        exports.create(
            session,
            tenant_with_campaigns.caller(Role.PARTNER_ADMIN),
            ExportInput("contacts", f"campaign_id={missing}", ExportFormat.CSV, "UTC"),
        )
    session.commit()
    export = write(app, session)
    assert (export.status, export.problem) == (ExportStatus.FAILED, ExportProblem.NO_ACCESS)
    shown = words(admin.get("/exports"))
    assert "Contacts CSV Failed You no longer have access to this list." in shown


def test_more_rows_than_a_sheet_holds_end_with_the_reason(
    app: Flask, session: Session, admin: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "MAX_ROWS", 2)
    order(admin, "xlsx")
    assert write(app, session).problem is ExportProblem.TOO_MANY_ROWS
    assert "An Excel file can’t hold so many rows." in words(admin.get("/exports"))


def test_only_the_newest_attempt_keeps_its_file(
    database: Database, session: Session, admin: Browser
) -> None:
    order(admin)
    export_id = only(session).id
    with database.transaction() as opened:
        first = exports.begin(opened, export_id)
        second = exports.begin(opened, export_id)
    assert first is not None
    assert second is not None
    stored = [StoredFile(f"{number:032x}", 9, "0" * 64) for number in (1, 2)]
    with database.transaction() as opened:
        unneeded = [
            exports.finish(opened, export_id, task.attempt_number, each, 5)
            for task, each in ((first, stored[0]), (second, stored[1]))
        ]
        exports.fail(opened, export_id, ExportProblem.FAILED)
    assert unneeded == [stored[0].key, ""]
    after = only(session)
    assert (after.file_key, after.status, after.attempt_number) == (
        stored[1].key,
        ExportStatus.READY,
        2,
    )


def test_an_export_ends_after_a_week_with_its_file(
    app: Flask, session: Session, admin: Browser, tmp_path: Path
) -> None:
    order(admin)
    export = write(app, session)
    session.execute(update(ListExport).values(expires_at=utcnow() - timedelta(seconds=1)))
    session.commit()
    assert admin.get(file_path(export)).status_code == 404
    assert "No exports" in words(admin.get("/exports"))
    assert exports.purge(session) == [export.file_key]
    assert session.scalars(select(ListExport)).all() == []
    assert (tmp_path / "uploads" / export.file_key).exists()


def test_deleting_an_export_deletes_its_file(
    app: Flask, session: Session, admin: Browser, tmp_path: Path
) -> None:
    order(admin)
    export = write(app, session)
    answer = admin.post(f"/exports/{export.id}/delete", page="/exports")
    assert (answer.status_code, answer.location) == (303, "/exports")
    assert list((tmp_path / "uploads").iterdir()) == []
    assert "No exports" in words(admin.get("/exports"))


def test_a_user_has_at_most_twenty_exports(
    session: Session, tenant_with_campaigns: Tenant, admin: Browser
) -> None:
    for number in range(exports.MAX_EXPORTS):
        order(admin, "csv", f"q={number}")
    order(admin, "csv", "q=more")
    assert "You have 20 exports. Delete one first." in words(admin.get("/exports"))
    assert len(session.scalars(select(ListExport)).all()) == exports.MAX_EXPORTS


def test_ordering_and_downloading_ask_for_a_fresh_proof(
    app: Flask, session: Session, admin: Browser
) -> None:
    order(admin)
    export = write(app, session)
    session.execute(update(PortalSession).values(proven_at=utcnow() - timedelta(minutes=11)))
    session.commit()
    for url in (file_path(export), "/lists/campaigns/exports?format=csv"):
        assert (admin.get(url).location or "").startswith("/account/confirm?next=")
    assert admin.get("/exports").status_code == 200


def test_days_are_those_of_the_user_who_asked(
    app: Flask, session: Session, tenant_with_campaigns: Tenant, signed_in: SignedIn
) -> None:
    user = tenant_with_campaigns.staff[Role.PARTNER_ADMIN]
    user.timezone = "Pacific/Auckland"
    session.commit()
    browser = signed_in(user)
    query = "start=2020-01-01&end=2999-01-01&column=action"
    shown = rows_of(browser.get(f"/lists/history/export.csv?{query}&kind=campaign&q=Winter").data)
    url = f"/lists/history/exports?format=csv&{query}&kind=campaign&q=Winter"
    browser.post(url, page=url)
    export = write(app, session)
    assert export.zone == "Pacific/Auckland"
    assert rows_of(browser.get(file_path(export)).data) == shown


def test_an_unknown_format_or_list_has_no_exports(
    admin: Browser, tenant_with_campaigns: Tenant
) -> None:
    paths = ("/lists/campaigns/exports", "/lists/campaigns/exports?format=pdf", "/lists/x/exports")
    assert [admin.get(path).status_code for path in paths] == [404] * 3


def test_an_operator_exports_across_partners(
    app: Flask, session: Session, tenant_with_campaigns: Tenant, operator: Browser
) -> None:
    url = "/lists/organizations/exports?format=csv&column=name"
    assert operator.post(url, page=url).status_code == 303
    export = write(app, session)
    found = rows_of(operator.get(file_path(export)).data)
    shown = [row.name for row in session.scalars(select(Organization))]
    assert sorted(row[0] for row in found[1:]) == sorted(shown)
    assert export.partner_id is None
