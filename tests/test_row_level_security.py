"""The second wall: PostgreSQL refuses what a service without its tenant filter would hand out.

An operator's caller has no tenant filter. With it, each service is asked within the scope of one
partner, as if that service had forgotten its filter.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn
from uuid import UUID

import pytest
from flask import Flask, g
from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app import extensions
from app.commands.demo_story import PARTNERS
from app.commands.demo_world import DemoWorld
from app.config import ROOT
from app.database import Database, make_engine
from app.database.migration import upgrade
from app.database.scope import AUTHENTICATION, INSTALLATION, DatabaseScope, of_tenant, whole_partner
from app.enums import CallSource, CallStatus, CarrierKind, Role, WebhookEvent
from app.errors import NotFound
from app.factory import install_extensions
from app.gateways.job_queue import migrate_engine
from app.models import (
    ApiKey,
    Assistant,
    AuditEntry,
    AuditLink,
    Base,
    Call,
    Campaign,
    Contact,
    OAuthClient,
    Organization,
    Partner,
    User,
    Webhook,
    WebhookDelivery,
    new_id,
    utcnow,
)
from app.policy.caller import system_caller
from app.services import (
    assistants,
    calls,
    campaigns,
    contacts,
    do_not_call,
    name_search,
    oauth_clients,
    organizations,
    partners,
    users,
    webhooks,
)
from app.services.audit import search as audit_search
from app.services.auth import sessions
from app.services.credentials import api_keys
from app.services.webhooks.publishing import publish
from tests.fixtures.browser_session import give_session
from tests.fixtures.databases import Databases

OPERATOR = system_caller("tests")
WITHOUT_TENANT = {
    "audit_forwardings",
    "backups",
    "call_rates",
    "call_news",
    "carrier_observations",
    "carrier_paces",
    "daily_counts",
    "figure_checks",
    "file_store_marks",
    "installation_destinations",
    "installation_marks",
    "rate_levels",
    "retention_runs",
    "revoked_tokens",
    "signing_keys",
    "simulated_calls",
    "throttle_counters",
    "worker_heartbeats",
}
"""Tables that no partner owns a row of."""
TABLES = {name: table for name, table in Base.metadata.tables.items() if name not in WITHOUT_TENANT}
NOWHERE = DatabaseScope("")
"""A transaction that declares nothing."""

pytestmark = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)


def fill(url: str) -> None:
    """Two partners of the demo with all that it makes for them, and a call and a webhook each."""
    made = Database(make_engine(url))
    upgrade(made)
    migrate_engine(url)
    with made.transaction() as session:
        making = DemoWorld(session, OPERATOR, "http://127.0.0.1", utcnow())
        making.build(PARTNERS, history_days=2)
        found = session.scalars(select(Assistant)).all()
        for assistant in {each.partner_id: each for each in found}.values():
            whose: dict[str, Any] = {
                "partner_id": assistant.partner_id,
                "organization_id": assistant.organization_id,
            }
            session.add(
                Call(
                    id=new_id(),
                    **whose,
                    assistant_id=assistant.id,
                    source=CallSource.API,
                    carrier=CarrierKind.SIMULATOR,
                    requested_by="tests",
                    phone_number="+12025550199",
                    contact={},
                    status=CallStatus.QUEUED,
                    expires_at=utcnow(),
                )
            )
            session.add(
                Webhook(
                    id=new_id(),
                    **whose,
                    url="https://crm.example",
                    events=[],
                    secret="x",
                    created_by="tests",
                )
            )
    made.dispose()


@pytest.fixture
def database(databases: Databases, backend: str) -> Iterator[Database]:
    """A copy of `fill`, with real transactions."""
    databases.template(backend, "two_partners", fill)
    url = databases.create(backend, like="two_partners")
    copied = Database(make_engine(url))
    yield copied
    copied.dispose()
    databases.drop(url)


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """It sees everything."""
    with database.transaction() as opened:
        yield opened


@pytest.fixture
def partner_ids(session: Session) -> tuple[UUID, UUID]:
    own, other = session.scalars(select(Partner.id).order_by(Partner.created_at)).all()
    session.commit()
    return own, other


def counts(database: Database, scope: DatabaseScope) -> dict[str, int]:
    with database.within(scope).transaction() as session:
        return {
            name: session.scalar(select(func.count()).select_from(table)) or 0
            for name, table in TABLES.items()
        }


def test_every_table_of_a_tenant_is_protected_even_from_its_owner(session: Session) -> None:
    query = text(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "AND relkind IN ('r', 'p') AND NOT relispartition "
        "AND relrowsecurity AND relforcerowsecurity"
    )
    assert set(session.scalars(query)) == set(TABLES)


def test_the_tables_show_each_partner_its_own_rows_and_without_a_scope_none(
    database: Database, session: Session, partner_ids: tuple[UUID, UUID]
) -> None:
    all_rows = counts(database, INSTALLATION)
    assert sum(count > 0 for count in all_rows.values()) >= 20
    assert counts(database, NOWHERE) == dict.fromkeys(TABLES, 0)
    own, other = (counts(database, of_tenant(partner_id, None)) for partner_id in partner_ids)
    without_partner = {
        "audit_entries": 2,  # the operator and their client were created
        "audit_links": 2,
        "oauth_clients": 1,
        "users": 1,
    }
    assert {name: all_rows[name] - own[name] - other[name] for name in TABLES} == {
        name: without_partner.get(name, 0) for name in TABLES
    }
    assert (own["partners"], other["partners"]) == (1, 1)


def test_one_organization_sees_nothing_of_another_one_of_the_same_partner(
    database: Database, session: Session, partner_ids: tuple[UUID, UUID]
) -> None:
    query = select(Organization.id).where(Organization.partner_id == partner_ids[0])
    one, *_others = session.scalars(query).all()
    with database.within(of_tenant(partner_ids[0], one)).transaction() as narrowed:
        for model in (Assistant, Campaign, Contact, ApiKey, Call):
            found = set(narrowed.scalars(select(model.organization_id)))
            assert found <= {one}, model
        assert narrowed.scalars(select(Organization.id)).all() == [one]


def test_an_event_of_one_organization_reaches_the_webhook_for_the_whole_portal(
    database: Database, session: Session, partner_ids: tuple[UUID, UUID]
) -> None:
    """Actions of a member or a key reach the webhook, which they can't see."""
    events = [WebhookEvent.CONTACT_CREATED.value]
    common: dict[str, Any] = {"url": "https://all.example", "secret": "x", "created_by": "tests"}
    for partner_id in partner_ids:
        session.add(Webhook(partner_id=partner_id, events=events, **common))
    session.commit()
    [one, *_others] = session.scalars(
        select(Organization.id).where(Organization.partner_id == partner_ids[0])
    ).all()
    with database.within(of_tenant(partner_ids[0], one)).transaction() as narrowed:
        publish(narrowed, partner_ids[0], one, WebhookEvent.CONTACT_CREATED, dict)
        seen = narrowed.scalars(select(Webhook.organization_id)).all()
        assert set(seen) <= {one}
        assert narrowed.scalars(select(WebhookDelivery.id)).all() == []
        with contextlib.suppress(ValueError), whole_partner(narrowed):
            raise ValueError
        assert None not in narrowed.scalars(select(Webhook.organization_id)).all()
    sent = select(Webhook.partner_id, WebhookDelivery.type).join(
        WebhookDelivery, WebhookDelivery.webhook_id == Webhook.id
    )
    assert session.execute(sent).all() == [(partner_ids[0], "contact.created")]


