"""Migration from the retired calling API: its clients' requests as requests of Area C.

For each client, the last request is stored with both answers, the one it got and the one that Area
C would have given, and the number of requests of each day. Secrets are never stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Select, delete, false, func, or_, select
from sqlalchemy.orm import Session

from app.calendar_months import midnight
from app.config.calls import CallSettings
from app.enums import Area, CallSource, CallStatus, OrganizationStatus
from app.errors import NotFound
from app.languages import gettext
from app.models import Call, LegacyDay, LegacyExchange, OAuthClient, Organization, Partner, utcnow
from app.models.base import id_at
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.calls import OutboundCallInput
from app.schemas.legacy import LegacyCallInput
from app.schemas.parsing import read
from app.services import assistants, calls, rollup
from app.services.paging import Page, SortOrder, keyset_page
from app.services.tenancy import of_tenant
from app.validation.texts import trim

DAYS_SHOWN = 30
DAYS_KEPT = timedelta(days=400)
EXCHANGES_KEPT = timedelta(days=90)
CALL_ID = "the id of the call"
NO_ASSISTANT = "ID_OF_THE_ASSISTANT"
"""The placeholder in a request whose number belongs to no assistant."""

_NEWEST = SortOrder(OAuthClient.created_at, descending=True)


@dataclass(frozen=True, slots=True)
class ShadowRequest:
    """A request as Area C would have received it, and its answer."""

    request: Mapping[str, Any]
    status: int
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MigratingClient:
    """A client to migrate, with its requests of the last `DAYS_SHOWN` days."""

    client: OAuthClient
    organization: str
    organization_status: OrganizationStatus
    partner: str
    accepted: int
    refused: int
    differing: int
    last_day: date | None

    @property
    def is_extended(self) -> bool:
        """Whether the client has an extension that has not ended."""
        return self.client.served_until is not None and self.client.served_until > utcnow()


def translate(session: Session, caller: Caller, request: LegacyCallInput) -> dict[str, Any]:
    """Return the equivalent body for Area C."""
    try:
        assistant_id = str(assistants.find_by_number(session, caller, request.from_phone_number).id)
    except NotFound:
        assistant_id = NO_ASSISTANT
    first_name, last_name = request.first_and_last()
    return _build_body(
        assistant_id=assistant_id,
        phone_number=request.to_phone_number,
        first_name=first_name,
        last_name=last_name,
        metadata=request.metadata(),
        intro=request.intro_message,
        voicemail=request.intro_voicemail,
        instructions=request.intro_notes,
    )


def dry_run(
    session: Session, caller: Caller, body: Mapping[str, Any], settings: CallSettings
) -> tuple[CallStatus, str]:
    """Return what Area C would answer to the body now, without placing a call. Raises
    its errors."""
    call_request = calls.CallRequest.of(read(OutboundCallInput, body))
    return calls.dry_run(session, caller, call_request, settings, live=True)


def answer_of(status: CallStatus, message: str) -> dict[str, Any]:
    """Return the response of Area C to a request that it accepts."""
    return {"success": True, "message": message, "callId": CALL_ID, "status": status.value}


def record_request(
    session: Session,
    client_id: UUID,
    status: int,
    answer: Mapping[str, Any] | None,
    shadow: ShadowRequest | None,
    *,
    at: datetime | None = None,
) -> None:
    """Count an answered request, now unless ``at`` is given; with a ``shadow`` it is stored as the
    client's last one."""
    now = at or utcnow()
    accepted = status < 400
    amounts = {
        "accepted": int(accepted),
        "refused": int(not accepted),
        "differing": int(shadow is not None and shadow.status != status),
    }
    day = now.astimezone(UTC).date()
    rollup.add(session, LegacyDay, {"client_id": client_id, "day": day}, amounts, {})
    if shadow is not None:
        values = {
            "at": now,
            "request": dict(shadow.request),
            "status": status,
            "answer": dict(answer or {}),
            "shadow_status": shadow.status,
            "shadow_answer": dict(shadow.answer),
        }
        rollup.add(session, LegacyExchange, {"client_id": client_id}, {}, values)


def search(
    session: Session,
    caller: Caller,
    *,
    query: str | None = None,
    partner_id: UUID | None = None,
    is_extended: bool | None = None,
    cursor: str | None = None,
    limit: int = 25,
) -> Page[MigratingClient]:
    """Return a page of the clients still to migrate, newest first: of the caller's partner, or for
    the operator of all or of one. ``query`` searches names of clients and organizations;
    ``is_extended`` keeps only clients with an extension that has not ended, or only those without.
    Two queries.

    Raises `Forbidden` and `ValidationFailed` (``invalid_cursor``).
    """
    rows = _visible_clients(caller).where(OAuthClient.revoked_at.is_(None))
    search_text = trim(query)
    if search_text:
        organization_ids = select(Organization.id).where(Organization.named(search_text))
        rows = rows.where(
            or_(
                OAuthClient.named(search_text),
                OAuthClient.organization_id.in_(organization_ids),
            )
        )
    if partner_id is not None:
        rows = rows.where(OAuthClient.partner_id == partner_id)
    if is_extended is not None:
        extended = func.coalesce(OAuthClient.served_until > utcnow(), false())
        rows = rows.where(extended if is_extended else ~extended)
    page = keyset_page(session, rows, _NEWEST, cursor=cursor, limit=limit)
    return Page(_with_figures(session, page.items), page.next_cursor)


