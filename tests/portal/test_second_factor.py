"""Codes of an authenticator app and recovery codes, at sign-in and in the account."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from flask import Flask
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import AuditEntry, LinkPurpose, Mail, PendingSignIn, User
from app.services.auth import one_time_links
from app.services.factors import authenticator_apps
from tests.fixtures.clock import set_clock
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import PASSWORD, Browser

SECOND_STEP = "/sign-in/second-step"


class Clock:
    """The time of codes; it moves a step at a time, since a code works once."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def next_step(self, steps: int = 1) -> None:
        self.now += timedelta(seconds=30 * steps)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(authenticator_apps, "utcnow", clock)
    return clock


class Phone:
    """An authenticator app that has the secret of one account."""

    def __init__(self, secret: str, clock: Clock):
        self.totp, self.clock = pyotp.TOTP(secret), clock

    def code(self, steps: int = 0) -> str:
        return self.totp.generate_otp(int(self.clock.now.timestamp()) // 30 + steps)


class ProtectedUser:
    """A user with an authenticator app and recovery codes."""

    def __init__(self, user: User, phone: Phone, codes: list[str], browser: Browser):
        self.user, self.phone, self.codes, self.browser = user, phone, codes, browser


@pytest.fixture
def protected_user(
    tenant: Tenant, signed_in: Callable[[User], Browser], clock: Clock
) -> ProtectedUser:
    user = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(user)
    browser.post("/account/factors/app", page="/account/factors")
    page = browser.get("/account/factors/app").text
    found = re.search(r'id="app-secret">([^<]+)<', page)
    assert found
    phone = Phone(found.group(1).replace(" ", ""), clock)
    done = browser.post(
        "/account/factors/app/confirm", {"code": phone.code()}, page="/account/factors/app"
    )
    shown = re.search(r'id="recovery-codes">([^<]+)<', done.text)
    assert shown
    clock.next_step()
    return ProtectedUser(user, phone, shown.group(1).split(), browser)


def with_password(app: Flask, user: User) -> Browser:
    """A browser in which the password was right and the second step is asked."""
    browser = Browser(app.test_client())
    answer = browser.sign_in(user.email)
    assert (answer.status_code, answer.location) == (303, SECOND_STEP)
    return browser


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


def wants(browser: Browser, code: str, **more: str) -> int:
    return browser.post(SECOND_STEP, {"code": code, **more}, page=SECOND_STEP).status_code


def actions(session: Session, user: User) -> list[str]:
    query = select(AuditEntry.action).where(AuditEntry.target_id == str(user.id))
    return list(session.scalars(query.order_by(AuditEntry.id)))


def test_adding_an_app_shows_ten_recovery_codes_once_and_is_announced(
    session: Session, protected_user: ProtectedUser
) -> None:
    assert len(set(protected_user.codes)) == 10
    assert protected_user.codes[0] not in protected_user.browser.get("/account/factors").text
    mails = session.scalars(select(Mail).where(Mail.user_id == protected_user.user.id)).all()
    assert [(mail.kind, mail.details) for mail in mails] == [
        ("factors_changed", {"what": "app_added", "language": "en"})
    ]
    assert actions(session, protected_user.user) == ["user.app_added"]


def test_the_qr_code_keeps_its_margin_at_any_size(
    tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    browser.post("/account/factors/app", page="/account/factors")
    picture = (
        browser.get("/account/factors/app").text.partition('class="qr"')[2].partition("</svg>")[0]
    )
    whole = re.search(r'viewBox="0 0 (\d+) (\d+)"', picture)
    assert whole
    assert whole[1] == whole[2]
    side = int(whole[1])
    # A code of n modules, 21 and then 4 more a version, has four blank ones on each side.
    assert (side - 8 - 21) % 4 == 0
    assert not re.search(r"<svg[^>]* (width|height)=", picture)


def test_the_password_alone_opens_nothing_and_the_code_signs_in(
    app: Flask, session: Session, protected_user: ProtectedUser
) -> None:
    browser = with_password(app, protected_user.user)
    assert browser.get("/account").status_code == 303
    assert "user.signed_in" not in actions(session, protected_user.user)
    assert wants(browser, protected_user.phone.code()) == 303
    assert is_signed_in(browser)
    assert actions(session, protected_user.user)[-1] == "user.signed_in"


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_a_clock_that_is_one_step_off_is_accepted(
    app: Flask, protected_user: ProtectedUser, clock: Clock, steps: int
) -> None:
    clock.next_step(2)
    assert wants(with_password(app, protected_user.user), protected_user.phone.code(steps)) == 303


@pytest.mark.parametrize("steps", [-2, 2])
def test_a_clock_that_is_two_steps_off_is_refused(
    app: Flask, protected_user: ProtectedUser, clock: Clock, steps: int
) -> None:
    clock.next_step(3)
    assert wants(with_password(app, protected_user.user), protected_user.phone.code(steps)) == 422


def test_a_code_works_once_and_so_does_each_earlier_one(
    app: Flask, protected_user: ProtectedUser, clock: Clock
) -> None:
    clock.next_step(2)
    code, earlier = protected_user.phone.code(), protected_user.phone.code(-1)
    assert wants(with_password(app, protected_user.user), code) == 303
    again = with_password(app, protected_user.user)
    assert (wants(again, code), wants(again, earlier)) == (422, 422)
    clock.next_step()
    assert wants(again, protected_user.phone.code()) == 303


def test_the_code_that_confirmed_the_app_does_not_sign_in(
    app: Flask, protected_user: ProtectedUser
) -> None:
    assert wants(with_password(app, protected_user.user), protected_user.phone.code(-1)) == 422


def test_a_recovery_code_signs_in_once_in_any_spelling_and_is_mailed(
    app: Flask, session: Session, protected_user: ProtectedUser
) -> None:
    code = protected_user.codes[0]
    spelled = code.replace("-", " ").upper()
    browser = with_password(app, protected_user.user)
    assert wants(browser, spelled) == 303
    assert "9 recovery codes are left." in browser.get("/").text
    assert wants(with_password(app, protected_user.user), code) == 422
    mail = session.scalars(
        select(Mail)
        .where(Mail.user_id == protected_user.user.id, Mail.kind == "factors_changed")
        .order_by(Mail.id.desc())
    ).first()
    assert mail is not None
    assert mail.details == {"what": "recovery_code_used", "left": 9, "language": "en"}
    assert "user.recovery_code_used" in actions(session, protected_user.user)


def test_a_recovery_code_of_another_user_is_refused(
    app: Flask, session: Session, tenant: Tenant, protected_user: ProtectedUser
) -> None:
    victim = tenant.staff[Role.PARTNER_EDITOR]
    session.execute(
        update(User).where(User.id == victim.id).values(second_factor_at=datetime.now(UTC))
    )
    session.commit()
    assert wants(with_password(app, victim), protected_user.codes[0]) == 422


def test_new_recovery_codes_end_the_old_ones(app: Flask, protected_user: ProtectedUser) -> None:
    page = protected_user.browser.post(
        "/account/factors/recovery-codes", page="/account/factors"
    ).text
    shown = re.search(r'id="recovery-codes">([^<]+)<', page)
    assert shown
    new = shown.group(1).split()
    assert set(new).isdisjoint(protected_user.codes)
    browser = with_password(app, protected_user.user)
    assert (wants(browser, protected_user.codes[1]), wants(browser, new[1])) == (422, 303)


def test_guessed_codes_have_to_wait(app: Flask, protected_user: ProtectedUser) -> None:
    browser = with_password(app, protected_user.user)
    with set_clock():
        answers = [wants(browser, "000000") for _ in range(22)]
        assert answers == [*[422] * 20, 429, 429]
        assert wants(browser, protected_user.phone.code()) == 429  # even the right one


def test_a_refused_code_is_in_the_history(
    app: Flask, session: Session, protected_user: ProtectedUser
) -> None:
    wants(with_password(app, protected_user.user), "000000")
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "sign_in.refused")).all()[
        -1
    ]
    assert (entry.target_id, entry.after["reason"]) == (str(protected_user.user.id), "wrong_code")


