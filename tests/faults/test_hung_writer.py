"""A process hangs while it writes to SQLite: others are refused in time, and read on."""

from pathlib import Path
from time import monotonic

import pytest
from flask import Flask

from app.database import Database, sqlite_write_lock
from app.enums import Role
from app.factory import install_extensions
from tests.fixtures.hung_process import WRITER, hung
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import bearer, make_tenant


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_requests_that_write_are_refused_in_time_and_others_are_served(
    app: Flask, fresh_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for(url_of(fresh_database), tmp_path)
    install_extensions(app, settings, fresh_database)
    monkeypatch.setattr(app, "testing", False)
    monkeypatch.setattr(sqlite_write_lock, "WAIT_SECONDS", 0.5)
    with fresh_database.transaction() as session:
        partner = make_tenant(session, "Northwind").partner
        headers = bearer(session, settings, Role.PARTNER_ADMIN, partner.id)
    client, path, change = app.test_client(), f"/api/partners/{partner.id}", {"productName": "Acme"}
    with hung(WRITER, url_of(fresh_database)):
        began = monotonic()
        refused = client.put(path, json=change, headers=headers)
        assert monotonic() - began < 10
        assert (refused.status_code, refused.headers.get("Retry-After")) == (503, "5")
        assert client.get(path, headers=headers).status_code == 200
        assert client.get("/readyz/web").status_code == 200
    assert client.put(path, json=change, headers=headers).status_code == 200
