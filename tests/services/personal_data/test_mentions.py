"""Texts that mention a person by a single name are listed for the user who erases."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import Assistant, Contact, User
from app.policy.caller import Caller
from app.services import campaigns, do_not_call, organization_groups
from app.services.contacts import single_contact
from app.services.contacts.single_contact import ContactFields
from app.services.organization_groups import GroupInput
from app.services.personal_data import mentions, subjects
from tests.fixtures.tenants import Tenant
from tests.portal.test_calls import NOON, answered, make_call

PHONE, OTHER_PHONE, THIRD_PHONE = "+12025550143", "+12025550144", "+12025550145"


def find(session: Session, caller: Caller, contact: Contact) -> list[tuple[str, str, str]]:
    subject = subjects.contact(session, caller, contact.campaign_id, contact.id)
    found = mentions.find_mentions(session, caller, subject)
    assert found.is_complete
    return [(each.table, each.name, each.text) for each in found.mentions]


@pytest.fixture
def maria(session: Session, tenant: Tenant) -> Contact:
    """A contact that others' texts mention, and whose own texts name her too."""
    admin = tenant.caller(Role.PARTNER_ADMIN)
    campaign = campaigns.create(session, admin, tenant.organization.id, name="Friends of María")
    metadata = {"note": "María likes mornings"}
    mine = ContactFields("María", "Vale", PHONE, metadata=metadata)
    contact_id = single_contact.add(session, admin, campaign.id, mine)
    theirs = {"spouse": "maría"}
    single_contact.add(
        session, admin, campaign.id, ContactFields("Bo", "", OTHER_PHONE, metadata=theirs)
    )
    other_word = {"ship": "Santamaría"}
    single_contact.add(
        session, admin, campaign.id, ContactFields("Al", "", THIRD_PHONE, metadata=other_word)
    )
    make_call(session, tenant.organization, PHONE, **answered(), intro_message="Hello María")
    make_call(
        session, tenant.organization, OTHER_PHONE, **answered(), intro_message="Ask María Vale"
    )
    do_not_call.add(session, admin, tenant.organization.id, OTHER_PHONE, reason="María said so")
    do_not_call.add(
        session, admin, tenant.organization.id, THIRD_PHONE, reason="María Vale said so"
    )
    do_not_call.add(session, admin, tenant.organization.id, PHONE, reason="María asked")
    session.flush()
    return session.get_one(Contact, contact_id)


def test_only_remaining_texts_are_listed_with_the_words_around_the_name(
    session: Session, tenant: Tenant, maria: Contact
) -> None:
    assistant = session.query(Assistant).filter_by(organization_id=tenant.organization.id).first()
    assert assistant is not None
    assistant.default_intro = "x" * 100 + " or ask for Maria, or MARÍA, " + "y" * 100
    session.flush()
    assert find(session, tenant.caller(Role.PARTNER_ADMIN), maria) == [
        ("agents", "MARÍA", "…" + "x" * 18 + " or ask for Maria, or MARÍA, " + "y" * 38 + "…"),
        ("campaigns", "María", "Friends of María"),
        ("do_not_call", "María", "María said so"),
        ("contacts", "maría", "spouse: maría"),
        ("calls", "María", "Ask María Vale"),
    ]


def test_a_caller_gets_only_what_they_may_read(
    session: Session, tenant: Tenant, maria: Contact
) -> None:
    admin, limited = tenant.caller(Role.PARTNER_ADMIN), tenant.staff[Role.ADMIN]
    user = session.get_one(User, tenant.user.id)
    user.name = "María Vale"
    group = organization_groups.create(session, admin, GroupInput("Others", [tenant.plus.id]))
    organization_groups.limit(session, admin, limited, {group.id})
    session.flush()
    subject = subjects.user(session, admin, user.id)
    callers = {
        "partner admin": admin,
        "admin of other organizations": replace(tenant.caller(Role.ADMIN), is_limited=True),
        "operator": Caller(admin.kind, Role.OPERATOR, None, "root"),
    }
    found = {
        name: len(mentions.find_mentions(session, each, subject).mentions)
        for name, each in callers.items()
    }
    assert found == {
        "partner admin": 7,
        "admin of other organizations": 0,
        "operator": 0,
    }


def test_short_and_missing_names_are_not_searched(
    session: Session, tenant: Tenant, maria: Contact
) -> None:
    assert mentions.single_names(["Al", "Li Vale", ""]) == ["Vale"]
    maria.first_name, maria.last_name = "Li", None
    session.flush()
    assert find(session, tenant.caller(Role.PARTNER_ADMIN), maria) == []


def test_at_most_twenty_are_listed(session: Session, tenant: Tenant, maria: Contact) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    for number in range(mentions.MAX_MENTIONS):
        campaigns.create(session, admin, tenant.organization.id, name=f"María {number}")
    assert len(find(session, admin, maria)) == mentions.MAX_MENTIONS


def test_old_contacts_and_calls_are_searched_too_until_the_time_is_over(
    session: Session, tenant: Tenant, maria: Contact, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    for number in range(4):
        other = ContactFields("Cy", "", f"+1202555016{number}")
        single_contact.add(session, admin, maria.campaign_id, other)
        later = NOON + timedelta(minutes=1 + number)
        make_call(session, tenant.organization, OTHER_PHONE, later, **answered())
    monkeypatch.setattr(mentions, "BATCH_SIZE", 2)
    tables = sorted(table for table, _name, _text in find(session, admin, maria))
    assert tables == ["calls", "campaigns", "contacts", "do_not_call"]
    subject = subjects.contact(session, admin, maria.campaign_id, maria.id)
    late = mentions.find_mentions(session, admin, subject, seconds=-1)
    assert ([each.table for each in late.mentions], late.is_complete) == (
        ["campaigns", "do_not_call"],
        False,
    )
