"""The one migration history, up, down and up again on a filled database."""

import shutil
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, func, inspect, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.commands.demo_story import PARTNERS
from app.commands.demo_world import DemoWorld
from app.config import ROOT
from app.database import Database
from app.enums import (
    CallSource,
    CallStatus,
    CarrierKind,
    DeliveryStatus,
    EndedReason,
    NumberSource,
    Role,
    Tier,
)
from app.gateways.carriers.base import CarrierReport, PlacementVerdict
from app.models import (
    Assistant,
    Base,
    Call,
    CallAttempt,
    Campaign,
    Contact,
    OAuthClient,
    Organization,
    Partner,
    PartnerDestinations,
    PhoneNumber,
    ProcessorAccount,
    ProcessorPrice,
    Webhook,
    new_id,
    utcnow,
)
from app.policy.caller import system_caller
from app.services import campaigns, organizations, phone_numbers, users
from app.services.calls import carrier_costs
from app.services.webhooks import publishing
from migrations.filters import belongs_to_us
from scripts import new_migration
from tests.fixtures.tenants import make_partner, make_tenant
from tests.fixtures.worker import create_calling_organization

VERSION = "alembic_version"


def fill(session: Session) -> dict[str, int]:
    """Fill the database with the demo; return the number of rows of each table."""
    making = DemoWorld(session, system_caller("tests"), "http://127.0.0.1", utcnow())
    making.build(PARTNERS[:1], history_days=2)
    session.flush()
    return sizes(session.connection())


def sizes(connection: Connection) -> dict[str, int]:
    """How many rows each of our tables has."""
    return {
        name: connection.scalar(select(func.count()).select_from(table)) or 0
        for name, table in Base.metadata.tables.items()
        if inspect(connection).has_table(name)
    }


def run(database: Database, what: Any, revision: str) -> None:
    config = Config(str(ROOT / "alembic.ini"))
    with database.engine.connect() as connection:
        config.attributes["connection"] = connection
        what(config, revision)
        connection.invalidate()


def our_tables(database: Database) -> set[str]:
    return set(inspect(database.engine).get_table_names()) & Base.metadata.tables.keys()


@pytest.mark.usefixtures("clock")
def test_migrations_go_down_and_up_again_on_a_filled_database(fresh_database: Database) -> None:
    with fresh_database.transaction() as session:
        first = fill(session)
    assert sum(count > 0 for count in first.values()) >= 15

    run(fresh_database, command.downgrade, "base")
    assert our_tables(fresh_database) == set()

    run(fresh_database, command.upgrade, "head")
    assert our_tables(fresh_database) == set(Base.metadata.tables)
    with fresh_database.transaction() as session:
        assert fill(session) == first


@pytest.mark.usefixtures("clock")
def test_the_newest_migration_deletes_no_rows(fresh_database: Database) -> None:
    """On SQLite ``batch_alter_table`` rebuilds a table, which deletes all that refers to it."""
    with fresh_database.transaction() as session:
        filled = fill(session)
    run(fresh_database, command.downgrade, "-1")
    with fresh_database.engine.connect() as connection:
        below = sizes(connection)
    assert {
        name: filled[name] - count for name, count in below.items() if count < filled[name]
    } == {}
    run(fresh_database, command.upgrade, "head")
    with fresh_database.engine.connect() as connection:
        above = sizes(connection)
    assert {name: above[name] - below[name] for name in below if above[name] < below[name]} == {}


def test_the_history_and_the_models_say_the_same(fresh_database: Database) -> None:
    with fresh_database.engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_object": belongs_to_us, "compare_type": True}
        )
        missing = compare_metadata(context, Base.metadata)
    assert missing == [], "write it with python -m scripts.new_migration"


def test_the_sums_of_partners_are_counted_from_their_rows(fresh_database: Database) -> None:
    def sums() -> set[Any]:
        with fresh_database.engine.connect() as connection:
            tables = (Base.metadata.tables[name] for name in ("partner_days", "partner_tiers"))
            return {tuple(row) for table in tables for row in connection.execute(select(table))}

    with fresh_database.transaction() as session:
        fill(session)
        customer = session.scalars(select(Organization.id)).all()[0]
        organizations.archive(session, system_caller("tests"), customer)
    kept = sums()
    run(fresh_database, command.downgrade, "0005")
    run(fresh_database, command.upgrade, "head")
    assert sums() == kept


