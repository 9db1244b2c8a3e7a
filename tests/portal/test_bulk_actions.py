"""Several rows of a list at once: a question that names them, and a result for each."""

import re
from collections.abc import Callable
from csv import DictReader
from datetime import timedelta
from html import unescape
from io import StringIO
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import CallStatus, CampaignStatus, Role, Tier, UserStatus
from app.models import (
    Assistant,
    AuditEntry,
    Call,
    Campaign,
    Contact,
    ContactImport,
    DoNotCallEntry,
    PortalSession,
    User,
    Webhook,
    new_id,
    utcnow,
)
from app.portal.record_lists import bulk_views
from app.portal.record_lists.registry import LISTS
from app.services import calls, campaigns, do_not_call, organization_groups, outreach, webhooks
from app.services.contacts import single_contact
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser, user_of
from tests.portal.test_calls import make_call
from tests.portal.uploader import Uploader, make_campaign, words

SignedIn = Callable[[User], Browser]


def address(name: str, action: str, query: str = "") -> str:
    return f"/lists/{name}/actions/{action}?{query}"


def do(browser: Browser, url: str, *keys: object) -> str:
    """Send the confirmation; return the results."""
    return words(browser.post(url, {"id": [str(key) for key in keys]}, page="/account"))


def confirmation_text(browser: Browser, url: str, *keys: object) -> str:
    return words(browser.get(f"{url}&{urlencode([('id', key) for key in keys])}"))


def add_contacts(session: Session, tenant: Tenant, count: int) -> tuple[Campaign, list[Contact]]:
    campaign = make_campaign(session, tenant)
    staff = tenant.caller(Role.PARTNER_ADMIN)
    for number in range(count):
        fields = single_contact.ContactFields(
            first_name=f"Ann{number}", phone=f"+1202555{number:04d}"
        )
        single_contact.add(session, staff, campaign.id, fields)
    session.commit()
    found = select(Contact).where(Contact.campaign_id == campaign.id).order_by(Contact.id)
    return campaign, list(session.scalars(found))


def statuses(session: Session, *found: Campaign) -> list[CampaignStatus]:
    session.expire_all()
    return [each.status for each in found]


