"""Carrier accounts of a partner: set, tested against a carrier, removed; never shown again."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import CallStatus, CarrierKind, NumberSource, Role
from app.factory import install_extensions
from app.gateways.carriers.partner_accounts import AccountTestResult
from app.jobs.check_account import check_account
from app.models import (
    Assistant,
    AuditEntry,
    Call,
    CarrierAccount,
    Mail,
    Organization,
    PhoneNumber,
    User,
    utcnow,
)
from app.services import carrier_accounts
from tests.fixtures.carrier_accounts import stored_accounts
from tests.fixtures.faulty_carrier import FaultyCarrier, faulty_carrier
from tests.fixtures.recount import recount
from tests.fixtures.settings import SECRET_KEY, settings_for, url_of
from tests.fixtures.statements import few_parameters
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call
from tests.portal.uploader import words

SignIn = Callable[[User], Browser]
FORM, LIST = "/carriers/accounts/account", "/carriers/accounts"
SID, OTHER = "AC" + "1a" * 16, "AC" + "2b" * 16
TOKEN = "5ec2e7" + "0" * 26
TYPED = {"sid": SID, "token": TOKEN}


@pytest.fixture
def carrier(app: Flask, database: Database, tmp_path: Path) -> Iterator[FaultyCarrier]:
    with faulty_carrier() as running:
        more = {"TWILIO_API_URL": running.url, "carrier_request_seconds": 2.0}
        install_extensions(app, settings_for(url_of(database), tmp_path, **more), database)
        yield running


def test_an_account_is_set_and_its_token_is_never_shown_again(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    assert "Live calls and calls with test keys go here." in admin.get(LIST).text
    answer = admin.post(FORM, TYPED, page=FORM)
    assert (answer.status_code, answer.location) == (303, LIST)
    organization = f"{FORM}?organization={tenant.organization.id}"
    admin.post(organization, TYPED | {"sid": OTHER}, page=organization)
    shown = [admin.get(path).text for path in (LIST, FORM, organization, "/audit")]
    assert "AC1a1a…1a1a" in shown[0]
    assert tenant.organization.name in shown[0]
    assert f'value="{SID}"' in shown[1]
    assert not any(TOKEN in page for page in shown)
    assert shown[3].count("Carrier account saved: AC1a1a…1a1a") == 1
    exported = admin.get("/lists/history/export.csv?action=carrier_account.saved").text
    overview = admin.get("/").text
    assert not any(SID in page for page in (shown[0], shown[3], exported, overview))
    mails = session.scalars(select(Mail).where(Mail.kind == "credential_created")).all()
    assert {mail.details["name"] for mail in mails} == {"AC1a1a…1a1a", "AC2b2b…2b2b"}
    first, second = stored_accounts(session)
    assert TOKEN not in first.secret
    assert [(each.is_pending, each.organization_id) for each in (first, second)] == [
        (True, None),
        (True, tenant.organization.id),
    ]
    found = session.scalars(
        select(AuditEntry.after).where(AuditEntry.target == "AC1a1a…1a1a")
    ).one()
    assert found == {"sid": SID, "token": "changed"}


def test_each_account_is_a_card_with_its_numbers_and_calls(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    admin.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)
    pending = words(admin.get(LIST))
    users = "2 organizations without their own account"
    assert f"Twilio account AC1a1a…1a1a Not in use Will be used by {users} " in pending
    assert f"Used by {users}." in words(admin.get(FORM))
    assert "In use Live calls and calls with test keys go here." in pending
    account.owner_id = tenant.partner.id
    now = utcnow()
    make_call(
        session,
        tenant.plus,
        "+12025550101",
        now,
        carrier=CarrierKind.TWILIO,
        account_id=account.id,
        started_at=now,
    )
    session.commit()
    used = words(admin.get(LIST))
    account_words = rf"In use Used by {users} Phone numbers \d+ Calls in 24 hours 1 "
    assert re.search(account_words, used)
    assert "The simulated carrier In use Calls with test keys go here." in used


def test_another_account_replaces_it_and_the_token_alone_may_change(
    session: Session, admin: Browser
) -> None:
    admin.post(FORM, TYPED, page=FORM)
    admin.post(FORM, {"sid": SID, "token": "7e" * 16}, page=FORM)
    admin.post(FORM, {"sid": SID, "token": ""}, page=FORM)
    [account] = stored_accounts(session)
    assert account.version == 2
    admin.post(FORM, {"sid": OTHER, "token": TOKEN}, page=FORM)
    before, now = stored_accounts(session)
    assert before.removed_at is not None
    assert (now.removed_at, now.sid) == (None, OTHER)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"sid": "SK123", "token": TOKEN}, "AC and 32 characters"),
        ({"sid": SID, "token": ""}, "Enter the token"),
        ({"sid": SID, "token": "with a space"}, "A token is 32 characters"),
        ({"sid": SID, "token": "5e" * 15}, "A token is 32 characters"),
        ({"sid": SID, "token": SID}, "A token is 32 characters"),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_invalid_credentials_are_refused_at_their_field(
    session: Session, admin: Browser, typed: dict[str, str], words: str
) -> None:
    answer = admin.post(FORM, typed, page=FORM)
    assert answer.status_code == 422
    assert words in answer.text
    assert TOKEN not in answer.text
    assert stored_accounts(session) == []


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_connection_is_tested_with_a_sentence_about_what_is_wrong(
    session: Session,
    tenant: Tenant,
    admin: Browser,
    carrier: FaultyCarrier,
    run_account_test: Callable[[UUID], str],
) -> None:
    session.add(
        Assistant(
            partner_id=tenant.partner.id,
            organization_id=tenant.organization.id,
            name="Ada",
            phone_number="+12025550199",
        )
    )
    session.commit()
    admin.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)

    def tested() -> str:
        admin.post(f"{LIST}/{account.id}/test", page=LIST)
        return run_account_test(account.id)

    after_saving = run_account_test(account.id)
    assert "Twilio knows no account with this SID." in after_saving
    assert '<span class="badge badge-danger">Failed</span>' in after_saving
    assert "Not in use: the test failed" in admin.get(FORM).text
    admin.post(f"{LIST}/{account.id}/use", page=LIST)
    in_use = admin.get(LIST).text
    assert "Live calls use this account anyway and may fail." in in_use
    assert "1 account that live calls use failed its test" in in_use
    assert "The account in use failed its test" in admin.get(FORM).text
    carrier.accounts[SID] = "another"
    assert "Twilio does not accept this token for this SID." in tested()
    carrier.accounts[SID] = TOKEN
    carrier.account_status = "suspended"
    assert "The Twilio account is suspended" in tested()
    carrier.account_status = "active"
    assert "This number is not the account’s: +12025550199." in tested()
    carrier.owned = {"+12025550199"}
    assert "The connection to AC1a1a…1a1a works. No call was placed." in tested()
    assert "failed its test" not in admin.get(LIST).text + admin.get(FORM).text
    carrier.stop()
    assert "Twilio could not be reached from here" in tested()
    assert carrier.ledger == []


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_failed_account_is_announced_on_every_page_about_calls(
    session: Session,
    tenant: Tenant,
    admin: Browser,
    carrier: FaultyCarrier,
    run_account_test: Callable[[UUID], str],
) -> None:
    assistant = Assistant(
        partner_id=tenant.partner.id, organization_id=tenant.organization.id, name="Ada"
    )
    session.add(assistant)
    session.commit()
    sentences = {
        "/": "1 carrier account failed its test",
        "/carriers": "1 account that live calls use failed its test",
        f"/test-call?agent={assistant.id}": "The last test of the carrier account failed.",
    }

    def pages_that_say_so() -> list[str]:
        return [page for page, words in sentences.items() if words in admin.get(page).text]

    answer = admin.post(FORM, TYPED, page=FORM)
    saved = "AC1a1a…1a1a is saved and tested now. Live calls use it once the test has passed."
    assert saved in admin.get(str(answer.location)).text
    [account] = stored_accounts(session)
    run_account_test(account.id)
    assert pages_that_say_so() == []
    assert "The new account AC1a1a…1a1a is not in use" in admin.get("/carriers").text
    admin.post(f"{LIST}/{account.id}/use", page=LIST)
    assert pages_that_say_so() == list(sentences)
    carrier.accounts[SID] = TOKEN
    admin.post(f"{LIST}/{account.id}/test", page=LIST)
    run_account_test(account.id)
    assert pages_that_say_so() == []


def used_by_calls(session: Session, tenant: Tenant) -> str | None:
    """The SID of the account that live calls of the tenant's organization use."""
    session.expire_all()
    found = carrier_accounts.effective(session, tenant.partner.id, tenant.organization.id)
    return found.sid if found else None


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_calls_use_a_new_account_only_after_its_test_has_passed(
    session: Session,
    tenant: Tenant,
    admin: Browser,
    carrier: FaultyCarrier,
    run_account_test: Callable[[UUID], str],
) -> None:
    carrier.accounts[SID] = TOKEN
    admin.post(FORM, TYPED, page=FORM)
    assert used_by_calls(session, tenant) is None
    [first] = stored_accounts(session)
    shown = run_account_test(first.id)
    assert used_by_calls(session, tenant) == SID
    assert "The connection to AC1a1a…1a1a works." in shown
    assert '<span class="badge badge-success">In use</span>' in shown
    assert "Carrier account in use: AC1a1a…1a1a" in admin.get("/audit").text

    admin.post(FORM, TYPED | {"sid": OTHER}, page=FORM)
    *_, second = stored_accounts(session)
    assert "Twilio knows no account" in run_account_test(second.id)
    assert used_by_calls(session, tenant) == SID
    carrier.accounts[OTHER] = TOKEN
    admin.post(f"{LIST}/{second.id}/test", page=LIST)
    run_account_test(second.id)
    assert used_by_calls(session, tenant) == OTHER
    assert [each.removed_at is None for each in stored_accounts(session)] == [False, True]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_calls_keep_the_working_token_if_the_new_one_is_wrong(
    session: Session,
    tenant: Tenant,
    admin: Browser,
    carrier: FaultyCarrier,
    run_account_test: Callable[[UUID], str],
) -> None:
    carrier.accounts[SID] = TOKEN
    admin.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)
    run_account_test(account.id)

    def secret() -> str | None:
        session.expire_all()
        opened = carrier_accounts.credentials(session, (SECRET_KEY,), account.id)
        return opened.secret if opened else None

    admin.post(FORM, TYPED | {"token": "7e" * 16}, page=FORM)
    *_, pending = stored_accounts(session)
    assert "Twilio does not accept this token" in run_account_test(pending.id)
    assert secret() == TOKEN
    carrier.accounts[SID] = "7e" * 16
    admin.post(f"{LIST}/{pending.id}/test", page=LIST)
    run_account_test(pending.id)
    assert (secret(), used_by_calls(session, tenant)) == ("7e" * 16, SID)
    kept, gone = stored_accounts(session)
    assert (kept.id, kept.version, gone.secret) == (account.id, 2, "")


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_test_of_credentials_that_changed_meanwhile_is_run_again(
    session: Session,
    tenant: Tenant,
    app: Flask,
    database: Database,
    admin: Browser,
    carrier: FaultyCarrier,
) -> None:
    carrier.accounts[SID] = TOKEN
    admin.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)
    admin.post(FORM, TYPED | {"token": "0f" * 16}, page=FORM)
    with database.transaction() as transaction:
        carrier_accounts.end_test(transaction, account.id, AccountTestResult(True), 1)
    assert "Testing…" in admin.get(LIST).text
    check_account(database, app.extensions["settings"], account.id)
    page = admin.get(LIST).text
    assert "Twilio does not accept this token" in page
    card = page.partition('id="connection-')[2].partition("</form>")[0]
    assert re.findall(r'btn-primary"[^>]*>([^<]+)<', card) == ["Test again"]
    assert used_by_calls(session, tenant) is None


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_using_a_failed_account_lists_the_assistants_that_then_can_not_call(
    session: Session,
    tenant: Tenant,
    admin: Browser,
    carrier: FaultyCarrier,
    run_account_test: Callable[[UUID], str],
) -> None:
    ids = {"partner_id": tenant.partner.id, "organization_id": tenant.organization.id}
    session.add_all(
        Assistant(**ids, name=name, phone_number=number)
        for name, number in (("Ada", "+12025550171"), ("Bob", "+12025550172"))
    )
    session.flush()
    number = session.get_one(PhoneNumber, "+12025550171")
    number.source, number.confirmed_at = NumberSource.SIMULATED, None
    session.commit()
    admin.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)
    assert "Use it anyway…" in run_account_test(account.id)
    asked = admin.get(f"{LIST}/{account.id}/use").text
    lost = (
        "1 assistant can’t call any more, because its number isn’t confirmed for this account: "
        f"Ada ({tenant.organization.name})."
    )
    listed = asked.partition('<ul class="consequences">')[2].partition("</ul>")[0]
    assert re.findall("<li>(.+)</li>", unescape(listed)) == [
        "New live calls of 2 organizations use AC1a1a…1a1a. They fail if the account doesn’t work.",
        "Calls in progress don’t change.",
        lost,
    ]
    assert used_by_calls(session, tenant) is None
    admin.post(f"{LIST}/{account.id}/use", page=LIST)
    assert used_by_calls(session, tenant) == SID


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_an_account_can_have_more_numbers_than_a_statement_has_parameters(
    session: Session, tenant: Tenant, admin: Browser, database: Database
) -> None:
    ids = {"partner_id": tenant.partner.id, "organization_id": tenant.organization.id}
    many = [{**ids, "name": "A", "phone_number": f"+1202{i:07}"} for i in range(1300)]
    session.execute(insert(Assistant), many)
    session.commit()
    admin.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)
    with few_parameters(database.engine, 2500):
        asked = admin.get(f"{LIST}/{account.id}/use").text
    assert "All assistants that can call now can still call." in asked


