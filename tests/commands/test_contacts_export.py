"""An export imports again to exactly the same contacts, and is safe in a spreadsheet."""

import csv
import io
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.enums import ContactAction, Role
from app.models import Campaign, Contact, ContactExternalId
from app.services import campaigns, contacts
from tests import matrix
from tests.commands.conftest import Shell

CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")
TEXTS = st.text(CHARACTERS, min_size=1, max_size=20).filter(lambda t: not t.isspace())
ODD = st.sampled_from(
    ["=1+1", "'=1+1", "+12", "-", "@x", "N/A", " Ann ", "Total 4", "a;b|c\td", 'say "hi"', "#REF!",
     "=SUM(A1)", "\u200bAnn", "two\nlines", "1,2", "none", "'", "''", "＋１２", "ext. 5"]
)  # fmt: skip
VALUES = TEXTS | ODD | st.integers(-(2**53), 2**53) | st.booleans() | st.floats(-1e9, 1e9)
KEYS = st.text(CHARACTERS, max_size=12) | st.sampled_from(
    ["Phone", "E-mail", "firstName", "contactJson", "Problem", "externalId:crmId", "12025550101",
     "Notes", " padded ", "Column A", "=key"]
)  # fmt: skip
SENT = ("firstName", "lastName", "status", "contactMetadata")
CONTACTS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "firstName": TEXTS | ODD,
            "lastName": TEXTS | ODD,
            "status": TEXTS | ODD,
            "email": st.booleans(),
            "contactMetadata": st.dictionaries(KEYS, VALUES, max_size=5),
            "crmId": st.booleans(),
            "siteId": TEXTS,
        },
    ),
    min_size=1,
    max_size=12,
)


def put(session: Session, campaign_id: Any, drawn: list[dict[str, Any]]) -> None:
    """Contacts as Area C is sent them; some share an id that was stored as one that only routes."""
    campaign = session.get_one(Campaign, campaign_id)
    items, sites = [], []
    for index, contact in enumerate(drawn):
        item = {name: contact[name] for name in contact if name in SENT}
        item["phone"] = f"+1202555{index:04d}"
        if contact.get("email"):
            item["email"] = f"P{index}@mail.example"
        if contact.get("crmId"):
            item |= {"externalIdKey": "crmId", "externalIdValue": f"C-{index}"}
        if site := contact.get("siteId"):
            value = f"{index}{site}".strip()
            sites.append(
                {"phone": item["phone"], "externalIdKey": "siteId", "externalIdValue": value}
            )
        items.append(item)
    contacts.apply(session, campaign, items + sites, ContactAction.UPSERT)
    sharing = {item["phone"] for item in items[::3] if "externalIdKey" not in item}
    for stored in session.scalars(
        select(Contact).where(Contact.campaign_id == campaign.id, Contact.phone.in_(sharing))
    ):
        shared = {"key": "crmId", "value": "ACME", "identifies": False}
        session.add(ContactExternalId(campaign_id=campaign.id, contact_id=stored.id, **shared))
    session.commit()


def stored_contacts(session: Session, campaign_id: Any) -> list[Any]:
    """Every contact of the campaign with everything that a contact has."""
    session.expire_all()
    found = []
    for contact in session.scalars(
        select(Contact).where(Contact.campaign_id == campaign_id).order_by(Contact.phone)
    ):
        ids = session.execute(
            select(ContactExternalId.key, ContactExternalId.value, ContactExternalId.identifies)
            .where(ContactExternalId.contact_id == contact.id)
            .order_by(ContactExternalId.key)
        ).all()
        found.append(
            (
                *(contact.phone, contact.email, contact.first_name, contact.last_name),
                *(contact.status, contact.contact_metadata, [tuple(row) for row in ids]),
            )
        )
    return found


@pytest.fixture
def shell_with_keys(shell: Shell, session: Session) -> Shell:
    """A campaign with two external ids."""
    caller = shell.tenant.caller(Role.PARTNER_ADMIN)
    made = campaigns.create_with_external_ids(
        session, caller, shell.tenant.organization.id, name="Keyed", keys=["crmId", "siteId"]
    )
    session.commit()
    return Shell(shell.app, shell.tenant, made.id)


