"""An organization's rules for calling: what they may be, and who changed which last."""

from dataclasses import replace
from datetime import time
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.services import organizations
from app.services.organizations import CallingRules
from tests.fixtures.tenants import Tenant, make_tenant, open_destinations

MAX_CONCURRENT_CALLS = 5


def change(
    session: Session, tenant: Tenant, role: Role = Role.PARTNER_ADMIN, **values: Any
) -> list[str]:
    rules = replace(organizations.rules_of(tenant.organization), **values)
    return organizations.change_settings(
        session,
        tenant.caller(role),
        tenant.organization.id,
        rules,
        max_at_once=MAX_CONCURRENT_CALLS,
    )


WHOLE: dict[str, Any] = {
    "calling_hours_on": True,
    "calling_hours_start": time(9),
    "calling_hours_end": time(17, 30),
    "default_region": "GB",
    "allowed_regions": ("IE", "GB"),
    "max_calls_at_once": 3,
    "max_calls_a_day": 400,
    "retry_times": 2,
    "retry_minutes": 45,
    "number_spacing_minutes": 120,
    "number_most_calls": 3,
    "number_most_days": 7,
    "refuse_do_not_call": True,
    "consent_required": True,
}


def test_every_rule_is_written_and_read_back(session: Session, tenant: Tenant) -> None:
    open_destinations(session, tenant.partner.id, "IE")
    groups = change(session, tenant, **WHOLE)
    session.expire(tenant.organization)
    written = CallingRules(**{**WHOLE, "allowed_regions": ("GB", "IE")})
    assert organizations.rules_of(tenant.organization) == written
    assert groups == ["hours", "regions", "pace", "retries", "do_not_call", "consent"]


def test_each_group_says_who_changed_it_last(session: Session, tenant: Tenant) -> None:
    change(session, tenant, retry_times=1)
    change(session, tenant, Role.ADMIN, retry_times=2)
    change(session, tenant, max_calls_a_day=10)
    last = organizations.last_changes(session, tenant.organization)
    assert {group: (entry.actor, entry.before, entry.after) for group, entry in last.items()} == {
        "retries": (
            tenant.staff[Role.ADMIN].email,
            {"retryTimes": 1},
            {"retryTimes": 2},
        ),
        "pace": (
            tenant.staff[Role.PARTNER_ADMIN].email,
            {"maxCallsADay": None},
            {"maxCallsADay": 10},
        ),
    }


def test_the_same_rules_are_no_change(session: Session, tenant: Tenant) -> None:
    version = tenant.organization.version
    assert change(session, tenant) == []
    assert tenant.organization.version == version


@pytest.mark.parametrize(
    ("values", "field", "code"),
    [
        ({"calling_hours_start": time(21)}, "callingHoursEnd", "end_before_start"),
        ({"default_region": "ZZ"}, "defaultRegion", "unknown_region"),
        ({"allowed_regions": ()}, "allowedRegions", "required"),
        ({"allowed_regions": ("US", "ZZ")}, "allowedRegions", "unknown_region"),
        ({"allowed_regions": ("US", "001")}, "allowedRegions", "unknown_region"),
        ({"allowed_regions": ("US", "CU")}, "allowedRegions", "region_closed"),
        ({"allowed_regions": ("US", "CA")}, "allowedRegions", "region_closed"),
        ({"default_region": "CU"}, "defaultRegion", "region_closed"),
        ({"max_calls_at_once": MAX_CONCURRENT_CALLS + 1}, "maxCallsAtOnce", "out_of_range"),
        ({"max_calls_a_day": 0}, "maxCallsADay", "out_of_range"),
        ({"retry_times": 11}, "retryTimes", "out_of_range"),
        ({"retry_minutes": 0}, "retryMinutes", "out_of_range"),
        ({"number_spacing_minutes": 43_201}, "numberSpacingMinutes", "out_of_range"),
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused_by_its_field(
    session: Session, tenant: Tenant, values: dict[str, Any], field: str, code: str
) -> None:
    before = organizations.rules_of(tenant.organization)
    with pytest.raises(ValidationFailed) as refused:
        change(session, tenant, **values)
    assert [(p.field, p.code) for p in refused.value.problems] == [(field, code)]
    assert organizations.rules_of(tenant.organization) == before


def test_every_problem_is_named_at_once(session: Session, tenant: Tenant) -> None:
    with pytest.raises(ValidationFailed) as refused:
        change(session, tenant, retry_times=-1, retry_minutes=-1)
    assert [p.field for p in refused.value.problems] == ["retryTimes", "retryMinutes"]


def test_values_set_under_wider_limits_stay(session: Session, tenant: Tenant) -> None:
    tenant.organization.max_calls_at_once = MAX_CONCURRENT_CALLS + 10
    session.flush()
    assert change(session, tenant, retry_times=1) == ["retries"]


def test_readers_other_tenants_and_old_versions_change_nothing(
    session: Session, tenant: Tenant
) -> None:
    stranger = make_tenant(session, "Southwind").caller(Role.PARTNER_ADMIN)
    rules = replace(organizations.rules_of(tenant.organization), retry_times=1)
    for caller, refusal, seen in (
        (tenant.caller(Role.PARTNER_EDITOR), Forbidden, None),
        (stranger, NotFound, None),
        (tenant.caller(Role.ADMIN), Conflict, 99),
    ):
        with pytest.raises(refusal):
            organizations.change_settings(
                session,
                caller,
                tenant.organization.id,
                rules,
                max_at_once=MAX_CONCURRENT_CALLS,
                expected_version=seen,
            )
    assert tenant.organization.retry_times == 0
