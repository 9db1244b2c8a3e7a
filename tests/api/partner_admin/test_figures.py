"""Report, subscription and usage over HTTP."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from app.enums import Role, Tier
from app.models import Organization, User, new_id
from app.services import users
from app.services.reporting import admin_report
from tests.fixtures.area_a import AreaA
from tests.fixtures.cast import OPERATOR, converse

RANGE = "startDate=2026-05-01&endDate=2026-05-31"


@pytest.fixture
def busy(area: AreaA) -> AreaA:
    """Three conversations in May at the organization on the Plus plan."""
    converse(area.session, area.tenant.plus, date(2026, 5, 4), 2)
    converse(area.session, area.tenant.plus, date(2026, 5, 31), 1)
    converse(area.session, area.other_tenant.organization, date(2026, 5, 4), 9)
    area.session.commit()
    return area


def report_of(area: AreaA) -> Any:
    return area.get(f"/api/partners/{area.tenant.partner.id}/admin-report")


@pytest.mark.parametrize(
    ("microsecond", "written"), [(0, "000"), (999, "000"), (7_000, "007"), (120_000, "120")]
)
def test_the_report_writes_times_with_three_decimals(
    area: AreaA, microsecond: int, written: str
) -> None:
    moment = datetime(2026, 5, 4, 9, 30, 15, microsecond, tzinfo=UTC)
    for user in (area.tenant.user, area.tenant.plus_user):
        area.session.get_one(User, user.id).created_at = moment
    area.session.commit()
    shown = {user["signUpDate"] for user in report_of(area)["users"]}
    assert shown == {f"2026-05-04T09:30:15.{written}Z"}


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_the_report_shows_every_standard_user(
    busy: AreaA, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_report, "BATCH", batch)
    listed = busy.get(f"/api/partners/{busy.tenant.partner.id}/users", as_role=Role.ADMIN)
    olga, paul = listed
    assert report_of(busy) == {
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


def test_a_partner_without_customers_has_an_empty_report(area: AreaA) -> None:
    made = area.post("/api/partners", {"partnerName": "Empty"}, as_role=Role.OPERATOR)
    report = area.get(f"/api/partners/{made['id']}/admin-report", as_role=Role.OPERATOR)
    assert report == {
        "userCount": 0,
        "userCountByTier": {tier.value: 0 for tier in Tier},
        "users": [],
    }


def test_usage_and_report_agree(busy: AreaA) -> None:
    row = report_of(busy)["users"][1]
    usage = busy.get(f"/api/users/usage?userEmail={row['email']}&{RANGE}", as_role=Role.ADMIN)
    assert usage == {
        "userId": row["id"],
        "userEmail": row["email"],
        "organizationId": str(busy.tenant.plus.id),
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


def test_figures_of_an_organization_name_no_user(busy: AreaA) -> None:
    usage = busy.get(f"/api/users/usage?organizationId={busy.tenant.plus.id}&{RANGE}")
    plan = busy.get(f"/api/users/subscription?organizationId={busy.tenant.plus.id}")
    assert (usage["userId"], usage["userEmail"], plan["userEmail"]) == (None, None, None)
    assert usage["usage"]["conversations"] == 3


def test_a_subscription_is_found_in_every_way(area: AreaA) -> None:
    users.set_external_id(area.session, OPERATOR, area.tenant.plus_user.id, "ext-1")
    organization = area.session.get_one(Organization, area.tenant.plus.id)
    organization.user_limit = 0
    area.session.commit()
    email = area.tenant.plus_user.email
    ways = [
        f"/api/users/subscription?userEmail={email.upper()}",
        f"/api/users/subscription?userEmail={email}&organizationId={organization.id}",
        f"/api/users/{area.tenant.plus_user.id}/subscription",
        "/api/users/ext-1/subscription",
    ]
    answers = [area.get(way, as_role=Role.ADMIN) for way in ways]
    listed = area.get(f"/api/partners/{area.tenant.partner.id}/organizations")
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


def test_a_limit_that_applies_is_not_reported_as_unlimited(area: AreaA) -> None:
    plan = area.get(f"/api/users/subscription?organizationId={area.tenant.plus.id}")
    assert plan["subscriptionPlan"]["userLimit"] == {"value": 1, "isUnlimited": False}


@pytest.mark.parametrize("path", ["/api/users/subscription?", f"/api/users/usage?{RANGE}&"])
def test_selectors_must_name_one_organization(area: AreaA, path: str) -> None:
    tenant, plus = area.tenant.organization.id, area.tenant.plus.id
    olga = area.tenant.user.email
    staff = area.tenant.staff[Role.PARTNER_ADMIN].email
    cases = {
        "": (400, "selector_required"),
        f"organizationId={plus}&userEmail={olga}": (400, "selectors_disagree"),
        f"organizationId={new_id()}": (404, "organization_not_found"),
        f"organizationId={area.other_tenant.plus.id}": (404, "organization_not_found"),
        "userEmail=nobody@x.example": (404, "user_not_found"),
        f"userEmail={area.other_tenant.user.email}": (404, "user_not_found"),
        f"userEmail={staff}": (404, "no_organization"),
        "organizationId=x": (400, "invalid_uuid"),
        "userEmail=x": (400, "invalid_email"),
        f"organizationId={tenant}&organizationId={tenant}": (400, "repeated"),
    }
    assert {case: area.refused("GET", path + case) for case in cases} == cases
    hidden = area.refused("GET", f"{path}userEmail={staff}", as_role=Role.ADMIN)
    assert hidden == (404, "user_not_found")


def test_a_user_without_an_organization_has_no_subscription(area: AreaA) -> None:
    staff = area.tenant.staff[Role.PARTNER_EDITOR].id
    path = f"/api/users/{staff}/subscription"
    assert area.refused("GET", path) == (404, "no_organization")
    assert area.refused("GET", path, as_role=Role.ADMIN) == (404, "user_not_found")
    assert area.refused("GET", "/api/users/usage/subscription") == (404, "user_not_found")


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
def test_an_invalid_range_is_refused(area: AreaA, start: str, end: str, code: str) -> None:
    path = f"/api/users/usage?organizationId={area.tenant.plus.id}&startDate={start}&endDate={end}"
    assert area.refused("GET", path) == (400, code)


@pytest.mark.parametrize(
    ("start", "end"),
    [("2025-01-01", "2026-01-01"), ("2026-05-01", "2026-05-01"), ("0001-01-01", "0001-01-02"),
     ("9999-12-31", "9999-12-31")],
)  # fmt: skip
def test_ranges_at_the_edge_are_answered(area: AreaA, start: str, end: str) -> None:
    path = f"/api/users/usage?organizationId={area.tenant.plus.id}&startDate={start}&endDate={end}"
    assert area.get(path)["usage"] == {
        "conversations": 0,
        "lastUpdatedDate": None,
        "requestedDateRange": {"start": f"{start}T00:00:00.000Z", "end": f"{end}T23:59:59.999Z"},
    }


def test_both_days_are_required(area: AreaA) -> None:
    response = area.ask("GET", f"/api/users/usage?organizationId={area.tenant.plus.id}")
    errors = response.get_json()["details"]["errors"]
    assert [(e["field"], e["code"]) for e in errors] == [
        ("startDate", "required"),
        ("endDate", "required"),
    ]