def test_names_and_counts_are_filled_for_older_rows(fresh_database: Database) -> None:
    def kept() -> tuple[list[Any], list[str]]:
        with fresh_database.transaction(read_only=True) as session:
            sizes = session.execute(select(Campaign.name_key, Campaign.contact_count))
            part = session.scalars(select(func.min(Organization.name))).one()[1:6].upper()
            wanted = organizations.OrganizationFilter(query=part)
            found = organizations.search(session, system_caller("tests"), wanted, sort="name")
            return sorted(sizes.all()), [organization.name for organization in found.items]

    with fresh_database.transaction() as session:
        fill(session)
    campaigns, names = kept()
    assert max(count for _name, count in campaigns) > 0
    assert names != []
    run(fresh_database, command.downgrade, "0008")
    run(fresh_database, command.upgrade, "head")
    assert kept() == (campaigns, names)


def test_costs_and_legacy_calls_are_counted_from_their_rows(fresh_database: Database) -> None:
    def kept() -> dict[str, list[Any]]:
        with fresh_database.engine.connect() as connection:
            return {
                name: [tuple(row) for row in connection.execute(select(Base.metadata.tables[name]))]
                for name in ("legacy_days", "cost_days", "partner_cost_days")
            }

    with fresh_database.transaction() as session:
        fill(session)
        client = session.scalars(select(OAuthClient).where(OAuthClient.area == "B")).first()
        assert client is not None
        assistant = session.scalars(
            select(Assistant).where(Assistant.organization_id == client.organization_id)
        ).first()
        assert assistant is not None
        for hour in (0, 23):
            began = datetime(2026, 5, 31, hour, 59, tzinfo=UTC)
            call = Call(
                partner_id=assistant.partner_id, organization_id=assistant.organization_id,
                assistant_id=assistant.id, source=CallSource.LEGACY, carrier=CarrierKind.TWILIO,
                credential_id=client.id, requested_by="tests", phone_number="+12025550123",
                contact={}, status=CallStatus.COMPLETED, created_at=began, expires_at=began,
            )  # fmt: skip
            session.add(call)
            session.flush()
            attempt = CallAttempt(
                organization_id=call.organization_id, call_id=call.id, number=1,
                carrier=CarrierKind.TWILIO, status=CallStatus.COMPLETED, started_at=began,
            )  # fmt: skip
            session.add(attempt)
            session.flush()
            message = CarrierReport(
                PlacementVerdict.PLACED, "CA1", cost=Decimal("0.0135"), currency="USD"
            )
            carrier_costs.write_cost_of(session, attempt.id, message)
        owner, organization = client.partner_id, client.organization_id
        day = began.date()
        counted = {
            "legacy_days": [(client.id, day, 2, 0, 0)],
            "cost_days": [(organization, day, "USD", owner, 2, 27_000)],
            "partner_cost_days": [(owner, day, "USD", 2, 27_000)],
        }
    run(fresh_database, command.downgrade, "0018")
    run(fresh_database, command.upgrade, "head")
    assert kept() == counted


def test_a_number_belongs_to_the_organization_with_the_oldest_assistant_that_has_it(
    fresh_database: Database,
) -> None:
    with fresh_database.transaction() as session:
        fill(session)
        session.execute(update(Assistant).values(phone_number=None))
        found = session.scalars(select(Assistant).order_by(Assistant.id)).all()
        first, second, *_ = {each.organization_id: each for each in found}.values()
        for assistant, year in ((first, 2026), (second, 2025)):
            assistant.phone_number = "+12025550123"
            assistant.created_at = datetime(year, 1, 1, tzinfo=UTC)
        session.flush()
        ids = first.id, second.organization_id
    run(fresh_database, command.downgrade, "0033")
    run(fresh_database, command.upgrade, "head")
    with fresh_database.transaction(read_only=True) as session:
        rows = session.execute(
            select(PhoneNumber.number, PhoneNumber.organization_id, PhoneNumber.source)
        )
        assert rows.all() == [("+12025550123", ids[1], NumberSource.ASSIGNED)]
        conflicts = phone_numbers.conflicts(session, system_caller("tests"))
        assert [each.assistant.id for each in conflicts] == [ids[0]]


def test_files_sort_in_the_order_of_the_chain() -> None:
    """Databases know revisions by their IDs, which do not all follow the chain; files do."""
    scripts = ScriptDirectory.from_config(Config(ROOT / "alembic.ini"))
    names = [Path(each.path).name for each in scripts.walk_revisions()][::-1]
    assert names == sorted(names), "number the file of a migration above that of the one before"
    assert len({name[:4] for name in names}) == len(names), "two files have the same number"


