"""The do-not-call list of an organization."""

import time

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Forbidden, NotFound, ValidationFailed
from app.models import AuditEntry, DoNotCallEntry
from app.phone import PhoneError
from app.policy.caller import Caller
from app.services import do_not_call
from app.services.do_not_call import EntryFilter
from tests.fixtures.tenants import Tenant, make_tenant

NUMBER = "+12025550101"


@pytest.fixture
def owner(tenant: Tenant) -> Caller:
    return tenant.caller(Role.PARTNER_ADMIN)


def test_a_number_is_listed_in_any_spelling(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    entry = do_not_call.add(
        session, owner, tenant.organization.id, "(202) 555-0101", reason=" asked us "
    )
    again = do_not_call.add(session, owner, tenant.organization.id, NUMBER, reason="again")
    assert again is entry
    assert (entry.phone, entry.reason, entry.added_by) == (NUMBER, "asked us", owner.label)
    assert do_not_call.is_listed(session, tenant.organization.id, NUMBER)
    assert not do_not_call.is_listed(session, tenant.plus.id, NUMBER)


def test_listed_numbers_among_many_are_found(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    do_not_call.add(session, owner, tenant.organization.id, NUMBER)
    many = {f"+1202{place:07d}" for place in range(12_000)} | {NUMBER}
    assert do_not_call.listed_among(session, tenant.organization.id, many) == {NUMBER}
    assert do_not_call.listed_among(session, tenant.organization.id, set()) == set()


def test_a_number_is_taken_off_the_list_once(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    do_not_call.add(session, owner, tenant.organization.id, NUMBER)
    assert do_not_call.remove(session, owner, tenant.organization.id, "202 555 0101")
    assert not do_not_call.remove(session, owner, tenant.organization.id, NUMBER)
    assert not do_not_call.is_listed(session, tenant.organization.id, NUMBER)


def test_a_number_that_could_no_longer_be_listed_can_be_removed(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    listed = do_not_call.add(session, owner, tenant.organization.id, NUMBER)
    session.execute(update(DoNotCallEntry).values(phone="+15550143"))
    session.expunge(listed)
    with pytest.raises(PhoneError):
        do_not_call.remove(session, owner, tenant.organization.id, "555-0143")
    assert do_not_call.remove(session, owner, tenant.organization.id, "+15550143")
    assert not do_not_call.is_listed(session, tenant.organization.id, "+15550143")


def test_the_list_is_searched_and_paged(session: Session, tenant: Tenant, owner: Caller) -> None:
    for place in range(5):
        do_not_call.add(
            session, owner, tenant.organization.id, f"+1202555010{place}", reason=f"reason {place}"
        )
    first = do_not_call.listing(session, owner, tenant.organization.id, limit=3)
    rest = do_not_call.listing(
        session, owner, tenant.organization.id, limit=3, cursor=first.next_cursor
    )
    assert [entry.phone[-1] for entry in [*first.items, *rest.items]] == list("01234")
    assert rest.next_cursor is None
    found = do_not_call.listing(session, owner, tenant.organization.id, EntryFilter("REASON 3"))
    assert [entry.phone for entry in found.items] == ["+12025550103"]


@pytest.mark.parametrize("words", ["muller", "MÜLLER", "mueller", "beschwerde"])
def test_a_reason_is_found_without_accents(
    session: Session, tenant: Tenant, owner: Caller, words: str
) -> None:
    for phone, reason in (("+12025550101", "Beschwerde: Müller"), ("+12025550102", "Jolene")):
        do_not_call.add(session, owner, tenant.organization.id, phone, reason=reason)
    found = do_not_call.listing(session, owner, tenant.organization.id, EntryFilter(words))
    assert [entry.phone for entry in found.items] == ["+12025550101"]


def test_an_invalid_number_is_refused(session: Session, tenant: Tenant, owner: Caller) -> None:
    with pytest.raises(PhoneError):
        do_not_call.add(session, owner, tenant.organization.id, "nobody")


def test_strangers_and_readers_change_nothing(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    stranger = make_tenant(session, "Southwind").caller(Role.PARTNER_ADMIN)
    reader = tenant.caller(Role.PARTNER_ADMIN, permissions=frozenset())
    for change in (do_not_call.add, do_not_call.remove):
        with pytest.raises(NotFound):
            change(session, stranger, tenant.organization.id, NUMBER)
        with pytest.raises(Forbidden):
            change(session, reader, tenant.organization.id, NUMBER)
    with pytest.raises(NotFound):
        do_not_call.listing(session, stranger, tenant.organization.id)
    assert not do_not_call.is_listed(session, tenant.organization.id, NUMBER)


def test_lines_are_read_by_the_rules_of_every_other_number() -> None:
    lines = ("(202) 555-0101, asked us", "", "+44 20 7946 0000", "12", "1.20E+11", "nobody")
    text = "\ufeff" + "\n".join((*lines, "2025550101, twice"))
    sheet = do_not_call.read_numbers(text, "US")
    assert [(line.number, line.phone, line.reason) for line in sheet.valid] == [
        (1, NUMBER, "asked us"),
        (3, "+442079460000", None),
    ]
    assert [(line.number, line.text) for line in sheet.invalid] == [
        (4, "12"),
        (5, "1.20E+11"),
        (6, "nobody"),
    ]
    assert sheet.repeated == 1


def test_a_file_with_column_names_is_read_by_them() -> None:
    text = 'Name;Phone number;Why\nAda;"(202) 555-0101";asked us\nBob;202 555 0101;again\n'
    sheet = do_not_call.read_numbers(text, "US")
    assert [(line.phone, line.reason) for line in sheet.valid] == [(NUMBER, "asked us")]
    assert (sheet.invalid, sheet.repeated) == ([], 1)


def test_a_line_of_spaces_is_read_quickly() -> None:
    start = time.process_time()
    parsed = do_not_call.read_numbers(f"a{' ' * 80_000}b\n+12025550101", "US")
    assert [line.phone for line in parsed.valid] == ["+12025550101"]
    assert time.process_time() - start < 1


def test_no_numbers_and_too_many_are_refused() -> None:
    for text, code in (
        ("\n \n", "required"),
        ("Number\n", "required"),
        ("+12025550101\n" * (do_not_call.MAX_NUMBERS + 1), "too_many"),
    ):
        with pytest.raises(ValidationFailed) as refused:
            do_not_call.read_numbers(text, "US")
        assert [(p.field, p.code) for p in refused.value.problems] == [("numbers", code)]


def test_many_numbers_are_added_once_each_with_an_entry_of_history_for_500_of_them(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    do_not_call.add(session, owner, tenant.organization.id, NUMBER, reason="first")
    sheet = do_not_call.read_numbers(
        "\n".join(f"+1202555{place:04d}" for place in range(100, 1300)), "US"
    )
    added = do_not_call.add_many(
        session, owner, tenant.organization.id, sheet.valid, reason="a list", source="file"
    )
    assert (added.added, added.known, added.calls) == (1199, 1, 0)
    again = do_not_call.add_many(session, owner, tenant.organization.id, sheet.valid)
    assert (again.added, again.known) == (0, 1200)
    kept = do_not_call.entry(session, owner, tenant.organization.id, NUMBER)
    new = do_not_call.entry(session, owner, tenant.organization.id, "+12025550102")
    assert (kept.reason, kept.source) == ("first", "portal")
    assert (new.reason, new.source, new.added_by) == ("a list", "file", owner.label)
    rows = session.scalars(
        select(AuditEntry.target).where(AuditEntry.action == "do_not_call.added")
    )
    assert sorted(row or "" for row in rows) == [
        NUMBER,
        "199 numbers",
        "500 numbers",
        "500 numbers",
    ]


def test_the_size_of_each_list_and_the_lists_with_a_number_are_known(
    session: Session, tenant: Tenant, owner: Caller
) -> None:
    do_not_call.add(session, owner, tenant.organization.id, NUMBER)
    page, sizes = do_not_call.sizes(session, owner)
    assert [(row.name, sizes[row.id].numbers) for row in page.items] == [
        ("Northwind Bakery", 1),
        ("Northwind Dental", 0),
    ]
    holding, _ = do_not_call.sizes(session, owner, numbers=[NUMBER])
    assert [row.name for row in holding.items] == ["Northwind Bakery"]
    member, _ = do_not_call.sizes(session, tenant.caller(Role.STANDARD), query="northwind")
    assert [row.name for row in member.items] == ["Northwind Bakery"]


def test_callers_of_another_tenant_add_no_lists(session: Session, tenant: Tenant) -> None:
    stranger = make_tenant(session, "Southwind").caller(Role.PARTNER_ADMIN)
    sheet = do_not_call.read_numbers(NUMBER, "US")
    with pytest.raises(NotFound):
        do_not_call.add_many(session, stranger, tenant.organization.id, sheet.valid)
    with pytest.raises(NotFound):
        do_not_call.listing(session, stranger, tenant.organization.id)