def test_a_waiting_sign_in_ends_with_its_time_and_works_once(
    app: Flask, session: Session, protected_user: ProtectedUser
) -> None:
    browser = with_password(app, protected_user.user)
    assert browser.get(SECOND_STEP).status_code == 200
    session.execute(delete(PendingSignIn))
    session.commit()
    answer = browser.get(SECOND_STEP)
    assert (answer.status_code, answer.location) == (303, "/sign-in")
    assert "Start again" in browser.get("/sign-in").text


def test_a_waiting_sign_in_does_not_count_at_another_host(
    app: Flask, protected_user: ProtectedUser
) -> None:
    browser = with_password(app, protected_user.user)
    name = app.config["SESSION_COOKIE_NAME"]
    cookie = browser.client.get_cookie(name)
    assert cookie is not None
    found = {}
    for host in ("localhost", "portal.example"):
        browser.client.set_cookie(name, cookie.value, domain=host)
        found[host] = browser.get(SECOND_STEP, base_url=f"http://{host}").status_code
    assert found == {"localhost": 200, "portal.example": 303}


def test_a_remembered_browser_is_asked_for_the_password_alone(
    app: Flask, session: Session, protected_user: ProtectedUser
) -> None:
    browser = with_password(app, protected_user.user)
    assert wants(browser, protected_user.phone.code(), remember="y") == 303
    browser.post("/sign-out", page="/account")
    answer = browser.sign_in(protected_user.user.email)
    assert answer.location != SECOND_STEP
    assert is_signed_in(browser)
    # The remembered step isn't a fresh factor: risky acts still ask for it.
    assert browser.get("/users/invite").location == "/account/confirm?next=/users/invite"


