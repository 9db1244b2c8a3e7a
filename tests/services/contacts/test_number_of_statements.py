"""The number of statements doesn't grow with the contacts of a request."""

from contextlib import AbstractContextManager
from typing import Any

import pytest

from app.enums import ContactAction
from tests.fixtures.statements import counted
from tests.services.contacts.conftest import Outreach

ROWS_A_STATEMENT_ON_SQLITE = 500


def statements(outreach: Outreach) -> AbstractContextManager[list[str]]:
    return counted(outreach.session.connection().engine)


def people(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [
        {
            "phone": f"+1202555{place:04d}",
            "email": f"contact{place}@example.com",
            "externalIdKey": "crmId",
            "externalIdValue": str(place),
            **fields,
        }
        for place in range(count)
    ]


@pytest.mark.parametrize(
    ("fields", "action"),
    [
        ({"firstName": "Augusta"}, ContactAction.UPSERT),
        ({"createdAt": "2026-01-01", "externalIds": None}, ContactAction.UPSERT),
        ({"email": None}, ContactAction.UPDATE_ONLY),
        ({}, ContactAction.REMOVE),
    ],
)
def test_a_hundred_contacts_take_as_many_statements_as_ten(
    outreach: Outreach, fields: dict[str, Any], action: ContactAction
) -> None:
    outreach.apply(*people(1))
    counted = []
    for count in (10, ROWS_A_STATEMENT_ON_SQLITE):
        with statements(outreach) as creating:
            outreach.apply(*people(count))
        with statements(outreach) as changing:
            outreach.apply(*people(count, **fields), action=action)
        outreach.apply(*people(count), action=ContactAction.REMOVE)
        outreach.apply(*people(1))
        counted.append((len(creating), len(changing)))
    assert counted[0] == counted[1]
    assert max(counted[0]) <= 16
