"""A number belongs to one organization of the whole installation."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.database import Database
from app.database.scope import of_tenant
from app.enums import CarrierKind, NumberSource, Role
from app.errors import Conflict, DomainError, Forbidden, NotFound, ValidationFailed
from app.models import Assistant, CarrierAccount, Organization, PhoneNumber, new_id, utcnow
from app.policy.caller import system_caller
from app.services import assistants, phone_numbers
from app.services.phone_numbers import NumberRoute
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant

NUMBER, OTHER_NUMBER = "+12025550123", "+12025550124"
REFUSED = (
    "number_not_assigned",
    "phoneNumber",
    phone_numbers.NOT_ASSIGNED,
)
CLAIMANTS = 8


def assistant_of(session: Session, organization: Organization) -> Assistant:
    query = select(Assistant).where(Assistant.organization_id == organization.id)
    return session.scalars(query).one()


def give(
    session: Session,
    organization: Organization,
    number: str | None,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
) -> tuple[str, str, str] | None:
    """Set the number of the organization's assistant; the refusal's code, field and sentence."""
    try:
        with session.begin_nested():
            assistants.configure_assistant(
                session,
                OPERATOR,
                assistant_of(session, organization),
                carrier=carrier,
                phone_number=number,
            )
    except ValidationFailed as error:
        [problem] = error.problems
        return problem.code, problem.field, problem.message
    return None


def stored(session: Session) -> dict[str, tuple[UUID | None, NumberSource, bool]]:
    rows = session.scalars(select(PhoneNumber))
    return {
        row.number: (row.organization_id, row.source, row.confirmed_at is not None) for row in rows
    }


def test_on_the_simulated_carrier_the_first_organization_takes_a_free_number(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    assert give(session, tenant.plus, NUMBER) is None
    assert give(session, tenant.organization, NUMBER) == REFUSED
    assert give(session, other_tenant.plus, NUMBER) == REFUSED
    assert stored(session) == {NUMBER: (tenant.plus.id, NumberSource.SIMULATED, False)}


def test_a_number_that_was_only_simulated_is_free_once_no_assistant_has_it(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    give(session, tenant.plus, NUMBER)
    give(session, tenant.plus, OTHER_NUMBER)
    assert give(session, other_tenant.plus, NUMBER) is None
    give(session, tenant.plus, None)
    assert stored(session) == {NUMBER: (other_tenant.plus.id, NumberSource.SIMULATED, False)}


def test_a_real_carrier_refuses_free_and_foreign_numbers_in_the_same_words(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    phone_numbers.assign(session, OPERATOR, other_tenant.plus.id, [OTHER_NUMBER])
    for carrier in (CarrierKind.TWILIO, CarrierKind.SIP):
        assert give(session, tenant.plus, NUMBER, carrier) == REFUSED
        assert give(session, tenant.plus, OTHER_NUMBER, carrier) == REFUSED
        assert give(session, tenant.organization, OTHER_NUMBER, carrier) == REFUSED
    assert give(session, tenant.plus, NUMBER) is None  # the simulated carrier
    give(session, tenant.plus, None)
    phone_numbers.assign(session, OPERATOR, tenant.plus.id, [NUMBER])
    assert give(session, tenant.plus, NUMBER, CarrierKind.TWILIO) is None


def test_an_assignment_by_the_operator_replaces_use_on_the_simulated_carrier_only(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    give(session, other_tenant.plus, NUMBER)
    typed = ["(202) 555-0123", OTHER_NUMBER]
    assert phone_numbers.assign(session, OPERATOR, tenant.plus.id, typed) == [NUMBER, OTHER_NUMBER]
    assert stored(session) == {
        NUMBER: (tenant.plus.id, NumberSource.ASSIGNED, True),
        OTHER_NUMBER: (tenant.plus.id, NumberSource.ASSIGNED, True),
    }
    with pytest.raises(ValidationFailed) as refusal:
        phone_numbers.assign(session, OPERATOR, other_tenant.plus.id, ["+12025550125", NUMBER])
    assert [(problem.field, problem.code) for problem in refusal.value.problems] == [
        ("numbers", "number_taken")
    ]


@pytest.mark.parametrize(
    ("typed", "code"), [([], "required"), (["12"], "invalid_phone"), (["x"] * 1001, "too_many")]
)
def test_numbers_that_cannot_be_assigned_are_refused(
    session: Session, tenant: Tenant, typed: list[str], code: str
) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        phone_numbers.assign(session, OPERATOR, tenant.plus.id, typed)
    assert refusal.value.code == code


def test_a_partner_moves_its_numbers_among_its_own_organizations(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    admin = tenant.caller(Role.ADMIN)
    phone_numbers.assign(session, OPERATOR, tenant.plus.id, [NUMBER])
    phone_numbers.assign(session, OPERATOR, other_tenant.plus.id, [OTHER_NUMBER])
    moved = phone_numbers.move(session, admin, NUMBER, tenant.organization.id)
    assert (moved.organization_id, moved.source) == (tenant.organization.id, NumberSource.ASSIGNED)
    with pytest.raises(Conflict):
        phone_numbers.move(session, admin, NUMBER, tenant.plus.id, expected_version=1)
    for number, target in ((OTHER_NUMBER, tenant.plus.id), (NUMBER, other_tenant.plus.id)):
        with pytest.raises(NotFound):
            phone_numbers.move(session, admin, number, target)
    for refused in (tenant.caller(Role.PARTNER_EDITOR), tenant.caller(Role.STANDARD)):
        with pytest.raises(Forbidden):
            phone_numbers.move(session, refused, NUMBER, tenant.plus.id)


def test_an_unassigned_number_goes_to_the_first_organization_that_uses_it(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    phone_numbers.assign(session, OPERATOR, tenant.plus.id, [NUMBER])
    phone_numbers.move(session, OPERATOR, NUMBER, None)
    assert give(session, other_tenant.plus, NUMBER, CarrierKind.TWILIO) == REFUSED
    assert give(session, tenant.organization, NUMBER, CarrierKind.TWILIO) is None
    assert give(session, tenant.plus, NUMBER, CarrierKind.TWILIO) == REFUSED


def test_the_operator_moves_a_number_to_another_partner_and_releases_it(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    phone_numbers.assign(session, OPERATOR, tenant.plus.id, [NUMBER])
    phone_numbers.move(session, OPERATOR, NUMBER, other_tenant.plus.id)
    found = phone_numbers.get(session, other_tenant.caller(Role.ADMIN), NUMBER)
    assert (found.partner_id, found.organization_id) == (
        other_tenant.partner.id,
        other_tenant.plus.id,
    )
    with pytest.raises(NotFound):
        phone_numbers.get(session, tenant.caller(Role.ADMIN), NUMBER)
    with pytest.raises(Forbidden):
        phone_numbers.release(session, other_tenant.caller(Role.PARTNER_ADMIN), NUMBER)
    phone_numbers.release(session, OPERATOR, NUMBER)
    assert stored(session) == {}


def test_a_verification_call_confirms_a_number_unless_it_is_confirmed_for_others(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    give(session, other_tenant.plus, NUMBER)
    admin = tenant.caller(Role.PARTNER_ADMIN)
    phone_numbers.confirm(session, admin, tenant.plus.id, NUMBER)
    assert stored(session) == {NUMBER: (tenant.plus.id, NumberSource.VERIFICATION_CALL, True)}
    with pytest.raises(ValidationFailed) as refusal:
        phone_numbers.confirm(
            session, other_tenant.caller(Role.PARTNER_ADMIN), other_tenant.plus.id, NUMBER
        )
    assert refusal.value.code == "number_not_assigned"


def test_a_verification_call_leaves_an_assigned_number_assigned(
    session: Session, tenant: Tenant
) -> None:
    phone_numbers.assign(session, OPERATOR, tenant.plus.id, [NUMBER])
    phone_numbers.confirm(session, tenant.caller(Role.PARTNER_ADMIN), tenant.plus.id, NUMBER)
    assert stored(session) == {NUMBER: (tenant.plus.id, NumberSource.ASSIGNED, True)}


@pytest.mark.parametrize(
    ("source", "confirmed", "allowed"),
    [
        (NumberSource.ASSIGNED, True, "installation own account another"),
        (NumberSource.VERIFICATION_CALL, True, "own account another"),
        (NumberSource.CARRIER_LIST, True, "own"),
        (NumberSource.CARRIER_LIST, False, ""),
        (NumberSource.SIMULATED, False, ""),
    ],
)
def test_a_source_confirms_a_number_for_its_carriers(
    source: NumberSource, confirmed: bool, allowed: str
) -> None:
    own = new_id()
    number = PhoneNumber(
        number=NUMBER,
        source=source,
        confirmed_at=utcnow() if confirmed else None,
        account_id=own if source is NumberSource.CARRIER_LIST else None,
    )
    routes = {
        "installation": NumberRoute(CarrierKind.TWILIO),
        "own": NumberRoute(CarrierKind.TWILIO, own),
        "another": NumberRoute(CarrierKind.SIP, new_id()),
    }
    found = {name for name, route in routes.items() if phone_numbers.refusal(number, route) is None}
    assert found == set(allowed.split()) & set(routes)
    simulator = NumberRoute(CarrierKind.SIMULATOR)
    assert phone_numbers.refusal(number, simulator) is None
    assert phone_numbers.refusal(None, simulator) is not None


def test_the_organizations_own_account_decides_before_the_partners(
    session: Session, tenant: Tenant
) -> None:
    ids = [new_id(), new_id()]
    for account_id, organization_id in zip(ids, (None, tenant.plus.id), strict=True):
        session.add(
            CarrierAccount(
                id=account_id,
                partner_id=tenant.partner.id,
                organization_id=organization_id,
                owner_id=organization_id or tenant.partner.id,
                carrier=CarrierKind.TWILIO,
                secret="",
                created_by="tests",
            )
        )
    session.flush()
    routes = [
        phone_numbers.route_of(session, organization, CarrierKind.SIMULATOR)
        for organization in (tenant.organization, tenant.plus)
    ]
    assert routes == [NumberRoute(CarrierKind.TWILIO, id_) for id_ in ids]


def test_of_eight_organizations_that_want_a_number_one_gets_it(fresh_database: Database) -> None:
    """Each in a transaction of its partner, which sees no rows of other partners."""
    with fresh_database.transaction() as session:
        tenants = [make_tenant(session, f"Wind{number}") for number in range(CLAIMANTS)]
        ids = [(tenant.partner.id, tenant.plus.id) for tenant in tenants]
    together = Barrier(CLAIMANTS)

    def claim(pair: tuple[UUID, UUID]) -> str:
        partner_id, organization_id = pair
        together.wait()
        try:
            with fresh_database.within(of_tenant(partner_id, None)).transaction() as session:
                assistants.configure_assistant(
                    session,
                    system_caller("tests", partner_id),
                    assistant_of(session, session.get_one(Organization, organization_id)),
                    phone_number=NUMBER,
                )
        except DomainError as error:
            return error.code
        return "taken"

    with ThreadPoolExecutor(CLAIMANTS) as claimants:
        outcomes = list(claimants.map(claim, ids))
    assert sorted(outcomes) == [*["number_not_assigned"] * (CLAIMANTS - 1), "taken"]
    with fresh_database.transaction(read_only=True) as session:
        having = select(Assistant.organization_id).where(Assistant.phone_number == NUMBER)
        winner = ids[outcomes.index("taken")][1]
        assert session.scalars(having).all() == [winner]
        assert session.scalars(select(PhoneNumber.organization_id)).all() == [winner]
        assert session.scalar(select(func.count()).select_from(PhoneNumber)) == 1


def test_conflicts_list_assistants_with_a_number_of_another_organization(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    for organization in (tenant.plus, other_tenant.plus):
        assistant_of(session, organization).phone_number = NUMBER
        session.flush()
    [found] = phone_numbers.conflicts(session, OPERATOR)
    assert (found.number, found.partner, found.organization, found.owner) == (
        NUMBER,
        "Southwind",
        "Southwind Dental",
        "Northwind Dental",
    )
    assert phone_numbers.refusals(session, [found.assistant], CarrierKind.SIMULATOR) == {
        found.assistant.id: "The assistant's number isn't assigned to its organization."
    }
    with pytest.raises(Forbidden):
        phone_numbers.conflicts(session, tenant.caller(Role.PARTNER_ADMIN))
