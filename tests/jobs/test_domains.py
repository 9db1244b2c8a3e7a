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
from tests.fixtures.cast import OPERATOR, Tenant, make_partner, make_tenant
from tests.fixtures.clock import SetClock, set_clock
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.dns_server import DnsServer
from tests.fixtures.mails import send_waiting
from tests.fixtures.settings import settings_for, url_of
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


class World:
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
def world(fresh_database: Database, dns: DnsServer, tmp_path: Path) -> World:
    return World(fresh_database, dns, tmp_path)


def test_a_domain_with_both_records_is_verified(world: World) -> None:
    assert world.check() == {"ownership": "missing", "address": "missing"}
    assert not world.served()
    world.dns.set_all(world.records())
    assert (world.check(), world.served()) == (SEEN, True)
    domain = world.domain()
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
    world: World, name: str, kind: str, value: str, states: dict[str, str]
) -> None:
    world.dns.set_all(world.records())
    world.dns.serve(name, kind, value)
    assert (world.check(), world.served()) == (states, False)
    [finding] = [one for one in world.domain().findings if one["state"] == "different"]
    assert finding["found"] == [value.rstrip(".")]


def test_the_same_addresses_serve_as_well_as_a_cname(world: World) -> None:
    ownership, _ = world.records()
    world.dns.set_all([ownership])
    world.dns.serve(DOMAIN, "A", "192.0.2.1", "192.0.2.2")
    world.dns.serve("host.platform.example", "A", "192.0.2.2")
    assert (world.check(), world.served()) == (SEEN, True)


def test_the_token_of_another_partner_proves_nothing(world: World) -> None:
    with world.database.transaction() as session:
        other = make_partner(session, "Southgate", domain=DOMAIN).id
    world.prove()
    check(world.database, world.settings, other, DomainPurpose.PORTAL)
    with world.database.transaction(read_only=True) as session:
        assert session.get_one(Partner, other).domain_verified_at is None
    assert world.served()


def test_a_domain_that_another_partner_has_verified_is_in_use(world: World) -> None:
    with world.database.transaction() as session:
        other = make_partner(session, "Southgate", domain=DOMAIN)
        partners.verify_domain(session, OPERATOR, other.id)
    world.prove()
    assert (world.domain().is_taken, world.served()) == (True, False)


def test_a_domain_without_its_records_is_unverified_after_the_grace_period(
    world: World, clock: SetClock
) -> None:
    world.prove()
    with world.database.transaction() as session:
        lifetime = timedelta(days=30)
        sessions.create(session, world.tenant.user, lifetime=lifetime, host=DOMAIN)
        sessions.create(session, world.tenant.user, lifetime=lifetime, host="localhost")
    world.dns.records.clear()
    clock.pass_by(days=1)
    world.check()
    assert [mail.subject for mail in world.mails()] == [f"DNS records of {DOMAIN} are missing"]
    clock.pass_by(days=2, hours=23)
    world.check()
    assert (world.served(), world.mails()) == (True, [])
    clock.pass_by(hours=1)
    world.check()
    assert not world.served()
    assert [mail.subject for mail in world.mails()] == [f"{DOMAIN} is not verified any more"]
    with world.database.transaction(read_only=True) as session:
        assert session.scalars(select(PortalSession.host)).all() == ["localhost"]
    clock.pass_by(days=1)
    world.check()
    assert world.mails() == []
    world.prove()
    assert (world.served(), world.domain().lost_at) == (True, None)


def test_records_that_come_back_in_time_change_nothing(world: World, clock: SetClock) -> None:
    world.prove()
    kept = dict(world.dns.records)
    world.dns.records.clear()
    world.check()
    clock.pass_by(days=2)
    world.dns.records.update(kept)
    world.check()
    clock.pass_by(days=2)
    world.dns.records.clear()
    world.check()
    assert world.served()


def test_without_an_answer_nothing_changes(world: World, clock: SetClock) -> None:
    world.prove()
    world.dns.fails.update(record.name for record in world.records())
    for _ in range(5):
        clock.pass_by(days=1)
        assert world.check() == {"ownership": "unanswered", "address": "unanswered"}
    assert (world.served(), world.domain().missing_since, world.mails()) == (True, None, [])


def test_a_domain_that_an_operator_verified_needs_no_records(world: World, clock: SetClock) -> None:
    with world.database.transaction() as session:
        partners.verify_domain(session, OPERATOR, world.id)
    world.check()
    clock.pass_by(days=30)
    world.check()
    assert (world.served(), world.mails()) == (True, [])


def test_a_new_domain_begins_without_proof(world: World) -> None:
    world.prove()
    world.name("other.northwind.example")
    domain = world.domain()
    assert (domain.domain, domain.proved_at, domain.findings) == (
        "other.northwind.example", None, []
    )  # fmt: skip
    assert (world.served(), world.served("other.northwind.example")) == (False, False)
    world.name(None)
    with world.database.transaction(read_only=True) as session:
        assert session.scalars(select(PartnerDomain.domain)).all() == []


