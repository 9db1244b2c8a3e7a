"""The worker proves partners' domains by DNS, and undoes that when the proof is gone."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import dkim
import pytest
from sqlalchemy import select

from app.config import Settings
from app.database import Database
from app.enums import DnsRecordKind, DnsRecordStatus, DomainPurpose, Role
from app.gateways.mailers import OutgoingMail, open_outbox
from app.jobs.check_domain import check
from app.models import MailKind, Partner, PartnerDomain, PortalSession
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import domains, mail_queue, partners
from app.services.auth import sessions, sign_in
from app.services.credentials.reencryption import StoredSecret, reencrypt_batch
from app.services.domains.sender import PURPOSE
from tests.fixtures.clock import SetClock, set_clock
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.dns_server import DnsServer
from tests.fixtures.mails import send_waiting
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import OPERATOR, Tenant, make_partner, make_tenant
from tests.fixtures.waiting import wait_for
from tests.fixtures.worker import Worker
from tests.matrix import rotating

backend = runs_on(rotating("database of domains", BACKENDS))

DOMAIN = "portal.northwind.example"
SENDER = "no-reply@northwind.example"
SEEN = {"ownership": "seen", "address": "seen"}


@pytest.fixture
def dns() -> Iterator[DnsServer]:
    with DnsServer().open() as opened:
        yield opened


@pytest.fixture
def clock() -> Iterator[SetClock]:
    with set_clock() as opened:
        yield opened


class DomainChecks:
    """A partner, the DNS and the worker's half of the checks."""

    def __init__(self, database: Database, dns: DnsServer, folder: Path):
        self.database, self.dns = database, dns
        self.settings: Settings = settings_for(
            url_of(database),
            folder,
            dns_servers=dns.setting,
            public_url="http://host.platform.example",
            mail_spf_include="spf.platform.example",
        )
        with database.transaction() as session:
            self.tenant: Tenant = make_tenant(session)
            self.id = self.tenant.partner.id
        self.name(DOMAIN)

    def name(self, domain: str | None) -> None:
        with self.database.transaction() as session:
            changes = read(UpdatePartnerInput, {"domain": domain})
            partners.update(session, OPERATOR, self.id, changes)

    def send_from(self, email: str | None) -> None:
        with self.database.transaction() as session:
            keys = self.settings.secret_keys
            domains.choose_sender(session, OPERATOR, self.id, email, keys)

    def domain(self, purpose: DomainPurpose = DomainPurpose.PORTAL) -> PartnerDomain:
        with self.database.transaction(read_only=True) as session:
            return session.get_one(PartnerDomain, (self.id, purpose))

    def records(
        self, purpose: DomainPurpose = DomainPurpose.PORTAL
    ) -> list[domains.RequiredRecord]:
        known = self.settings
        return domains.records_of(self.domain(purpose), known.public_host, known.mail_spf_include)

    def check(self, purpose: DomainPurpose = DomainPurpose.PORTAL) -> dict[str, str]:
        """Check as the worker does; return the states."""
        check(self.database, self.settings, self.id, purpose)
        return {one["kind"]: one["state"] for one in self.domain(purpose).findings}

    def prove(self, purpose: DomainPurpose = DomainPurpose.PORTAL) -> None:
        self.dns.set_all(self.records(purpose))
        assert set(self.check(purpose).values()) == {"seen"}

    def served(self, domain: str = DOMAIN) -> bool:
        """Whether the host has the partner's brand."""
        with self.database.transaction(read_only=True) as session:
            found = sign_in.active_partner_by_host(session, domain)
            return found is not None and found.id == self.id

    def letter(self) -> OutgoingMail:
        """A mail as it would be sent now."""
        with self.database.transaction() as session:
            user = self.tenant.staff[Role.PARTNER_ADMIN].id
            mail_queue.enqueue(session, MailKind.PASSWORD_CHANGED, partner_id=self.id, user_id=user)
        return self.mails()[-1]

    def mails(self) -> list[OutgoingMail]:
        with self.database.transaction() as session:
            return send_waiting(session, self.settings)


@pytest.fixture
def domain_checks(fresh_database: Database, dns: DnsServer, tmp_path: Path) -> DomainChecks:
    return DomainChecks(fresh_database, dns, tmp_path)