def test_a_new_migration_follows_the_newest_one(tmp_path: Path) -> None:
    copy = tmp_path / "migrations"
    shutil.copytree(ROOT / "migrations", copy, ignore=shutil.ignore_patterns("__pycache__"))
    config = Config(ROOT / "alembic.ini")
    config.set_main_option("script_location", str(copy))
    head = ScriptDirectory.from_config(config).get_current_head()
    number = new_migration.next_number(config)
    made = new_migration.write("organization notes", config)
    written = made.read_text()
    assert made.name == f"{number}_organization_notes.py"
    assert written.startswith('"""Organization notes."""\n')
    assert f'revision: str = "{number}"\n' in written
    assert f'down_revision: str | Sequence[str] | None = "{head}"\n' in written
    assert made == max(copy.glob("versions/*.py"))


def test_countries_called_before_are_open_for_their_partners(
    fresh_database: Database,
) -> None:
    with fresh_database.transaction() as session:
        fill(session)
    run(fresh_database, command.downgrade, "0028")
    with fresh_database.engine.begin() as connection:
        [organization_id] = connection.scalars(select(Organization.id).limit(1))
        own = Organization.id == organization_id
        connection.execute(
            update(Organization).where(own).values(allowed_regions=["001", "GB", "US"])
        )
        of_it = Assistant.organization_id == organization_id
        address = "sips:robin@Voice.Example:5061;transport=tls"
        connection.execute(update(Assistant).where(of_it).values(voice_address=address))
    run(fresh_database, command.upgrade, "head")
    with fresh_database.transaction(read_only=True) as session:
        [opened] = session.scalars(select(PartnerDestinations)).all()
        organization = session.get_one(Organization, organization_id)
    assert (opened.regions, opened.hosts) == (["GB", "US"], ["voice.example"])
    assert (opened.limit_regions, opened.limit_hosts) == (None, None)
    assert organization.allowed_regions == ["GB", "US"]


def test_the_trial_of_older_partners_and_organizations_has_ended(fresh_database: Database) -> None:
    with fresh_database.transaction() as session:
        fill(session)
    run(fresh_database, command.downgrade, "0033")
    run(fresh_database, command.upgrade, "head")
    with fresh_database.transaction(read_only=True) as session:
        for model in (Partner, Organization):
            ended = session.scalars(select(model.trial_ended_at)).all()
            assert ended
            assert None not in ended