def test_findings_about_an_earlier_domain_are_ignored(world: World) -> None:
    world.dns.set_all(world.records())
    with world.database.transaction(read_only=True) as session:
        begun = domains.begin(session, world.id, DomainPurpose.PORTAL, world.settings)
    assert begun
    world.name("other.northwind.example")
    seen = [domains.RecordFinding(record.kind, DnsRecordStatus.SEEN) for record in begun.records]
    with world.database.transaction() as session:
        domains.store_findings(session, begun, seen, timedelta(days=3))
    assert not world.served("other.northwind.example")


def test_checks_are_due_daily_and_hourly_while_records_are_missing(
    world: World, clock: SetClock
) -> None:
    def due() -> int:
        with world.database.transaction() as session:
            return domains.refresh_due(session)

    world.prove()
    clock.pass_by(hours=23)
    assert due() == 0
    clock.pass_by(hours=2)
    assert (due(), due()) == (1, 0)
    world.dns.records.clear()
    world.check()
    clock.pass_by(minutes=59)
    assert due() == 0
    clock.pass_by(minutes=2)
    assert (due(), due()) == (1, 0)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_worker_checks_a_domain_without_being_asked(
    world: World, make_worker: Callable[..., Worker]
) -> None:
    world.dns.set_all(world.records())
    settings = {"PORTAL_DNS_SERVERS": world.dns.setting}
    make_worker(PORTAL_PUBLIC_URL=world.settings.public_url, **settings).start()
    wait_for(world.served)


def test_mail_comes_from_the_partners_address_while_its_records_are_seen(world: World) -> None:
    world.send_from(SENDER)
    assert (world.letter().sender, world.letter().signature) == (None, None)
    world.prove(DomainPurpose.MAIL)
    assert world.letter().sender == SENDER
    world.dns.serve("_dmarc.northwind.example", "TXT")
    assert world.check(DomainPurpose.MAIL)["dmarc"] == "missing"
    assert (world.letter().sender, world.letter().sender_name) == (None, "AI Receptionist")


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
    world: World, kind: DnsRecordKind, value: str, state: str
) -> None:
    world.send_from(SENDER)
    records = world.records(DomainPurpose.MAIL)
    world.dns.set_all(records)
    [name] = [record.name for record in records if record.kind is kind]
    world.dns.serve(name, "TXT", value)
    expected = dict.fromkeys(("ownership", "spf", "dkim", "dmarc"), "seen") | {kind: state}
    assert world.check(DomainPurpose.MAIL) == expected


def test_two_spf_records_count_as_none(world: World) -> None:
    world.send_from(SENDER)
    world.dns.set_all(world.records(DomainPurpose.MAIL))
    ours = "v=spf1 include:spf.platform.example ~all"
    world.dns.serve("northwind.example", "TXT", ours, "v=spf1 -all")
    assert world.check(DomainPurpose.MAIL)["spf"] == "different"


def test_the_dmarc_record_of_a_domain_above_counts(world: World) -> None:
    world.send_from("no-reply@mail.northwind.example")
    world.dns.set_all(world.records(DomainPurpose.MAIL))
    world.dns.serve("_dmarc.mail.northwind.example", "TXT")
    world.dns.serve("_dmarc.northwind.example", "TXT", "v=DMARC1; p=quarantine")
    assert world.check(DomainPurpose.MAIL)["dmarc"] == "seen"


def test_receivers_can_check_the_signature_of_a_mail(world: World) -> None:
    world.send_from(SENDER)
    world.prove(DomainPurpose.MAIL)
    outbox = open_outbox(world.settings)
    outbox.send(world.letter())
    [kept] = outbox.mails()
    octets = kept.path.read_bytes()

    def published(name: bytes, **_: object) -> bytes:
        [record] = [
            record
            for record in world.records(DomainPurpose.MAIL)
            if f"{record.name}.".encode() == name
        ]
        return record.value.encode()

    assert kept.read()["From"] == f"AI Receptionist <{SENDER}>"
    assert dkim.verify(octets, dnsfunc=published)
    assert not dkim.verify(
        octets.replace(b"AI Receptionist", b"Another name", 1), dnsfunc=published
    )


def test_the_signing_key_is_stored_encrypted_and_follows_a_key_change(world: World) -> None:
    world.send_from(SENDER)
    before = world.domain(DomainPurpose.MAIL).dkim_key or ""
    assert "PRIVATE" not in before
    keys = ("a new secret key of the installation", *world.settings.secret_keys)
    with world.database.transaction() as session:
        reencrypt_batch(session, StoredSecret(PartnerDomain.dkim_key, PURPOSE), keys, ())
    world.prove(DomainPurpose.MAIL)
    with world.database.transaction(read_only=True) as session:
        partner = session.get_one(Partner, world.id)
        found = domains.sender_of(session, partner, keys[:1])
        assert found is not None
        assert "PRIVATE KEY" in found.signature.key
        assert domains.sender_of(session, partner, world.settings.secret_keys) is None


def test_admins_get_a_mail_when_their_sender_is_lost(world: World) -> None:
    world.send_from(SENDER)
    world.prove(DomainPurpose.MAIL)
    world.dns.records.clear()
    world.check(DomainPurpose.MAIL)
    [mail] = world.mails()
    assert mail.subject == "Emails don’t come from northwind.example any more"
    assert (mail.to, mail.sender) == (world.tenant.staff[Role.PARTNER_ADMIN].email, None)
