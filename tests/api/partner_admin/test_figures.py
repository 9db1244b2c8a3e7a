"""Report, subscription and usage over HTTP."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from app.enums import Role, Tier
from app.models import Organization, User, new_id
from app.services import users
from app.services.reporting import admin_report
from tests.fixtures.partner_api import PartnerApi
from tests.fixtures.tenants import OPERATOR, converse

RANGE = "startDate=2026-05-01&endDate=2026-05-31"


@pytest.fixture
def partner_api_with_conversations(partner_api: PartnerApi) -> PartnerApi:
    """Three conversations in May at the organization on the Plus plan."""
    converse(partner_api.session, partner_api.tenant.plus, date(2026, 5, 4), 2)
    converse(partner_api.session, partner_api.tenant.plus, date(2026, 5, 31), 1)
    converse(partner_api.session, partner_api.other_tenant.organization, date(2026, 5, 4), 9)
    partner_api.session.commit()
    return partner_api


def report_of(partner_api: PartnerApi) -> Any:
    return partner_api.get(f"/api/partners/{partner_api.tenant.partner.id}/admin-report")


@pytest.mark.parametrize(
    ("microsecond", "written"), [(0, "000"), (999, "000"), (7_000, "007"), (120_000, "120")]
)
def test_the_report_writes_times_with_three_decimals(
    partner_api: PartnerApi, microsecond: int, written: str
) -> None:
    moment = datetime(2026, 5, 4, 9, 30, 15, microsecond, tzinfo=UTC)
    for user in (partner_api.tenant.user, partner_api.tenant.plus_user):
        partner_api.session.get_one(User, user.id).created_at = moment
    partner_api.session.commit()
    shown = {user["signUpDate"] for user in report_of(partner_api)["users"]}
    assert shown == {f"2026-05-04T09:30:15.{written}Z"}


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_the_report_shows_every_standard_user(
    partner_api_with_conversations: PartnerApi, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_report, "BATCH_SIZE", batch)
    listed = partner_api_with_conversations.get(
        f"/api/partners/{partner_api_with_conversations.tenant.partner.id}/users",
        as_role=Role.ADMIN,
    )
    olga, paul = listed
    assert report_of(partner_api_with_conversations) == {
        "userCount": 2,
        "userCountByTier": {tier.value: 0 for tier in Tier}
        | {"customerFreePlan": 1, "customerPlusPlan": 1},
        "users": [
            {
                "id": olga["id"],
                "email": "olga@northwind.example",
                "signUpDate": olga["createdAt"],
                "businessName": ["Northwind Bakery"],
                "paymentTier": "customerFreePlan",
                "conversations": 0,
            },
            {
                "id": paul["id"],
                "email": "paul@northwind.example",
                "signUpDate": paul["createdAt"],
                "businessName": ["Northwind Dental"],
                "paymentTier": "customerPlusPlan",
                "conversations": 3,
            },
        ],
    }


def test_a_partner_without_customers_has_an_empty_report(partner_api: PartnerApi) -> None:
    made = partner_api.post("/api/partners", {"partnerName": "Empty"}, as_role=Role.OPERATOR)
    report = partner_api.get(f"/api/partners/{made['id']}/admin-report", as_role=Role.OPERATOR)
    assert report == {
        "userCount": 0,
        "userCountByTier": {tier.value: 0 for tier in Tier},
        "users": [],
    }


def test_usage_and_report_agree(partner_api_with_conversations: PartnerApi) -> None:
    row = report_of(partner_api_with_conversations)["users"][1]
    usage = partner_api_with_conversations.get(
        f"/api/users/usage?userEmail={row['email']}&{RANGE}", as_role=Role.ADMIN
    )
    assert usage == {
        "userId": row["id"],
        "userEmail": row["email"],
        "organizationId": str(partner_api_with_conversations.tenant.plus.id),
        "totalAgentsCreated": 1,
        "totalUsersCreated": 1,
        "usage": {
            "conversations": row["conversations"],
            "lastUpdatedDate": usage["usage"]["lastUpdatedDate"],
            "requestedDateRange": {
                "start": "2026-05-01T00:00:00.000Z",
                "end": "2026-05-31T23:59:59.999Z",
            },
        },
    }
    assert usage["usage"]["lastUpdatedDate"].endswith("Z")


def test_figures_of_an_organization_name_no_user(
    partner_api_with_conversations: PartnerApi,
) -> None:
    usage = partner_api_with_conversations.get(
        f"/api/users/usage?organizationId={partner_api_with_conversations.tenant.plus.id}&{RANGE}"
    )
    plan = partner_api_with_conversations.get(
        f"/api/users/subscription?organizationId={partner_api_with_conversations.tenant.plus.id}"
    )
    assert (usage["userId"], usage["userEmail"], plan["userEmail"]) == (None, None, None)
    assert usage["usage"]["conversations"] == 3


def test_a_subscription_is_found_in_every_way(partner_api: PartnerApi) -> None:
    users.set_external_id(partner_api.session, OPERATOR, partner_api.tenant.plus_user.id, "ext-1")
    organization = partner_api.session.get_one(Organization, partner_api.tenant.plus.id)
    organization.user_limit = 0
    partner_api.session.commit()
    email = partner_api.tenant.plus_user.email
    ways = [
        f"/api/users/subscription?userEmail={email.upper()}",
        f"/api/users/subscription?userEmail={email}&organizationId={organization.id}",
        f"/api/users/{partner_api.tenant.plus_user.id}/subscription",
        "/api/users/ext-1/subscription",
    ]
    answers = [partner_api.get(way, as_role=Role.ADMIN) for way in ways]
    listed = partner_api.get(f"/api/partners/{partner_api.tenant.partner.id}/organizations")
    expected = {
        "userEmail": email,
        "organizationId": str(organization.id),
        "subscriptionPlan": {
            "name": "Plus",
            "startDate": listed[1]["createdDate"],
            "agentLimit": 1,
            "userLimit": {"value": 0, "isUnlimited": True},
        },
    }
    assert answers == [expected] * len(ways)


def test_a_limit_that_applies_is_not_reported_as_unlimited(partner_api: PartnerApi) -> None:
    plan = partner_api.get(f"/api/users/subscription?organizationId={partner_api.tenant.plus.id}")
    assert plan["subscriptionPlan"]["userLimit"] == {"value": 1, "isUnlimited": False}


@pytest.mark.parametrize("path", ["/api/users/subscription?", f"/api/users/usage?{RANGE}&"])
def test_selectors_must_name_one_organization(partner_api: PartnerApi, path: str) -> None:
    tenant, plus = partner_api.tenant.organization.id, partner_api.tenant.plus.id
    olga = partner_api.tenant.user.email
    staff = partner_api.tenant.staff[Role.PARTNER_ADMIN].email
    cases = {
        "": (400, "selector_required"),
        f"organizationId={plus}&userEmail={olga}": (400, "selectors_disagree"),
        f"organizationId={new_id()}": (404, "organization_not_found"),
        f"organizationId={partner_api.other_tenant.plus.id}": (404, "organization_not_found"),
        "userEmail=nobody@x.example": (404, "user_not_found"),
        f"userEmail={partner_api.other_tenant.user.email}": (404, "user_not_found"),
        f"userEmail={staff}": (404, "no_organization"),
        "organizationId=x": (400, "invalid_uuid"),
        "userEmail=x": (400, "invalid_email"),
        f"organizationId={tenant}&organizationId={tenant}": (400, "repeated"),
    }
    assert {case: partner_api.refused("GET", path + case) for case in cases} == cases
    hidden = partner_api.refused("GET", f"{path}userEmail={staff}", as_role=Role.ADMIN)
    assert hidden == (404, "user_not_found")


def test_a_user_without_an_organization_has_no_subscription(partner_api: PartnerApi) -> None:
    staff = partner_api.tenant.staff[Role.PARTNER_EDITOR].id
    path = f"/api/users/{staff}/subscription"
    assert partner_api.refused("GET", path) == (404, "no_organization")
    assert partner_api.refused("GET", path, as_role=Role.ADMIN) == (404, "user_not_found")
    assert partner_api.refused("GET", "/api/users/usage/subscription") == (404, "user_not_found")


@pytest.mark.parametrize(
    ("start", "end", "code"),
    [
        ("2026-05-02", "2026-05-01", "end_before_start"),
        ("2025-01-01", "2026-01-02", "range_too_long"),
        ("2026-02-29", "2026-03-01", "invalid_date"),
        ("2026-5-1", "2026-05-02", "invalid_date"),
        ("20260501", "2026-05-02", "invalid_date"),
        ("2026-05-01T00:00:00Z", "2026-05-02", "invalid_date"),
        ("0000-01-01", "2026-05-02", "invalid_date"),
        ("", "2026-05-02", "invalid_date"),
    ],
)
def test_an_invalid_range_is_refused(
    partner_api: PartnerApi, start: str, end: str, code: str
) -> None:
    query = f"organizationId={partner_api.tenant.plus.id}&startDate={start}&endDate={end}"
    path = f"/api/users/usage?{query}"
    assert partner_api.refused("GET", path) == (400, code)


@pytest.mark.parametrize(
    ("start", "end"),
    [("2025-01-01", "2026-01-01"), ("2026-05-01", "2026-05-01"), ("0001-01-01", "0001-01-02"),
     ("9999-12-31", "9999-12-31")],
)  # fmt: skip
def test_ranges_at_the_edge_are_answered(partner_api: PartnerApi, start: str, end: str) -> None:
    query = f"organizationId={partner_api.tenant.plus.id}&startDate={start}&endDate={end}"
    path = f"/api/users/usage?{query}"
    assert partner_api.get(path)["usage"] == {
        "conversations": 0,
        "lastUpdatedDate": None,
        "requestedDateRange": {"start": f"{start}T00:00:00.000Z", "end": f"{end}T23:59:59.999Z"},
    }


def test_both_days_are_required(partner_api: PartnerApi) -> None:
    response = partner_api.ask(
        "GET", f"/api/users/usage?organizationId={partner_api.tenant.plus.id}"
    )
    errors = response.get_json()["details"]["errors"]
    assert [(e["field"], e["code"]) for e in errors] == [
        ("startDate", "required"),
        ("endDate", "required"),
    ]