def test_campaigns_are_archived_and_paused_as_on_their_own_pages(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    first, second, third = (make_campaign(session, tenant) for _ in range(3))
    second.status = CampaignStatus.ACTIVE
    session.commit()
    pause = address("campaigns", "pause")
    confirmation = confirmation_text(admin, pause, first.id, second.id)
    assert "Pause 1 campaign?" in confirmation
    assert "1 of 2 selected can’t be changed:" in confirmation
    assert "Only running campaigns can be paused." in confirmation
    result = do(admin, pause, first.id, second.id)
    assert "1 campaign paused 1 of 2 was left unchanged." in result
    archive = address("campaigns", "archive")
    assert "Archive 2 campaigns?" in confirmation_text(admin, archive, first.id, second.id)
    assert "2 campaigns archived" in do(admin, archive, first.id, second.id)
    assert statuses(session, first, second, third) == [
        CampaignStatus.ARCHIVED,
        CampaignStatus.ARCHIVED,
        CampaignStatus.PAUSED,
    ]
    again = do(admin, archive, first.id)
    assert "0 campaigns archived" in again
    assert "The campaign is archived." in again


def test_a_campaign_that_was_never_started_is_not_resumed(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    campaign = make_campaign(session, tenant)
    resume = address("campaigns", "resume")
    assert "Nothing can be changed" in confirmation_text(admin, resume, campaign.id)
    assert "Only paused campaigns can be resumed." in do(admin, resume, campaign.id)
    assert statuses(session, campaign) == [CampaignStatus.PAUSED]


def test_contacts_are_removed_and_restored(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    campaign, people = add_contacts(session, tenant, 4)
    query = f"campaign_id={campaign.id}"
    remove = address("contacts", "remove", query)
    shown = admin.post(
        remove, {"id": [str(person.id) for person in people[:3]]}, page=f"/campaigns/{campaign.id}"
    )
    assert "3 contacts removed" in words(shown)
    left = select(Contact.first_name).where(Contact.campaign_id == campaign.id)
    assert session.scalars(left).all() == ["Ann3"]
    form = re.search(
        r'action="(/lists/contacts/actions/restore[^"]*)".*?</form>', shown.text, re.DOTALL
    )
    assert form
    keys = re.findall(r'name="id" value="([^"]+)"', form.group(0))
    assert "3 contacts restored" in do(admin, unescape(form.group(1)), *keys)
    assert sorted(filter(None, session.scalars(left))) == ["Ann0", "Ann1", "Ann2", "Ann3"]


def test_contacts_are_added_to_the_do_not_call_list_once(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    campaign, people = add_contacts(session, tenant, 2)
    staff = tenant.caller(Role.PARTNER_ADMIN)
    do_not_call.add(session, staff, tenant.organization.id, people[0].phone or "", reason="First")
    session.commit()
    result = do(
        admin,
        address("contacts", "do-not-call", f"campaign_id={campaign.id}"),
        *(person.id for person in people),
    )
    assert "1 contact on the do-not-call list 1 of 2 was left unchanged." in result
    assert "Already on the list." in result
    entries = session.scalars(select(DoNotCallEntry).order_by(DoNotCallEntry.phone))
    assert [(each.phone, each.reason, each.source) for each in entries] == [
        (people[0].phone, "First", "portal"),
        (people[1].phone, None, "contact"),
    ]


def test_numbers_are_removed_from_the_list(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    staff = tenant.caller(Role.PARTNER_ADMIN)
    for number in range(3):
        do_not_call.add(session, staff, tenant.organization.id, f"+1202555000{number}")
    session.commit()
    url = address("do-not-call", "remove", f"organization_id={tenant.organization.id}")
    assert "Remove 2 numbers?" in confirmation_text(
        admin, url, "+12025550000", "+12025550001", "+1999", "x"
    )
    assert "2 numbers removed" in do(admin, url, "+12025550000", "+12025550001")
    assert session.scalars(select(DoNotCallEntry.phone)).all() == ["+12025550002"]


def test_webhooks_are_paused_resumed_and_removed(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    made = [
        webhooks.add(
            session,
            tenant.caller(Role.PARTNER_ADMIN),
            app.extensions["settings"],
            organization_id=tenant.organization.id,
            url=f"https://crm.example/{number}",
            events=["call.completed"],
        ).webhook
        for number in range(3)
    ]
    session.commit()
    keys = [each.id for each in made]
    assert "3 webhooks paused" in do(admin, address("webhooks", "pause"), *keys)
    assert "Already paused." in do(admin, address("webhooks", "pause"), keys[0])
    assert "2 webhooks resumed" in do(admin, address("webhooks", "resume"), *keys[:2])
    session.expire_all()
    assert [each.paused_at is None for each in made] == [True, True, False]
    assert "2 webhooks removed" in do(admin, address("webhooks", "remove"), *keys[1:])
    assert session.scalars(select(Webhook.id)).all() == [keys[0]]


def test_an_action_on_all_matches_asks_with_their_number(
    session: Session, tenant: Tenant, admin: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, _people = add_contacts(session, tenant, 30)
    page = admin.get(f"/campaigns/{campaign.id}").text
    assert "all 30 that match" in page
    url = address("contacts", "remove", f"campaign_id={campaign.id}")
    filtered = words(admin.get(f"{url}&all=yes&q=Ann1"))
    assert "Remove 11 contacts?" in filtered
    assert "Remove 30 contacts?" in words(admin.get(f"{url}&all=yes"))
    monkeypatch.setattr(bulk_views, "MAX_CHANGED", 20)
    some = words(admin.get(f"{url}&all=yes"))
    assert "Remove 20 contacts?" in some
    assert "These are the first 20 that match." in some


def test_one_row_that_fails_stops_no_other(
    session: Session, tenant: Tenant, admin: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A campaign that was archived between the question and its answer."""
    first, second = make_campaign(session, tenant), make_campaign(session, tenant)
    for each in (first, second):
        each.status = CampaignStatus.ACTIVE
    session.commit()
    pause = outreach.pause

    def pause_late(*args: object) -> Campaign:
        if args[2] == first.id:
            campaigns.archive(*args[:3])  # type: ignore[arg-type]  # as they came
        return pause(*args)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(outreach, "pause", pause_late)
    result = do(admin, address("campaigns", "pause"), first.id, second.id)
    assert "1 campaign paused 1 of 2 was left unchanged." in result
    assert "The campaign is archived." in result
    assert statuses(session, first, second) == [CampaignStatus.ACTIVE, CampaignStatus.PAUSED]


def test_rows_of_another_tenant_are_not_found(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    campaign, people = add_contacts(session, tenant, 1)
    do_not_call.add(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, "+12025550100"
    )
    session.commit()
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    assert "Nothing selected" in confirmation_text(
        stranger, address("campaigns", "archive"), campaign.id
    )
    assert "0 campaigns archived" in do(stranger, address("campaigns", "archive"), campaign.id)
    for name, query, key in (
        ("contacts", f"campaign_id={campaign.id}", people[0].id),
        ("do-not-call", f"organization_id={tenant.organization.id}", "+12025550100"),
    ):
        url = address(name, "remove", f"{query}&id={key}")
        assert stranger.get(url).status_code == 404
        assert stranger.post(url, {"id": str(key)}, page="/account").status_code == 404
    assert statuses(session, campaign) == [CampaignStatus.PAUSED]
    assert len(session.scalars(select(Contact)).all()) == 1


def test_an_action_on_several_needs_the_permission_of_the_action_on_one(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    make_campaign(session, tenant)
    may = {}
    for role in (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.STANDARD):
        browser = signed_in(user_of(tenant, role))
        may[role] = [
            (name, action.name)
            for name, definition in LISTS.items()
            for action in (definition.bulk.actions if definition.bulk else ())
            if not definition.path and browser.get(address(name, action.name)).status_code == 200
        ]
    of_campaigns = [("campaigns", name) for name in ("pause", "resume", "archive")]
    of_assistants = [("assistants", name) for name in ("switch-off", "switch-on")]
    of_work = [("uploads", "delete-data"), ("calls", "cancel")]
    assert may == {
        Role.PARTNER_ADMIN: [
            *(("organizations", name) for name in ("suspend", "reactivate", "plan", "group")),
            *(("users", name) for name in ("resend", "suspend", "reactivate")),
            *of_assistants,
            *of_campaigns,
            *of_work,
            *(("webhooks", name) for name in ("pause", "resume", "remove")),
        ],
        Role.PARTNER_EDITOR: [*of_campaigns, *of_work],
        Role.STANDARD: [*of_campaigns, *of_work],
    }
    unknown = signed_in(tenant.user)
    for path in (
        "/lists/campaigns/actions/delete",
        "/lists/history/actions/remove",
        "/lists/x/actions/remove",
    ):
        assert unknown.get(path).status_code == 404


def test_reactivating_or_removing_several_asks_for_a_fresh_proof_as_for_one(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    tenant.user.status = UserStatus.SUSPENDED
    campaign, people = add_contacts(session, tenant, 1)
    session.execute(update(PortalSession).values(proven_at=utcnow() - timedelta(minutes=11)))
    session.commit()
    for url, key in (
        (address("users", "reactivate"), tenant.user.id),
        (address("contacts", "remove", f"campaign_id={campaign.id}"), people[0].id),
    ):
        asked_to = admin.get(f"{url}&id={key}").location
        assert (asked_to or "").partition("?")[0] == "/account/confirm"
        late = admin.post(url, {"id": str(key)}, page="/account")
        assert late.status_code == 403
        assert 'action="/account/confirm"' in late.text
    session.expire_all()
    assert tenant.user.status is UserStatus.SUSPENDED
    assert len(session.scalars(select(Contact)).all()) == 1
    assert admin.get(address("users", "suspend", f"id={tenant.user.id}")).status_code == 200


def test_keys_that_name_nothing_change_nothing(tenant: Tenant, admin: Browser) -> None:
    url = address("campaigns", "archive")
    assert "0 campaigns archived" in do(admin, url, new_id(), "x", "\0", "")


def test_organizations_are_suspended_and_reactivated_with_their_history(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    suspend = address("organizations", "suspend")
    keys = (tenant.organization.id, tenant.plus.id, other_tenant.plus.id, new_id())
    confirmation = confirmation_text(admin, suspend, *keys)
    for words_ in (
        "Suspend 2 organizations?",
        "Their users are signed out immediately and can’t sign in.",
        tenant.plus.name,
    ):
        assert words_ in confirmation
    assert other_tenant.plus.name not in confirmation
    assert "2 organizations suspended" in do(admin, suspend, *keys)
    assert "Already done." in do(admin, suspend, tenant.plus.id)
    result = do(admin, address("organizations", "reactivate"), tenant.plus.id, other_tenant.plus.id)
    assert "1 organization reactivated" in result
    session.expire_all()
    found = [each.status.value for each in (tenant.organization, tenant.plus, other_tenant.plus)]
    assert found == ["suspended", "active", "active"]
    assert changes(session, tenant) == [
        ("organization.suspended", tenant.organization.name),
        ("organization.suspended", tenant.plus.name),
        ("organization.resumed", tenant.plus.name),
    ]


def test_the_plan_of_organizations_is_chosen_once_for_all(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    url = address("organizations", "plan")
    keys = [
        str(each) for each in (tenant.organization.id, tenant.plus.id, other_tenant.organization.id)
    ]
    assert "Change the plan of 2 organizations?" in confirmation_text(admin, url, *keys)
    for choice in ("", "gold"):
        sent = {"id": keys, "choice": choice}
        refused = admin.post(url, sent, page="/account")
        assert refused.status_code == 422
        assert "Choose one." in refused.text
        assert all(f'value="{key}"' in refused.text for key in keys[:2])
    shown = words(admin.post(url, {"id": keys, "choice": Tier.PLUS}, page="/account"))
    assert "Plan of 1 organization changed 1 of 2 was left unchanged." in shown
    session.expire_all()
    plans = [
        each.payment_tier for each in (tenant.organization, tenant.plus, other_tenant.organization)
    ]
    assert plans == [Tier.PLUS, Tier.PLUS, Tier.FREE]
    assert changes(session, tenant) == [("organization.updated", tenant.organization.name)]


def test_organizations_are_added_to_a_group_by_those_who_manage_groups(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser, signed_in: SignedIn
) -> None:
    group, theirs = (
        organization_groups.create(
            session,
            each.caller(Role.PARTNER_ADMIN),
            organization_groups.GroupInput("North", {each.plus.id}),
        )
        for each in (tenant, other_tenant)
    )
    session.commit()
    url = address("organizations", "group")
    keys = [
        str(each) for each in (tenant.organization.id, tenant.plus.id, other_tenant.organization.id)
    ]
    editor = signed_in(tenant.staff[Role.ADMIN])
    assert "Add to group" not in editor.get("/organizations").text
    assert editor.get(url).status_code == 404
    assert (
        admin.post(url, {"id": keys, "choice": str(theirs.id)}, page="/account").status_code == 422
    )
    shown = words(admin.post(url, {"id": keys, "choice": str(group.id)}, page="/account"))
    assert "1 organization added to the group 1 of 2 was left unchanged." in shown
    assert "Already in the group." in shown
    found = organization_groups.organizations_of(session, group)
    assert {each.id for each in found} == {tenant.organization.id, tenant.plus.id}
    assert changes(session, tenant)[-1] == ("organization.grouped", tenant.organization.name)
    assert "Organization added to a group" in admin.get("/audit").text


def test_selected_organizations_are_exported_as_the_list_shows_them(
    tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    def names(*keys: object, **more: str) -> list[str]:
        query = urlencode([("id", key) for key in keys] + list(more.items()))
        answer = admin.client.get(
            f"/lists/organizations/selected.csv?{query}", follow_redirects=True
        )
        assert answer.status_code == 200
        return [row["Name"] for row in DictReader(StringIO(answer.data.decode("utf-8-sig")))]

    assert names() == []
    assert names(tenant.plus.id, other_tenant.plus.id, new_id(), "x") == [tenant.plus.name]
    assert names(tenant.plus.id, all="yes", tier=Tier.FREE) == [tenant.organization.name]
    assert admin.get("/lists/webhooks/selected.csv").status_code == 404


def changes(session: Session, tenant: Tenant) -> list[tuple[str, str | None]]:
    """The actions on organizations and the names in the history."""
    query = select(AuditEntry.action, AuditEntry.target).where(
        AuditEntry.partner_id == tenant.partner.id,
        AuditEntry.action.like("organization.%"),
        AuditEntry.action != "organization.created",
    )
    return [(action, name) for action, name in session.execute(query.order_by(AuditEntry.id))]


def test_waiting_calls_are_cancelled_and_others_left(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser, signed_in: SignedIn
) -> None:
    states = CallStatus.QUEUED, CallStatus.QUEUED, CallStatus.IN_PROGRESS, CallStatus.COMPLETED
    waiting, later, active, ended = (
        make_call(session, tenant.organization, f"+120255501{number:02}", status=state)
        for number, state in enumerate(states)
    )
    session.commit()
    cancel = address("calls", "cancel")
    confirmation = confirmation_text(admin, cancel, *(each.id for each in (waiting, active, ended)))
    assert "Cancel 1 call?" in confirmation
    assert "The call was already placed. End it on its own page." in confirmation
    assert "The call has already ended." in confirmation
    assert "Cancel 2 calls?" in words(admin.get(f"{cancel}all=yes"))
    assert "Cancel 1 call?" in words(admin.get(f"{cancel}all=yes&number={later.phone_number}"))
    assert "Nothing selected" in words(admin.get(f"{cancel}all=yes&state=completed"))
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    assert "0 calls cancelled" in do(stranger, cancel, waiting.id)
    result = do(admin, cancel, waiting.id, active.id)
    assert "1 call cancelled 1 of 2 was left unchanged." in result
    session.expire_all()
    found = [each.status for each in (waiting, later, active, ended)]
    assert found == [
        *(CallStatus.CANCELED, CallStatus.QUEUED),
        *(CallStatus.IN_PROGRESS, CallStatus.COMPLETED),
    ]


def test_a_call_that_was_placed_after_the_confirmation_page_is_not_cancelled(
    session: Session, tenant: Tenant, admin: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = make_call(session, tenant.organization, "+12025550100", status=CallStatus.QUEUED)
    session.commit()
    cancel = calls.cancel_waiting

    def cancel_late(session: Session, *args: Any) -> Call:
        session.get_one(Call, call.id).status = CallStatus.IN_PROGRESS
        session.flush()
        return cancel(session, *args)

    monkeypatch.setattr(calls, "cancel_waiting", cancel_late)
    result = do(admin, address("calls", "cancel"), call.id)
    assert "0 calls cancelled" in result
    assert "The call was already placed." in result


def test_assistants_are_switched_off_and_on_with_their_history(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    mine, theirs = (
        session.scalars(
            select(Assistant).where(Assistant.organization_id == each.organization.id)
        ).first()
        for each in (tenant, other_tenant)
    )
    assert mine is not None
    assert theirs is not None
    off, on = address("assistants", "switch-off"), address("assistants", "switch-on")
    confirmation = confirmation_text(admin, off, mine.id, theirs.id)
    assert "Switch off 1 assistant?" in confirmation
    assert f"{mine.name} {tenant.organization.name}" in confirmation
    assert "Waiting calls are cancelled when they are due." in confirmation
    shown = do(admin, off, mine.id, theirs.id)
    assert "1 assistant switched off" in shown
    assert "Switch on 1 assistant" in shown
    assert "Already done." in do(admin, off, mine.id)
    session.expire_all()
    assert (mine.active, theirs.active) == (False, True)
    assert "1 assistant switched on" in do(admin, on, mine.id)
    query = select(AuditEntry).where(AuditEntry.action == "agent.updated")
    entries = session.scalars(query.order_by(AuditEntry.id)).all()
    assert [each.after for each in entries] == [{"active": False}, {"active": True}]


def test_the_data_of_uploads_that_have_ended_is_deleted(
    session: Session, uploader: Uploader
) -> None:
    addresses = uploader.applied("phone\n+12025550100\n"), uploader.upload("phone\n+12025550101\n")
    done, waiting = (UUID(each.rsplit("/", 1)[1]) for each in addresses)
    for name, query in (
        ("uploads", ""),
        ("campaign-uploads", f"campaign_id={uploader.campaign_id}"),
    ):
        url = address(name, "delete-data", query)
        confirmation = confirmation_text(uploader.browser, url, done, waiting)
        assert "Delete the data of 1 upload?" in confirmation
        assert "The upload is still running." in confirmation
    assert "Data of 1 upload deleted" in do(uploader.browser, url, done, waiting)
    assert "Its data is already deleted." in do(uploader.browser, url, done)
    session.expire_all()
    requested = [session.get_one(ContactImport, each) for each in (done, waiting)]
    assert [each.deletion_requested_at is not None for each in requested] == [True, False]
