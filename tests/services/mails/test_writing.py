"""Sent mails: only in the partner's brand, and with escaped values."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import OrganizationStatus, Role, UserStatus
from app.gateways.mailers import OutgoingMail
from app.languages import using_language
from app.languages.dates import NO_BREAK
from app.models import (
    AuditEntry,
    LinkPurpose,
    Mail,
    MailKind,
    OneTimeLink,
    User,
    utcnow,
)
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import mails, partners
from app.services.auth import email_changes, one_time_links
from app.services.branding.brand import NEUTRAL_NAME
from app.services.branding.shades import brand_shades
from app.services.mail_queue import enqueue
from app.services.mails.facts import format_time
from app.services.mails.sending import GAPS_SECONDS
from app.services.mails.texts import TEXTS_BY_KIND
from tests.fixtures.mails import path_in, send_waiting
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant

DETAILS: dict[MailKind, dict[str, Any]] = {
    MailKind.EMAIL_CHANGED: {"from": "old@hill.example", "to": "new@hill.example"},
    MailKind.CONFIRM_EMAIL: {
        "side": "old",
        "by": "ada@hill.example",
        "from": "old@hill.example",
        "to": "new@hill.example",
    },
    MailKind.ACCESS_ENDED: {
        "who": "bob@hill.example",
        "by": "ada@hill.example",
        "what": "deactivated",
        "ended": ["API client Sync (ppc_1)"],
        "handedOver": ["API key CRM (ppk_live_1)"],
    },
    MailKind.IMPORT_FINISHED: {
        "file": "leads.csv",
        "campaign": "Autumn",
        "state": "done",
        "uploadId": "1",
        "rows": 4361,
        "total": 4812,
        "created": 4000,
        "updated": 361,
        "deleted": 0,
        "ignored": 39,
        "failed": 412,
    },
    MailKind.CHAT_MESSAGE: {"name": "Ann", "email": "ann@visitor.example", "message": "Hi\nthere"},
    MailKind.ALERTS_OPENED: {
        "rule": "An organization has more than 1 failed call today",
        "ruleId": "5d1c",
        "titles": ["Hill Dental: 2 failed calls today", "Hillside: 3 failed calls today"],
        "more": 4,
    },
    MailKind.DOMAIN_RECORDS: {
        "purpose": "portal",
        "domain": "portal.northwind.example",
        "until": "2026-11-24T10:00:00+00:00",
    },
    MailKind.IDENTITY_LINKED: {"provider": "Acme ID"},
    MailKind.MONTHLY_REPORT: {
        "name": "Hill Dental",
        "month": "October 2026",
        "start": "2026-10-01",
        "organizationId": None,
        "figures": [["Conversations", "1,210", "1,100"]],
        "growing": [["Hillside", "40", "20"]],
        "falling": [],
        "near": [["Hillside", "9 of 10 seats in use."]],
    },
    MailKind.EXPORT_FINISHED: {
        "list": "contacts",
        "rows": 100_000,
        "problem": None,
        "until": "2026-11-24T10:00:00+00:00",
    },
    MailKind.CALLING_PAUSED: {
        "organization": "Hill Dental",
        "organizationId": "01a2",
        "why": "Unusual calls: 60 calls in an hour.",
        "mayResume": True,
    },
    MailKind.NUMBERS_UNCONFIRMED: {
        "account": "AC0123456789",
        "numbers": ["+1 202-555-0101", "+1 202-555-0102"],
        "count": 3,
    },
    MailKind.BUDGET_REACHED: {
        "organization": "Hill Dental",
        "organizationId": "01a2",
        "percent": 80,
        "spent": "81.20 USD",
        "budget": "100.00 USD",
    },
    MailKind.CREDENTIAL_CREATED: {
        "kind": "key",
        "done": "created",
        "name": "CRM",
        "organization": "Hill Dental",
        "by": "ada@hill.example",
        "endsAt": "2027-11-24T10:00:00+00:00",
        "id": "1",
    },
    MailKind.CREDENTIAL_ENDS: {
        "kind": "client",
        "name": "Sync",
        "organization": None,
        "endsAt": "2026-11-24T10:00:00+00:00",
        "id": "1",
    },
    MailKind.ADMINISTRATOR_ADDED: {
        "who": "bob@hill.example",
        "role": "owner",
        "organization": "Hill Dental",
        "by": "ada@hill.example",
        "userId": "1",
    },
    MailKind.FACTORS_CHANGED: {"what": "passkey_added", "name": "Laptop"},
    MailKind.NEW_BROWSER: {"address": "192.0.2.7"},
    MailKind.PORTAL_VIEWED: {
        "operator": "root@platform.example",
        "as": "ann@northwind.example",
        "reason": "Request 4711",
    },
    MailKind.WEBHOOK_PAUSED: {
        "webhookId": "1",
        "host": "crm.example",
        "organization": "Hillside Dental",
        "reason": "failing",
    },
}


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    changes = {
        "productName": "Northwind Voice",
        "supportEmail": "help@northwind.example",
        "brandUIColors": [{"name": "primary", "value": "#ffc800"}],
    }
    partners.update(session, OPERATOR, tenant.partner.id, read(UpdatePartnerInput, changes))
    return tenant


def queue_mail(session: Session, user: User, kind: MailKind) -> Mail:
    if kind is MailKind.INVITATION:
        user.status = UserStatus.INVITED
    details = DETAILS.get(kind, {})
    if kind is MailKind.CONFIRM_EMAIL:
        change = email_changes.create(
            session, user.id, details["to"], requested_by=details["by"], requested_by_id=None
        )
        details = details | {"changeId": str(change.id)}
    return enqueue(
        session,
        kind,
        partner_id=user.partner_id,
        user_id=None if kind is MailKind.CHAT_MESSAGE else user.id,
        to="help@northwind.example" if kind is MailKind.CHAT_MESSAGE else None,
        details=details,
    )


def written(session: Session, settings: Settings, user: User, kind: MailKind) -> OutgoingMail:
    queue_mail(session, user, kind)
    (letter,) = send_waiting(session, settings)
    return letter


@pytest.mark.parametrize("kind", TEXTS_BY_KIND)
def test_every_mail_is_in_the_partners_brand_and_names_no_other_brand(
    session: Session, settings: Settings, tenant: Tenant, kind: MailKind
) -> None:
    letter = written(session, settings, tenant.user, kind)
    shades = brand_shades("#ffc800")
    everything = f"{letter.subject} {letter.text} {letter.html} {letter.sender_name}"
    assert NEUTRAL_NAME.lower() not in everything.lower()
    assert (letter.sender_name, letter.partner_id) == ("Northwind Voice", tenant.partner.id)
    for form in (letter.text, letter.html):
        assert "Northwind Voice" in form
        assert "help@northwind.example" in form
    head, body = letter.html.split("</head>")
    assert f"background-color: {shades.dark.panel} !important" in head
    assert '<meta name="color-scheme" content="light dark">' in head
    assert f"background-color: {shades.light.panel}" in body


@pytest.mark.parametrize("of_user", [None, "es"])
@pytest.mark.parametrize("kind", TEXTS_BY_KIND)
def test_every_mail_is_in_the_language_of_its_reader_or_else_of_the_partner(
    session: Session, settings: Settings, tenant: Tenant, kind: MailKind, of_user: str | None
) -> None:
    tenant.partner.language, tenant.user.language = "de", of_user
    with using_language("fr"):  # of the user who causes it
        letter = written(session, settings, tenant.user, kind)
    to_the_partner = kind is MailKind.CHAT_MESSAGE
    expected = "de" if of_user is None or to_the_partner else of_user
    assert re.findall(r'<html lang="(\w+)"', letter.html) == [expected]


@pytest.mark.parametrize(
    ("details", "sentence"),
    [
        ({"what": "app_added"}, "An authenticator app was added to your account"),
        ({"what": "app_removed"}, "The authenticator app of your account in"),
        ({"what": "passkey_added", "name": "Laptop"}, "The passkey “Laptop” was added"),
        ({"what": "passkey_removed", "name": "Laptop"}, "The passkey “Laptop” of your account"),
        ({"what": "recovery_codes_replaced"}, "The old ones no longer work."),
        ({"what": "recovery_code_used", "left": 1}, "was used. 1 code is left."),
        ({"what": "recovery_code_used", "left": 9}, "was used. 9 codes are left."),
        ({"what": "factors_reset", "by": "ada@x.example"}, "ada@x.example removed all second"),
    ],
)
def test_the_mail_about_a_changed_factor_says_what_happened(
    session: Session,
    settings: Settings,
    tenant: Tenant,
    details: dict[str, object],
    sentence: str,
) -> None:
    enqueue(
        session,
        MailKind.FACTORS_CHANGED,
        partner_id=tenant.user.partner_id,
        user_id=tenant.user.id,
        details=details,
    )
    (letter,) = send_waiting(session, settings)
    assert sentence in " ".join(letter.text.split())
    assert "If that was not you, set a new password immediately" in " ".join(letter.text.split())


def test_the_mail_about_a_paused_webhook_for_the_whole_portal_names_no_organization(
    session: Session, settings: Settings, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    details = DETAILS[MailKind.WEBHOOK_PAUSED] | {"organization": None}
    monkeypatch.setitem(DETAILS, MailKind.WEBHOOK_PAUSED, details)
    letter = written(session, settings, tenant.user, MailKind.WEBHOOK_PAUSED)
    assert letter.subject == "A webhook for the whole portal was paused"
    assert "sends events of all organizations to crm.example." in " ".join(letter.text.split())


def test_an_invitation_says_who_invites_where_to_and_until_when(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    inviter = tenant.staff[Role.PARTNER_ADMIN]
    inviter.name, tenant.user.invited_by_id = "Maren \r\nOduya", inviter.id
    tenant.user.name, tenant.user.timezone = "Olga", "Europe/Berlin"
    letter = written(session, settings, tenant.user, MailKind.INVITATION)
    path = path_in(letter)
    ends = session.scalars(select(OneTimeLink.expires_at)).one()
    assert (letter.to, letter.to_name, letter.reply_to, letter.subject) == (
        tenant.user.email,
        "Olga",
        "help@northwind.example",
        "You are invited to Northwind Voice",
    )
    assert path.startswith(f"/p/{tenant.partner.slug}/invitation/")
    assert letter.html.count(f'href="http://localhost{path}"') == 2
    assert "\nMaren Oduya invited you as a member of Northwind Bakery.\n" in letter.text
    until = format_time(ends, "Europe/Berlin")
    assert f"The link works once, until {until}." in unescape(letter.html)
    assert f"The link works once, until {until.replace(NO_BREAK, ' ')}." in letter.text


@pytest.mark.parametrize(
    ("of_partner", "of_user", "subject"),
    [
        (None, None, "Sie sind zu"),
        ("fr", None, "Vous êtes invité"),
        ("fr", "es", "Tiene una invitación"),
    ],
)
def test_an_invitation_has_the_language_of_its_page_if_no_other_is_chosen(
    session: Session,
    settings: Settings,
    tenant: Tenant,
    of_partner: str | None,
    of_user: str | None,
    subject: str,
) -> None:
    tenant.partner.language, tenant.user.language = of_partner, of_user
    tenant.user.status = UserStatus.INVITED
    with using_language("de-CH"):
        enqueue(session, MailKind.INVITATION, partner_id=tenant.partner.id, user_id=tenant.user.id)
    [letter] = send_waiting(session, settings)
    assert letter.subject.startswith(subject)


def test_an_invitation_names_who_entered_the_address(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    inviter = tenant.staff[Role.ADMIN]
    inviter.name, tenant.user.invited_by_id = "Maren Oduya", inviter.id
    letter = written(session, settings, tenant.user, MailKind.INVITATION)
    text = " ".join(letter.text.split())
    assert f"Sent to {tenant.user.email} because Maren Oduya entered this address." in text


@pytest.mark.parametrize(
    ("role", "words"),
    [
        (Role.ADMIN, "You are invited as a customer admin of Northwind."),
        (Role.PARTNER_EDITOR, "You are invited as a partner editor of Northwind."),
        (Role.PARTNER_ADMIN, "You are invited as a partner admin of Northwind."),
    ],
)
def test_an_invitation_by_an_operator_names_the_partner_alone_and_not_as_who_invited(
    session: Session, settings: Settings, tenant: Tenant, role: Role, words: str
) -> None:
    operator = User(email="op@ops.example", email_key="op@ops.example", user_type=Role.OPERATOR)
    session.add(operator)
    session.flush()
    tenant.staff[role].invited_by_id = operator.id
    letter = written(session, settings, tenant.staff[role], MailKind.INVITATION)
    assert words in letter.text
    assert "op@ops" not in letter.html
    assert "because this address was invited to" in " ".join(letter.text.split())


@pytest.mark.parametrize(
    ("kind", "purpose"),
    [
        (MailKind.INVITATION, LinkPurpose.INVITATION),
        (MailKind.SET_PASSWORD, LinkPurpose.SET_PASSWORD),
        (MailKind.RESET_PASSWORD, LinkPurpose.RESET_PASSWORD),
    ],
)
def test_the_token_is_only_in_the_mail(
    session: Session, settings: Settings, tenant: Tenant, kind: MailKind, purpose: LinkPurpose
) -> None:
    token = path_in(written(session, settings, tenant.user, kind)).rpartition("/")[2]
    assert one_time_links.look_up(session, token, purpose) == tenant.user
    mail = session.scalars(select(Mail)).one()
    link = session.scalars(select(OneTimeLink)).one()
    stored = [getattr(row, c.name) for row in (mail, link) for c in row.__table__.columns]
    assert token not in repr(stored)


def test_the_mail_about_alerts_links_to_its_rule_and_to_the_choice_of_emails(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    letter = written(session, settings, tenant.staff[Role.PARTNER_ADMIN], MailKind.ALERTS_OPENED)
    for path in ("/alerts/rules/5d1c", "/account#emails"):
        assert f'href="http://localhost{path}"' in letter.html
        assert f": http://localhost{path}\n" in letter.text


def test_an_address_in_a_mail_breaks_after_its_at_and_its_dots(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    tenant.partner.support_email = "help@northwind.example"
    letter = written(session, settings, tenant.user, MailKind.INVITATION)
    assert "help@<wbr>northwind.<wbr>example</a>" in letter.html
    assert "help@northwind.example" in letter.text


def test_names_in_a_mail_are_never_markup(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    tenant.organization.name = "<img src=x onerror=alert(1)>"
    inviter = tenant.staff[Role.PARTNER_ADMIN]
    inviter.name, tenant.user.invited_by_id = "<script>Eve</script>", inviter.id
    tenant.partner.name = "<b>Northwind</b>"
    tenant.partner.product_name = "Voice\r\nBcc: eve@evil.example<script>"
    letter = written(session, settings, tenant.user, MailKind.INVITATION)
    assert "<img src=x" not in letter.html
    assert "<script" not in letter.html
    assert "<b>Northwind" not in letter.html
    assert "&lt;img src=x onerror=alert(1)&gt;" in letter.html
    assert "<img src=x onerror=alert(1)>" in letter.text


def test_the_message_of_a_visitor_is_quoted_and_replies_go_to_the_visitor(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    letter = written(session, settings, tenant.user, MailKind.CHAT_MESSAGE)
    assert (letter.to, letter.reply_to) == ("help@northwind.example", "ann@visitor.example")
    assert "> Hi\n> there\n" in letter.text


def test_an_operators_mail_is_neutral(session: Session, settings: Settings) -> None:
    operator = User(email="op@ops.example", email_key="op@ops.example", user_type=Role.OPERATOR)
    session.add(operator)
    session.flush()
    letter = written(session, settings, operator, MailKind.RESET_PASSWORD)
    assert (letter.sender_name, letter.partner_id) == (NEUTRAL_NAME, None)
    assert path_in(letter).startswith("/password/")


@pytest.mark.parametrize(
    ("env", "expected"),
    [("test", "http://localhost/p/"), ("production", "https://northwind.example/p/")],
)
def test_links_lead_to_the_partners_own_host_in_production(
    session: Session, settings: Settings, tenant: Tenant, env: str, expected: str
) -> None:
    partners.verify_domain(session, OPERATOR, tenant.partner.id)
    real = settings.model_copy(update={"env": env})
    assert expected in written(session, real, tenant.user, MailKind.RESET_PASSWORD).text


@pytest.mark.parametrize("reason", ["user", "organization", "partner", "joined"])
def test_a_link_that_would_open_nothing_is_not_sent(
    session: Session, settings: Settings, tenant: Tenant, reason: str
) -> None:
    queue_mail(session, tenant.user, MailKind.SET_PASSWORD)
    match reason:
        case "user":
            tenant.user.status = UserStatus.SUSPENDED
        case "organization":
            tenant.organization.status = OrganizationStatus.SUSPENDED
        case "partner":
            tenant.partner.suspended_at = utcnow()
        case _:
            tenant.user.password_hash = "hash"
    session.flush()
    assert send_waiting(session, settings) == []
    mail = session.scalars(select(Mail)).one()
    assert (mail.is_over, mail.failure) == (True, "no longer needed")
    assert session.scalars(select(OneTimeLink)).all() == []


def test_a_mail_that_was_accepted_is_never_written_again(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    mail = queue_mail(session, tenant.user, MailKind.RESET_PASSWORD)
    assert mails.begin(session, mail.id, 1, settings) is not None
    mails.record_sent(session, mail.id)
    assert mails.begin(session, mail.id, 1, settings) is None
    assert mails.begin(session, mail.id, 2, settings) is None


def test_an_attempt_that_a_later_one_replaced_writes_nothing(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    mail = queue_mail(session, tenant.user, MailKind.RESET_PASSWORD)
    mails.begin(session, mail.id, 2, settings)
    assert mails.begin(session, mail.id, 1, settings) is None


def test_the_attempts_grow_apart_and_end_in_the_history(
    session: Session, settings: Settings, tenant: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    assert list(GAPS_SECONDS) == sorted(GAPS_SECONDS)
    assert timedelta(hours=12) < timedelta(seconds=sum(GAPS_SECONDS)) < timedelta(days=2)
    mail = queue_mail(session, tenant.user, MailKind.RESET_PASSWORD)
    for attempt in range(1, len(GAPS_SECONDS) + 1):
        assert mails.begin(session, mail.id, attempt, settings) is not None
        mails.schedule_retry(session, mail.id, attempt, "away")
        assert (mail.is_over, mail.failure) == (False, "away")
    last = len(GAPS_SECONDS) + 1
    mails.schedule_retry(session, mail.id, last, "away")
    session.flush()
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "mail.failed")).one()
    reason = f"given up after {last} attempts; away"
    assert (mail.is_over, mail.failure) == (True, reason)
    assert (entry.partner_id, entry.target_id, entry.after) == (
        tenant.partner.id,
        str(tenant.user.id),
        {"mail": "reset_password", "reason": reason},
    )
    assert [record.getMessage() for record in caplog.records] == [
        f"mail {mail.id} (reset_password) was not sent: {reason}"
    ]