@pytest.mark.alternating
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
@settings(
    max_examples=400 if matrix.is_full() else 20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(drawn=CONTACTS)
def test_importing_an_exported_file_changes_nothing(
    shell_with_keys: Shell, session: Session, tmp_path: Path, drawn: list[dict[str, Any]]
) -> None:
    empty = delete(Contact).where(Contact.campaign_id == shell_with_keys.campaign_id)
    session.execute(empty)
    put(session, shell_with_keys.campaign_id, drawn)
    before = stored_contacts(session, shell_with_keys.campaign_id)
    path = tmp_path / "export.csv"
    words = ("--campaign", shell_with_keys.campaign_id, "--output", path)
    assert shell_with_keys.run("contacts", "export", *words).exit_code == 0

    status, output_of = shell_with_keys.output(path)
    assert (status, output_of["counters"]["updated"]) == (0, len(before)), output_of
    assert stored_contacts(session, shell_with_keys.campaign_id) == before

    session.execute(empty)
    session.commit()
    status, output_of = shell_with_keys.output(path)
    assert (status, output_of["counters"]["created"]) == (0, len(before)), output_of
    assert stored_contacts(session, shell_with_keys.campaign_id) == before


def test_an_exported_file_is_safe_in_a_spreadsheet(
    shell_with_keys: Shell, session: Session
) -> None:
    people: list[dict[str, Any]] = [
        {"firstName": "Ann", "email": True, "crmId": True, "contactMetadata": {"City": "Hove"}},
        {"firstName": "=1+1", "contactMetadata": {"City": "@Hove", "Age": 7, "Phone": "x"}},
    ]
    put(session, shell_with_keys.campaign_id, people)
    result = shell_with_keys.run("contacts", "export", "--campaign", shell_with_keys.campaign_id)
    text = result.stdout_bytes.decode("utf-8-sig")
    ids = ["externalId:crmId", "externalId:siteId"]
    fields = ["firstName", "lastName", "email", "phone", "status"]
    rest = '{"contactMetadata":{"Age":7}}'
    assert list(csv.reader(io.StringIO(text))) == [
        [*fields, *ids, "City", "Phone", "contactJson"],
        ["Ann", "", "P0@mail.example", "'+12025550000", "", "C-0", "", "Hove", "", ""],
        ["'=1+1", "", "", "'+12025550001", "", "", "", "'@Hove", "x", rest],
    ]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_largest_contact_comes_back_as_it_was(
    shell_with_keys: Shell, session: Session, tmp_path: Path
) -> None:
    worst = "\x01"  # six characters in JSON
    metadata = {f"{number:02}{worst * 62}": worst * 1000 for number in range(50)}
    largest = {"contactMetadata": metadata, "siteId": f"x{worst * 198}", "crmId": True}
    texts = {"firstName": worst * 100, "lastName": '"' * 100, "status": worst * 64}
    put(session, shell_with_keys.campaign_id, [largest | texts, {"firstName": "Bob"}])
    before = stored_contacts(session, shell_with_keys.campaign_id)
    path = tmp_path / "export.csv"
    shell_with_keys.run(
        "contacts", "export", "--campaign", shell_with_keys.campaign_id, "--output", path
    )
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, first, second = csv.reader(file)
    columns = ["contactJson", *(f"contactJson{number}" for number in range(2, 9))]
    assert [name for name in header if name.startswith("contactJson")] == columns
    assert all(first[-8:])
    assert not any(second[-8:])

    session.execute(delete(Contact).where(Contact.campaign_id == shell_with_keys.campaign_id))
    session.commit()
    status, output_of = shell_with_keys.output(path)
    assert (status, output_of["counters"]["created"]) == (0, 2), output_of
    assert stored_contacts(session, shell_with_keys.campaign_id) == before


def test_a_missing_campaign_is_not_exported(shell: Shell, tmp_path: Path) -> None:
    output = tmp_path / "export.csv"
    result = shell.run("contacts", "export", "--campaign", uuid4(), "--output", output)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: There is no such campaign.\n"
    assert not output.exists()


def test_only_its_owner_can_read_an_exported_file(shell: Shell, tmp_path: Path) -> None:
    output = tmp_path / "export.csv"
    shell.run("contacts", "export", "--campaign", shell.campaign_id, "--output", output)
    assert output.stat().st_mode & 0o777 == 0o600
