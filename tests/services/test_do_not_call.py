"""The do-not-call list of an organization."""

import pytest
from sqlalchemy.orm import Session

from app.caller import Caller
from app.enums import Role
from app.errors import Forbidden, NotFound
from app.phone import PhoneError
from app.services import do_not_call
from tests.fixtures.cast import Tenant, make_tenant

NUMBER = "+12025550101"


@pytest.fixture
def own(session: Session) -> Tenant:
    return make_tenant(session)


@pytest.fixture
def owner(own: Tenant) -> Caller:
    return own.caller(Role.PARTNER_ADMIN)


def test_a_number_is_listed_in_whatever_form_it_was_entered(
    session: Session, own: Tenant, owner: Caller
) -> None:
    entry = do_not_call.add(
        session, owner, own.organization.id, "(202) 555-0101", reason=" asked us "
    )
    again = do_not_call.add(session, owner, own.organization.id, NUMBER, reason="again")
    assert again is entry
    assert (entry.phone, entry.reason, entry.added_by) == (NUMBER, "asked us", owner.label)
    assert do_not_call.is_listed(session, own.organization.id, NUMBER)
    assert not do_not_call.is_listed(session, own.plus.id, NUMBER)


def test_the_listed_among_many_are_found(session: Session, own: Tenant, owner: Caller) -> None:
    do_not_call.add(session, owner, own.organization.id, NUMBER)
    many = {f"+1202{place:07d}" for place in range(12_000)} | {NUMBER}
    assert do_not_call.listed_among(session, own.organization.id, many) == {NUMBER}
    assert do_not_call.listed_among(session, own.organization.id, set()) == set()


def test_a_number_is_taken_off_the_list_once(session: Session, own: Tenant, owner: Caller) -> None:
    do_not_call.add(session, owner, own.organization.id, NUMBER)
    assert do_not_call.remove(session, owner, own.organization.id, "202 555 0101")
    assert not do_not_call.remove(session, owner, own.organization.id, NUMBER)
    assert not do_not_call.is_listed(session, own.organization.id, NUMBER)


def test_the_list_is_searched_and_paged(session: Session, own: Tenant, owner: Caller) -> None:
    for place in range(5):
        do_not_call.add(
            session, owner, own.organization.id, f"+1202555010{place}", reason=f"reason {place}"
        )
    first = do_not_call.listing(session, owner, own.organization.id, limit=3)
    rest = do_not_call.listing(
        session, owner, own.organization.id, limit=3, cursor=first.next_cursor
    )
    assert [entry.phone[-1] for entry in [*first.items, *rest.items]] == list("01234")
    assert rest.next_cursor is None
    found = do_not_call.listing(session, owner, own.organization.id, query="REASON 3")
    assert [entry.phone for entry in found.items] == ["+12025550103"]


def test_what_is_no_number_is_refused(session: Session, own: Tenant, owner: Caller) -> None:
    with pytest.raises(PhoneError):
        do_not_call.add(session, owner, own.organization.id, "nobody")


def test_strangers_and_readers_change_nothing(session: Session, own: Tenant, owner: Caller) -> None:
    stranger = make_tenant(session, "Southwind").caller(Role.PARTNER_ADMIN)
    reader = own.caller(Role.PARTNER_ADMIN, permissions=frozenset())
    for change in (do_not_call.add, do_not_call.remove):
        with pytest.raises(NotFound):
            change(session, stranger, own.organization.id, NUMBER)
        with pytest.raises(Forbidden):
            change(session, reader, own.organization.id, NUMBER)
    with pytest.raises(NotFound):
        do_not_call.listing(session, stranger, own.organization.id)
    assert not do_not_call.is_listed(session, own.organization.id, NUMBER)
