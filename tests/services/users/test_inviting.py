"""Inviting many at once: a result for each line, and a line sent twice is harmless."""

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import Forbidden, NotFound, ValidationFailed
from app.models import User
from app.services import users
from app.services.users import InviteDefaults, Invitee, InviteOutcome, LineResult
from tests.fixtures.cast import Tenant, make_tenant, make_user

BAKERY, DENTAL = "Northwind Bakery", "Northwind Dental"


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    tenant.organization.user_limit = tenant.plus.user_limit = 0
    session.flush()
    return tenant


def invite(session: Session, tenant: Tenant, text: str, usual: bool = False) -> list[LineResult]:
    return users.invite_many(
        session,
        tenant.caller(Role.ADMIN),
        users.read_invitees(text),
        InviteDefaults(tenant.organization.id if usual else None),
    )


def brief(results: list[LineResult]) -> list[tuple[int, InviteOutcome, str]]:
    return [(result.line, result.outcome, result.message) for result in results]


def test_each_line_goes_into_the_organization_it_names_or_into_the_usual_one(
    session: Session, tenant: Tenant
) -> None:
    text = f"ada@x.example, Ada Lovelace, {DENTAL.upper()}\n\nGrace Hopper <grace@x.example>\n"
    results = invite(session, tenant, text, usual=True)
    assert [(r.line, r.email, r.outcome, r.organization) for r in results] == [
        (1, "ada@x.example", InviteOutcome.INVITED, DENTAL),
        (3, "grace@x.example", InviteOutcome.INVITED, BAKERY),
    ]
    made = session.scalars(select(User).where(User.email.endswith("@x.example"))).all()
    assert {(u.email, u.name, u.status) for u in made} == {
        ("ada@x.example", "Ada Lovelace", UserStatus.INVITED),
        ("grace@x.example", "Grace Hopper", UserStatus.INVITED),
    }


def test_columns_are_found_by_their_names(session: Session, tenant: Tenant) -> None:
    text = f"Company;Role;Name;E-mail\n{BAKERY};Owner;Ada;ada@x.example\n"
    [wanted] = users.read_invitees(text)
    assert wanted == Invitee(2, "ada@x.example", "Ada", BAKERY, "Owner")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ada@x.example; Ada", [("ada@x.example", "Ada", None)]),
        (
            "ada@x.example; Ada\nkay@x.example, Kay\njoan@x.example, Joan",
            [
                ("ada@x.example", "Ada", None),
                ("kay@x.example", "Kay", None),
                ("joan@x.example", "Joan", None),
            ],
        ),
        (
            "ada@x.example; kay@x.example;",
            [("ada@x.example", None, None), ("kay@x.example", None, None)],
        ),
        (
            "Ada Lee <ada@x.example>, Kay <kay@x.example>",
            [("ada@x.example", "Ada Lee", None), ("kay@x.example", "Kay", None)],
        ),
        (
            "Lee, Ada <ada@x.example>; <kay@x.example>",
            [("ada@x.example", "Lee, Ada", None), ("kay@x.example", None, None)],
        ),
        (
            "Ada, ada@x.example, Kay, kay@x.example",
            [("ada@x.example", "Ada", None), ("kay@x.example", "Kay", None)],
        ),
        (f"Ada <ada@x.example>, {BAKERY}", [("ada@x.example", "Ada", BAKERY)]),
        ("ada@x.example Ada", [("ada@x.example Ada", None, None)]),
        ("ada@x.example kay@", [("ada@x.example kay@", None, None)]),
    ],
)
def test_no_address_of_a_line_is_dropped(
    text: str, expected: list[tuple[str, str | None, str | None]]
) -> None:
    read = users.read_invitees(text)
    assert [(wanted.email, wanted.name, wanted.organization) for wanted in read] == expected


def test_a_line_that_is_refused_stops_no_other(session: Session, tenant: Tenant) -> None:
    make_user(session, tenant.partner.id, "x@y.example", businessName=BAKERY)
    text = "\n".join(
        (
            "no-address, Ada",
            "ada@x.example, Ada, Nowhere",
            f"grace@x.example, Grace, {BAKERY}",
            "kay@x.example, Kay",
            f"{tenant.plus_user.email}, Paul, {DENTAL}",
            f"{tenant.user.email}, Olga, {DENTAL}",
            f"joan@x.example, Joan, {DENTAL}",
        )
    )
    assert brief(invite(session, tenant, text)) == [
        (
            1,
            InviteOutcome.REFUSED,
            (
                "Enter an email like name@example.com. "
                "No organization. Add one, or choose one for all lines."
            ),
        ),
        (2, InviteOutcome.REFUSED, "There is no organization called “Nowhere”."),
        (
            3,
            InviteOutcome.REFUSED,
            (
                "Several organizations are called “Northwind Bakery”. "
                "Invite from the right one’s page."
            ),
        ),
        (
            4,
            InviteOutcome.REFUSED,
            "No organization. Add one, or choose one for all lines.",
        ),
        (5, InviteOutcome.KNOWN, "Already a member."),
        (6, InviteOutcome.REFUSED, "A user with this email address exists already."),
        (7, InviteOutcome.INVITED, "Invited."),
    ]
    [refused] = invite(session, tenant, "no-address\n", usual=True)
    assert refused.message == "Enter an email like name@example.com."


