"""Extensions of the legacy API: the operator gives, changes and ends that of a client."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallerKind, Role
from app.errors import Conflict, DomainError, Forbidden, NotFound, ValidationFailed
from app.models import AuditEntry, OAuthClient, User, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import oauth_clients
from app.services.legacy import extensions
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
LIST = "/api-access/migration"
SUPPORT = system_caller("command line")
YEAR_END = datetime(2100, 1, 1, tzinfo=UTC)


backend = runs_on(["sqlite"])


def make(session: Session, tenant: Tenant, name: str = "Old dialler") -> OAuthClient:
    new = oauth_clients.create_legacy(
        session, SUPPORT, organization_id=tenant.plus.id, name=name, expires_at=None
    )
    session.commit()
    return new.client


@pytest.fixture
def client(session: Session, tenant: Tenant) -> OAuthClient:
    return make(session, tenant)


def path_of(client: OAuthClient) -> str:
    return f"{LIST}/{client.id}/extension"


def ends(session: Session, client: OAuthClient) -> datetime | None:
    session.expire_all()
    return client.served_until


def in_words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def test_an_extension_is_given_changed_and_ended_and_each_is_in_the_history(
    session: Session, client: OAuthClient, operator: Browser
) -> None:
    given = operator.post(path_of(client), data={"last_day": "2099-06-30"})
    assert (given.status_code, given.location) == (303, f"{LIST}/{client.id}")
    assert ends(session, client) == datetime(2099, 7, 1, tzinfo=UTC)
    assert 'value="2099-06-30"' in operator.get(path_of(client)).text
    operator.post(path_of(client), data={"last_day": "2099-12-31"})
    assert ends(session, client) == YEAR_END
    operator.post(path_of(client), data={"last_day": "2099-12-31"})
    operator.post(f"{path_of(client)}/end")
    assert ends(session, client) is None
    rows = session.scalars(
        select(AuditEntry).where(AuditEntry.action.like("client.ext%")).order_by(AuditEntry.id)
    )
    july, year_end = "2099-07-01T00:00:00+00:00", "2100-01-01T00:00:00+00:00"
    written = [(row.action, row.before, row.after, row.actor, row.partner_id) for row in rows]
    who = ("root@platform.example", client.partner_id)
    assert written == [
        ("client.extended", {"servedUntil": None}, {"servedUntil": july}, *who),
        ("client.extended", {"servedUntil": july}, {"servedUntil": year_end}, *who),
        ("client.extension_ended", {"servedUntil": year_end}, {"servedUntil": None}, *who),
    ]


def test_the_page_offers_what_fits_the_client(
    session: Session, client: OAuthClient, operator: Browser
) -> None:
    page = f"{LIST}/{client.id}"
    before = in_words(operator.get(page).text)
    extensions.extend(session, SUPPORT, client.id, YEAR_END)
    session.commit()
    during = in_words(operator.get(page).text)
    oauth_clients.revoke(session, SUPPORT, client.id)
    session.commit()
    after = in_words(operator.get(page).text)
    give, change, end = offers = ("Give extension…", "Change extension…", "End extension…")
    assert [offer for offer in offers if offer in before] == [give]
    assert [offer for offer in offers if offer in during] == [change, end]
    assert [offer for offer in offers if offer in after] == []
    assert "It ends on 1 January 2100, 00:00 UTC." in during
    paths = (path_of(client), f"{path_of(client)}/end")
    assert [operator.get(path).status_code for path in paths] == [404, 404]


def test_the_confirmations_name_the_consequences(
    session: Session, client: OAuthClient, operator: Browser
) -> None:
    client.expires_at = utcnow() + timedelta(days=3)
    session.commit()
    giving = in_words(operator.get(path_of(client)).text)
    assert "Give “Old dialler” an extension?" in giving
    assert "No requests in the last 30 days." in giving
    assert "an extension doesn’t change that." in giving
    ending = in_words(operator.get(f"{path_of(client)}/end").text)
    assert "End the extension of “Old dialler”?" in ending
    assert "The legacy API refuses its requests immediately." in ending


@pytest.mark.parametrize(
    ("day", "sentence"),
    [
        ("", "Enter a day like 2026-02-28."),
        ("tomorrow", "Enter a day like 2026-02-28."),
        ("2001-01-01", "Choose an end date in the future."),
        ("9999-12-31", "This day is too far away."),
    ],
)
def test_a_wrong_day_is_refused_at_its_field(
    session: Session, client: OAuthClient, operator: Browser, day: str, sentence: str
) -> None:
    refused = operator.post(path_of(client), data={"last_day": day})
    assert refused.status_code == 422
    assert sentence in in_words(refused.text)
    assert ends(session, client) is None


def test_an_extension_given_before_the_retirement_ends_after_it(
    app: Flask, session: Session, client: OAuthClient, operator: Browser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    later = app.extensions["settings"].model_copy(update={"legacy_retirement": YEAR_END})
    monkeypatch.setitem(app.extensions, "settings", later)
    refused = operator.post(path_of(client), data={"last_day": "2099-12-31"})
    assert "Every client is served through 31 Dec 2099. Choose a later day." in in_words(
        refused.text
    )
    assert operator.post(path_of(client), data={"last_day": "2100-01-01"}).status_code == 303
    assert "It is served through 31 Dec 2099 (UTC), as every client." in in_words(
        operator.get(f"{path_of(client)}/end").text
    )


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN])
def test_partners_read_extensions_and_change_none(
    session: Session, tenant: Tenant, client: OAuthClient, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(tenant.staff[role])
    paths = (path_of(client), f"{path_of(client)}/end")
    assert [browser.get(path).status_code for path in paths] == [404, 404]
    assert [browser.post(path, data={"last_day": "2099-12-31"}).status_code for path in paths] == [
        404,
        404,
    ]
    assert ends(session, client) is None
    page = browser.get(f"{LIST}/{client.id}")
    assert (page.status_code == 200) == (role is Role.PARTNER_ADMIN)
    assert "Give extension" not in page.text


def test_the_list_shows_the_extensions_of_one_partner(
    session: Session, tenant: Tenant, other_tenant: Tenant, client: OAuthClient, operator: Browser
) -> None:
    make(session, tenant, "Plain dialler")
    make(session, other_tenant, "Their dialler")
    extensions.extend(session, SUPPORT, client.id, YEAR_END)
    session.commit()
    names = ("Old dialler", "Plain dialler", "Their dialler")

    def shown(asked: str) -> list[str]:
        text = operator.get(f"{LIST}?{asked}").text
        return [name for name in names if name in text]

    assert f'href="{LIST}?partner={tenant.partner.id}"' in operator.get(
        f"/operator/partners/{tenant.partner.id}"
    ).text.replace("&amp;", "&")
    assert {
        asked: shown(asked)
        for asked in (
            f"partner={tenant.partner.id}",
            "extension=with",
            f"extension=without&partner={tenant.partner.id}",
            f"partner={other_tenant.partner.id}&extension=with",
        )
    } == {
        f"partner={tenant.partner.id}": ["Old dialler", "Plain dialler"],
        "extension=with": ["Old dialler"],
        f"extension=without&partner={tenant.partner.id}": ["Plain dialler"],
        f"partner={other_tenant.partner.id}&extension=with": [],
    }


def test_a_partner_finds_no_other_partner_in_the_list(
    session: Session, tenant: Tenant, other_tenant: Tenant, client: OAuthClient, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert browser.get(f"{LIST}?partner={other_tenant.partner.id}").status_code == 404
    assert "Old dialler" in browser.get(f"{LIST}?partner={tenant.partner.id}").text


def refusal(
    session: Session, caller: Caller, client_id: UUID | str, until: datetime
) -> tuple[type[DomainError], str]:
    with pytest.raises(DomainError) as refused:
        extensions.extend(session, caller, client_id, until)
    return type(refused.value), refused.value.code


def test_the_service_refuses_other_roles_other_clients_and_an_end_in_the_past(
    session: Session, tenant: Tenant, client: OAuthClient
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    script = Caller(
        CallerKind.CLIENT, Role.OPERATOR, client.id, "script", permissions=frozenset(Permission)
    )
    normal = oauth_clients.create(session, admin, name="Sync", role=Role.ADMIN).client
    revoked = make(session, tenant, "Gone")
    oauth_clients.revoke(session, SUPPORT, revoked.id)
    assert [
        refusal(session, admin, client.id, YEAR_END),
        refusal(session, script, client.id, YEAR_END),
        refusal(session, SUPPORT, "ppc_unknown", YEAR_END),
        refusal(session, SUPPORT, normal.client_id, YEAR_END),
        refusal(session, SUPPORT, revoked.client_id, YEAR_END),
        refusal(session, SUPPORT, client.client_id, utcnow()),
    ] == [
        (Forbidden, "support_only"),
        (Forbidden, "support_only"),
        (NotFound, "client_not_found"),
        (ValidationFailed, "wrong_area"),
        (Conflict, "client_revoked"),
        (ValidationFailed, "in_the_past"),
    ]