@pytest.mark.usefixtures("backend")
def test_only_the_scope_of_a_partner_has_ids() -> None:
    """By them alone the policies recognise it."""
    for name, partner_id in (("authentication", new_id()), ("partner", None)):
        with pytest.raises(ValueError, match="don't fit together"):
            DatabaseScope(name, partner_id)


def test_names_are_searched_by_an_index(database: Database, partner_ids: tuple[UUID, UUID]) -> None:
    scans = text(
        "SELECT relname, idx_scan FROM pg_stat_xact_user_tables"
        " WHERE relname LIKE '%\\_names' ORDER BY relname"
    )
    with database.within(of_tenant(partner_ids[0], None)).transaction() as narrowed:
        narrowed.execute(text("SET LOCAL enable_seqscan = off"))
        assert name_search.users_by_name(narrowed, partner_ids[0], "dental") is not None
        found = [tuple(row) for row in narrowed.execute(scans)]
        assert found == [("organizations_names", 1), ("users_names", 1)]


def test_rows_of_others_are_neither_written_nor_changed_nor_deleted(
    database: Database, session: Session, partner_ids: tuple[UUID, UUID]
) -> None:
    own, other = partner_ids
    theirs = session.scalars(select(Campaign).where(Campaign.partner_id == other)).first()
    assert theirs is not None
    row = {
        "id": new_id(),
        "partner_id": other,
        "organization_id": theirs.organization_id,
        "name": "Planted",
        "name_key": "planted",
    }
    with database.within(of_tenant(own, None)).transaction() as narrowed:
        of_them = Campaign.id == theirs.id
        changed = update(Campaign).where(of_them).values(name="Planted").returning(Campaign.id)
        assert narrowed.scalars(changed).all() == []
        assert narrowed.scalars(delete(Campaign).where(of_them).returning(Campaign.id)).all() == []
        with pytest.raises(DBAPIError, match="row-level security"), narrowed.begin_nested():
            narrowed.execute(insert(Campaign).values(row))
        moved = update(Campaign).where(Campaign.partner_id == own).values(partner_id=other)
        with pytest.raises(DBAPIError, match="row-level security"), narrowed.begin_nested():
            narrowed.execute(moved)


