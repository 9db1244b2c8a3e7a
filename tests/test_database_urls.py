"""Addresses of several servers, for SQLAlchemy and for the programs of PostgreSQL."""

import pytest
from sqlalchemy.dialects.postgresql import psycopg

from app.config.database_urls import for_libpq, parse, servers

SEVERAL = "postgresql://portal:a%2Cb@db1:5432,db2:5433/portal?target_session_attrs=read-write"


@pytest.mark.parametrize(
    "url", [SEVERAL, parse(SEVERAL).render_as_string(hide_password=False)], ids=["libpq", "ours"]
)
def test_several_servers_are_tried_in_turn(url: str) -> None:
    _, connecting = psycopg.dialect().create_connect_args(parse(url))  # type: ignore[no-untyped-call]  # SQLAlchemy has no types there
    assert connecting == {
        "host": "db1,db2",
        "port": "5432,5433",
        "user": "portal",
        "password": "a,b",
        "dbname": "portal",
        "target_session_attrs": "read-write",
    }
    assert for_libpq(url) == SEVERAL
    assert servers(url) == [("db1", 5432), ("db2", 5433)]


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("postgresql://portal:a,b@db1/portal", [("db1", 5432)]),
        ("postgresql://portal@/portal?host=%2Frun%2Fpostgresql", []),
        ("sqlite:////srv/portal.db", []),
    ],
)
def test_urls_of_one_server_a_socket_or_a_file_stay_unchanged(
    url: str, found: list[tuple[str, int]]
) -> None:
    assert servers(url) == found
    if url.startswith("postgresql"):
        assert parse(for_libpq(url)) == parse(url)
