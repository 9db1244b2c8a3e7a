"""A new email address: who must agree, what it ends, and who sees that it waits."""

from collections.abc import Callable
from html import unescape

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import OrganizationStatus, Role
from app.models import AuditEntry, EmailChange, LinkPurpose, PortalSession, User, utcnow
from app.services import users
from app.services.auth import one_time_links, recovery
from tests.fixtures.clock import SetClock
from tests.fixtures.mails import path_in, send_waiting, waiting
from tests.fixtures.partner_api import PartnerApi, make_partner_api
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
NEW = "mallory@elsewhere.example"


@pytest.fixture
def member(session: Session, tenant: Tenant) -> User:
    """A member who has signed in before."""
    tenant.user.last_sign_in = utcnow()
    session.commit()
    return tenant.user


def ask_for(browser: Browser, user: User, email: str = NEW) -> str:
    """Saves the address on the edit page; returns what the page says then."""
    page = f"/users/{user.id}/edit"
    shown = browser.get(page).text
    version = shown.partition('name="version" value="')[2].partition('"')[0]
    form = {"email": email, "name": user.name or "", "version": version}
    answer = browser.post(page, form, page=page)
    assert answer.status_code == 303, answer.text
    return unescape(browser.get(answer.location).text).replace("<wbr>", "")


def links(session: Session, settings: Settings) -> tuple[str, str]:
    """The paths in the mails to the old and to the new address."""
    letters = send_waiting(session, settings)
    [to_new] = [letter for letter in letters if letter.to == NEW]
    [to_old] = [letter for letter in letters if letter.to != NEW]
    return path_in(to_old), path_in(to_new)


def text_of(browser: Browser, path: str) -> str:
    """The page without the places where long words may break."""
    return browser.get(path).text.replace("<wbr>", "")


def email_of(session: Session, user: User) -> str:
    session.expire_all()
    return session.get_one(User, user.id).email


def history(session: Session, user: User) -> list[tuple[str, str]]:
    rows = session.scalars(
        select(AuditEntry)
        .where(AuditEntry.target_id == str(user.id), AuditEntry.action.contains("email"))
        .order_by(AuditEntry.id)
    )
    return [(row.action, row.actor) for row in rows]


@pytest.mark.parametrize("role", [Role.ADMIN, Role.PARTNER_ADMIN])
def test_an_administrator_alone_can_not_take_over_an_account(
    session: Session,
    tenant: Tenant,
    member: User,
    signed_in: SignedIn,
    settings: Settings,
    role: Role,
) -> None:
    old = member.email
    page = ask_for(signed_in(tenant.staff[role]), member)
    assert f"{NEW} takes effect when both addresses confirm it." in page
    _, to_new = links(session, settings)
    assert Browser(signed_in(member).client).post(to_new, page=to_new).status_code == 303
    recovery.enqueue_recovery(session, email=NEW, partner_id=tenant.partner.id, ip="192.0.2.1")
    letters = send_waiting(session, settings)
    assert (email_of(session, member), [letter.to for letter in letters]) == (old, [])


@pytest.mark.parametrize("first", [0, 1])
def test_a_change_that_both_confirm_ends_sessions_and_recovery_links(
    app: Flask,
    session: Session,
    tenant: Tenant,
    member: User,
    signed_in: SignedIn,
    settings: Settings,
    first: int,
) -> None:
    old, theirs = member.email, signed_in(member)
    ask_for(signed_in(tenant.staff[Role.ADMIN]), member)
    both = links(session, settings)
    recovering = one_time_links.create(session, member.id, LinkPurpose.RESET_PASSWORD)
    session.commit()
    stranger = Browser(app.test_client())
    waits = stranger.get(stranger.post(both[first], page=both[first]).location)
    assert "Waiting for the other address" in waits.text
    assert email_of(session, member) == old
    done = stranger.post(both[1 - first], page=both[1 - first])
    assert done.status_code == 200
    assert "Email changed" in done.text
    assert email_of(session, member) == NEW
    assert theirs.get("/").status_code == 303
    assert stranger.get(f"/p/{tenant.partner.slug}/password/{recovering}").status_code == 410
    assert [stranger.get(path).status_code for path in both] == [410, 410]
    by = tenant.staff[Role.ADMIN].email
    confirmed = [(old, NEW)[first], (old, NEW)[1 - first]]
    assert history(session, member) == [
        ("user.email_change_requested", by),
        ("user.email_change_confirmed", confirmed[0]),
        ("user.email_change_confirmed", confirmed[1]),
    ]
    assert waiting(session) == [
        ("email_changed", member.id, old),
        ("email_changed", member.id, NEW),
    ]


