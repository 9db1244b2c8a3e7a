"""The calls that each role sees, page by page."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import CallerKind, CallSource, Role
from app.errors import NotFound
from app.models import Campaign, Contact
from app.policy.caller import Caller, system_caller
from app.schemas.calls import CallFilter
from app.services import calls
from tests.fixtures.worker import CallingOrganization, make_calling_organization


def dial(session: Session, calling_organization: CallingOrganization, **how: Any) -> str:
    return str(calling_organization.accept(session, **how).id)


def visible_calls(session: Session, caller: Caller) -> list[str]:
    return [str(call.id) for call in calls.page(session, caller).calls]


def test_keys_see_the_calls_of_their_own_kind_and_live_keys_the_retired_apis(
    session: Session, calling_organization: CallingOrganization
) -> None:
    live, legacy = (
        dial(session, calling_organization),
        dial(session, calling_organization, source=CallSource.LEGACY),
    )
    tested = dial(session, calling_organization, live=False)
    by_hand = dial(session, calling_organization, source=CallSource.TEST)
    test_key = replace(calling_organization.key, live=False)
    person = replace(calling_organization.key, kind=CallerKind.USER)
    assert visible_calls(session, calling_organization.key) == [legacy, live]
    assert visible_calls(session, test_key) == [tested]
    assert visible_calls(session, person) == [by_hand, tested, legacy, live]
    with pytest.raises(NotFound):
        calls.get(session, test_key, live)


def test_calls_of_another_tenant_are_not_visible(
    session: Session, calling_organization: CallingOrganization
) -> None:
    mine = dial(session, calling_organization)
    stranger = make_calling_organization(session)
    theirs = dial(session, stranger)
    admin = Caller(
        CallerKind.USER, Role.ADMIN, None, "an admin", partner_id=calling_organization.partner_id
    )
    no_one = Caller(CallerKind.USER, Role.ADMIN, None, "no partner")
    assert (
        visible_calls(session, calling_organization.key) == visible_calls(session, admin) == [mine]
    )
    assert visible_calls(session, system_caller()) == [theirs, mine]
    assert visible_calls(session, no_one) == []
    with pytest.raises(NotFound) as refused:
        calls.get(session, calling_organization.key, theirs)
    assert refused.value.code == "call_not_found"


def test_pages_have_no_gaps_or_repeats(
    session: Session, calling_organization: CallingOrganization
) -> None:
    made = [dial(session, calling_organization) for _ in range(5)][::-1]
    found: list[str] = []
    before, sizes = None, []
    while True:
        page = calls.page(session, calling_organization.key, CallFilter(per_page=2), before=before)
        found += [str(call.id) for call in page.calls]
        sizes.append((len(page.calls), page.more))
        if not page.more:
            break
        before = page.calls[-1].id
    assert found == made
    assert sizes == [(2, True), (2, True), (1, False)]


def test_waiting_campaign_calls_of_contacts_whose_outreach_ended_are_stopped(
    session: Session, calling_organization: CallingOrganization
) -> None:
    campaign = Campaign(
        partner_id=calling_organization.partner_id,
        organization_id=calling_organization.organization_id,
        name="Spring",
    )
    session.add(campaign)
    session.flush()
    people = [
        Contact(
            organization_id=calling_organization.organization_id,
            campaign_id=campaign.id,
            phone=f"+1202555010{n}",
        )
        for n in range(2)
    ]
    session.add_all(people)
    session.flush()
    from_campaign = {"source": CallSource.CAMPAIGN, "campaign_id": campaign.id}
    theirs = [
        dial(session, calling_organization, contact_id=person.id, **from_campaign)
        for person in people
    ]
    single = dial(session, calling_organization, contact_id=people[0].id)
    assert calls.cancel_for_contacts(session, [people[0].id]) == 1
    system = system_caller()
    ends = [calls.get(session, system, call_id) for call_id in (*theirs, single)]
    assert [(call.status.value, call.ended_reason) for call in ends] == [
        ("canceled", "contact_ended"),
        ("queued", None),
        ("queued", None),
    ]
