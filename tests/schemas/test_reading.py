"""From data to classes: nothing is converted, and every problem is named with its place."""

from datetime import date
from typing import Any
from uuid import UUID

import pytest

from app.enums import ContactAction, Role, Tier
from app.errors import ValidationFailed
from app.schemas.base import Wire
from app.schemas.calls import OutboundCallInput
from app.schemas.contacts import BulkContactsInput, BulkQuery
from app.schemas.figures import SubscriptionQuery, UsageQuery
from app.schemas.legacy import LegacyCallInput
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.paging import PageQuery
from app.schemas.parsing import MAX_PROBLEMS, read
from app.schemas.partners import CreatePartnerInput, UpdatePartnerInput
from app.schemas.users import CreatePartialUserInput, CreateUserInput, UpdateUserInput

ID = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"


def problems(model: type[Wire], data: Any, **options: Any) -> set[tuple[str, str]]:
    """(field, code) of everything wrong with the data."""
    with pytest.raises(ValidationFailed) as refused:
        read(model, data, **options)
    return {(problem.field, problem.code) for problem in refused.value.problems}


@pytest.mark.parametrize("value", ["1", True, 1.5, [], {}])
def test_only_an_integer_is_an_integer(value: object) -> None:
    assert problems(UpdateOrganizationInput, {"agentLimit": value}) == {
        ("agentLimit", "wrong_type")
    }


def test_an_integer_may_be_written_with_a_point() -> None:
    assert read(UpdateOrganizationInput, {"agentLimit": 5.0}).sent() == {"assistant_limit": 5}


@pytest.mark.parametrize("value", ["true", 1, 0, "", []])
def test_only_true_and_false_are_booleans(value: object) -> None:
    assert problems(UpdatePartnerInput, {"showEmbeddedChat": value}) == {
        ("showEmbeddedChat", "wrong_type")
    }


@pytest.mark.parametrize("value", [1, True, ["x"], {"x": 1}])
def test_only_text_is_text(value: object) -> None:
    assert problems(UpdatePartnerInput, {"domain": value}) == {("domain", "wrong_type")}


@pytest.mark.parametrize(
    ("value", "code"),
    [(-1, "out_of_range"), (2**31, "out_of_range"), (None, "not_nullable")],
)
def test_a_limit_has_a_least_and_a_greatest_value(value: object, code: str) -> None:
    assert problems(UpdateOrganizationInput, {"userLimit": value}) == {("userLimit", code)}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("operator", "not_allowed"),
        ("STANDARD", "not_allowed"),
        (None, "not_nullable"),
        (1, "not_allowed"),
    ],
)
def test_a_closed_list_accepts_only_its_values(value: object, code: str) -> None:
    assert problems(CreateUserInput, {"email": "a@b.example", "userType": value}) == {
        ("userType", code)
    }


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (ID.replace("-", ""), "invalid_uuid"),
        (f"{{{ID}}}", "invalid_uuid"),
        (f"{ID}\n", "invalid_uuid"),
        ("", "invalid_uuid"),
        (1, "wrong_type"),
        (None, "not_nullable"),
    ],
)
def test_an_id_has_one_form(value: object, code: str) -> None:
    assert problems(CreatePartialUserInput, {"email": "a@b.example", "orgId": value}) == {
        ("orgId", code)
    }


def test_valid_values_arrive_in_their_types() -> None:
    created = read(
        CreateUserInput,
        {"email": "a@b.example", "userType": "standard", "tier": None, "agentTimezone": "UTC"},
    )
    assert (created.user_type, created.tier, created.business_name) == (Role.STANDARD, None, None)
    partial = read(CreatePartialUserInput, {"email": "a@b.example", "orgId": ID.upper()})
    assert partial.org_id == UUID(ID)


def test_defaults_are_those_of_the_contract() -> None:
    made = read(CreatePartnerInput, {"partnerName": "N"})
    assert made.model_dump(exclude_none=True, by_alias=False) == {
        "partner_name": "N",
        "show_branding_toggle": False,
        "show_character_toggle": False,
        "show_embedded_chat": False,
        "default_assistant_limit": 1,
        "product_name": "AI Receptionist",
    }


def test_absent_is_not_null() -> None:
    changes = read(UpdatePartnerInput, {"domain": None, "productName": "Desk"})
    assert changes.sent() == {"domain": None, "product_name": "Desk"}


def test_null_is_refused_where_a_field_is_not_nullable() -> None:
    data = dict.fromkeys(
        ["partnerName", "showBrandingToggle", "defaultAgentLimit", "productName", "logoImgUrl"]
    )
    assert problems(UpdatePartnerInput, data) == {
        ("partnerName", "not_nullable"),
        ("showBrandingToggle", "not_nullable"),
        ("defaultAgentLimit", "not_nullable"),
        ("productName", "not_nullable"),
    }


