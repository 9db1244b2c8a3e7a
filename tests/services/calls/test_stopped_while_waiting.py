"""Calls in the queue behind others end once a rule stops them, not only when their turn comes."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason, NumberSource, OrganizationStatus
from app.gateways.carriers.sip.account import Trunk
from app.models import (
    Assistant,
    Call,
    CarrierAccount,
    DoNotCallEntry,
    Organization,
    Partner,
    PhoneNumber,
    new_id,
    utcnow,
)
from app.policy.caller import system_caller
from app.services import pauses
from app.services.calls import claims, waiting
from app.services.carrier_accounts import AccountFields
from tests.fixtures.carrier_accounts import put_in_use
from tests.fixtures.settings import settings_for
from tests.fixtures.worker import CallingOrganization, make_calling_organization

NUMBER = "+12125551000"
KEYS = settings_for("sqlite://", Path()).secret_keys


def wait_in_queue(
    session: Session, calling_organization: CallingOrganization, number: str = NUMBER
) -> UUID:
    call = calling_organization.accept(session, number)
    call.created_at -= timedelta(seconds=10)
    session.flush()
    return call.id


def suspend(session: Session, calling_organization: CallingOrganization) -> None:
    session.get_one(
        Organization, calling_organization.organization_id
    ).status = OrganizationStatus.SUSPENDED


def suspend_partner(session: Session, calling_organization: CallingOrganization) -> None:
    session.get_one(Partner, calling_organization.partner_id).suspended_at = utcnow()


def switch_off(session: Session, calling_organization: CallingOrganization) -> None:
    session.get_one(Assistant, calling_organization.assistant_id).active = False


def forbid_region(session: Session, calling_organization: CallingOrganization) -> None:
    session.get_one(Organization, calling_organization.organization_id).allowed_regions = ["CA"]


def put_on_the_list(session: Session, calling_organization: CallingOrganization) -> None:
    session.add(
        DoNotCallEntry(
            organization_id=calling_organization.organization_id,
            partner_id=calling_organization.partner_id,
            phone=NUMBER,
            added_by="colleague",
        )
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (suspend, EndedReason.ORGANIZATION_SUSPENDED),
        (suspend_partner, EndedReason.ORGANIZATION_SUSPENDED),
        (switch_off, EndedReason.ASSISTANT_INACTIVE),
        (forbid_region, EndedReason.REGION_NOT_ALLOWED),
        (put_on_the_list, EndedReason.DO_NOT_CONTACT),
    ],
)
def test_a_call_in_the_queue_ends_once_a_rule_stops_it(
    session: Session,
    calling_organization: CallingOrganization,
    change: Callable[[Session, CallingOrganization], None],
    reason: EndedReason,
) -> None:
    call_id, other_id = (
        wait_in_queue(session, calling_organization),
        wait_in_queue(session, make_calling_organization(session)),
    )
    assert waiting.list_queued(session, None) == [call_id, other_id]
    assert waiting.stopped_by_rules(session, [call_id, other_id]) == []
    assert waiting.end_if_stopped(session, call_id) is False
    change(session, calling_organization)
    session.flush()
    assert waiting.stopped_by_rules(session, [call_id, other_id]) == [call_id]
    assert waiting.end_if_stopped(session, call_id) is True
    session.flush()
    call = session.get_one(Call, call_id)
    assert (call.status, call.ended_reason) == (CallStatus.CANCELED, reason)
    assert waiting.end_if_stopped(session, call_id) is False
    assert waiting.list_queued(session, None) == [other_id]
    assert waiting.list_queued(session, other_id) == []


def test_new_active_and_held_calls_are_not_checked(
    session: Session, calling_organization: CallingOrganization
) -> None:
    fresh = wait_in_queue(session, calling_organization)
    session.get_one(Call, fresh).created_at = utcnow()
    active_call = wait_in_queue(session, calling_organization)
    claims.next_step(session, active_call, new_id(), calls_at_once=5)
    pauses.pause(session, system_caller("colleague"), pauses.PauseScope(), "A storm.")
    held = wait_in_queue(session, calling_organization)
    claims.next_step(session, held, new_id(), calls_at_once=5)
    session.flush()
    assert waiting.list_queued(session, None) == []
    suspend(session, calling_organization)
    session.flush()
    assert waiting.end_if_stopped(session, active_call) is False


def replace_account(
    session: Session, calling_organization: CallingOrganization, fields: AccountFields
) -> CarrierAccount:
    """Let the calls use another account, which lists the assistant's number."""
    caller = system_caller("colleague", calling_organization.partner_id)
    account = put_in_use(session, caller, KEYS, fields, organization=None)
    session.execute(
        update(PhoneNumber).values(source=NumberSource.CARRIER_LIST, account_id=account.id)
    )
    return account


def test_a_call_in_the_queue_is_checked_by_the_account_that_replaced_its_own(
    session: Session, calling_organization: CallingOrganization
) -> None:
    replace_account(session, calling_organization, AccountFields("2a" * 16, sid="AC" + "1a" * 16))
    call_id = wait_in_queue(session, calling_organization)
    other = AccountFields("2a" * 16, sid="AC" + "2b" * 16)
    account = replace_account(session, calling_organization, other)
    for each in waiting.stopped_by_rules(session, [call_id]):
        assert waiting.end_if_stopped(session, each) is False
    session.flush()
    assert waiting.stopped_by_rules(session, [call_id]) == []
    assert session.get_one(Call, call_id).account_id == account.id


def test_a_call_that_a_carriers_pause_holds_is_released_to_another_carrier(
    session: Session, calling_organization: CallingOrganization
) -> None:
    replace_account(session, calling_organization, AccountFields("2a" * 16, sid="AC" + "1a" * 16))
    twilio = pauses.PauseScope(carrier=CarrierKind.TWILIO)
    pauses.pause(session, system_caller("colleague"), twilio, "A storm.")
    call_id = wait_in_queue(session, calling_organization)
    claims.next_step(session, call_id, new_id(), calls_at_once=5)
    session.flush()
    assert waiting.any_to_release(session) is False
    trunk = AccountFields("right", trunk=Trunk("sip.example.com", user="portal"))
    replace_account(session, calling_organization, trunk)
    assert waiting.check_held(session, call_id) is False
    session.flush()
    assert waiting.any_to_release(session) is True