def test_before_the_caller_is_known_only_accounts_credentials_and_brands_are_visible(
    database: Database, partner_ids: tuple[UUID, UUID]
) -> None:
    seen = {name for name, count in counts(database, AUTHENTICATION).items() if count}
    assert seen == {
        "api_keys",
        "audit_links",
        "oauth_clients",
        "organizations",
        "partner_brand_colors",
        "partner_header_links",
        "partner_pricing",
        "partners",
        "users",
    }


LISTS: dict[str, Callable[[Session], Iterable[Any]]] = {
    "api keys": lambda session: api_keys.list_all(session, OPERATOR),
    "assistants": lambda session: assistants.list_all(session, OPERATOR),
    "calls": lambda session: session.scalars(calls.queries.visible(OPERATOR)),
    "campaigns": lambda session: campaigns.list_all(session, OPERATOR),
    "clients": lambda session: oauth_clients.list_all(session, OPERATOR),
    "history": lambda session: (
        audit_search.search(session, OPERATOR, audit_search.HistoryFilter(), limit=1000).items
    ),
    "organizations": lambda session: session.scalars(organizations.loading.visible(OPERATOR)),
    "users": lambda session: session.scalars(users.loading.visible(OPERATOR)),
    "webhooks": lambda session: webhooks.listing(session, OPERATOR),
}
"""Services that list what belongs to a partner, asked without their tenant filter."""


@pytest.mark.parametrize("service", LISTS)
def test_a_list_without_its_tenant_filter_holds_nothing_of_others(
    database: Database, partner_ids: tuple[UUID, UUID], service: str
) -> None:
    def seen(scope: DatabaseScope) -> set[UUID]:
        with database.within(scope).transaction(read_only=True) as session:
            return {row.partner_id for row in LISTS[service](session)} - {None}

    own, other = partner_ids
    assert seen(INSTALLATION) == {own, other}
    assert seen(of_tenant(own, None)) == {own}


GETS: dict[str, tuple[Any, Callable[[Session, Any], Any]]] = {
    "api keys": (ApiKey, lambda session, row: api_keys.get(session, OPERATOR, row.id)),
    "assistants": (Assistant, lambda session, row: assistants.get(session, OPERATOR, row.id)),
    "calls": (Call, lambda session, row: calls.get(session, OPERATOR, row.id)),
    "campaigns": (Campaign, lambda session, row: campaigns.get(session, OPERATOR, row.id)),
    "clients": (OAuthClient, lambda session, row: oauth_clients.get(session, OPERATOR, row.id)),
    "contacts": (
        Campaign,
        lambda session, row: contacts.search(session, row).items or _nothing(),
    ),
    "do-not-call lists": (
        Organization,
        lambda session, row: do_not_call.listing(session, OPERATOR, row.id).items or _nothing(),
    ),
    "organizations": (
        Organization,
        lambda session, row: organizations.get(session, OPERATOR, row.id),
    ),
    "users": (User, lambda session, row: users.get(session, OPERATOR, row.id)),
    "webhooks": (Webhook, lambda session, row: webhooks.get(session, OPERATOR, row.id)),
}
"""Services that load one thing by its id, asked without their tenant filter."""


def _nothing() -> NoReturn:
    raise NotFound


@pytest.mark.parametrize("service", GETS)
def test_a_record_of_others_is_not_found_without_the_tenant_filter(
    database: Database, session: Session, partner_ids: tuple[UUID, UUID], service: str
) -> None:
    model, get = GETS[service]
    own, other = partner_ids
    theirs = session.scalars(select(model).where(model.partner_id == other)).first()
    with database.within(INSTALLATION).transaction() as everything:
        get(everything, theirs)
    with database.within(of_tenant(own, None)).transaction() as narrowed, pytest.raises(NotFound):
        get(narrowed, theirs)