def test_the_answer_of_a_read_can_be_sent_back() -> None:
    data = {"id": "?", "createdDate": 1, "processorTrackingCustomerId": [], "domain": "a.example"}
    assert read(UpdatePartnerInput, data).sent() == {"domain": "a.example"}
    organization = {"id": "?", "name": 1, "partnerId": 1, "tempDemoOrg": "x", "userLimit": 0}
    assert read(UpdateOrganizationInput, organization).sent() == {"user_limit": 0}
    user = {"id": 1, "status": "x", "userType": "x", "email": "a@b.example"}
    assert read(UpdateUserInput, user).sent() == {"email": "a@b.example"}


def test_a_read_only_field_is_unknown_where_something_is_created() -> None:
    data = {"partnerName": "N", "id": ID}
    assert problems(CreatePartnerInput, data) == {("id", "unknown_field")}


@pytest.mark.parametrize(
    ("sent", "suggestion"),
    [
        ("partnername", 'Did you mean "partnerName"?'),
        ("partner_name", 'Did you mean "partnerName"?'),
        ("brandUiColors", 'Did you mean "brandUIColors"?'),
        ("zzz", 'There is no field "zzz" here.'),
    ],
)
def test_an_unknown_field_is_named_with_its_nearest_neighbour(sent: str, suggestion: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        read(UpdatePartnerInput, {sent: "x"})
    assert refused.value.code == "unknown_field"
    assert refused.value.message.endswith(suggestion)


def test_an_unknown_field_of_an_item_is_named_with_the_nearest_field_of_the_item() -> None:
    with pytest.raises(ValidationFailed) as refused:
        read(UpdatePartnerInput, {"customHeaderLinks": [{"label": "a", "ur": "https://a.example"}]})
    messages = {problem.field: problem.message for problem in refused.value.problems}
    assert messages["customHeaderLinks.0.ur"].endswith('Did you mean "url"?')


def test_a_body_of_wrong_names_is_answered_in_short_time_and_size() -> None:
    data = {f"field{number}": number for number in range(50_000)}
    assert len(problems(UpdatePartnerInput, data)) == MAX_PROBLEMS


def test_no_message_blames_the_reader() -> None:
    with pytest.raises(ValidationFailed) as refused:
        read(
            CreatePartnerInput,
            {
                "partnerName": " \u200d",
                "domain": "x" * 201,
                "purchaseLink": "ftp://a.example",
                "brandUIColors": [{"name": "a", "value": "blurple", "id": "1"}],
                "socialLinks": [{"type": "fax"}],
                "supportEmail": "nobody",
                "defaultAgentLimit": -1,
                "productName": None,
                "x": 1,
            },
        )
    messages = [problem.message for problem in refused.value.problems]
    assert len(messages) == 11
    assert [m for m in messages if "invalid" in m.lower() or "please" in m.lower()] == []
    assert [m for m in messages if not m.endswith((".", "?"))] == []


def test_forms_are_read_by_inner_names() -> None:
    changes = read(UpdatePartnerInput, {"partner_name": "N"}, by_name=True)
    assert changes.sent() == {"partner_name": "N"}


def test_metadata_of_a_call_holds_texts_numbers_and_booleans() -> None:
    call = {"agentId": "a", "contact": {"phoneNumber": "+12025550123"}}
    read(OutboundCallInput, call | {"metadata": {"a": "x", "b": 1, "c": 1.5, "d": True}})
    wrong: dict[str, Any] = {"a": None, "b": [], "c": {}, "d": "x" * 1001, "e" * 65: 1}
    assert problems(OutboundCallInput, call | {"metadata": wrong}) == {
        ("metadata.a", "not_nullable"),
        ("metadata.b", "wrong_type"),
        ("metadata.c", "wrong_type"),
        ("metadata.d", "too_long"),
        (f"metadata.{'e' * 65}", "too_long"),
    }


def test_every_missing_or_wrong_field_of_a_call_is_named() -> None:
    assert problems(OutboundCallInput, {}) == {("agentId", "required"), ("contact", "required")}
    data = {"agentId": 1, "contact": {"firstName": 1, "email": None}, "introMessage": False}
    assert problems(OutboundCallInput, data) == {
        ("agentId", "wrong_type"),
        ("contact.phoneNumber", "required"),
        ("contact.firstName", "wrong_type"),
        ("contact.email", "not_nullable"),
        ("introMessage", "wrong_type"),
    }


@pytest.mark.parametrize(
    "number",
    [
        "12025550123",
        "+1 2025550123",
        "+0123456789",
        "+1234567",
        "+1" * 9,
        "+１２０２５５５０１２３",
        "+12025550123\n",
    ],
)
def test_a_number_that_is_not_e164_is_refused(number: str) -> None:
    data = {"agentId": "a", "contact": {"phoneNumber": number}}
    assert problems(OutboundCallInput, data) == {("contact.phoneNumber", "invalid_phone")}


def test_blank_counts_as_absent_and_only_names_are_trimmed() -> None:
    call = read(
        OutboundCallInput,
        {
            "agentId": "a",
            "contact": {"phoneNumber": "+12025550123", "firstName": " Ada ", "lastName": " "},
            "introMessage": " Hello. ",
            "voicemailMessage": "\n ",
            "somethingElse": 1,
        },
    )
    assert (call.contact.first_name, call.contact.last_name) == ("Ada", None)
    assert (call.intro_message, call.voicemail_message) == (" Hello. ", None)


def test_form_info_is_read_in_three_shapes() -> None:
    data = {"name": "Ada", "toPhoneNumber": "+12025550123", "fromPhoneNumber": "+12025550100"}
    shapes = [{"key": "a", "value": 1}, {"name": "b", "value": "x"}, {"c": True}, {"c": False}]
    assert read(LegacyCallInput, data).metadata() == {}
    read_shapes = read(LegacyCallInput, data | {"formInfo": shapes, "extra": 1})
    assert read_shapes.metadata() == {"a": 1, "b": "x", "c": False}
    wrong = [{}, {"a": 1, "b": 2}, "a", {"key": 1, "value": 1}, {"a": None}]
    assert problems(LegacyCallInput, data | {"formInfo": wrong}) == {
        ("formInfo.0", "wrong_shape"),
        ("formInfo.1", "wrong_shape"),
        ("formInfo.2", "wrong_type"),
        ("formInfo.3", "wrong_shape"),
        ("formInfo.4", "not_nullable"),
    }


def test_the_envelope_of_contacts_is_checked_and_its_items_are_not() -> None:
    envelope = read(BulkContactsInput, {"contacts": [1, None, {}], "externalIdKey": ""})
    assert (envelope.contacts, envelope.action) == ([1, None, {}], ContactAction.UPSERT)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({}, ("contacts", "required")),
        ({"contacts": None}, ("contacts", "not_nullable")),
        ({"contacts": {}}, ("contacts", "wrong_type")),
        ({"contacts": []}, ("contacts", "too_few")),
        ({"contacts": [1, 2, 3, 4]}, ("contacts", "too_many_contacts")),
        ({"contacts": [1], "acton": "remove"}, ("acton", "unknown_field")),
        ({"contacts": [1], "action": "delete"}, ("action", "not_allowed")),
        (
            {"contacts": [1], "externalIdKey": "crmId"},
            ("externalIdValue", "external_id_pair_incomplete"),
        ),
        (
            {"contacts": [1], "externalIdKey": "", "externalIdValue": "7"},
            ("externalIdKey", "external_id_pair_incomplete"),
        ),
    ],
)
def test_a_wrong_envelope_is_refused(data: Any, expected: tuple[str, str]) -> None:
    assert problems(BulkContactsInput, data, context={"max_contacts": 3}) == {expected}