def test_a_form_sent_twice_invites_each_user_once(session: Session, tenant: Tenant) -> None:
    text = "ada@x.example\nADA@x.example\n"
    first = brief(invite(session, tenant, text, usual=True))
    again = brief(invite(session, tenant, text, usual=True))
    assert first == [
        (1, InviteOutcome.INVITED, "Invited."),
        (2, InviteOutcome.KNOWN, "Already invited."),
    ]
    assert again == [
        (1, InviteOutcome.KNOWN, "Already invited."),
        (2, InviteOutcome.KNOWN, "Already invited."),
    ]
    count = select(func.count()).where(User.email_key == "ada@x.example")
    assert session.scalar(count) == 1


def test_a_full_organization_says_so_line_by_line(session: Session, tenant: Tenant) -> None:
    tenant.organization.user_limit = 2
    session.flush()
    results = invite(session, tenant, "ada@x.example\ngrace@x.example\n", usual=True)
    assert [result.outcome for result in results] == [InviteOutcome.INVITED, InviteOutcome.REFUSED]
    assert "2 of 2 users" in results[1].message


def test_the_first_lines_take_the_free_seats_and_the_others_say_what_to_do(
    session: Session, tenant: Tenant
) -> None:
    tenant.organization.user_limit = 3
    session.flush()
    text = "ada@x.example\nADA@x.example\ngrace@x.example\nkay@x.example\njoan@x.example\n"
    wanted = users.read_invitees(text)
    asked = (session, tenant.caller(Role.ADMIN), wanted, InviteDefaults(tenant.organization.id))
    count = select(func.count()).where(User.email_key.in_(each.email.lower() for each in wanted))
    way_out = "User limit reached. Raise the limit, or leave this line out."
    invited, refused = InviteOutcome.INVITED, InviteOutcome.REFUSED
    outcomes = [invited, InviteOutcome.KNOWN, invited, refused, refused]
    for act, taken, new, came in (
        (users.check_many, 1, 4, 0),
        (users.invite_within_limits, 3, 2, 2),
    ):
        results, full = act(*asked)
        assert [result.outcome for result in results] == outcomes
        assert [result.message for result in results[3:]] == [way_out] * 2
        assert [(each.taken, each.limit, each.new) for each in full] == [(taken, 3, new)]
        assert full[0].message.endswith("Raise the limit by 2.")
        assert session.scalar(count) == came


def test_no_lines_and_too_many_are_refused() -> None:
    for text, code in (
        ("", "required"),
        ("E-mail\n", "required"),
        ("a@x.example\n" * 501, "too_many"),
    ):
        with pytest.raises(ValidationFailed) as refused:
            users.read_invitees(text)
        assert [(p.field, p.code) for p in refused.value.problems] == [("users", code)]


def test_readers_and_strangers_cannot_invite(session: Session, tenant: Tenant) -> None:
    stranger = make_tenant(session, "Southwind").caller(Role.PARTNER_ADMIN)
    wanted = users.read_invitees("ada@x.example")
    with pytest.raises(Forbidden):
        users.invite_many(session, tenant.caller(Role.PARTNER_EDITOR), wanted, InviteDefaults())
    with pytest.raises(NotFound):
        users.invite_many(session, stranger, wanted, InviteDefaults(tenant.organization.id))
    named = users.read_invitees(f"ada@x.example,,{BAKERY}")
    [theirs] = users.invite_many(session, stranger, named, InviteDefaults())
    assert theirs.outcome is InviteOutcome.REFUSED


def test_a_check_names_what_inviting_would_do_and_writes_nothing(
    session: Session, tenant: Tenant
) -> None:
    before = session.scalars(select(User.id)).all()
    lines = ("ada@x.example", "ADA@x.example", tenant.user.email, "no-address")
    elsewhere = "Ada@x.example, Ada, Nowhere"
    text = "\n".join((*lines, elsewhere))
    results, full = users.check_many(
        session,
        tenant.caller(Role.ADMIN),
        users.read_invitees(text),
        InviteDefaults(tenant.organization.id),
    )
    assert (brief(results), full) == (
        [
            (1, InviteOutcome.INVITED, "Invited."),
            (2, InviteOutcome.KNOWN, "Listed twice."),
            (3, InviteOutcome.KNOWN, "Already a member."),
            (4, InviteOutcome.REFUSED, "Enter an email like name@example.com."),
            (5, InviteOutcome.REFUSED, "Listed twice. There is no organization called “Nowhere”."),
        ],
        [],
    )
    assert session.scalars(select(User.id)).all() == before


def test_the_lines_of_a_form_are_read_as_they_were_written() -> None:
    lines = [
        Invitee(1, "ada@x.example", '=Ada; "A", Lee', None, "Owner"),
        Invitee(7, "", "Kay\u00a0O’Neil", f"{BAKERY}, Inc.", None),
    ]
    text = users.as_text(lines)
    assert users.from_text(text) == lines
    forged = f"{text}x\n-3,ada@x.example,A\0da\n"
    assert users.from_text(forged)[2:] == [
        Invitee(4, "", None, None),
        Invitee(5, "ada@x.example", "Ada", None),
    ]
