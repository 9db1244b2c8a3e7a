"""Addresses that pages had before lead to the new ones."""

from uuid import UUID

import pytest

from app.models import new_id
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser


@pytest.mark.parametrize(
    ("former", "new"),
    [
        ("/people", "/users"),
        ("/people?status=invited&sort=-name", "/users?status=invited&sort=-name"),
        ("/people/invite", "/users/invite"),
        ("/line", "/carriers"),
        ("/line/accounts/trunk?organization=1", "/carriers/accounts/trunk?organization=1"),
        ("/find?q=north", "/search?q=north"),
        ("/line/x?next=/people", "/carriers/x?next=/people"),
        *(
            (f"{page}/{UUID(int=1)}/roll", f"{page}/{UUID(int=1)}/rotate")
            for page in (
                "/api-access/keys",
                "/api-access/clients",
                "/api-access/webhooks",
                "/settings/directory/tokens",
            )
        ),
    ],
)
def test_a_bookmark_of_a_former_address_opens_the_page(
    admin: Browser, former: str, new: str
) -> None:
    answer = admin.get(former)
    assert (answer.status_code, answer.location) == (308, new)


def test_the_former_address_of_the_users_of_an_organization_leads_to_them(
    admin: Browser, tenant: Tenant
) -> None:
    there = f"/organizations/{tenant.organization.id}"
    answer = admin.get(f"{there}/people")
    assert (answer.status_code, answer.location) == (308, f"{there}/users")
    assert admin.get(answer.location).status_code == 200


@pytest.mark.parametrize(
    ("former", "new"),
    [("left-out?reason=no_phone", "excluded?reason=no_phone"), ("again", "call-again")],
)
def test_former_addresses_of_the_pages_of_a_campaign_lead_to_them(
    admin: Browser, former: str, new: str
) -> None:
    outreach = f"/campaigns/{new_id()}/outreach"
    answer = admin.get(f"{outreach}/{former}")
    assert (answer.status_code, answer.location) == (308, f"{outreach}/{new}")
