"""Contacts are found by what a name, or an email address, begins with."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, event
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import Campaign, Contact
from app.policy.caller import system_caller
from app.services import campaigns
from app.services.contacts import queries
from tests.fixtures.tenants import make_tenant

PEOPLE = (
    ("Anna Lena", "Łukasiewicz", "alena@x.example"),
    ("Zoë", "Ørsted-Straße", None),
    ("José", None, "jose.maria@x.example"),
    (None, "O'Neil", None),
)
FOUND = {
    "anna": ["Łukasiewicz"],
    "LENA": ["Łukasiewicz"],
    "lukas": ["Łukasiewicz"],
    "Anna Łuk": ["Łukasiewicz"],
    "lukas an": ["Łukasiewicz"],
    "ukas": [],
    "zoe ors": ["Ørsted-Straße"],
    "orsted-STRASSE": ["Ørsted-Straße"],
    "jose": [None],
    "JOSÉ": [None],
    "jose.maria@": [None],
    "o'n": ["O'Neil"],
    "%": [],
    "_": [],
}


@contextmanager
def listening(connection: Connection, note: Callable[..., None]) -> Iterator[None]:
    event.listen(connection, "before_cursor_execute", note)
    yield
    event.remove(connection, "before_cursor_execute", note)


@pytest.fixture
def campaign(session: Session) -> Campaign:
    """A campaign with these people."""
    tenant = make_tenant(session)
    admin = tenant.caller(Role.ADMIN)
    made = campaigns.create(session, admin, tenant.organization.id, name="Recall")
    for number, (first, last, email) in enumerate(PEOPLE):
        session.add(
            Contact(
                organization_id=made.organization_id,
                campaign_id=made.id,
                phone=f"+1202555010{number}",
                email=email,
                email_key=email,
                first_name=first,
                last_name=last,
            )
        )
        session.flush()  # ids in this order
    return made


@pytest.mark.parametrize("words", FOUND)
def test_names_are_found_by_their_beginnings_without_accents(
    session: Session, campaign: Campaign, words: str
) -> None:
    found = queries.search(session, campaign, queries.ContactSearch(words)).items
    assert [contact.last_name for contact in found] == FOUND[words]


def test_names_with_umlauts_are_found_in_both_spellings(
    session: Session, campaign: Campaign
) -> None:
    for number, (first, last) in enumerate((("Jörn", "Gruenwald"), ("Jornsen", "Grahl"))):
        campaign_of = {"organization_id": campaign.organization_id, "campaign_id": campaign.id}
        key = f"u{number}@x.example"
        session.add(Contact(**campaign_of, email_key=key, first_name=first, last_name=last))
    session.flush()
    for words in ("grün", "Gruen", "joern", "Jörn Grün", "Gruenwald Joern"):
        found = queries.search(session, campaign, queries.ContactSearch(words)).items
        assert [contact.last_name for contact in found] == ["Gruenwald"]


def all_pages(session: Session, campaign: Campaign, sort: str) -> list[Contact]:
    """The contacts of all pages."""
    found: list[Contact] = []
    cursor = None
    while True:
        page = queries.search(session, campaign, sort=sort, cursor=cursor, limit=2)
        found += page.items
        if (cursor := page.next_cursor) is None:
            return found


def test_contacts_are_sorted_by_name_without_accents_and_those_without_one_are_last(
    session: Session, campaign: Campaign
) -> None:
    for first in (" Élodie ", None, "x" * 100):
        campaign_of = {"organization_id": campaign.organization_id, "campaign_id": campaign.id}
        session.add(Contact(**campaign_of, email_key=first or "none", first_name=first))
    session.flush()
    names = ["Anna Lena", " Élodie ", "José", None, "x" * 100, "Zoë", None]
    assert [each.first_name for each in all_pages(session, campaign, "name")] == names
    downwards = [*reversed(names[:-1]), None]
    assert [each.first_name for each in all_pages(session, campaign, "-name")] == downwards


def test_contacts_are_sorted_by_status_and_those_without_one_are_last(
    session: Session, campaign: Campaign
) -> None:
    for contact, status in zip(all_pages(session, campaign, "created"), "bab", strict=False):
        contact.status = status
    session.flush()
    people = {first: place for place, (first, *_) in enumerate(PEOPLE)}
    found = [
        [people[each.first_name] for each in all_pages(session, campaign, sort)]
        for sort in ("status", "-status")
    ]
    assert found == [[1, 0, 2, 3], [2, 0, 1, 3]]


def test_a_later_page_begins_at_its_place_in_the_index(
    session: Session, campaign: Campaign
) -> None:
    """Rows before it aren't read: the last page costs as much as the first."""
    cursor = queries.search(session, campaign, sort="name", limit=1).next_cursor
    connection, sent = session.connection(), []

    def note(*args: Any) -> None:
        sent.append(args[2:4])

    with listening(connection, note):
        queries.search(session, campaign, sort="name", cursor=cursor, limit=1)
    statement, values = next(each for each in sent if "ORDER BY" in each[0])
    if connection.dialect.name == "sqlite":
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
        assert "(campaign_id=? AND sort_name>?)" in str(plan)
    else:
        for kind in ("seqscan", "bitmapscan", "sort"):
            connection.exec_driver_sql(f"SET LOCAL enable_{kind} = off")
        plan = connection.exec_driver_sql(f"EXPLAIN {statement}", values).all()
        assert re.search(r"Index Cond: .*sort_name >= ", str(plan))


@pytest.mark.parametrize(
    ("words", "unique"), [("+12025550144", "phone"), ("ada@contact.example", "email_key")]
)
def test_a_contact_of_any_campaign_is_found_by_a_unique_index(
    session: Session, campaign: Campaign, words: str, unique: str
) -> None:
    connection, sent = session.connection(), []

    def note(*args: Any) -> None:
        sent.append(args[2:4])

    with listening(connection, note):
        queries.find_by_address(session, system_caller(), words, limit=5)
    statement, values = next(each for each in sent if "FROM contacts JOIN campaigns" in each[0])
    if connection.dialect.name == "sqlite":  # PostgreSQL goes by the number of rows
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
        assert f"(campaign_id=? AND {unique}=?)" in str(plan)
