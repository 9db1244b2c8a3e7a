"""Migration from the legacy API: each client, its traffic, and the request that
replaces its own."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from flask import render_template, request
from sqlalchemy.orm import Session

from app.extensions import api_urls, caller, settings, transaction
from app.languages import lazy_gettext, pgettext
from app.models import LegacyDay
from app.portal.api_access.labels import client_status
from app.portal.help.subpages import SAME_HELP
from app.portal.help.topics import TOPICS, HelpTopic
from app.portal.legacy_migration import blueprint
from app.portal.legacy_migration.labels import (
    FIELDS,
    as_curl,
    differences,
    format_answer,
    retirement_message,
    time_left,
)
from app.portal.web import lists
from app.portal.web.charts import chart_of
from app.portal.web.user_timezone import zone
from app.services import partners
from app.services.legacy import migration as legacy_migration
from app.services.legacy.calls import SUCCESSOR, end_of_service
from app.services.legacy.migration import MigratingClient

EXTENSIONS = {"with": lazy_gettext("With an extension"), "without": lazy_gettext("No extension")}
EXTENDED = {"with": True, "without": False}
"""Values of the filter, in words and for the service."""
TOPICS["portal.legacy_migration.show_migration"] = HelpTopic(
    lazy_gettext("Clients of the legacy API and the date on which it ends for each."),
    lazy_gettext("Each page shows the new request that equals the last old one."),
    lazy_gettext("Read the quick start"),
    "api_docs.docs",
    "start",
)
SAME_HELP["portal.legacy_migration.show_client_migration"] = (
    "portal.legacy_migration.show_migration"
)


@blueprint.get("/api-access/migration")
def show_migration() -> str:
    with transaction(read_only=True) as session:
        return render_template("portal/legacy_migration/list.html", **_list_context(session))


def _list_context(session: Session) -> dict[str, Any]:
    """Return a page of the clients that the URL's filters find."""
    position, partner_filter = lists.current_position(), lists.id_or_text("partner")
    partner = (
        partners.get(session, caller(), partner_filter)
        if isinstance(partner_filter, UUID)
        else None
    )
    page = legacy_migration.search(
        session,
        caller(),
        query=lists.text_filter("q"),
        partner_id=partner.id if partner else None,
        is_extended=EXTENDED.get(request.args.get("extension", "")),
        **position.query_args,
    )
    return {
        "rows": [_client_row(each) for each in page.items],
        "partner": partner,
        **position.pager(page.next_cursor, "q", "partner", "extension"),
        "extensions": EXTENSIONS,
        "days": legacy_migration.DAYS_SHOWN,
        "retirement_message": retirement_message(settings().legacy_retirement, zone()),
    }


@blueprint.get("/api-access/migration/<uuid:client_id>")
def show_client_migration(client_id: UUID) -> str:
    with transaction(read_only=True) as session:
        migrating = legacy_migration.get(session, caller(), client_id)
        days = legacy_migration.days(session, migrating)
        return render_template(
            "portal/legacy_migration/client.html",
            days=days,
            chart=_traffic_chart(days),
            zone=zone(),
            **_replacement_context(session, migrating),
            **_client_row(migrating),
        )


def _replacement_context(session: Session, migrating: MigratingClient) -> dict[str, Any]:
    """Return the last request, its replacement, its response, and the response of the new API."""
    exchange = legacy_migration.exchange_of(session, migrating)
    body = exchange.request if exchange else legacy_migration.last_accepted(session, migrating)
    context = {
        "exchange": exchange,
        "fields": FIELDS,
        "curl": as_curl(api_urls().public_api + SUCCESSOR, body) if body else None,
        "no_assistant": body is not None and body["agentId"] == legacy_migration.NO_ASSISTANT,
    }
    if exchange is None:
        return context
    return context | {
        "answered": format_answer(exchange.status, exchange.answer),
        "would_answer": format_answer(exchange.shadow_status, exchange.shadow_answer),
        "differences": differences(exchange),
    }


def _client_row(migrating: MigratingClient) -> dict[str, Any]:
    until = end_of_service(migrating.client.served_until, settings())
    return {
        "moving": migrating,
        "status": client_status(migrating.client, migrating.organization_status),
        "until": until,
        "time_left": time_left(until),
        "ends_by_extension": until != settings().legacy_retirement,
    }


def _traffic_chart(days: Sequence[LegacyDay]) -> dict[str, Any]:
    return chart_of(
        [each.day for each in days],
        ("first", pgettext("requests", "Accepted"), [each.accepted for each in days]),
        ("second", pgettext("requests", "Refused"), [each.refused for each in days]),
        unfinished=True,
    )