def test_a_pending_account_is_discarded_and_calls_go_on_as_before(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    admin.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)
    confirmation = f"{LIST}/{account.id}/remove"
    asked = admin.get(confirmation).text
    assert "Discard AC1a1a…1a1a?" in asked
    assert "No live call uses it. Calls still use the current account." in asked
    admin.post(confirmation, page=confirmation)
    assert "Live calls and calls with test keys go here." in admin.get(LIST).text
    assert "Carrier account discarded, not used: AC1a1a…1a1a" in admin.get("/audit").text
    assert admin.post(f"{LIST}/{account.id}/use", page=LIST).status_code == 404


def test_an_unused_account_can_be_removed_and_one_in_use_can_not(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    admin.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)
    admin.post(f"{LIST}/{account.id}/use", page=LIST)
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.organization.id).limit(1)
    ).one()
    call = Call(
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        assistant_id=assistant.id,
        source="api",
        carrier=CarrierKind.TWILIO,
        account_id=account.id,
        requested_by="a key",
        phone_number="+12125551000",
        contact={},
        status=CallStatus.RINGING,
        expires_at=account.created_at,
    )
    session.add(call)
    session.commit()
    confirmation = f"{LIST}/{account.id}/remove"
    asked = admin.get(confirmation).text
    assert "Remove the account AC1a1a…1a1a?" in asked
    assert "You can remove it after 1 call over it has ended." in asked
    admin.post(confirmation, page=confirmation)
    assert "1 call is waiting or in progress" in admin.get(LIST).text
    session.refresh(call)
    call.status = CallStatus.COMPLETED
    session.commit()
    admin.post(confirmation, page=confirmation)
    assert "was removed" in admin.get(LIST).text
    assert admin.get(confirmation).status_code == 404
    session.expire_all()
    opened = carrier_accounts.credentials(session, (SECRET_KEY,), account.id)
    assert opened is not None
    assert opened.secret == TOKEN
    carrier_accounts.delete_unneeded_secrets(session)
    assert carrier_accounts.credentials(session, (SECRET_KEY,), account.id) == opened
    [gone] = stored_accounts(session)
    assert gone.removed_at is not None
    gone.removed_at -= carrier_accounts.KEPT_SECRET * 2
    session.flush()
    carrier_accounts.delete_unneeded_secrets(session)
    assert gone.secret == ""


