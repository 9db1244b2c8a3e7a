"""Two partners full of markers, each with uploads, and the application over them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.enums import Role
from app.models import Campaign, User
from app.policy.caller import system_caller
from app.portal.web.current_user import SESSION_COOKIE
from app.services.credentials import api_keys
from tests.fixtures.databases import BACKENDS, OWNER, POSTGRES_ADMIN, Databases, RolledBackDatabase
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import bearer
from tests.matrix import number
from tests.planted.crawl import TOKEN, Crawl, Visitor
from tests.planted.leak_detector import LeakDetector
from tests.planted.planting import PlantedPartner, fill, plant, planted_partners_of
from tests.portal.conftest import Browser
from tests.portal.conftest import signed_in as signed_in  # noqa: PLC0414 - a fixture
from tests.portal.uploader import Uploader

WITHOUT_POLICIES = "postgresql without row-level security"
WALLS = tuple(
    wall
    for wall in ("sqlite", "postgresql", WITHOUT_POLICIES)
    if wall.partition(" ")[0] in BACKENDS
)
TEMPLATE = "planted"
UNLIMITED = {"rate_per_second": 100_000, "rate_burst": 100_000, "failed_sign_ins": 100_000}


@pytest.fixture
def database(databases: Databases, backend: str, wall: str) -> Iterator[Database]:
    """A copy of `fill`; nothing that a test writes outlives it."""
    databases.template(backend, TEMPLATE, fill)
    user = POSTGRES_ADMIN if wall == WITHOUT_POLICIES else OWNER
    with databases.rolled_back(backend, like=TEMPLATE, user=user) as rolled_back:
        yield rolled_back


@pytest.fixture
def backend(wall: str) -> str:
    return wall.partition(" ")[0]


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    return make_app(**UNLIMITED)


@pytest.fixture
def settings(database: Database, tmp_path: Path) -> Settings:
    return settings_for(url_of(database), tmp_path, **UNLIMITED)


@pytest.fixture
def planted_partners(
    app: Flask, database: Database, session: Session, signed_in: Callable[[User], Browser]
) -> tuple[PlantedPartner, PlantedPartner]:
    """Both partners after planting."""
    found = planted_partners_of(session)
    for side in found:
        upload(app, database, session, side, signed_in)
    plant(session, found)
    return found


def upload(
    app: Flask,
    database: Database,
    session: Session,
    side: PlantedPartner,
    signed_in: Callable[[User], Browser],
) -> None:
    """Upload a file that waits for its review, and two that were applied."""
    whose = User.partner_id == side.partner_id, User.user_type == Role.PARTNER_ADMIN
    admin = session.scalars(select(User).where(*whose)).one()
    campaign = session.scalars(
        select(Campaign).where(Campaign.partner_id == side.partner_id).order_by(Campaign.id)
    ).first()
    assert campaign is not None
    uploader = Uploader(app, database, signed_in(admin), campaign)
    word = side.marks.word
    phones = [side.marks.phone() for _each in range(3)]
    for send in (uploader.upload, uploader.applied, uploader.applied):  # the last one changes names
        columns = f"First Name,Phone Number,{word()}\n"
        rows = "".join(f"{word()},{phone},{word()}\n" for phone in phones)
        send(f"{columns}{rows}{word()},call me,{word()}\n", f"{word()}.csv")


@pytest.fixture
def leak_detector(app: Flask, database: RolledBackDatabase, settings: Settings) -> LeakDetector:
    return LeakDetector(app, database, settings)


@pytest.fixture
def crawl(
    app: Flask,
    session: Session,
    settings: Settings,
    planted_partners: tuple[PlantedPartner, PlantedPartner],
    signed_in: Callable[[User], Browser],
) -> Crawl:
    """Return the crawl with every kind of caller of one partner: a user and a script of each role,
    and an API key."""
    own, other = planted_partners
    people = session.scalars(select(User).where(User.partner_id == own.partner_id)).all()
    by_role = {person.user_type: person for person in people}
    visitors = [person_at_browser(app, role, signed_in(person)) for role, person in by_role.items()]
    for role in (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN):
        headers = bearer(session, settings, role, own.partner_id)
        areas = ("partner_admin", "legacy_calls", "oauth")
        visitors.append(Visitor(f"{role} script", app, headers, blueprints=areas))
    key = api_keys.create(
        session,
        system_caller("tests", partner_id=own.partner_id),
        organization_id=own.rows["organizations"][0]["id"],
        name="tests",
    )
    visitors.append(
        Visitor("API key", app, {"x-api-key": key.secret}, blueprints=("public", "callbacks"))
    )
    session.commit()
    choices = Random(number("planted strings"))
    return Crawl(app, visitors, own, other, choices)


def person_at_browser(app: Flask, role: Role, browser: Browser) -> Visitor:
    token = TOKEN.search(browser.get("/account").text)
    cookie = browser.client.get_cookie(SESSION_COOKIE)
    assert token is not None
    assert cookie is not None
    return Visitor(str(role), app, cookie=cookie.value, csrf_token=token[1])
