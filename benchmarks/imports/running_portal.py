"""The product over a database with one uploaded file, and a user who opens pages."""

import statistics
import subprocess
import time
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from flask.testing import FlaskClient

from app.database import Database, make_engine
from app.enums import ContactAction, Role
from app.factory import create_app
from app.gateways.files import open_files
from app.models import User
from app.policy.caller import Caller
from app.services import campaigns
from app.services.auth import sessions
from app.services.imports import uploads
from tests.fixtures.browser_session import give_session
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import make_tenant


class Portal(NamedTuple):
    """The product over one database with one uploaded file, and a user who opens pages."""

    database: Database
    admin: Caller
    client: FlaskClient
    page: str


def portal_of(url: str, folder: Path, file: Path) -> Portal:
    database = Database(make_engine(url))
    settings = settings_for(url, folder, rate_burst=100_000)
    with database.transaction() as session:
        tenant = make_tenant(session)
        admin = tenant.caller(Role.PARTNER_ADMIN)
        campaign = campaigns.create(session, admin, tenant.organization.id, name="Everybody")
        user = session.get_one(User, tenant.staff[Role.PARTNER_ADMIN].id)
        token = sessions.create(session, user, lifetime=timedelta(hours=9), host="localhost")
    with file.open("rb") as stream:
        stored_file = open_files(settings).save(stream, max_bytes=1 << 40)
    upsert = ContactAction.UPSERT
    with database.transaction() as session:
        uploads.create(
            session, admin, campaign.id, action=upsert, file=stored_file, file_name=file.name
        )
    client = create_app(settings, database).test_client()
    give_session(client, token)
    return Portal(database, admin, client, f"/campaigns/{campaign.id}")


def look(portal: Portal) -> float:
    """Return the milliseconds of the campaign's page."""
    began = time.perf_counter()
    answer = portal.client.get(portal.page)
    assert answer.status_code == 200
    return (time.perf_counter() - began) * 1000


def watched(portal: Portal, process: "subprocess.Popen[str]") -> float:
    """Return the median of the page's milliseconds while a process runs."""
    looks = [look(portal)]
    while process.poll() is None:
        looks.append(look(portal))
        time.sleep(0.05)
    return statistics.median(looks)
