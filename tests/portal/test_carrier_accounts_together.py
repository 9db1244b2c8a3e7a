"""Two users at the same carrier account: the second sees the first one's change."""

from collections.abc import Callable, Mapping
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import CarrierAccount, User
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser, in_conflict

SignIn = Callable[[User], Browser]
TWILIO, TRUNK = "/carriers/accounts/account", "/carriers/accounts/trunk"
SID, OTHER = "AC" + "1a" * 16, "AC" + "2b" * 16
ACCOUNT: Mapping[str, str] = {"sid": SID, "token": "2a" * 16}
AT_SIP: Mapping[str, str] = {
    "address": "9.9.9.9",
    "user": "portal",
    "password": "nobody-sees-this",
    "transport": "udp",
    "caller": "number",
}


def in_use(session: Session) -> CarrierAccount | None:
    session.expire_all()
    query = select(CarrierAccount).where(CarrierAccount.removed_at.is_(None))
    return session.scalars(query).one_or_none()


def save(browser: Browser, path: str, typed: Mapping[str, str], version: int) -> tuple[int, str]:
    answer = browser.post(path, {**typed, "version": str(version)}, page=path)
    return answer.status_code, unescape(answer.text)


def test_the_second_window_to_save_sees_both_versions(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    assert 'name="version" value="0"' in admin.get(TWILIO).text
    assert save(admin, TWILIO, ACCOUNT, 0)[0] == 303
    status, shown = save(admin, TWILIO, {"sid": OTHER, "token": "3b" * 16}, 0)
    assert status == 409
    assert "You changed this in another window, on" in shown
    assert (SID, OTHER) in in_conflict(shown).values()
    assert 'name="version" value="1"' in shown
    assert "3b" * 16 not in shown
    assert save(admin, TWILIO, {"sid": OTHER, "token": "3b" * 16}, 1)[0] == 303
    account = in_use(session)
    assert account is not None
    assert (account.sid, account.version) == (OTHER, 2)


@pytest.mark.debian
def test_a_form_notices_an_account_of_the_other_kind_and_a_removal(
    session: Session, admin: Browser
) -> None:
    assert save(admin, TWILIO, ACCOUNT, 0)[0] == 303
    assert save(admin, TRUNK, AT_SIP, 0)[0] == 409
    assert save(admin, TRUNK, AT_SIP, 1)[0] == 303
    status, shown = save(admin, TWILIO, {"sid": OTHER, "token": "3b" * 16}, 1)
    assert status == 409
    assert ("–", OTHER) in in_conflict(shown).values()
    changed = {**AT_SIP, "transport": "tls", "registers": "y"}
    assert save(admin, TRUNK, changed, 2)[0] == 303
    status, shown = save(admin, TRUNK, {**AT_SIP, "user": "other"}, 2)
    assert status == 409
    rows = {("portal", "other"), ("TLS", "UDP"), ("Yes", "No")}
    assert rows <= set(in_conflict(shown).values())
    assert "nobody-sees-this" not in shown
    account = in_use(session)
    assert account is not None
    removal = f"/carriers/accounts/{account.id}/remove"
    admin.post(removal, page=removal)
    assert save(admin, TRUNK, AT_SIP, 3)[0] == 409
    assert in_use(session) is None
    assert save(admin, TRUNK, AT_SIP, 4)[0] == 303
