"""An operator sees a partner's portal as one of its users, and changes nothing there."""

import re
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from werkzeug.routing import AnyConverter, BaseConverter, UUIDConverter

from app.database import Database
from app.enums import Role, UserStatus
from app.models import AuditEntry, Mail, Organization, Partner, PortalSession, User, utcnow
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser, user_of
from tests.portal.test_reading_writes_nothing import walked

BAR = "You see the portal as"
REASON = {"reason": "Request 4711"}


def start(operator: Browser, user: User) -> None:
    place = f"/users/{user.id}/view-as"
    assert operator.post(place, REASON, page=place).location == "/"


def value_for(converter: BaseConverter) -> str:
    """A value that an address accepts at this place."""
    if isinstance(converter, AnyConverter):
        return min(converter.items)
    return str(UUID(int=1)) if isinstance(converter, UUIDConverter) else "1"


def written(session: Session, *actions: str) -> list[tuple[str, bool, str | None, str]]:
    """The entries with these actions, oldest first; whether they are a partner's."""
    query = select(AuditEntry).where(AuditEntry.action.in_(actions)).order_by(AuditEntry.id)
    return [
        (row.action, row.partner_id is not None, row.target, row.actor)
        for row in session.scalars(query)
    ]


def test_pages_of_a_view_are_in_the_language_of_the_operator(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    session.get_one(User, user.id).language = "de"
    session.get_one(Partner, tenant.partner.id).language = "fr"
    session.commit()
    start(operator, user)
    page = operator.get("/").text
    bar, _end, below = page.partition('<aside class="view-bar"')[2].partition("</aside>")
    assert BAR in bar
    assert "The user’s language is Deutsch." in bar
    assert '<html lang="en"' in page
    assert "Overview" in below
    assert "Übersicht" not in below


def test_the_bar_of_a_view_names_no_language_that_is_that_of_the_page(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    session.get_one(User, tenant.user.id).language = "en"
    session.commit()
    start(operator, tenant.user)
    page = operator.get("/").text
    assert BAR in page
    assert "The user’s language" not in page


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.STANDARD])
def test_the_operator_sees_what_the_user_sees_below_a_bar(
    tenant: Tenant,
    operator: Browser,
    signed_in: Callable[[User], Browser],
    role: Role,
) -> None:
    user = user_of(tenant, role)
    start(operator, user)
    theirs = signed_in(user)
    for path in ("/branding", "/campaigns", "/users", "/operator/installation", "/settings"):
        seen = operator.get(path)
        assert seen.status_code == theirs.get(path).status_code
        assert BAR in seen.text
        assert BAR not in theirs.get(path).text