def test_a_domain_with_both_records_is_verified(domain_checks: DomainChecks) -> None:
    assert domain_checks.check() == {"ownership": "missing", "address": "missing"}
    assert not domain_checks.served()
    domain_checks.dns.set_all(domain_checks.records())
    assert (domain_checks.check(), domain_checks.served()) == (SEEN, True)
    domain = domain_checks.domain()
    assert domain.proved_at is not None
    assert domain.missing_since is None


@pytest.mark.parametrize(
    ("name", "kind", "value", "states"),
    [
        (f"_portal-challenge.{DOMAIN}", "TXT", "another", {**SEEN, "ownership": "different"}),
        (DOMAIN, "CNAME", "elsewhere.example.", {**SEEN, "address": "different"}),
    ],
)
def test_a_record_with_another_value_proves_nothing(
    domain_checks: DomainChecks, name: str, kind: str, value: str, states: dict[str, str]
) -> None:
    domain_checks.dns.set_all(domain_checks.records())
    domain_checks.dns.serve(name, kind, value)
    assert (domain_checks.check(), domain_checks.served()) == (states, False)
    [finding] = [one for one in domain_checks.domain().findings if one["state"] == "different"]
    assert finding["found"] == [value.rstrip(".")]


def test_the_same_addresses_serve_as_well_as_a_cname(domain_checks: DomainChecks) -> None:
    ownership, _ = domain_checks.records()
    domain_checks.dns.set_all([ownership])
    domain_checks.dns.serve(DOMAIN, "A", "192.0.2.1", "192.0.2.2")
    domain_checks.dns.serve("host.platform.example", "A", "192.0.2.2")
    assert (domain_checks.check(), domain_checks.served()) == (SEEN, True)


def test_the_token_of_another_partner_proves_nothing(domain_checks: DomainChecks) -> None:
    with domain_checks.database.transaction() as session:
        other = make_partner(session, "Southgate", domain=DOMAIN).id
    domain_checks.prove()
    check(domain_checks.database, domain_checks.settings, other, DomainPurpose.PORTAL)
    with domain_checks.database.transaction(read_only=True) as session:
        assert session.get_one(Partner, other).domain_verified_at is None
    assert domain_checks.served()


def test_a_domain_that_another_partner_has_verified_is_in_use(domain_checks: DomainChecks) -> None:
    with domain_checks.database.transaction() as session:
        other = make_partner(session, "Southgate", domain=DOMAIN)
        partners.verify_domain(session, OPERATOR, other.id)
    domain_checks.prove()
    assert (domain_checks.domain().is_taken, domain_checks.served()) == (True, False)


def test_a_domain_without_its_records_is_unverified_after_the_grace_period(
    domain_checks: DomainChecks, clock: SetClock
) -> None:
    domain_checks.prove()
    with domain_checks.database.transaction() as session:
        lifetime = timedelta(days=30)
        sessions.create(session, domain_checks.tenant.user, lifetime=lifetime, host=DOMAIN)
        sessions.create(session, domain_checks.tenant.user, lifetime=lifetime, host="localhost")
    domain_checks.dns.records.clear()
    clock.pass_by(days=1)
    domain_checks.check()
    assert [mail.subject for mail in domain_checks.mails()] == [
        f"DNS records of {DOMAIN} are missing"
    ]
    clock.pass_by(days=2, hours=23)
    domain_checks.check()
    assert (domain_checks.served(), domain_checks.mails()) == (True, [])
    clock.pass_by(hours=1)
    domain_checks.check()
    assert not domain_checks.served()
    assert [mail.subject for mail in domain_checks.mails()] == [
        f"{DOMAIN} is not verified any more"
    ]
    with domain_checks.database.transaction(read_only=True) as session:
        assert session.scalars(select(PortalSession.host)).all() == ["localhost"]
    clock.pass_by(days=1)
    domain_checks.check()
    assert domain_checks.mails() == []
    domain_checks.prove()
    assert (domain_checks.served(), domain_checks.domain().lost_at) == (True, None)


def test_records_that_come_back_in_time_change_nothing(
    domain_checks: DomainChecks, clock: SetClock
) -> None:
    domain_checks.prove()
    kept = dict(domain_checks.dns.records)
    domain_checks.dns.records.clear()
    domain_checks.check()
    clock.pass_by(days=2)
    domain_checks.dns.records.update(kept)
    domain_checks.check()
    clock.pass_by(days=2)
    domain_checks.dns.records.clear()
    domain_checks.check()
    assert domain_checks.served()