def test_a_usage_request_has_two_days() -> None:
    asked = read(
        UsageQuery, {"organizationId": ID, "startDate": "2028-01-01", "endDate": "2028-12-31"}
    )
    assert (asked.start_date, asked.end_date) == (date(2028, 1, 1), date(2028, 12, 31))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"startDate": "2026-02-29"}, ("startDate", "invalid_date")),
        ({"startDate": "2026-2-01"}, ("startDate", "invalid_date")),
        ({"startDate": "20260201"}, ("startDate", "invalid_date")),
        ({"startDate": "2026-02-01T00:00:00Z"}, ("startDate", "invalid_date")),
        ({"endDate": "2026-01-31"}, ("endDate", "end_before_start")),
        ({"endDate": "2027-02-02"}, ("endDate", "range_too_long")),
        ({"organizationId": "x"}, ("organizationId", "invalid_uuid")),
        ({"userEmail": "x"}, ("userEmail", "invalid_email")),
    ],
)
def test_a_wrong_usage_request_is_refused(
    changes: dict[str, str], expected: tuple[str, str]
) -> None:
    asked = {"organizationId": ID, "startDate": "2026-02-01", "endDate": "2027-02-01"}
    read(UsageQuery, asked)
    assert problems(UsageQuery, asked | changes) == {expected}


def test_a_selector_is_needed() -> None:
    assert problems(SubscriptionQuery, {}) == {("organizationId", "selector_required")}


@pytest.mark.parametrize("value", ["0", "-1", "1.0", "", "x", "١", "1001"])
def test_a_page_size_is_a_positive_number_within_the_limit(value: str) -> None:
    assert problems(PageQuery, {"perPage": value}) == {("perPage", "out_of_range")}


def test_a_flag_of_the_query_is_true_or_false() -> None:
    assert read(BulkQuery, {"dryRun": "true"}).dry_run is True
    assert read(BulkQuery, {"dryRun": "false"}).dry_run is False
    assert problems(BulkQuery, {"dryRun": "1"}) == {("dryRun", "not_allowed")}


def test_tiers_without_the_trial_can_be_priced() -> None:
    price = {"processorPriceId": "p", "processorProductId": "q"}
    made = read(UpdatePartnerInput, {"pricing": [price | {"tier": "customerPlusPlan"}]})
    assert made.pricing is not None
    assert made.pricing[0].tier is Tier.PLUS
    trial = {"pricing": [price | {"tier": "customerBasicFreeTrialPlan"}]}
    assert problems(UpdatePartnerInput, trial) == {("pricing.0.tier", "not_allowed")}