def test_a_recovery_link_does_not_replace_the_second_factor(
    app: Flask, session: Session, protected_user: ProtectedUser
) -> None:
    token = one_time_links.create(session, protected_user.user.id, LinkPurpose.RESET_PASSWORD)
    session.commit()
    browser = Browser(app.test_client())
    path = f"/p/{_slug(protected_user)}/password/{token}"
    new = "four unrelated words here"
    answer = browser.post(path, {"password": new, "again": new}, page=path)
    assert (answer.status_code, answer.location) == (303, SECOND_STEP)
    assert not is_signed_in(browser)
    assert wants(browser, protected_user.phone.code()) == 303
    assert is_signed_in(browser)


def test_removing_the_app_makes_the_password_enough_again(
    app: Flask, session: Session, protected_user: ProtectedUser
) -> None:
    protected_user.browser.post("/account/factors/app/remove", page="/account/factors")
    browser = Browser(app.test_client())
    assert browser.sign_in(protected_user.user.email, PASSWORD).location != SECOND_STEP
    assert is_signed_in(browser)
    assert actions(session, protected_user.user)[1] == "user.app_removed"


def test_removing_the_app_says_what_follows_first(protected_user: ProtectedUser) -> None:
    page = protected_user.browser.get("/account/factors/app/remove").text
    asked = re.findall(r"<li>(.*?)</li>", page.partition('class="consequences"')[2])
    assert asked[:3] == [
        "Its codes no longer work, here and at your next sign-in.",
        "Your second factor is then off: you sign in with your password alone.",
        "Your recovery codes no longer work.",
    ]
    assert 'action="/account/factors/app/remove"' in page


def test_the_page_of_the_second_step_waits_for_a_code(
    app: Flask, protected_user: ProtectedUser
) -> None:
    page = with_password(app, protected_user.user).get(SECOND_STEP).text
    field = re.search(r'<input[^>]*name="code"[^>]*>', page)
    assert field is not None
    assert 'autocomplete="one-time-code"' in field[0]
    assert "autofocus" in field[0]


def test_a_code_that_is_missing_is_asked_for_and_not_counted_as_wrong(
    app: Flask, protected_user: ProtectedUser
) -> None:
    waiting = with_password(app, protected_user.user)
    for code in ("", "  "):
        answer = waiting.post(SECOND_STEP, {"code": code}, page=SECOND_STEP)
        assert answer.status_code == 422
        assert "Enter the code." in answer.text
        assert "This code is wrong" not in answer.text
    assert wants(waiting, protected_user.phone.code()) == 303
    confirm = "/account/confirm?next=/users"
    asked = protected_user.browser.post("/account/confirm", {"code": ""}, page=confirm)
    assert asked.status_code in (303, 422)


def test_recovery_codes_can_be_downloaded_and_printed(
    app: Flask, protected_user: ProtectedUser
) -> None:
    path = "/account/factors/recovery-codes"
    page = protected_user.browser.post(path, page="/account/factors").text
    assert 'data-download="recovery-codes" data-name="recovery-codes.txt"' in page
    assert "data-print" in page


def test_lock_out_drill_a_lost_phone_is_replaced_with_a_recovery_code(
    app: Flask, protected_user: ProtectedUser, clock: Clock
) -> None:
    browser = with_password(app, protected_user.user)
    assert wants(browser, protected_user.codes[0]) == 303
    browser.post("/account/factors/app/remove", page="/account/factors")
    browser.post("/account/factors/app", page="/account/factors")
    page = browser.get("/account/factors/app").text
    found = re.search(r'id="app-secret">([^<]+)<', page)
    assert found
    new = Phone(found.group(1).replace(" ", ""), clock)
    confirm = "/account/factors/app/confirm"
    assert (
        browser.post(confirm, {"code": new.code()}, page="/account/factors/app").status_code < 400
    )
    clock.next_step()
    assert wants(with_password(app, protected_user.user), protected_user.phone.code()) == 422
    assert wants(with_password(app, protected_user.user), new.code()) == 303


def test_an_app_counts_only_after_its_first_code(
    app: Flask, tenant: Tenant, signed_in: Callable[[User], Browser], clock: Clock
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(user)
    browser.post("/account/factors/app", page="/account/factors")
    refused = browser.post(
        "/account/factors/app/confirm", {"code": "000000"}, page="/account/factors/app"
    )
    assert refused.status_code == 422
    assert "Check the time of your phone" in refused.text
    assert Browser(app.test_client()).sign_in(user.email).location != SECOND_STEP


def _slug(protected_user: ProtectedUser) -> str:
    found = re.search(r"/p/([^/\"]+)/", protected_user.browser.get("/settings").text)
    assert found
    return found.group(1)