def test_without_an_answer_nothing_changes(domain_checks: DomainChecks, clock: SetClock) -> None:
    domain_checks.prove()
    domain_checks.dns.fails.update(record.name for record in domain_checks.records())
    for _ in range(5):
        clock.pass_by(days=1)
        assert domain_checks.check() == {"ownership": "unanswered", "address": "unanswered"}
    assert (
        domain_checks.served(),
        domain_checks.domain().missing_since,
        domain_checks.mails(),
    ) == (True, None, [])


def test_a_domain_that_an_operator_verified_needs_no_records(
    domain_checks: DomainChecks, clock: SetClock
) -> None:
    with domain_checks.database.transaction() as session:
        partners.verify_domain(session, OPERATOR, domain_checks.id)
    domain_checks.check()
    clock.pass_by(days=30)
    domain_checks.check()
    assert (domain_checks.served(), domain_checks.mails()) == (True, [])


def test_a_new_domain_begins_without_proof(domain_checks: DomainChecks) -> None:
    domain_checks.prove()
    domain_checks.name("other.northwind.example")
    domain = domain_checks.domain()
    assert (domain.domain, domain.proved_at, domain.findings) == (
        "other.northwind.example", None, []
    )  # fmt: skip
    assert (domain_checks.served(), domain_checks.served("other.northwind.example")) == (
        False,
        False,
    )
    domain_checks.name(None)
    with domain_checks.database.transaction(read_only=True) as session:
        assert session.scalars(select(PartnerDomain.domain)).all() == []


def test_findings_about_an_earlier_domain_are_ignored(domain_checks: DomainChecks) -> None:
    domain_checks.dns.set_all(domain_checks.records())
    with domain_checks.database.transaction(read_only=True) as session:
        begun = domains.begin(
            session, domain_checks.id, DomainPurpose.PORTAL, domain_checks.settings
        )
    assert begun
    domain_checks.name("other.northwind.example")
    seen = [domains.RecordFinding(record.kind, DnsRecordStatus.SEEN) for record in begun.records]
    with domain_checks.database.transaction() as session:
        domains.store_findings(session, begun, seen, timedelta(days=3))
    assert not domain_checks.served("other.northwind.example")


def test_checks_are_due_daily_and_hourly_while_records_are_missing(
    domain_checks: DomainChecks, clock: SetClock
) -> None:
    def due() -> int:
        with domain_checks.database.transaction() as session:
            return domains.refresh_due(session)

    domain_checks.prove()
    clock.pass_by(hours=23)
    assert due() == 0
    clock.pass_by(hours=2)
    assert (due(), due()) == (1, 0)
    domain_checks.dns.records.clear()
    domain_checks.check()
    clock.pass_by(minutes=59)
    assert due() == 0
    clock.pass_by(minutes=2)
    assert (due(), due()) == (1, 0)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_worker_checks_a_domain_without_being_asked(
    domain_checks: DomainChecks, make_worker: Callable[..., Worker]
) -> None:
    domain_checks.dns.set_all(domain_checks.records())
    settings = {"PORTAL_DNS_SERVERS": domain_checks.dns.setting}
    make_worker(PORTAL_PUBLIC_URL=domain_checks.settings.public_url, **settings).start()
    wait_for(domain_checks.served)


def test_mail_comes_from_the_partners_address_while_its_records_are_seen(
    domain_checks: DomainChecks,
) -> None:
    domain_checks.send_from(SENDER)
    assert (domain_checks.letter().sender, domain_checks.letter().signature) == (None, None)
    domain_checks.prove(DomainPurpose.MAIL)
    assert domain_checks.letter().sender == SENDER
    domain_checks.dns.serve("_dmarc.northwind.example", "TXT")
    assert domain_checks.check(DomainPurpose.MAIL)["dmarc"] == "missing"
    assert (domain_checks.letter().sender, domain_checks.letter().sender_name) == (
        None,
        "AI Receptionist",
    )


