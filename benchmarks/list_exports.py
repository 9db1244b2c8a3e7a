"""The cost of exporting a long list, on both databases.

``python -m benchmarks.list_exports [ROWS]``. A campaign's contacts as CSV and as XLSX: sent at once
over HTTP to the last byte, and written as the worker's process does it; compared with the floor:
the same rows written by Python's csv module from one list. Goal: below 60 MB more for 100,000 rows.
"""

import csv
import io
import os
import sys
import tempfile
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert, select

from app import extensions
from app.database import Database, make_engine
from app.enums import ExportFormat, ExportStatus, Role
from app.factory import create_app
from app.models import Contact, ListExport, new_id, utcnow
from app.policy.caller import Caller
from app.services import campaigns, exports
from app.services.auth import sessions
from app.services.exports import ExportInput
from benchmarks.imports.measuring import Cost, measured
from tests.fixtures.browser_session import give_session
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import make_tenant

ROWS = 100_000
BATCH_SIZE = 5_000


def fill(database: Database, campaign_id: UUID, organization_id: UUID, count: int) -> None:
    now = utcnow()
    for start in range(0, count, BATCH_SIZE):
        rows = [
            {
                "id": new_id(),
                "organization_id": organization_id,
                "campaign_id": campaign_id,
                "phone": f"+1202{number:07d}",
                "email": f"ada{number}@customers.example",
                "email_key": f"ada{number}@customers.example",
                "first_name": "Ada",
                "last_name": f"Lovelace {number}",
                "created_at": now,
                "updated_at": now,
            }
            for number in range(start, min(start + BATCH_SIZE, count))
        ]
        with database.transaction() as session:
            session.execute(insert(Contact), rows)


def export(client: FlaskClient, campaign_id: UUID, ending: str) -> None:
    """Read the file as a browser does, discarding it."""
    answer = client.get(f"/lists/contacts/export.{ending}?campaign_id={campaign_id}")
    assert answer.status_code == 200
    assert sum(map(len, answer.iter_encoded())) > 0


def write(app: Flask, database: Database, admin: Caller, query: str, ending: str) -> None:
    """Write the file as the worker's process does."""
    with database.transaction() as session:
        export_input = ExportInput("contacts", query, ExportFormat(ending), "UTC")
        export_id = exports.create(session, admin, export_input).id
    with app.app_context():
        extensions.write_export(export_id)
    with database.transaction(read_only=True) as session:
        assert session.get_one(ListExport, export_id).status is ExportStatus.READY


def floor(database: Database) -> None:
    text = io.StringIO()
    with database.transaction(read_only=True) as session:
        columns = (Contact.first_name, Contact.phone, Contact.email, Contact.created_at)
        csv.writer(text).writerows(session.execute(select(*columns)).all())


def measure(backend: str, database: Database, folder: Path, count: int) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    with database.transaction() as session:
        tenant = make_tenant(session)
        admin = tenant.staff[Role.PARTNER_ADMIN]
        caller = tenant.caller(Role.PARTNER_ADMIN)
        campaign = campaigns.create(session, caller, tenant.organization.id, name="Long")
        token = sessions.create(session, admin, lifetime=timedelta(hours=1), host="localhost")
        ids = campaign.id, tenant.organization.id
    fill(database, *ids, count)
    app = create_app(settings_for(url, folder, export_rows=count), database)
    client = app.test_client()
    give_session(client, token)
    show(backend, "floor", measured(lambda: floor(database)))
    for ending in ("csv", "xlsx"):
        cost = measured(partial(export, client, ids[0], ending))
        show(backend, f"{ending} sent", cost)
        query = f"campaign_id={ids[0]}"
        written = measured(partial(write, app, database, caller, query, ending))
        show(backend, f"{ending} written", written)


def show(backend: str, label: str, cost: Cost) -> None:
    print(f"{backend:10} {label:12} {cost.seconds:6.1f} s {cost.megabytes:6.1f} MB")


def main(arguments: list[str]) -> None:
    count = int(arguments[0]) if arguments else ROWS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases(folder, folder)
        for backend in BACKENDS:
            url = databases.create(backend)
            database = Database(make_engine(url))
            measure(backend, database, folder, count)
            database.dispose()
            databases.drop(url)
        databases.close()


if __name__ == "__main__":
    os.environ.setdefault("PORTAL_ENV", "test")
    main(sys.argv[1:])
