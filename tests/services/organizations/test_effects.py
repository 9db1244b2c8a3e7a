"""The effects of a change of plan and limits are shown before it is saved."""

from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import Area, Role, Tier
from app.errors import Forbidden, NotFound
from app.models import OAuthClient, Organization
from app.services import assistants, organizations
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant


def effect_sentences(
    session: Session, tenant: Tenant, organization: Organization, **chosen: Any
) -> list[str]:
    values = {
        "tier": organization.payment_tier,
        "assistant_limit": organization.assistant_limit,
        "user_limit": organization.user_limit,
        **chosen,
    }
    found = organizations.effects(session, tenant.caller(Role.ADMIN), organization.id, **values)
    return [f"{effect.weight}: {effect.message}" for effect in found]


def add_legacy_client(session: Session, organization: Organization) -> None:
    session.add(
        OAuthClient(
            partner_id=organization.partner_id,
            organization_id=organization.id,
            area=Area.LEGACY_CALLS,
            name="Old dialler",
            client_id="ppc_old",
            secret_hash="-",
            created_by="operator",
        )
    )
    session.flush()


def test_the_current_values_have_no_effects(session: Session, tenant: Tenant) -> None:
    assert effect_sentences(session, tenant, tenant.organization) == []


def test_leaving_plus_ends_the_legacy_api(session: Session, tenant: Tenant) -> None:
    add_legacy_client(session, tenant.plus)
    assert effect_sentences(session, tenant, tenant.plus, tier=Tier.BASIC) == [
        "to-know: The plan changes from Plus to Basic immediately.",
        "takes: The legacy API refuses its 1 client immediately: it needs the plan Plus.",
        "to-know: The user limit stays at 1; Basic includes 10 users.",
    ]


def test_changing_to_plus_opens_the_legacy_api(session: Session, tenant: Tenant) -> None:
    add_legacy_client(session, tenant.organization)
    assert effect_sentences(session, tenant, tenant.organization, tier=Tier.PLUS)[1:] == [
        "gives: The legacy API opens for its 1 client.",
        "to-know: The user limit stays at 1; Plus includes 50 users.",
    ]


def test_a_limit_below_the_usage_refuses_the_next_item_and_removes_none(
    session: Session, tenant: Tenant
) -> None:
    organization = tenant.organization
    organization.assistant_limit = 10
    for name in ("Robin", "Kim"):
        assistants.add_assistant(session, OPERATOR, organization, name=name)
    assert effect_sentences(session, tenant, organization, assistant_limit=2) == [
        (
            "takes: Northwind Bakery has 3 assistants, the new limit is 2: "
            "the next assistant will be refused; nothing is switched off."
        )
    ]
    assert effect_sentences(session, tenant, organization, assistant_limit=3) == [
        (
            "takes: Northwind Bakery has 3 assistants, the new limit is 3: "
            "the next assistant will be refused."
        )
    ]
    assert effect_sentences(session, tenant, organization, assistant_limit=4) == [
        "to-know: Northwind Bakery has 3 assistants, the new limit is 4: 1 more can be added."
    ]
    assert effect_sentences(session, tenant, organization, assistant_limit=12) == [
        "gives: Northwind Bakery has 3 assistants, the new limit is 12: 9 more can be added."
    ]


def test_a_limit_of_0_is_shown_as_no_limit(session: Session, tenant: Tenant) -> None:
    assert effect_sentences(session, tenant, tenant.organization, user_limit=0) == [
        "gives: Northwind Bakery has 1 user, with no limit."
    ]


def test_only_roles_that_change_organizations_see_effects(session: Session, tenant: Tenant) -> None:
    stranger = make_tenant(session, "Southwind")
    wanted: dict[str, Any] = {"tier": None, "assistant_limit": 1, "user_limit": 1}
    for caller, refusal in (
        (tenant.caller(Role.PARTNER_EDITOR), Forbidden),
        (stranger.caller(Role.PARTNER_ADMIN), NotFound),
    ):
        with pytest.raises(refusal):
            organizations.effects(session, caller, tenant.organization.id, **wanted)
