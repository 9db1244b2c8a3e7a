"""Refused token requests in the history of the client's partner."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import OAuthClient
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.auth import refused_sign_ins
from app.services.auth.throttle import FailureCounter
from app.services.oauth_clients.authenticating import CLIENT_ID, is_proven
from app.validation.networks import network_of


def note_refusal(session: Session, client_id: str, secret: str, ip: str | None) -> None:
    """Record a refused client: unknown, with a wrong secret, or not active."""
    client = _client(session, client_id)
    network = network_of(ip)
    if client is None:
        unknown = "unknown_client"
        found = refused_sign_ins.without_account(refusals.CLIENT, unknown, None, network)
    else:
        reason = "not_active" if is_proven(client, secret) else "wrong_secret"
        found = _of_client(client, reason, network)
    refusals.note(session, refusals.anonymous_caller(), [found])


def note_too_many(session: Session, client_id: str, ip: str | None, late: FailureCounter) -> None:
    """Record a token request that came too early. It is counted once for its counter."""
    client = _client(session, client_id) if late.is_of_account else None
    network = None if late.is_of_everywhere else network_of(ip)
    too_many = refused_sign_ins.TOO_MANY
    if client is None:
        found = refused_sign_ins.without_account(refusals.CLIENT, too_many, None, network)
    else:
        found = _of_client(client, too_many, network)
    refusals.note(session, refusals.anonymous_caller(), [found])


def _client(session: Session, client_id: str) -> OAuthClient | None:
    if not CLIENT_ID.fullmatch(client_id):
        return None
    query = select(OAuthClient).where(OAuthClient.client_id == client_id)
    return session.scalars(query).one_or_none()


def _of_client(client: OAuthClient, reason: str, network: str | None) -> Refusal:
    return Refusal(
        action=refusals.CLIENT,
        reason=reason,
        target_type="client",
        target_id=client.id,
        target=f"{client.name} ({client.client_id})",
        partner_id=client.partner_id,
        organization_id=client.organization_id,
        network=network,
    )