def test_nothing_can_be_changed_during_a_view(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    edit = f"/organizations/{tenant.organization.id}/edit"
    start(operator, tenant.staff[Role.PARTNER_ADMIN])
    answer = operator.post(edit, {"name": "Renamed", "version": "1"}, page=edit)
    assert answer.status_code == 403
    assert "Nothing was changed." in answer.text
    session.expire_all()
    stored = session.scalar(
        select(Organization.name).where(Organization.id == tenant.organization.id)
    )
    assert stored != "Renamed"
    for path in ("/api-access/keys/new", "/account/password", "/notifications/read", "/theme"):
        assert operator.post(path, page="/account").status_code == 403
    assert written(session, "request.refused") == []


def test_no_form_of_any_route_is_accepted_during_a_view(
    app: Flask, session: Session, tenant: Tenant, operator: Browser
) -> None:
    start(operator, tenant.staff[Role.PARTNER_ADMIN])
    token = operator.get("/account").text.partition('name="csrf_token" value="')[2].split('"')[0]
    before = len(session.scalars(select(AuditEntry.id)).all())
    tried = 0
    for rule in app.url_map.iter_rules():
        open_ones = ("portal.view_as.stop_view_as", "portal.auth.sign_out")
        if "POST" not in (rule.methods or ()) or not rule.endpoint.startswith("portal."):
            continue
        if rule.endpoint in open_ones:
            continue
        values = {name: value_for(converter) for name, converter in rule._converters.items()}
        _, path = rule.build(values) or ("", "")
        if "slug" in values:
            path = path.replace("/p/1/", f"/p/{tenant.partner.slug}/")
        answer = operator.client.post(path, data={"csrf_token": token})
        assert (rule.endpoint, answer.status_code) == (rule.endpoint, 403)
        tried += 1
    assert tried > 100
    assert len(session.scalars(select(AuditEntry.id)).all()) == before


@pytest.mark.alternating
def test_every_page_opens_during_a_view_and_writes_nothing(
    tenant: Tenant, operator: Browser
) -> None:
    start(operator, tenant.staff[Role.PARTNER_ADMIN])
    opened = walked(operator)
    assert len(opened) > 10
    assert [path for path in opened if operator.get(path).status_code >= 500] == []


def test_mails_with_links_are_not_shown_during_a_view(tenant: Tenant, operator: Browser) -> None:
    start(operator, tenant.staff[Role.PARTNER_ADMIN])
    assert operator.get("/outbox").status_code == 403


def test_a_view_is_in_both_histories_and_the_partner_gets_a_mail(
    session: Session, tenant: Tenant, operator: Browser, signed_in: Callable[[User], Browser]
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    tenant.user.name = "Maren Oduya"
    session.commit()
    start(operator, tenant.user)
    assert operator.post("/view-as/stop", page="/account").location == f"/users/{tenant.user.id}"
    mails = session.scalars(select(Mail).where(Mail.kind == "portal_viewed")).all()
    reported = {
        "operator": "root@platform.example",
        "as": tenant.user.email,
        "reason": "Request 4711",
    }
    assert [(mail.user_id, mail.details) for mail in mails] == [(admin.id, reported)]
    by = (tenant.user.email, "root@platform.example")
    actions = ("user.viewed", "user.view_ended", "operator.view_started", "operator.view_ended")
    assert written(session, *actions) == [
        ("user.viewed", True, *by),
        ("operator.view_started", False, *by),
        ("user.view_ended", True, *by),
        ("operator.view_ended", False, *by),
    ]
    of_operators = ("View as a user started", "View as a user ended")
    of_partners = ("An operator viewed", "An operator stopped viewing")
    for place in (f"/users/{tenant.user.id}", "/audit"):
        rows = operator.get(place).text.partition("<tbody>")[2].partition("</tbody>")[0]
        assert [words for words in (*of_operators, *of_partners) if words in rows] == [
            *of_operators
        ]
    by_hand = operator.get("/audit?action=user.viewed").text
    assert "An operator viewed" in by_hand.partition("<tbody>")[2]
    browser = signed_in(admin)
    notified = browser.get("/notifications").text
    titles = re.findall(r'class="list-row-title[^>]*>([^<]*)', notified)
    assert titles == ["An operator viewed the portal as Maren Oduya"]
    assert re.findall(r'list-row-text">[^<]*(Reason: [^<]*)', notified) == ["Reason: Request 4711"]
    [read] = re.findall(r'action="(/notifications/[^"]+)"', notified)[1:]
    opened = browser.post(read, {"open": "1"}, page="/notifications")
    assert opened.location == "/audit?action=user.viewed"
    history = browser.get("/audit").text.partition("<tbody>")[2]
    assert "Request 4711" in history
    assert "View as a user started" not in history


def test_without_a_reason_the_confirmation_says_what_is_missing(
    tenant: Tenant, operator: Browser
) -> None:
    place = f"/users/{tenant.user.id}/view-as"
    refused = operator.post(place, {"reason": " "}, page=place)
    summary = refused.text.partition('class="error-summary"')[2].partition("</div>")[0]
    assert refused.status_code == 422
    assert 'href="#reason">Reason: Enter a reason.' in summary
    crumbs = refused.text.partition('aria-label="Breadcrumbs"')[2].partition("</nav>")[0]
    assert "View as user" in crumbs
    assert "?" not in crumbs


def test_stopping_gives_the_operator_their_own_view_again(
    tenant: Tenant, operator: Browser
) -> None:
    start(operator, tenant.user)
    assert operator.get("/operator/installation").status_code == 404
    operator.post("/view-as/stop", page="/account")
    shown = operator.get("/operator/installation")
    assert shown.status_code == 200
    assert BAR not in shown.text


@pytest.mark.parametrize("begun_at", ["partner", "user"])
def test_a_view_ends_where_it_began_with_a_message_in_the_language_of_the_operator(
    session: Session, tenant: Tenant, operator: Browser, begun_at: str
) -> None:
    session.get_one(User, tenant.user.id).language = "de"
    session.commit()
    confirmation, page = {
        "partner": ("?from_partner=1", f"/operator/partners/{tenant.partner.id}"),
        "user": ("", f"/users/{tenant.user.id}"),
    }[begun_at]
    place = f"/users/{tenant.user.id}/view-as{confirmation}"
    asked = operator.get(place).text
    crumbs = re.findall(r"<li>(?:<a href=\"(.*?)\">|<span)", asked.partition('"breadcrumbs"')[2])
    assert crumbs[:2] == ["/", f"/operator/partners/{tenant.partner.id}"]
    assert f'<a class="btn" href="{page}">' in asked
    operator.post(place, REASON, page=place)
    assert "Nothing can be changed. Ends in 30 min." in operator.get("/").text
    assert operator.post("/view-as/stop", page="/account").location == page
    assert "You see your own portal again. Nothing was changed." in operator.get(page).text


def test_a_form_of_the_view_is_not_stored_after_it(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    edit = f"/organizations/{tenant.organization.id}/edit"
    start(operator, tenant.staff[Role.PARTNER_ADMIN])
    page = operator.get(edit).text
    token = page.partition('name="csrf_token" value="')[2].split('"')[0]
    operator.post("/view-as/stop", page="/account")
    sent = {"csrf_token": token, "name": "Renamed", "version": "1"}
    assert operator.client.post(edit, data=sent).status_code == 403
    session.expire_all()
    assert session.scalar(select(Organization.name).where(Organization.name == "Renamed")) is None


def over(session: Session, _user: User) -> None:
    session.execute(update(PortalSession).values(viewed_until=utcnow() - timedelta(seconds=1)))


def suspended(_session: Session, user: User) -> None:
    user.status = UserStatus.SUSPENDED


@pytest.mark.parametrize("end", [over, suspended])
def test_an_ended_view_shows_and_stores_nothing_until_it_is_left(
    session: Session, tenant: Tenant, operator: Browser, end: Callable[[Session, User], None]
) -> None:
    start(operator, tenant.user)
    end(session, session.get_one(User, tenant.user.id))
    session.commit()
    for path in ("/", "/campaigns", "/operator/installation", f"/users/{tenant.user.id}"):
        shown = operator.get(path)
        assert shown.status_code == 403
        assert "The view has ended" in shown.text
    suspend = f"/users/{tenant.staff[Role.ADMIN].id}/suspend"
    assert operator.post(suspend, page="/").status_code == 403
    operator.post("/view-as/stop", page="/")
    assert operator.get("/operator/installation").status_code == 200


@pytest.mark.parametrize(
    ("reason", "problem"),
    [("", "Enter a reason."), ("  ", "Enter a reason."), ("x" * 201, "Too long. Use at most 200.")],
)
def test_a_view_needs_a_reason(
    session: Session, tenant: Tenant, operator: Browser, reason: str, problem: str
) -> None:
    place = f"/users/{tenant.user.id}/view-as"
    answer = operator.post(place, {"reason": reason}, page=place)
    assert answer.status_code == 422
    assert problem in answer.text
    page = operator.get(place).text
    assert "(optional)" not in page
    assert "The partner reads it" in page
    assert written(session, "user.viewed") == []


def test_a_user_who_cannot_sign_in_is_not_offered(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    user = session.get_one(User, tenant.user.id)
    user.status = UserStatus.SUSPENDED
    session.commit()
    place = f"/users/{user.id}/view-as"
    assert place not in operator.get(f"/users/{user.id}").text
    assert operator.get(place).status_code == 404
    answer = operator.post(place, REASON, page=f"/users/{tenant.staff[Role.ADMIN].id}/view-as")
    assert answer.location == f"/users/{user.id}"
    assert written(session, "user.viewed") == []


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.ADMIN])
def test_only_operators_view_as_other_users(
    tenant: Tenant, signed_in: Callable[[User], Browser], role: Role
) -> None:
    browser = signed_in(tenant.staff[role])
    place = f"/users/{tenant.user.id}/view-as"
    assert browser.get(place).status_code == 404
    assert browser.post(place, REASON, page="/account").status_code == 404
    assert place not in browser.get(f"/users/{tenant.user.id}").text


def test_a_view_does_not_count_as_use_by_the_user(
    session: Session, database: Database, tenant: Tenant, operator: Browser
) -> None:
    start(operator, tenant.user)
    past = utcnow() - timedelta(minutes=5)
    session.execute(update(PortalSession).values(seen_at=past))
    session.commit()
    operator.get("/campaigns")
    with database.transaction(read_only=True) as fresh:
        seen = fresh.scalar(select(PortalSession.seen_at).where(PortalSession.user_id.is_not(None)))
        user = fresh.get_one(User, tenant.user.id)
        assert seen is not None
        assert seen > past
        assert user.last_session is None
