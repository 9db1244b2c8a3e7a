"""One tenant that every operation of every area can be asked about, with all its credentials.

`AllAreas.credentials` are by blueprint, `AllAreas.ids` by the names of path parameters. A test
can be generated from the routes. `good_body` is a body that its operation accepts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.routing import Rule

from app.api.operation import ATTRIBUTE, Operation
from app.config import Settings
from app.enums import CallSource, CallStatus, CarrierKind, Role
from app.factory import create_app
from app.models import (
    Assistant,
    Base,
    Call,
    Campaign,
    Contact,
    ExternalIdKey,
    Organization,
    new_id,
    utcnow,
)
from app.policy.caller import system_caller
from app.services import oauth_clients
from app.services.credentials import api_keys, tokens
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import OPERATOR, Tenant, bearer, make_tenant

BODY_LIMIT, MAX_CONTACTS = 64 * 1024, 50
FROM, TO = "+12025550100", "+12025550123"
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
WRITTEN_BY_ASKING = {"last_used_at"}
"""Columns that a refused request may change, because its credential was used."""
COUNTED_BY_ASKING = {"legacy_days"}
"""Tables that count refused requests too."""


@dataclass(frozen=True)
class Route:
    """An operation of a JSON area, as the application has it."""

    rule: Rule
    method: str
    declared: Operation

    @property
    def endpoint(self) -> str:
        return str(self.rule.endpoint)

    @property
    def blueprint(self) -> str:
        return self.endpoint.partition(".")[0]

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters in its path."""
        return _PARAMETER.findall(self.rule.rule)

    def path(self, ids: Mapping[str, str]) -> str:
        rule: str = self.rule.rule
        return _PARAMETER.sub(lambda match: ids[match[1]], rule)


def routes_of(app: Flask) -> dict[str, Route]:
    """Every declared operation by its endpoint."""
    found = {}
    for rule in app.url_map.iter_rules():
        declared: Operation | None = getattr(app.view_functions[rule.endpoint], ATTRIBUTE, None)
        if declared is not None:
            [method] = cast(set[str], rule.methods) - {"HEAD", "OPTIONS"}
            found[rule.endpoint] = Route(rule, method, declared)
    return found


@cache
def known_routes() -> Mapping[str, Route]:
    """The same for generating tests; nothing of the application behind it is ever opened."""
    return routes_of(create_app(settings_for("sqlite:///never.db", Path("/nonexistent"))))


@dataclass
class AllAreas:
    """``app`` and ``client`` see what ``session`` has committed."""

    app: Flask
    client: FlaskClient
    session: Session
    tenant: Tenant
    credentials: Mapping[str, Mapping[str, str]]
    ids: Mapping[str, str]
    assistant: Assistant
    client_id: str
    client_secret: str
    operator: Mapping[str, str]

    def headers(self, route: Route) -> Mapping[str, str]:
        if route.endpoint == "partner_admin.create_partner":
            return self.operator
        return self.credentials[route.blueprint]

    def good_body(self, route: Route) -> dict[str, Any]:
        """A body that the operation accepts."""
        return good_bodies(self.ids)[route.endpoint]

    def saved(self) -> dict[str, list[str]]:
        """Everything that the database holds, table by table."""
        self.session.rollback()
        found = {}
        for table in Base.metadata.sorted_tables:
            if table.name in COUNTED_BY_ASKING:
                continue
            columns = [column for column in table.c if column.name not in WRITTEN_BY_ASKING]
            found[table.name] = sorted(map(repr, self.session.execute(select(*columns))))
        self.session.rollback()
        return found


def good_bodies(ids: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """A body that its operation accepts, for every operation that reads one."""
    new_user = {"email": "new@new.example", "userType": "standard", "businessName": "New"}
    return {
        "partner_admin.create_partner": {"partnerName": "Third"},
        "partner_admin.update_partner": {"productName": "Reception"},
        "partner_admin.create_partner_user": new_user,
        "partner_admin.create_user": new_user,
        "partner_admin.create_partial_user": {
            "email": "new@new.example",
            "orgId": ids["organization_id"],
        },
        "partner_admin.update_organization": {"userLimit": 5},
        "partner_admin.update_user": {"email": "moved@new.example"},
        "partner_admin.create_admin": {"email": "new@new.example"},
        "public.create_call": {
            "agentId": ids["assistant_id"],
            "contact": {"phoneNumber": TO},
            "introMessage": "Hello.",
            "voicemailMessage": "Bye.",
        },
        "public.send_contacts": {"contacts": [{"phone": TO}]},
        "legacy_calls.place_call": {
            "name": "Ada Lovelace",
            "toPhoneNumber": TO,
            "fromPhoneNumber": FROM,
            "introNotes": "She asked for a quote.",
            "formInfo": [{"key": "city", "value": "Boston"}],
        },
    }


def make_all_areas(app: Flask, session: Session) -> AllAreas:
    """The application must serve Area B still: its retirement lies ahead."""
    settings: Settings = app.extensions["settings"]
    tenant = make_tenant(session)
    customer = tenant.plus
    session.get_one(Organization, customer.id).user_limit = 0
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == customer.id)
    ).one()
    assistant.phone_number, assistant.phone_enabled, assistant.phone_configured = FROM, True, True
    key = api_keys.create(
        session,
        system_caller("tests", partner_id=tenant.partner.id),
        organization_id=customer.id,
        name="tests",
    )
    legacy = oauth_clients.create_legacy(
        session, OPERATOR, organization_id=customer.id, name="Dialler"
    )
    legacy_token = tokens.issue(session, legacy.client, "phone/call.out", settings).access_token
    admin = bearer(session, settings, Role.PARTNER_ADMIN, tenant.partner.id)
    operator = bearer(session, settings, Role.OPERATOR)
    campaign_id, contact_id, call_id = add_outreach(session, customer, assistant)
    session.commit()
    return AllAreas(
        app,
        app.test_client(),
        session,
        tenant,
        {
            "partner_admin": admin,
            "public": {"x-api-key": key.secret},
            "legacy_calls": {"Authorization": f"Bearer {legacy_token}"},
            "oauth": {},
        },
        {
            "partner_id": str(tenant.partner.id),
            "organization_id": str(customer.id),
            "external_user_id": str(tenant.plus_user.id),
            "campaign_id": str(campaign_id),
            "contact_id": str(contact_id),
            "call_id": str(call_id),
            "assistant_id": str(assistant.id),
        },
        assistant,
        legacy.client.client_id,
        legacy.secret,
        operator,
    )


def add_outreach(
    session: Session, customer: Organization, assistant: Assistant
) -> tuple[UUID, UUID, UUID]:
    """A campaign with the external-id key ``crmId``, a contact in it and a waiting call."""
    whose = {"partner_id": customer.partner_id, "organization_id": customer.id}
    campaign = Campaign(id=new_id(), **whose, name="Spring", all_assistants=True)
    key = ExternalIdKey(
        assistant_id=assistant.id, organization_id=customer.id, key="crmId", identifies=True
    )
    session.add_all([campaign, key])
    session.flush()
    contact = Contact(
        id=new_id(), organization_id=customer.id, campaign_id=campaign.id, phone="+12025550199"
    )
    call = Call(
        id=new_id(),
        **whose,
        assistant_id=assistant.id,
        source=CallSource.API,
        carrier=CarrierKind.SIMULATOR,
        requested_by="tests",
        phone_number="+12025550199",
        contact={"phoneNumber": "+12025550199"},
        status=CallStatus.QUEUED,
        expires_at=utcnow(),
    )
    session.add_all([contact, call])
    session.flush()
    return campaign.id, contact.id, call.id
