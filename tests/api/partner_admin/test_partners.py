"""/api/partners over HTTP."""

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import new_id
from tests.fixtures.partner_api import PartnerApi

FIELDS = {
    "id", "createdDate", "updatedDate", "partnerName", "logoImgUrl", "showBrandingToggle",
    "showCharacterToggle", "domain", "defaultAgentName", "defaultService", "brandUIColors",
    "customHeaderLinks", "socialLinks", "showEmbeddedChat", "chatAgentId", "chatTemplateColors",
    "billingEmail", "supportEmail", "notificationEmail", "emailDomain", "pricing", "partnerType",
    "siteImages", "paymentMethodId", "partnerRedirectLink", "partnerUpgradeMessage",
    "collectionEmail", "processorCollectionCustomerId", "processorTrackingCustomerId",
    "trackingEmail", "purchaseLink", "defaultAgentLimit", "demoLink", "productName",
    "allowedQueryParams",
}  # fmt: skip


def test_a_new_partner_has_the_defaults_of_the_contract(partner_api: PartnerApi) -> None:
    made = partner_api.post("/api/partners", {"partnerName": "Third"}, as_role=Role.OPERATOR)
    moments = {made.pop("createdDate"), made.pop("updatedDate")}
    defaults = {
        "showBrandingToggle": False,
        "showCharacterToggle": False,
        "showEmbeddedChat": False,
        "defaultAgentLimit": 1,
        "productName": "AI Receptionist",
    }
    rest = FIELDS - {"createdDate", "updatedDate", "id", "partnerName"} - set(defaults)
    assert made == {
        "id": made["id"],
        "partnerName": "Third",
        **dict.fromkeys(rest),
        **defaults,
    }
    assert all(moment.endswith("Z") for moment in moments)


def test_sending_a_partner_back_as_it_was_read_changes_nothing(partner_api: PartnerApi) -> None:
    path = f"/api/partners/{partner_api.tenant.partner.id}"
    partner_api.put(path, {"brandUIColors": [{"name": "a", "value": "red"}], "socialLinks": []})
    for role in (Role.OPERATOR, Role.PARTNER_ADMIN, Role.PARTNER_EDITOR):
        seen = partner_api.get(path, as_role=role)
        assert partner_api.put(path, seen, as_role=role) == seen


def test_an_unknown_field_is_refused_and_the_nearest_known_one_named(
    partner_api: PartnerApi,
) -> None:
    path = f"/api/partners/{partner_api.tenant.partner.id}"
    response = partner_api.ask("PUT", path, {"productname": "x", "demoLink": "https://a.example"})
    assert response.status_code == 400
    assert response.get_json()["details"]["errors"] == [
        {
            "field": "productname",
            "code": "unknown_field",
            "message": 'There is no field "productname" here. Did you mean "productName"?',
        }
    ]
    assert partner_api.get(path)["demoLink"] is None


def test_every_problem_of_a_body_is_in_one_answer(partner_api: PartnerApi) -> None:
    body = {
        "partnerName": None,
        "defaultAgentLimit": "1",
        "logoImgUrl": "javascript:alert(1)",
        "brandUIColors": [{"name": "a", "value": "url(x)"}, {"value": "red"}],
        "socialLinks": [{"type": "myspace", "url": "https://a.example"}],
        "supportEmail": "nobody",
    }
    response = partner_api.ask("PUT", f"/api/partners/{partner_api.tenant.partner.id}", body)
    errors = response.get_json()["details"]["errors"]
    assert response.status_code == 400
    assert sorted((error["field"], error["code"]) for error in errors) == [
        ("brandUIColors.0.value", "invalid_colour"),
        ("brandUIColors.1.name", "required"),
        ("defaultAgentLimit", "wrong_type"),
        ("logoImgUrl", "invalid_url"),
        ("partnerName", "not_nullable"),
        ("socialLinks.0.type", "not_allowed"),
        ("supportEmail", "invalid_email"),
    ]