def test_a_list_of_partners_without_its_filter_holds_only_the_own_one(
    database: Database, partner_ids: tuple[UUID, UUID]
) -> None:
    own, other = partner_ids
    with database.within(of_tenant(own, None)).transaction() as narrowed:
        assert [found.id for found in narrowed.scalars(partners.loading.visible(OPERATOR))] == [own]
        with pytest.raises(NotFound):
            partners.get(narrowed, OPERATOR, other)


def test_a_request_sees_only_the_rows_of_its_caller(
    app: Flask, session: Session, partner_ids: tuple[UUID, UUID]
) -> None:
    own, _other = partner_ids
    organization_id = new_id()

    def scope(endpoint: str, **caller: Any) -> DatabaseScope:
        path = {
            "portal.organizations.list_organizations": "/organizations",
            "portal.auth.sign_in": "/sign-in",
        }[endpoint]
        with app.test_request_context(path):
            if caller:
                g.caller = replace(OPERATOR, **caller)
            return extensions.database().scope

    listing, public = "portal.organizations.list_organizations", "portal.auth.sign_in"
    member = {"role": Role.STANDARD, "partner_id": own, "organization_id": organization_id}
    assert scope(listing, role=Role.ADMIN, partner_id=own) == of_tenant(own, None)
    assert scope(listing, **member) == of_tenant(own, organization_id)
    assert scope(listing, role=Role.OPERATOR) == INSTALLATION
    assert scope(listing, role=Role.ADMIN) == AUTHENTICATION
    assert scope(listing) == AUTHENTICATION
    assert scope(public, role=Role.ADMIN, partner_id=own) == AUTHENTICATION
    with app.app_context():
        assert extensions.database().scope == INSTALLATION


def test_pages_of_an_operator_within_one_partner_show_nothing_of_the_other(
    app: Flask, session: Session, partner_ids: tuple[UUID, UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The services filter nothing for an operator: what is missing, PostgreSQL has kept back."""
    own, other = partner_ids
    operator = session.scalars(select(User).where(User.partner_id.is_(None))).one()
    token = sessions.create(session, operator, lifetime=timedelta(hours=1), host="localhost")
    theirs = session.scalars(select(Organization).where(Organization.partner_id == other)).all()
    session.commit()
    client = app.test_client()
    give_session(client, token)

    def answers() -> dict[str, int]:
        paths = [f"/organizations/{found.id}" for found in theirs]
        return {path: client.get(path).status_code for path in paths}

    def shown() -> set[str]:
        lists = "".join(client.get(path).text for path in ("/organizations", "/users", "/audit"))
        return {found.name for found in theirs if found.name in lists}

    assert set(answers().values()) == {200}
    assert shown() == {found.name for found in theirs}
    asked = extensions._scope_of_request
    monkeypatch.setattr(
        extensions,
        "_scope_of_request",
        lambda: of_tenant(own, None) if asked() is INSTALLATION else asked(),
    )
    assert set(answers().values()) == {404}
    assert shown() == set()


def test_the_documented_roles_serve_pages_and_can_not_change_the_history(
    app: Flask,
    databases: Databases,
    database: Database,
    session: Session,
    partner_ids: tuple[UUID, UUID],
) -> None:
    url = database.engine.url
    page = (ROOT / "docs" / "operations.md").read_text()
    _before, _mark, block = page.partition("-- After each migration:\n")
    grants = block.partition("```")[0]
    web = f"web_{url.database}"
    worker = f"worker_{url.database}"
    for role in (web, worker):
        databases.administer(f"CREATE ROLE {role} LOGIN")
    granted = grants.replace("portal_web, portal_worker", web).replace("portal_worker", worker)
    session.execute(text(f"GRANT TEMPORARY ON DATABASE {url.database} TO {web}; {granted}"))
    session.commit()
    user = session.scalars(select(User).where(User.user_type == Role.PARTNER_ADMIN)).first()
    assert user is not None
    token = sessions.create(session, user, lifetime=timedelta(hours=1), host="localhost")
    session.commit()

    restricted = Database(make_engine(url.set(username=web)))
    install_extensions(app, app.extensions["settings"], restricted)
    client = app.test_client()
    give_session(client, token)
    assert client.get("/organizations").status_code == 200
    for model in (AuditEntry, AuditLink):
        with pytest.raises(DBAPIError, match="permission denied"), restricted.transaction() as own:
            own.execute(delete(model))
    with pytest.raises(DBAPIError, match="permission denied"), restricted.transaction() as own:
        own.execute(update(AuditEntry).values(actor="x"))
    restricted.dispose()