def get(session: Session, caller: Caller, client_id: UUID) -> MigratingClient:
    """Return one client, including revoked ones. Raises `Forbidden` and `NotFound`
    (``client_not_found``)."""
    client = session.scalars(
        _visible_clients(caller).where(OAuthClient.id == client_id)
    ).one_or_none()
    if client is None:
        message = gettext("There is no such client.")
        raise NotFound(message, "client_not_found")
    [migrating] = _with_figures(session, [client])
    return migrating


def days(session: Session, migrating: MigratingClient) -> list[LegacyDay]:
    """Return the last `DAYS_SHOWN` days (UTC) of a client from its loader, oldest first, including
    days without requests."""
    first = _first_day()
    rows = session.scalars(
        select(LegacyDay).where(LegacyDay.client_id == migrating.client.id, LegacyDay.day >= first)
    )
    by_day = {row.day: row for row in rows}
    dates = [first + timedelta(days=number) for number in range(DAYS_SHOWN)]
    return [
        by_day.get(day) or LegacyDay(day=day, accepted=0, refused=0, differing=0) for day in dates
    ]


def exchange_of(session: Session, migrating: MigratingClient) -> LegacyExchange | None:
    """Return the last request of a client from its loader, with both answers."""
    return session.get(LegacyExchange, migrating.client.id)


def last_accepted(session: Session, migrating: MigratingClient) -> dict[str, Any] | None:
    """Return the body for Area C that is equivalent to the last call of a client from its loader,
    for clients whose last request came before requests were stored."""
    if migrating.last_day is None:
        return None
    begin = midnight(migrating.last_day)
    call = session.scalars(
        select(Call)
        .where(
            Call.organization_id == migrating.client.organization_id,
            Call.live.is_(True),
            Call.id.between(id_at(begin), id_at(begin + timedelta(days=1))),
            Call.source == CallSource.LEGACY,
            Call.credential_id == migrating.client.id,
        )
        .order_by(Call.id.desc())
        .limit(1)
    ).one_or_none()
    if call is None:
        return None
    return _build_body(
        assistant_id=str(call.assistant_id),
        phone_number=call.phone_number,
        first_name=call.contact.get("firstName"),
        last_name=call.contact.get("lastName"),
        metadata=call.call_metadata,
        intro=call.intro_message,
        voicemail=call.voicemail_message,
        instructions=call.call_instructions,
    )


def purge(session: Session) -> None:
    """Remove expired records."""
    now = utcnow()
    session.execute(delete(LegacyDay).where(LegacyDay.day < (now - DAYS_KEPT).date()))
    session.execute(delete(LegacyExchange).where(LegacyExchange.at < now - EXCHANGES_KEPT))


def _build_body(
    *,
    assistant_id: str,
    phone_number: str,
    first_name: str | None,
    last_name: str | None,
    metadata: Mapping[str, Any],
    intro: str | None,
    voicemail: str | None,
    instructions: str | None,
) -> dict[str, Any]:
    contact = {"phoneNumber": phone_number, "firstName": first_name, "lastName": last_name}
    body = {
        "agentId": assistant_id,
        "contact": {name: value for name, value in contact.items() if value},
        "metadata": dict(metadata),
        "introMessage": intro,
        "voicemailMessage": voicemail,
        "callInstructions": instructions,
    }
    return {name: value for name, value in body.items() if value}


def _visible_clients(caller: Caller) -> Select[OAuthClient]:
    caller.require(Permission.AUDIT_READ)
    query = select(OAuthClient).where(OAuthClient.area == Area.LEGACY_CALLS)
    return of_tenant(query, caller, OAuthClient.partner_id)


def _with_figures(session: Session, clients: Sequence[OAuthClient]) -> list[MigratingClient]:
    names = select(OAuthClient.id, Organization.name, Organization.status, Partner.name).where(
        Organization.id == OAuthClient.organization_id,
        Partner.id == OAuthClient.partner_id,
    )
    ids = [client.id for client in clients]
    totals = (
        select(
            LegacyDay.client_id,
            func.sum(LegacyDay.accepted).label("accepted"),
            func.sum(LegacyDay.refused).label("refused"),
            func.sum(LegacyDay.differing).label("differing"),
            func.max(LegacyDay.day).label("last_day"),
        )
        .where(LegacyDay.client_id.in_(ids), LegacyDay.day >= _first_day())
        .group_by(LegacyDay.client_id)
        .subquery()
    )
    rows = session.execute(
        names.where(OAuthClient.id.in_(ids))
        .outerjoin_from(OAuthClient, totals, totals.c.client_id == OAuthClient.id)
        .add_columns(
            *(func.coalesce(totals.c[name], 0) for name in ("accepted", "refused", "differing")),
            totals.c.last_day,
        )
    )
    figures = {row[0]: row[1:] for row in rows}
    return [
        MigratingClient(
            client,
            str(name),
            status,
            str(partner),
            int(accepted),
            int(refused),
            int(differing),
            last,
        )
        for client in clients
        for name, status, partner, accepted, refused, differing, last in [figures[client.id]]
    ]


def _first_day() -> date:
    return utcnow().astimezone(UTC).date() - timedelta(days=DAYS_SHOWN - 1)