def test_a_removal_says_how_many_organizations_call_over_which_account_instead(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    its_form = f"{FORM}?organization={tenant.organization.id}"

    def bring(form: str, sid: str) -> None:
        admin.post(form, TYPED | {"sid": sid}, page=form)
        admin.post(f"{LIST}/{stored_accounts(session)[-1].id}/use", page=LIST)

    bring(its_form, OTHER)

    def follows(page: str) -> list[str]:
        asked = admin.get(page).text.partition('<ul class="consequences">')[2]
        return re.findall("<li>(.+)</li>", asked.partition("</ul>")[0])

    rest = [
        "No calls are using it.",
        "Its token is deleted within two days. Nothing changes at the carrier.",
    ]
    first = "New live calls of 1 organization use the platform’s."
    assert follows(its_form) == [first, *rest]
    bring(FORM, SID)
    first = "New live calls of 1 organization use your account AC1a1a…1a1a."
    assert follows(its_form) == [first, *rest]
    session.add_all(Organization(partner_id=tenant.partner.id, name=name) for name in "AB")
    session.flush()
    recount(session, tenant.partner.id)
    session.commit()
    first = "New live calls of 3 organizations use the platform’s."
    assert follows(FORM) == [first, *rest]


def test_accounts_of_many_organizations_are_paged_with_the_portals_own_first(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    admin.post(FORM, TYPED, page=FORM)
    for number in range(26):
        named = Organization(partner_id=tenant.partner.id, name=f"Branch {number:02}")
        session.add(named)
        session.flush()
        session.add(
            CarrierAccount(
                partner_id=tenant.partner.id,
                organization_id=named.id,
                owner_id=named.id,
                carrier=CarrierKind.TWILIO,
                sid=OTHER,
                secret="",
                created_by="colleague",
            )
        )
    session.commit()
    first = unescape(admin.get(LIST).text)
    [further] = re.findall(r'href="(/carriers/accounts\?cursor=[^"]+)"', first)
    second = admin.get(further).text
    shown = [sorted(set(re.findall(r"Branch \d\d", page))) for page in (first, second)]
    assert [len(names) for names in shown] == [25, 1]
    assert len({*shown[0], *shown[1]}) == 26
    assert "without their own account" in first
    assert "without their own account" not in second
    assert "Add account" not in second


def test_accounts_of_others_are_answered_like_missing_ones(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser, signed_in: SignIn
) -> None:
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    stranger.post(FORM, TYPED, page=FORM)
    [account] = stored_accounts(session)
    assert admin.get(f"{LIST}/{account.id}/remove").status_code == 404
    assert admin.post(f"{LIST}/{account.id}/test", page=LIST).status_code == 404
    foreign = f"{FORM}?organization={other_tenant.organization.id}"
    assert admin.get(foreign).status_code == 404
    assert admin.post(foreign, TYPED, page=FORM).status_code == 404
    for role in (Role.PARTNER_EDITOR, Role.ADMIN):
        assert signed_in(tenant.staff[role]).get(LIST).status_code == 404
    assert len(stored_accounts(session)) == 1
