"""A number without a country code means one in each region of the caller's organizations."""

from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.services.number_search import numbers_in_regions
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant, make_tenant


def test_a_number_is_read_in_each_region_of_the_callers_organizations(
    session: Session, tenant: Tenant
) -> None:
    other_tenant = make_tenant(session, "Other")
    tenant.organization.default_region, tenant.plus.default_region = "GB", "FR"
    other_tenant.organization.default_region = other_tenant.plus.default_region = "DE"
    session.flush()
    numbers = {"020 7946 0018": "+442079460018", "01 23 45 67 89": "+33123456789"}

    def found(caller: Tenant, role: Role) -> list[str]:
        return [
            text
            for text, number in numbers.items()
            if number in numbers_in_regions(session, caller.caller(role), text)
        ]

    assert found(tenant, Role.PARTNER_ADMIN) == list(numbers)
    assert found(tenant, Role.ADMIN) == list(numbers)
    assert found(other_tenant, Role.PARTNER_ADMIN) == []
    assert numbers_in_regions(session, tenant.caller(Role.OPERATOR), "030 901820") == {
        "+4930901820"
    }


def test_words_without_a_digit_are_no_number_anywhere(
    session: Session, tenant: Tenant, database: Database
) -> None:
    with counted(database.engine) as statements:
        assert numbers_in_regions(session, tenant.caller(Role.PARTNER_ADMIN), "dental") == set()
    assert statements == []
