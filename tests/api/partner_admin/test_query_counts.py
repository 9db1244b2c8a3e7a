"""The number of queries does not depend on the number of rows."""

from collections.abc import Callable
from datetime import date

import pytest
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.services import organizations, reporting, users
from tests.fixtures.area_a import AreaA
from tests.fixtures.cast import converse, make_partner, make_user, organization_of
from tests.fixtures.databases import BACKENDS
from tests.fixtures.statements import counted
from tests.matrix import rotating

DAY = date(2026, 5, 4)
PRICE = {"tier": "customerBasicPlan", "processorPriceId": "p", "processorProductId": "q"}
COLOUR = {"name": "primary", "value": "red"}


def grow(area: AreaA, count: int) -> None:
    partner = area.tenant.partner
    for number in range(count):
        user = make_user(area.session, partner.id, f"{count}-{number}@x.example")
        converse(area.session, organization_of(area.session, user), DAY)
        make_partner(area.session, f"Partner {count} {number}", brandUIColors=[COLOUR])
    organizations.get(
        area.session, area.tenant.caller(Role.ADMIN), area.tenant.plus.id
    ).user_limit = 0
    for number in range(count):
        users.invite(
            area.session,
            area.tenant.caller(Role.ADMIN),
            email=f"in-{count}-{number}@x.example",
            user_type=Role.STANDARD,
            organization_id=area.tenant.plus.id,
        )
    area.put(f"/api/partners/{partner.id}", {"pricing": [PRICE] * min(count, 100)})
    area.session.commit()


@pytest.mark.parametrize("backend", rotating("database of a hundred", BACKENDS), indirect=True)
def test_lists_figures_and_screens_take_the_same_queries_for_one_and_for_a_hundred(
    area: AreaA, database: Database
) -> None:
    partner_id = area.tenant.partner.id
    partner = f"/api/partners/{partner_id}"
    paths = {
        "/api/partners": Role.OPERATOR,
        "/api/partners?page=1": Role.OPERATOR,
        f"{partner}/users": Role.ADMIN,
        f"{partner}/users?perPage=500": Role.ADMIN,
        f"{partner}/organizations": Role.ADMIN,
        f"{partner}/organizations/{area.tenant.plus.id}/users": Role.ADMIN,
        f"{partner}/admin-report": Role.ADMIN,
        f"{partner}/pricing": Role.ADMIN,
        f"/api/users/usage?organizationId={area.tenant.plus.id}&startDate={DAY}&endDate={DAY}": (
            Role.ADMIN
        ),
    }
    caller = area.tenant.caller(Role.PARTNER_ADMIN)
    screens: dict[str, Callable[[Session], object]] = {
        "organizations": lambda session: organizations.search(session, caller, limit=100),
        "users": lambda session: users.search(session, caller, limit=100),
        "report": lambda session: reporting.search(session, caller, partner_id, limit=100),
        "summary": lambda session: reporting.summary(session, caller, partner_id),
        "daily": lambda session: reporting.daily(session, caller, DAY, DAY),
    }

    def counts() -> dict[str, int]:
        found = {}
        for path, role in paths.items():
            area.get(path, as_role=role)
            with counted(database.engine) as statements:
                area.get(path, as_role=role)
            found[path] = len(statements)
        for name, ask in screens.items():
            with (
                database.transaction(read_only=True) as session,
                counted(database.engine) as statements,
            ):
                ask(session)
            found[name] = len(statements)
        return found

    grow(area, 1)
    with_one = counts()
    grow(area, 100)
    assert counts() == with_one


def test_reading_the_partner_of_the_credential_costs_no_check_of_its_own(
    area: AreaA, database: Database
) -> None:
    path = f"/api/partners/{area.tenant.partner.id}/admin-report"
    area.get(path)
    with counted(database.engine) as statements:
        area.get(path)
    reads = [statement for statement in statements if statement.startswith("SELECT")]
    assert len(reads) == 2  # the token's, and the report
