"""Files for scripts are English for every user; a PDF is in the user's language."""

import csv
import io
import re
from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from app import languages
from app.enums import AlertMeasure, AlertScope, Role
from app.models import User
from app.services import alerts
from app.services.alerts import RuleInput
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]


@pytest.mark.parametrize(
    "path",
    [
        "/statements/{id}.csv",
        "/costs.csv",
        "/usage.csv",
        "/usage.csv?rows=days",
        "/lists/report/export.csv",
        "/lists/usage/export.csv",
        "/lists/organizations/export.csv",
        "/lists/users/export.csv",
        "/lists/history/export.csv",
    ],
)
def test_a_csv_file_is_the_same_in_every_language(
    session: Session, tenant: Tenant, signed_in: SignedIn, path: str
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    wanted = RuleInput(AlertMeasure.SILENCE, AlertScope.EACH_ORGANIZATION, 7)
    alerts.create(session, tenant.caller(Role.PARTNER_ADMIN), wanted)  # an entry of the history
    browser, files = signed_in(admin), []
    for language in ("en", "de", "fr"):
        admin.language = language
        session.commit()
        assert f'<html lang="{language}"' in browser.get("/account").text
        files.append(rows_of(browser, path.format(id=tenant.organization.id)))
    assert files[0] == files[1] == files[2]
    assert len(files[0]) > 1


def rows_of(browser: Browser, path: str) -> list[list[str]]:
    answer = browser.get(path)
    assert answer.status_code == 200
    return list(csv.reader(io.StringIO(answer.text)))


def test_the_pdf_of_a_statement_is_in_the_language_of_its_reader(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.language = "de"
    session.flush()
    path = f"/statements/{tenant.organization.id}.pdf"
    readers = (admin, tenant.staff[Role.ADMIN])
    titles = [title_of(signed_in(reader).get(path).data) for reader in readers]
    with languages.using_language("de"):
        expected = languages.gettext("Preview of the statement for %(month)s", month="")
    assert expected.strip() in titles[0]
    assert "Preview of the statement for" in titles[1]
    assert titles[0] != titles[1]


def title_of(pdf: bytes) -> str:
    """Return the title in the metadata of a PDF."""
    found = re.search(rb"<rdf:li xml:lang=\"x-default\">([^<]*)</rdf:li>", pdf)
    assert found is not None
    return found[1].decode()