@pytest.mark.parametrize("who", ["old address", "new address", "user", "administrator"])
def test_each_of_the_four_users_involved_can_end_a_change(
    app: Flask,
    session: Session,
    tenant: Tenant,
    member: User,
    signed_in: SignedIn,
    settings: Settings,
    who: str,
) -> None:
    admin, stranger = signed_in(tenant.staff[Role.ADMIN]), Browser(app.test_client())
    ask_for(admin, member)
    both = links(session, settings)
    match who:
        case "old address" | "new address":
            path = both[who == "new address"]
            answer = stranger.post(f"{path}/reject", page=path)
            assert "Change rejected" in answer.text
        case "user":
            theirs = signed_in(member)
            assert NEW in text_of(theirs, "/account")
            theirs.post("/account/email-change/cancel", page="/account")
        case "administrator":
            admin.post(f"/users/{member.id}/email-change/cancel", page=f"/users/{member.id}")
    assert session.scalars(select(EmailChange)).all() == []
    assert [stranger.get(path).status_code for path in both] == [410, 410]
    assert history(session, member)[-1][0] == "user.email_change_cancelled"
    assert "Cancel change" not in text_of(admin, f"/users/{member.id}")


def test_a_change_shows_on_the_users_page_and_to_the_user(
    session: Session, tenant: Tenant, member: User, signed_in: SignedIn, settings: Settings
) -> None:
    admin, theirs = signed_in(tenant.staff[Role.ADMIN]), signed_in(member)
    ask_for(admin, member)
    to_old, _ = links(session, settings)
    theirs.post(to_old, page=to_old)
    for browser, path in ((admin, f"/users/{member.id}"), (theirs, "/account")):
        shown = text_of(browser, path)
        assert shown.count("Confirmed<") == 1
        for words in (NEW, "Not confirmed yet", "Cancel change"):
            assert words in shown


@pytest.mark.parametrize(
    "why", ["late", "suspended", "organization suspended", "partner suspended", "taken"]
)
def test_a_change_that_is_no_longer_allowed_does_not_happen(
    app: Flask,
    session: Session,
    tenant: Tenant,
    member: User,
    signed_in: SignedIn,
    settings: Settings,
    clock: SetClock,
    why: str,
) -> None:
    ask_for(signed_in(tenant.staff[Role.ADMIN]), member)
    old, both = member.email, links(session, settings)
    browser = Browser(app.test_client())
    browser.post(both[0], page=both[0])
    shown = browser.get(both[1]).text
    match why:
        case "late":
            clock.pass_by(days=7)
        case "suspended":
            users.suspend(session, OPERATOR, member.id)
        case "organization suspended":
            tenant.organization.status = OrganizationStatus.SUSPENDED
        case "partner suspended":
            tenant.partner.suspended_at = utcnow()
        case "taken":
            tenant.plus_user.email = tenant.plus_user.email_key = NEW
    session.commit()
    token = shown.partition('name="csrf_token" value="')[2].partition('"')[0]
    answer = browser.client.post(both[1], data={"csrf_token": token})
    status = {"partner suspended": 403, "taken": 409}.get(why, 410)
    assert (answer.status_code, email_of(session, member)) == (status, old)


def test_asking_twice_sends_one_pair_of_mails_and_another_address_replaces_the_first(
    session: Session, tenant: Tenant, member: User, signed_in: SignedIn
) -> None:
    admin, old = signed_in(tenant.staff[Role.ADMIN]), member.email
    for email in (NEW, NEW, "third@elsewhere.example"):
        ask_for(admin, member, email)
    assert [to for _kind, _user, to in waiting(session)] == [
        old,
        NEW,
        old,
        "third@elsewhere.example",
    ]
    assert [row.email for row in session.scalars(select(EmailChange))] == [
        "third@elsewhere.example"
    ]


def test_the_mail_of_an_ended_change_is_not_sent(
    session: Session, tenant: Tenant, member: User, signed_in: SignedIn, settings: Settings
) -> None:
    admin = signed_in(tenant.staff[Role.ADMIN])
    ask_for(admin, member)
    admin.post(f"/users/{member.id}/email-change/cancel", page=f"/users/{member.id}")
    assert send_waiting(session, settings) == []


@pytest.fixture
def partner_api(app: Flask, session: Session, settings: Settings) -> PartnerApi:
    return make_partner_api(app.test_client(), session, settings)


@pytest.mark.parametrize("signed_in_before", [True, False])
def test_a_script_gets_the_answer_of_the_contract_in_both_cases(
    partner_api: PartnerApi, session: Session, *, signed_in_before: bool
) -> None:
    user = partner_api.tenant.user
    user.last_sign_in = utcnow() if signed_in_before else None
    session.commit()
    old, path = user.email, f"/api/users/{user.id}"
    assert partner_api.put(path, {"email": NEW}) == {"message": "The user was updated."}
    taken = partner_api.refused("PUT", path, {"email": partner_api.tenant.plus_user.email})
    assert taken == (400, "email_exists")
    assert email_of(session, user) == (old if signed_in_before else NEW)
    assert bool(session.scalars(select(EmailChange)).all()) is signed_in_before
    assert session.scalars(select(PortalSession)).all() == []
