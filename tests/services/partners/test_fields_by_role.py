"""Which fields of a partner a role writes and sees (docs/decisions/partners.md#fields-by-role)."""

from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Forbidden
from app.policy import Permission
from app.schemas.base import wire_name
from app.schemas.parsing import read
from app.schemas.partners import Partner, UpdatePartnerInput
from app.services import partners
from tests.fixtures.partner_api import without_ids
from tests.fixtures.tenants import Tenant, make_tenant

EDITOR_WRITES = {
    "logoImgUrl": "https://northwind.example/new.png",
    "siteImages": [{"type": "hero", "imageUrl": "https://northwind.example/hero.png"}],
    "brandUIColors": [{"name": "primary", "value": "#abc"}],
    "chatTemplateColors": {"header": "rebeccapurple"},
    "customHeaderLinks": [{"label": "Help", "url": "mailto:help@northwind.example"}],
    "socialLinks": [{"type": "youtube", "url": "https://youtube.com/@northwind"}],
    "showBrandingToggle": True,
    "showCharacterToggle": True,
    "showEmbeddedChat": True,
    "chatAgentId": "chat-7",
    "productName": "Northwind Reception",
    "defaultAgentName": "Nora",
    "partnerUpgradeMessage": "Ask us for more.",
    "demoLink": "https://northwind.example/demo",
}
OTHERS_WRITE = {
    "partnerName": "Northwind Ltd",
    "domain": "portal.northwind.example",
    "defaultService": "dentist",
    "billingEmail": "bills@northwind.example",
    "supportEmail": "help@northwind.example",
    "notificationEmail": "news@northwind.example",
    "emailDomain": "northwind.example",
    "pricing": [
        {"tier": "customerPlusPlan", "processorPriceId": "price_1", "processorProductId": "prod_1"}
    ],
    "partnerType": "agency",
    "paymentMethodId": "pm_1",
    "partnerRedirectLink": "https://northwind.example/bye",
    "collectionEmail": "collect@northwind.example",
    "trackingEmail": "track@northwind.example",
    "purchaseLink": "https://northwind.example/buy",
    "defaultAgentLimit": 7,
    "allowedQueryParams": {"utm_source": True},
}
HIDDEN = {
    "billingEmail",
    "collectionEmail",
    "paymentMethodId",
    "processorCollectionCustomerId",
    "processorTrackingCustomerId",
}


def put(session: Session, tenant: Tenant, role: Role, **fields: Any) -> dict[str, Any]:
    changed = partners.update(
        session, tenant.caller(role), tenant.partner.id, read(UpdatePartnerInput, fields)
    )
    return visible_fields(changed, tenant, role)


def visible_fields(partner: Any, tenant: Tenant, role: Role) -> dict[str, Any]:
    shown = partners.to_resource(partner, tenant.caller(role))
    return shown.model_dump(mode="json", by_alias=True)


def test_the_two_lists_together_have_all_fields_of_the_input() -> None:
    assert set(EDITOR_WRITES) | set(OTHERS_WRITE) == set(UpdatePartnerInput.wire_fields())


@pytest.mark.parametrize("field", EDITOR_WRITES)
def test_an_editor_writes_what_belongs_to_the_brand(session: Session, field: str) -> None:
    tenant = make_tenant(session)
    answer = put(session, tenant, Role.PARTNER_EDITOR, **{field: EDITOR_WRITES[field]})
    assert without_ids(answer[field]) == EDITOR_WRITES[field]


@pytest.mark.parametrize("field", OTHERS_WRITE)
def test_an_editor_gets_the_name_of_the_field_that_is_not_theirs(
    session: Session, field: str
) -> None:
    tenant = make_tenant(session)
    before = visible_fields(tenant.partner, tenant, Role.PARTNER_ADMIN)
    with pytest.raises(Forbidden) as refused:
        put(session, tenant, Role.PARTNER_EDITOR, productName="x", **{field: OTHERS_WRITE[field]})
    assert [(p.field, p.code) for p in refused.value.problems] == [(field, "field_not_allowed")]
    assert visible_fields(tenant.partner, tenant, Role.PARTNER_ADMIN) == before


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.OPERATOR])
def test_administrators_and_operators_write_every_field(session: Session, role: Role) -> None:
    tenant = make_tenant(session)
    everything = EDITOR_WRITES | OTHERS_WRITE
    answer = put(session, tenant, role, **everything)
    assert {name: without_ids(answer[name]) for name in everything} == everything


def test_an_editor_can_send_back_what_they_read(session: Session) -> None:
    tenant = make_tenant(session)
    put(session, tenant, Role.PARTNER_ADMIN, **EDITOR_WRITES, **OTHERS_WRITE)
    read_by_editor = visible_fields(tenant.partner, tenant, Role.PARTNER_EDITOR)
    assert put(session, tenant, Role.PARTNER_EDITOR, **read_by_editor) == read_by_editor


def test_billing_contacts_and_processor_ids_are_for_administrators_and_operators(
    session: Session,
) -> None:
    tenant = make_tenant(session)
    tenant.partner.processor_collection_customer_id = "cus_1"
    tenant.partner.processor_tracking_customer_id = "cus_2"
    put(session, tenant, Role.PARTNER_ADMIN, **OTHERS_WRITE)
    by_role = {role: visible_fields(tenant.partner, tenant, role) for role in Role}
    hidden = {
        role: {name for name in HIDDEN if shown[name] is None} for role, shown in by_role.items()
    }
    sees_all = {Role.OPERATOR, Role.PARTNER_ADMIN}
    assert hidden == {role: set() if role in sees_all else HIDDEN for role in Role}


def test_all_fields_that_are_not_allowed_are_named_at_once(session: Session) -> None:
    tenant = make_tenant(session)
    with pytest.raises(Forbidden) as refused:
        put(session, tenant, Role.PARTNER_EDITOR, domain="a.example", partnerName="A")
    assert [p.field for p in refused.value.problems] == ["domain", "partnerName"]


def test_a_token_without_the_right_to_write_partners_writes_as_an_editor(session: Session) -> None:
    tenant = make_tenant(session)
    caller = tenant.caller(Role.PARTNER_ADMIN, frozenset({Permission.BRANDING_WRITE}))
    with pytest.raises(Forbidden) as refused:
        partners.update(
            session, caller, tenant.partner.id, read(UpdatePartnerInput, {"domain": None})
        )
    assert [p.field for p in refused.value.problems] == ["domain"]


def test_every_hidden_field_is_a_field_of_the_answer() -> None:
    assert {wire_name(name) for name in partners.BILLING_FIELDS} == HIDDEN
    assert set(Partner.wire_fields()) >= HIDDEN