def test_undoing_the_migration_removes_the_calls_of_trial_mode(
    fresh_database: Database,
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    with fresh_database.transaction() as session:
        verifying, stopped = (calling_organization.accept(session, live=False).id for _ in range(2))
        session.get_one(Call, verifying).source = CallSource.VERIFICATION
        session.get_one(Call, stopped).ended_reason = EndedReason.TRIAL_MODE
    run(fresh_database, command.downgrade, "0033")
    run(fresh_database, command.upgrade, "head")
    with fresh_database.transaction(read_only=True) as session:
        found = session.execute(select(Call.id, Call.ended_reason)).all()
    assert found == [(stopped, EndedReason.CANCELED)]


def test_older_names_are_found_without_accents(fresh_database: Database) -> None:
    with fresh_database.transaction() as session:
        fill(session)
        tenant = make_tenant(session)
        tenant.organization.name, tenant.user.name = "Łódź Auto", "Zoë Çelik"
        campaign = campaigns.create(
            session, tenant.caller(Role.ADMIN), tenant.organization.id, name="Ünal"
        )
        of = {"organization_id": tenant.organization.id, "campaign_id": campaign.id}
        for first, last in (("Åsa", "O'Neil"), ("Ann", "Berg")):
            phone = f"+120255501{len(first)}{len(last)}"
            session.add(Contact(first_name=first, last_name=last, phone=phone, **of))
    run(fresh_database, command.downgrade, "0039")
    run(fresh_database, command.upgrade, "head")
    with fresh_database.transaction(read_only=True) as session:
        admin = tenant.caller(Role.ADMIN)
        names = [
            each.name
            for each in organizations.search(
                session, admin, organizations.OrganizationFilter(query="lodz")
            ).items
        ]
        people = users.search(session, admin, users.UserFilter(query="zoe celik")).items
        found = campaigns.search(session, admin, campaigns.CampaignFilter(query="unal")).items
        folded = session.scalars(
            select(Contact.search_name).where(Contact.campaign_id == campaign.id)
        ).all()
    assert names == ["Łódź Auto"]
    assert [each.name for each in people] == ["Zoë Çelik"]
    assert [each.name for each in found] == ["Ünal"]
    assert sorted(folded) == [" ann berg", " asa o'neil"]


def test_each_partner_keeps_the_known_prices_that_are_certainly_its_own(
    fresh_database: Database,
) -> None:
    """Two name ``shared`` at the installation's account; a third one has an account of its own."""
    run(fresh_database, command.downgrade, "0114")
    named = {"one": ["shared", "unclear"], "two": ["shared"], "three": ["unclear", "own"]}
    tiers = (Tier.BASIC, Tier.PLUS)
    with fresh_database.transaction() as session:
        for name, price_ids in named.items():
            pricing = [
                {"tier": tier.value, "processorPriceId": each, "processorProductId": "x"}
                for tier, each in zip(tiers, price_ids, strict=False)
            ]
            partner = make_partner(session, name, pricing=pricing)
            if name == "three":
                session.add(ProcessorAccount(partner_id=partner.id, secret="sealed"))
        stored = text(
            "INSERT INTO processor_prices (price_id, name, cost, currency, fetched_at) "
            "VALUES (:id, 'Plus', 99, 'USD', '2026-05-01 00:00:00+00:00')"
        )
        ids = ("shared", "unclear", "own", "unused")
        session.execute(stored, [{"id": each} for each in ids])
    run(fresh_database, command.upgrade, "head")
    with fresh_database.transaction(read_only=True) as session:
        query = select(Partner.name, ProcessorPrice.price_id).join_from(
            ProcessorPrice, Partner, Partner.id == ProcessorPrice.partner_id
        )
        found = [tuple(row) for row in session.execute(query)]
    assert sorted(found) == [("one", "shared"), ("three", "own"), ("two", "shared")]


def test_webhooks_keep_their_deliveries_when_the_migration_is_applied_and_undone(
    fresh_database: Database,
) -> None:
    def webhook(session: Session, organization_id: UUID | None, of: UUID | None = None) -> UUID:
        added = Webhook(
            partner_id=of or tenant.partner.id,
            organization_id=organization_id,
            url="https://crm.example/hooks",
            events=["call.completed"],
            secret="sealed",
            created_by="Ann",
        )
        session.add(added)
        session.flush()
        for state in (DeliveryStatus.WAITING, DeliveryStatus.DELIVERED):
            delivery = publishing.add(session, added.id, new_id(), "a", "{}", utcnow())
            delivery.status = state
        return added.id

    def stored() -> list[list[Any]]:
        tables = (Base.metadata.tables[f"webhook_{name}"] for name in ("endpoints", "deliveries"))
        with fresh_database.engine.connect() as connection:
            queries = [select(table).order_by(table.c.id) for table in tables]
            return [list(connection.execute(query)) for query in queries]

    with fresh_database.transaction() as session:
        tenant = make_tenant(session)
    run(fresh_database, command.downgrade, "0108")
    with fresh_database.transaction() as session:
        of_organization = webhook(session, tenant.organization.id)
    before = stored()
    with pytest.raises(IntegrityError), fresh_database.transaction() as session:
        webhook(session, None)
    run(fresh_database, command.upgrade, "0109")
    assert (stored(), [len(rows) for rows in before]) == (before, [1, 2])
    with fresh_database.transaction() as session:
        webhook(session, None)
        with pytest.raises(IntegrityError), session.begin_nested():
            webhook(session, None, of=new_id())
    assert [len(rows) for rows in stored()] == [2, 4]
    run(fresh_database, command.downgrade, "0108")
    assert stored() == before
    with pytest.raises(IntegrityError), fresh_database.transaction() as session:
        webhook(session, None)
    run(fresh_database, command.upgrade, "head")
    with fresh_database.transaction() as session:
        session.delete(session.get_one(Webhook, of_organization))
    assert stored() == [[], []]
    if fresh_database.is_sqlite:
        with fresh_database.engine.connect() as connection:
            for check in ("integrity_check", "foreign_key_check"):
                found = connection.exec_driver_sql(f"PRAGMA {check}").all()
                assert found in ([], [("ok",)])
