"""PUT /api/partners/{partnerId}/organizations/{organizationId} over HTTP."""

import pytest

from app.enums import Role
from app.models import new_id
from tests.fixtures.partner_api import PartnerApi


@pytest.fixture
def path(partner_api: PartnerApi) -> str:
    tenant = partner_api.tenant
    return f"/api/partners/{tenant.partner.id}/organizations/{tenant.organization.id}"


def test_the_answer_is_the_changed_organization(partner_api: PartnerApi, path: str) -> None:
    listed = partner_api.get(f"/api/partners/{partner_api.tenant.partner.id}/organizations")
    answer = partner_api.put(path, {"referralCode": "FRIEND", "userLimit": 0}, as_role=Role.ADMIN)
    assert answer == listed[0] | {"referralCode": "FRIEND", "userLimit": 0}
    assert answer == {
        "id": str(partner_api.tenant.organization.id),
        "createdDate": listed[0]["createdDate"],
        "referralCode": "FRIEND",
        "referredByCode": None,
        "paymentTier": "customerFreePlan",
        "processorCustomerId": None,
        "referralPromoUsed": None,
        "referralUICustomization": None,
        "adminOwned": False,
        "partnerId": str(partner_api.tenant.partner.id),
        "tempDemoOrg": False,
        "agentLimit": 1,
        "userLimit": 0,
        "name": "Northwind Bakery",
    }


def test_an_organization_can_be_sent_back_as_it_was_read(
    partner_api: PartnerApi, path: str
) -> None:
    seen = partner_api.put(path, {})
    assert partner_api.put(path, seen) == seen


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"paymentTier": None}, "not_nullable"),
        ({"paymentTier": "gold"}, "not_allowed"),
        ({"agentLimit": None}, "not_nullable"),
        ({"userLimit": -1}, "out_of_range"),
        ({"userLimit": True}, "wrong_type"),
        ({"userLimit": 1.5}, "wrong_type"),
        ({"userLimit": 2**31}, "out_of_range"),
        ({"referralCode": "x" * 201}, "too_long"),
        ({"paymentTeir": "customerPlusPlan"}, "unknown_field"),
    ],
)
def test_bad_values_are_refused(
    partner_api: PartnerApi, path: str, body: dict[str, object], code: str
) -> None:
    assert partner_api.refused("PUT", path, body) == (400, code)


def test_an_operator_changes_by_path_and_the_ids_must_match(
    partner_api: PartnerApi, path: str
) -> None:
    assert partner_api.put(path, {"agentLimit": 5}, as_role=Role.OPERATOR)["agentLimit"] == 5
    tenant, other_tenant = partner_api.tenant, partner_api.other_tenant
    crossed = f"/api/partners/{tenant.partner.id}/organizations/{other_tenant.organization.id}"
    absent = f"/api/partners/{tenant.partner.id}/organizations/{new_id()}"
    nowhere = f"/api/partners/{new_id()}/organizations/{tenant.organization.id}"
    assert [
        partner_api.refused("PUT", place, {"agentLimit": 9}, as_role=Role.OPERATOR)
        for place in (crossed, absent, nowhere)
    ] == [
        (404, "organization_not_found"),
        (404, "organization_not_found"),
        (404, "partner_not_found"),
    ]
