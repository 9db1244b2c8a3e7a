"""Connections to PostgreSQL that the database has ended are noticed before they are used."""

import pytest
from sqlalchemy import event, text

from app import database as databases
from app.database import Database, make_engine


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_connections_that_the_database_has_ended_are_replaced_before_they_are_used(
    fresh_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "TRUSTED_SECONDS", 0)
    two = [fresh_database.engine.connect() for _ in range(2)]
    gone = {connection.scalar(text("SELECT pg_backend_pid()")) for connection in two}
    for connection in two:
        connection.close()
    other = make_engine(fresh_database.engine.url.render_as_string(hide_password=False))
    with other.connect() as connection:
        for process in gone:
            connection.execute(
                text("SELECT pg_terminate_backend(:process, 5000)"), {"process": process}
            )
    other.dispose()
    failed: list[object] = []
    event.listen(fresh_database.engine, "handle_error", failed.append)
    now = set()
    for _ in range(2):
        with fresh_database.transaction() as session:
            now.add(session.scalar(text("SELECT pg_backend_pid()")))
    assert (failed, now & gone) == ([], set())
