"""Inviting many at once: a result for each line, and a line sent twice is harmless."""

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import Forbidden, NotFound, ValidationFailed
from app.models import User
from app.services import users
from app.services.pasted_lines import as_text, from_text
from app.services.users import (
    COLUMNS,
    CheckedInvitee,
    InviteDefaults,
    Invitee,
    InviteOutcome,
)
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant, make_tenant, make_user

BAKERY, DENTAL = "Northwind Bakery", "Northwind Dental"


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    tenant.organization.user_limit = tenant.plus.user_limit = 0
    session.flush()
    return tenant


def invite(
    session: Session, tenant: Tenant, text: str, usual: bool = False
) -> list[CheckedInvitee]:
    return users.invite_many(
        session,
        tenant.caller(Role.ADMIN),
        users.read_invitees(text),
        InviteDefaults(tenant.organization.id if usual else None),
    )


def brief(results: list[CheckedInvitee]) -> list[tuple[int, InviteOutcome, str]]:
    return [
        (result.row.number, result.outcome, result.reason or problem_text(result))
        for result in results
    ]


def problem_text(result: CheckedInvitee) -> str:
    return " ".join(problem.message for problem in result.problems)


def test_each_line_goes_into_the_organization_it_names_or_into_the_usual_one(
    session: Session, tenant: Tenant
) -> None:
    text = f"ada@x.example, Ada Lovelace, {DENTAL.upper()}\n\nGrace Hopper <grace@x.example>\n"
    results = invite(session, tenant, text, usual=True)
    assert [(r.row.number, r.row.email, r.outcome, r.organization) for r in results] == [
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
    [row] = users.read_invitees(text)
    assert row == Invitee(2, "ada@x.example", "Ada", BAKERY, "Owner")


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
                "No organization. Add one, or choose one for all rows. "
                "Enter an email like name@example.com."
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
            "No organization. Add one, or choose one for all rows.",
        ),
        (5, InviteOutcome.KNOWN, "Already a member."),
        (6, InviteOutcome.REFUSED, "A user with this email address exists already."),
        (7, InviteOutcome.INVITED, ""),
    ]
    [refused] = invite(session, tenant, "no-address\n", usual=True)
    assert problem_text(refused) == "Enter an email like name@example.com."


def test_a_form_sent_twice_invites_each_user_once(session: Session, tenant: Tenant) -> None:
    text = "ada@x.example\nADA@x.example\n"
    first = brief(invite(session, tenant, text, usual=True))
    again = brief(invite(session, tenant, text, usual=True))
    assert first == [
        (1, InviteOutcome.INVITED, ""),
        (2, InviteOutcome.KNOWN, "Listed twice."),
    ]
    assert again == [
        (1, InviteOutcome.KNOWN, "Already invited."),
        (2, InviteOutcome.KNOWN, "Already invited."),
    ]
    count = select(func.count()).where(User.email_key == "ada@x.example")
    assert session.scalar(count) == 1


def test_the_first_lines_take_the_free_seats_and_the_others_say_what_to_do(
    session: Session, tenant: Tenant
) -> None:
    tenant.organization.user_limit = 3
    session.flush()
    text = "ada@x.example\nADA@x.example\ngrace@x.example\nkay@x.example\njoan@x.example\n"
    rows = users.read_invitees(text)
    caller = tenant.caller(Role.ADMIN)
    defaults = InviteDefaults(tenant.organization.id)
    checked = users.check_many(session, caller, rows, defaults)
    full = "User limit reached. Raise the limit, or leave this row out."
    assert brief(checked.rows) == [
        (1, InviteOutcome.INVITED, ""),
        (2, InviteOutcome.KNOWN, "Listed twice."),
        (3, InviteOutcome.INVITED, ""),
        (4, InviteOutcome.REFUSED, full),
        (5, InviteOutcome.REFUSED, full),
    ]
    [organization] = checked.full
    assert (organization.used, organization.limit, organization.new) == (1, 3, 4)
    assert organization.message.endswith("Raise the limit by 2.")
    assert users.invite_many(session, caller, rows, defaults) == checked.rows
    count = select(func.count()).where(User.email_key.in_(row.email.lower() for row in rows))
    assert session.scalar(count) == 2


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
    checked = users.check_many(
        session,
        tenant.caller(Role.ADMIN),
        users.read_invitees(text),
        InviteDefaults(tenant.organization.id),
    )
    assert (brief(checked.rows), checked.full) == (
        [
            (1, InviteOutcome.INVITED, ""),
            (2, InviteOutcome.KNOWN, "Listed twice."),
            (3, InviteOutcome.KNOWN, "Already a member."),
            (4, InviteOutcome.REFUSED, "Enter an email like name@example.com."),
            (5, InviteOutcome.REFUSED, "There is no organization called “Nowhere”. Listed twice."),
        ],
        [],
    )
    assert session.scalars(select(User.id)).all() == before


def test_a_list_is_checked_in_a_fixed_number_of_queries_that_only_read(
    session: Session, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.ADMIN)
    defaults = InviteDefaults(tenant.organization.id)
    queries = []
    for count in (1, 100):
        text = "\n".join(f"user{number}@x.example,,{DENTAL}" for number in range(count))
        rows = users.read_invitees(text)
        with counted(session.get_bind().engine) as statements:
            users.check_many(session, caller, rows, defaults)
        queries.append(len(statements))
        assert all(statement.startswith("SELECT") for statement in statements)
    assert queries[0] == queries[1] <= 6


@pytest.mark.parametrize(
    "heading",
    [
        "E-Mail-Adresse;Vorname;Firma;Rolle",
        "Courriel;Nom;Société;Rôle",
        "Correo;Nombre;Empresa;Rol",
    ],
)
def test_columns_are_known_by_names_in_each_language(heading: str) -> None:
    [row] = users.read_invitees(f"{heading}\nada@x.example;Ada;{BAKERY};Owner\n")
    assert row == Invitee(2, "ada@x.example", "Ada", BAKERY, "Owner")


def test_the_rows_of_a_form_are_read_as_they_were_written() -> None:
    rows = [
        Invitee(1, "ada@x.example", '=Ada; "A", Lee', None, "Owner"),
        Invitee(7, "", "Kay\u00a0O’Neil", f"{BAKERY}, Inc.", None),
    ]
    text = as_text(COLUMNS, users.to_lines(rows))
    assert users.from_lines(from_text(text, COLUMNS)) == rows
    forged = f"{text}x\n-3,ada@x.example,A\0da\n"
    assert users.from_lines(from_text(forged, COLUMNS))[2:] == [
        Invitee(4, "", None, None),
        Invitee(5, "ada@x.example", "Ada", None),
    ]