@pytest.mark.parametrize(
    ("kind", "value", "state"),
    [
        (DnsRecordKind.SPF, "v=spf1 ip4:192.0.2.1 +INCLUDE:spf.platform.example -all", "seen"),
        (DnsRecordKind.SPF, "v=spf1 include:other.example ~all", "different"),
        (DnsRecordKind.SPF, "v=spf1 -include:spf.platform.example ~all", "different"),
        (DnsRecordKind.SPF, "some other text", "missing"),
        (DnsRecordKind.DKIM, "v=DKIM1; p=bm8=", "different"),
        (DnsRecordKind.DMARC, "v=DMARC1; p=reject; rua=mailto:a@northwind.example", "seen"),
        (DnsRecordKind.DMARC, "v=DMARC1; rua=mailto:a@northwind.example", "different"),
    ],
)
def test_mail_records_are_read_as_receivers_read_them(
    domain_checks: DomainChecks, kind: DnsRecordKind, value: str, state: str
) -> None:
    domain_checks.send_from(SENDER)
    records = domain_checks.records(DomainPurpose.MAIL)
    domain_checks.dns.set_all(records)
    [name] = [record.name for record in records if record.kind is kind]
    domain_checks.dns.serve(name, "TXT", value)
    expected = dict.fromkeys(("ownership", "spf", "dkim", "dmarc"), "seen") | {kind: state}
    assert domain_checks.check(DomainPurpose.MAIL) == expected


def test_two_spf_records_count_as_none(domain_checks: DomainChecks) -> None:
    domain_checks.send_from(SENDER)
    domain_checks.dns.set_all(domain_checks.records(DomainPurpose.MAIL))
    ours = "v=spf1 include:spf.platform.example ~all"
    domain_checks.dns.serve("northwind.example", "TXT", ours, "v=spf1 -all")
    assert domain_checks.check(DomainPurpose.MAIL)["spf"] == "different"


def test_the_dmarc_record_of_a_domain_above_counts(domain_checks: DomainChecks) -> None:
    domain_checks.send_from("no-reply@mail.northwind.example")
    domain_checks.dns.set_all(domain_checks.records(DomainPurpose.MAIL))
    domain_checks.dns.serve("_dmarc.mail.northwind.example", "TXT")
    domain_checks.dns.serve("_dmarc.northwind.example", "TXT", "v=DMARC1; p=quarantine")
    assert domain_checks.check(DomainPurpose.MAIL)["dmarc"] == "seen"


def test_receivers_can_check_the_signature_of_a_mail(domain_checks: DomainChecks) -> None:
    domain_checks.send_from(SENDER)
    domain_checks.prove(DomainPurpose.MAIL)
    outbox = open_outbox(domain_checks.settings)
    outbox.send(domain_checks.letter())
    [kept] = outbox.mails()
    octets = kept.path.read_bytes()

    def published(name: bytes, **_: object) -> bytes:
        [record] = [
            record
            for record in domain_checks.records(DomainPurpose.MAIL)
            if f"{record.name}.".encode() == name
        ]
        return record.value.encode()

    assert kept.read()["From"] == f"AI Receptionist <{SENDER}>"
    assert dkim.verify(octets, dnsfunc=published)
    assert not dkim.verify(
        octets.replace(b"AI Receptionist", b"Another name", 1), dnsfunc=published
    )


def test_the_signing_key_is_stored_encrypted_and_follows_a_key_change(
    domain_checks: DomainChecks,
) -> None:
    domain_checks.send_from(SENDER)
    before = domain_checks.domain(DomainPurpose.MAIL).dkim_key or ""
    assert "PRIVATE" not in before
    keys = ("a new secret key of the installation", *domain_checks.settings.secret_keys)
    with domain_checks.database.transaction() as session:
        reencrypt_batch(session, StoredSecret(PartnerDomain.dkim_key, PURPOSE), keys, ())
    domain_checks.prove(DomainPurpose.MAIL)
    with domain_checks.database.transaction(read_only=True) as session:
        partner = session.get_one(Partner, domain_checks.id)
        found = domains.sender_of(session, partner, keys[:1])
        assert found is not None
        assert "PRIVATE KEY" in found.signature.key
        assert domains.sender_of(session, partner, domain_checks.settings.secret_keys) is None


def test_admins_get_a_mail_when_their_sender_is_lost(domain_checks: DomainChecks) -> None:
    domain_checks.send_from(SENDER)
    domain_checks.prove(DomainPurpose.MAIL)
    domain_checks.dns.records.clear()
    domain_checks.check(DomainPurpose.MAIL)
    [mail] = domain_checks.mails()
    assert mail.subject == "Emails don’t come from northwind.example any more"
    assert (mail.to, mail.sender) == (domain_checks.tenant.staff[Role.PARTNER_ADMIN].email, None)
