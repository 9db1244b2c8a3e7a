"""The number of queries does not depend on the number of rows."""

from collections.abc import Callable
from datetime import date

import pytest
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.services import organizations, reporting, users
from tests.fixtures.databases import BACKENDS
from tests.fixtures.partner_api import PartnerApi
from tests.fixtures.statements import counted
from tests.fixtures.tenants import converse, make_partner, make_user, organization_of
from tests.matrix import rotating

DAY = date(2026, 5, 4)
PRICE = {"tier": "customerBasicPlan", "processorPriceId": "p", "processorProductId": "q"}
COLOUR = {"name": "primary", "value": "red"}


def grow(partner_api: PartnerApi, count: int) -> None:
    partner = partner_api.tenant.partner
    for number in range(count):
        user = make_user(partner_api.session, partner.id, f"{count}-{number}@x.example")
        converse(partner_api.session, organization_of(partner_api.session, user), DAY)
        make_partner(partner_api.session, f"Partner {count} {number}", brandUIColors=[COLOUR])
    organizations.get(
        partner_api.session, partner_api.tenant.caller(Role.ADMIN), partner_api.tenant.plus.id
    ).user_limit = 0
    for number in range(count):
        users.invite(
            partner_api.session,
            partner_api.tenant.caller(Role.ADMIN),
            email=f"in-{count}-{number}@x.example",
            user_type=Role.STANDARD,
            organization_id=partner_api.tenant.plus.id,
        )
    partner_api.put(f"/api/partners/{partner.id}", {"pricing": [PRICE] * min(count, 100)})
    partner_api.session.commit()


@pytest.mark.parametrize("backend", rotating("database of a hundred", BACKENDS), indirect=True)
def test_lists_figures_and_screens_take_the_same_queries_for_one_and_for_a_hundred(
    partner_api: PartnerApi, database: Database
) -> None:
    partner_id, plus_id = partner_api.tenant.partner.id, partner_api.tenant.plus.id
    partner = f"/api/partners/{partner_id}"
    paths = {
        "/api/partners": Role.OPERATOR,
        "/api/partners?page=1": Role.OPERATOR,
        f"{partner}/users": Role.ADMIN,
        f"{partner}/users?perPage=500": Role.ADMIN,
        f"{partner}/organizations": Role.ADMIN,
        f"{partner}/organizations/{plus_id}/users": Role.ADMIN,
        f"{partner}/admin-report": Role.ADMIN,
        f"{partner}/pricing": Role.ADMIN,
        f"/api/users/usage?organizationId={plus_id}&startDate={DAY}&endDate={DAY}": (Role.ADMIN),
    }
    caller = partner_api.tenant.caller(Role.PARTNER_ADMIN)
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
            partner_api.get(path, as_role=role)
            with counted(database.engine) as statements:
                partner_api.get(path, as_role=role)
            found[path] = len(statements)
        for name, ask in screens.items():
            with (
                database.transaction(read_only=True) as session,
                counted(database.engine) as statements,
            ):
                ask(session)
            found[name] = len(statements)
        return found

    grow(partner_api, 1)
    with_one = counts()
    grow(partner_api, 100)
    assert counts() == with_one


def test_reading_the_partner_of_the_credential_costs_no_check_of_its_own(
    partner_api: PartnerApi, database: Database
) -> None:
    path = f"/api/partners/{partner_api.tenant.partner.id}/admin-report"
    partner_api.get(path)
    with counted(database.engine) as statements:
        partner_api.get(path)
    reads = [statement for statement in statements if statement.startswith("SELECT")]
    assert len(reads) == 2  # the token's, and the report
