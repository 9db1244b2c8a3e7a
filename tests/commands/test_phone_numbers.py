"""``flask phone-numbers …``."""

import json

from click.testing import Result
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.models import Assistant
from tests.fixtures.tenants import make_tenant


def run(app: Flask, *words: object) -> Result:
    return app.test_cli_runner().invoke(args=["phone-numbers", *map(str, words)])


def printed(app: Flask, *words: object) -> str:
    result = run(app, *words)
    assert result.exit_code == 0, result.output
    return result.output


def test_numbers_are_assigned_listed_moved_and_released(app: Flask, session: Session) -> None:
    tenant = make_tenant(session)
    session.commit()
    assert printed(app, "list") == "No phone number yet.\n"
    assigned = printed(app, "assign", tenant.plus.id, "+12025550123", "(202) 555-0124")
    assert assigned == "Assigned: +12025550123 +12025550124\n"
    printed(app, "move", "+12025550124", "--organization", tenant.organization.id)
    printed(app, "move", "+12025550123")
    assert printed(app, "list") == (
        "+12025550123  Northwind / -  assigned\n"
        "+12025550124  Northwind / Northwind Bakery  assigned\n"
    )
    assert printed(app, "release", "+12025550123") == "Released: +12025550123\n"
    listed = printed(app, "list", "--organization", tenant.organization.id, "--json")
    assert json.loads(listed) == [
        {
            "number": "+12025550124",
            "partner": "Northwind",
            "organization": "Northwind Bakery",
            "source": "assigned",
            "confirmed": True,
        }
    ]
    assert run(app, "release", "+12025550123").output == "Error: There is no such phone number.\n"


def test_conflicts_are_listed_with_the_organization_that_has_the_number(
    app: Flask, session: Session
) -> None:
    tenant = make_tenant(session)
    session.commit()
    assert printed(app, "conflicts") == "No conflict.\n"
    printed(app, "assign", tenant.plus.id, "+12025550123")
    session.execute(update(Assistant).values(phone_number="+12025550123"))
    session.commit()
    query = select(Assistant).where(Assistant.organization_id == tenant.organization.id)
    second = session.scalars(query).one()
    assert printed(app, "conflicts") == (
        f"+12025550123  {second.name} ({second.id}) of Northwind / Northwind Bakery; "
        "belongs to Northwind Dental\n"
    )