def test_an_editor_gets_the_name_of_the_field_that_only_others_may_change(
    partner_api: PartnerApi,
) -> None:
    path = f"/api/partners/{partner_api.tenant.partner.id}"
    before = partner_api.get(path)
    response = partner_api.ask(
        "PUT", path, {"productName": "x", "domain": "x.example"}, as_role=Role.PARTNER_EDITOR
    )
    assert response.status_code == 403
    assert [e["field"] for e in response.get_json()["details"]["errors"]] == ["domain"]
    assert partner_api.get(path) == before


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["Northwind", "Southbank"]),
        ("?name=SOUTH", ["Southbank"]),
        ("?name=%25", []),
        ("?domain=NORTHWIND.example", ["Northwind"]),
        ("?domain=northwind", []),
    ],
)
def test_an_operator_finds_partners(partner_api: PartnerApi, query: str, found: list[str]) -> None:
    listed = partner_api.get(f"/api/partners{query}", as_role=Role.OPERATOR)
    assert [partner["partnerName"] for partner in listed] == found


@pytest.mark.parametrize("words", ["zoe", "ZOË", "muller", "mueller"])
def test_an_operator_finds_partners_without_accents(
    session: Session, partner_api: PartnerApi, words: str
) -> None:
    partner_api.tenant.partner.name = "Zoë Müller"
    session.commit()
    listed = partner_api.get(f"/api/partners?name={words}", as_role=Role.OPERATOR)
    assert [partner["partnerName"] for partner in listed] == ["Zoë Müller"]


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN])
def test_a_partner_finds_itself_as_it_reads_itself(partner_api: PartnerApi, role: Role) -> None:
    read = partner_api.get(f"/api/partners/{partner_api.tenant.partner.id}", as_role=role)
    assert set(read) == FIELDS
    assert partner_api.get("/api/partners", as_role=role) == [read]
    assert partner_api.get("/api/partners?name=southbank", as_role=role) == []


@pytest.mark.parametrize("identifier", ["x", "0193a5c2-7d40-7c11-9a3e", "%00"])
def test_a_malformed_id_is_a_bad_request(partner_api: PartnerApi, identifier: str) -> None:
    assert partner_api.refused("GET", f"/api/partners/{identifier}") == (400, "invalid_uuid")


def test_an_absent_partner_is_not_found(partner_api: PartnerApi) -> None:
    for role in (Role.PARTNER_ADMIN, Role.OPERATOR):
        path = f"/api/partners/{new_id()}"
        assert partner_api.refused("GET", path, as_role=role) == (404, "partner_not_found")


def test_a_colour_and_a_link_come_back_as_they_were_sent(partner_api: PartnerApi) -> None:
    sent = {
        "brandUIColors": [{"name": "primary", "value": "HSL(312, 45%, 33%)"}],
        "customHeaderLinks": [{"label": "Call", "url": "tel:+442079460958"}],
    }
    answer = partner_api.put(f"/api/partners/{partner_api.tenant.partner.id}", sent)
    assert answer["brandUIColors"][0]["value"] == "HSL(312, 45%, 33%)"
    assert answer["customHeaderLinks"][0]["url"] == "tel:+442079460958"


def test_a_number_is_answered_as_it_was_sent_and_can_be_sent_back(partner_api: PartnerApi) -> None:
    path = f"/api/partners/{partner_api.tenant.partner.id}"
    sent = {"large": 1e300, "beyond": -1e19, "most": 2**63 - 1, "least": -(2**63), "half": 0.5}
    partner_api.put(path, {"allowedQueryParams": sent})
    stored = partner_api.get(path)["allowedQueryParams"]
    assert {name: repr(number) for name, number in stored.items()} == {
        name: repr(number) for name, number in sent.items()
    }
    assert partner_api.put(path, {"allowedQueryParams": stored})["allowedQueryParams"] == sent


def test_pricing_follows_the_partners_list(partner_api: PartnerApi) -> None:
    path = f"/api/partners/{partner_api.tenant.partner.id}"
    entry = {
        "tier": "customerBasicPlan", "processorPriceId": "price_1", "processorProductId": "prod_1",
    }  # fmt: skip
    partner_api.put(path, {"pricing": [entry]})
    assert partner_api.get(f"{path}/pricing", as_role=Role.PARTNER_EDITOR) == [
        {"cost": 29.0, "currency": "USD", "paymentTier": "customerBasicPlan", "name": "Basic"}
    ]
