"""PUT is a partial merge: absent keeps, null clears, a list replaces the whole list."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Conflict, ValidationFailed
from app.models import AuditEntry, BrandColor, Partner, new_id
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import partners
from tests.fixtures.tenants import OPERATOR, Tenant, make_partner, make_tenant

RED, BLUE = {"name": "primary", "value": "red"}, {"name": "accent", "value": "#00f"}


def put(session: Session, tenant: Tenant, fields: dict[str, Any], **options: Any) -> dict[str, Any]:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    changed = partners.update(
        session, caller, tenant.partner.id, read(UpdatePartnerInput, fields), **options
    )
    session.expire(changed)
    return partners.to_resource(changed, caller).model_dump(mode="json", by_alias=True)


def test_an_absent_field_keeps_its_value_and_null_clears_it(session: Session) -> None:
    tenant = make_tenant(session)
    put(session, tenant, {"demoLink": "https://a.example", "supportEmail": "a@a.example"})
    answer = put(session, tenant, {"demoLink": None})
    assert (answer["demoLink"], answer["supportEmail"]) == (None, "a@a.example")


def test_a_list_replaces_the_whole_list_in_the_order_sent(session: Session) -> None:
    tenant = make_tenant(session)
    first = put(session, tenant, {"brandUIColors": [RED, BLUE]})["brandUIColors"]
    red, blue = first
    changed = put(session, tenant, {"brandUIColors": [blue, {**red, "value": "#f00"}]})
    assert changed["brandUIColors"] == [blue, {**red, "value": "#f00"}]
    shorter = put(session, tenant, {"brandUIColors": [red]})["brandUIColors"]
    assert shorter == [red]
    assert session.scalars(select(BrandColor.id)).all() == [UUID(red["id"])]


def test_an_entry_without_an_id_is_a_new_one(session: Session) -> None:
    tenant = make_tenant(session)
    [red] = put(session, tenant, {"brandUIColors": [RED]})["brandUIColors"]
    [again] = put(session, tenant, {"brandUIColors": [RED]})["brandUIColors"]
    assert {**again, "id": red["id"]} == red
    assert again["id"] != red["id"]


def test_an_id_that_was_not_in_the_list_is_refused_with_its_place(session: Session) -> None:
    tenant = make_tenant(session)
    other = make_partner(session, "Southbank", brandUIColors=[RED])
    foreign, unknown = str(other.brand_colors[0].id), str(new_id())
    problems = {}
    for identifier in (foreign, unknown):
        with pytest.raises(ValidationFailed) as refused:
            put(session, tenant, {"brandUIColors": [BLUE, {**RED, "id": identifier}]})
        problems[identifier] = refused.value.problems
    assert problems[foreign] == problems[unknown]
    assert [(p.field, p.code) for p in problems[unknown]] == [("brandUIColors.1.id", "unknown_id")]


def test_one_id_twice_in_a_list_is_refused(session: Session) -> None:
    tenant = make_tenant(session)
    [red] = put(session, tenant, {"brandUIColors": [RED]})["brandUIColors"]
    with pytest.raises(ValidationFailed) as refused:
        put(session, tenant, {"brandUIColors": [red, red]})
    assert [(p.field, p.code) for p in refused.value.problems] == [
        ("brandUIColors.1.id", "duplicate_id")
    ]


@pytest.mark.parametrize(
    "field", ["brandUIColors", "customHeaderLinks", "socialLinks", "siteImages", "pricing"]
)
def test_an_empty_list_is_not_null(session: Session, field: str) -> None:
    tenant = make_tenant(session)
    values: list[list[str] | None] = [[], None, []]
    answers = [put(session, tenant, {field: value})[field] for value in values]
    assert answers == [[], None, []]


def test_lists_of_a_new_partner_are_null_unless_they_are_sent(session: Session) -> None:
    made = make_partner(session, brandUIColors=[RED], socialLinks=[])
    answer = partners.to_resource(made, OPERATOR)
    assert (answer.social_links, answer.pricing, answer.site_images) == ([], None, None)
    assert [(c.name, c.value) for c in answer.brand_ui_colors or []] == [("primary", "red")]


def test_an_id_in_a_list_of_a_new_partner_is_refused(session: Session) -> None:
    identifier = str(new_id())
    link = {"type": "youtube", "url": "https://a.example", "id": identifier}
    before = session.scalar(select(func.count()).select_from(Partner))
    with pytest.raises(ValidationFailed) as refused:
        make_partner(session, brandUIColors=[RED, {**RED, "id": identifier}], socialLinks=[link])
    assert [(p.field, p.code) for p in refused.value.problems] == [
        ("brandUIColors.1.id", "unknown_id"),
        ("socialLinks.0.id", "unknown_id"),
    ]
    assert session.scalar(select(func.count()).select_from(Partner)) == before


def test_a_change_counts_the_version_up_and_is_in_the_history_once(session: Session) -> None:
    tenant = make_tenant(session)
    before = tenant.partner.version
    put(session, tenant, {"brandUIColors": [RED], "demoLink": "https://a.example"})
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "partner.updated")).one()
    assert tenant.partner.version == before + 1
    assert (entry.actor, entry.target, entry.before) == (
        "partnerAdmin@northwind.example",
        "Northwind",
        {"brandUIColors": None, "demoLink": None},
    )
    assert entry.after["demoLink"] == "https://a.example"


def test_sending_the_stored_values_changes_nothing_and_adds_no_history(session: Session) -> None:
    tenant = make_tenant(session)
    answer = put(session, tenant, {"brandUIColors": [RED], "pricing": []})
    version = tenant.partner.version
    assert put(session, tenant, answer) == answer
    assert tenant.partner.version == version
    entries = select(AuditEntry).where(AuditEntry.action == "partner.updated")
    assert len(session.scalars(entries).all()) == 1


def test_an_old_version_is_refused(session: Session) -> None:
    tenant = make_tenant(session)
    put(session, tenant, {"demoLink": "https://a.example"}, expected_version=1)
    with pytest.raises(Conflict) as refused:
        put(session, tenant, {"demoLink": None}, expected_version=1)
    assert refused.value.code == "changed_meanwhile"


def test_partners_of_the_same_name_get_different_slugs(session: Session) -> None:
    names = ["Zürich & Co", "Zürich Co", "zurich-co", "日本", "Łódź, Søn & Straße"]
    slugs = [make_partner(session, name).slug for name in names]
    assert slugs == ["zurich-co", "zurich-co-2", "zurich-co-3", "partner", "lodz-son-strasse"]
    long = make_partner(session, "Telefonservice " * 5)
    assert long.slug == "telefonservice-telefonservice-telefonservice-telefonservice"
    assert session.get_one(Partner, make_partner(session, "日本").id).slug == "partner-2"
