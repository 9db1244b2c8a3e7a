"""``flask phone-numbers …``."""

import json

from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.models import Assistant
from tests.commands.conftest import printed, run_command
from tests.fixtures.tenants import make_tenant


def test_numbers_are_assigned_listed_moved_and_released(app: Flask, session: Session) -> None:
    tenant = make_tenant(session)
    session.commit()
    assert printed(app, "phone-numbers", "list") == "No phone number yet.\n"
    assigned = printed(
        app, "phone-numbers", "assign", tenant.plus.id, "+12025550123", "(202) 555-0124"
    )
    assert assigned == "Assigned: +12025550123 +12025550124\n"
    printed(app, "phone-numbers", "move", "+12025550124", "--organization", tenant.organization.id)
    printed(app, "phone-numbers", "move", "+12025550123")
    assert printed(app, "phone-numbers", "list") == (
        "+12025550123  Northwind / -  assigned\n"
        "+12025550124  Northwind / Northwind Bakery  assigned\n"
    )
    assert printed(app, "phone-numbers", "release", "+12025550123") == "Released: +12025550123\n"
    listed = printed(
        app, "phone-numbers", "list", "--organization", tenant.organization.id, "--json"
    )
    assert json.loads(listed) == [
        {
            "number": "+12025550124",
            "partner": "Northwind",
            "organization": "Northwind Bakery",
            "source": "assigned",
            "confirmed": True,
        }
    ]
    assert (
        run_command(app, "phone-numbers", "release", "+12025550123").output
        == "Error: There is no such phone number.\n"
    )


def test_conflicts_are_listed_with_the_organization_that_has_the_number(
    app: Flask, session: Session
) -> None:
    tenant = make_tenant(session)
    session.commit()
    assert printed(app, "phone-numbers", "conflicts") == "No conflict.\n"
    printed(app, "phone-numbers", "assign", tenant.plus.id, "+12025550123")
    session.execute(update(Assistant).values(phone_number="+12025550123"))
    session.commit()
    query = select(Assistant).where(Assistant.organization_id == tenant.organization.id)
    second = session.scalars(query).one()
    assert printed(app, "phone-numbers", "conflicts") == (
        f"+12025550123  {second.name} ({second.id}) of Northwind / Northwind Bakery; "
        "belongs to Northwind Dental\n"
    )
