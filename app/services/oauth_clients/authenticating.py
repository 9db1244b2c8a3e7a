"""Authenticate a client by its secret, and record refusals."""

import re

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import OAuthClient, Partner, utcnow
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.auth import refused_sign_ins
from app.services.auth.throttle import FailureCounter
from app.services.credentials import last_used
from app.services.credentials import secrets as credential_secrets
from app.validation.networks import network_of

CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_DUMMY_HASH = credential_secrets.hash_of("")


def authenticate(session: Session, client_id: str, secret: str) -> OAuthClient | None:
    """Return the client with this secret, if it may have tokens now.

    None for an unknown client, a wrong secret, and a client that is suspended, revoked or expired,
    or whose partner is suspended: all get the same answer. Records the use once a minute.
    """
    row = None
    if CLIENT_ID.fullmatch(client_id):
        query = select(OAuthClient, Partner.suspended_at).outerjoin(
            Partner, Partner.id == OAuthClient.partner_id
        )
        row = session.execute(query.where(OAuthClient.client_id == client_id)).one_or_none()
    client, partner_suspended_at = row or (None, None)
    if (
        not is_proven(client, secret)
        or client is None
        or client.suspended_at is not None
        or client.is_over
        or partner_suspended_at is not None
    ):
        return None
    now = utcnow()
    if client.last_used_at is None or now - client.last_used_at >= last_used.EVERY:
        client.last_used_at = now
    return client


def is_proven(client: OAuthClient | None, secret: str) -> bool:
    """Return whether this is the client's secret, or the previous one while that is still valid."""
    proven = credential_secrets.matches_secret(
        secret, client.secret_hash if client else _DUMMY_HASH
    )
    if not proven and client and client.previous_until and client.previous_until > utcnow():
        proven = credential_secrets.matches_secret(
            secret, client.previous_secret_hash or _DUMMY_HASH
        )
    return proven


def record_refusal(session: Session, client_id: str, secret: str, ip: str | None) -> None:
    """Record a refused client: unknown, with a wrong secret, or not active."""
    client = _find_client(session, client_id)
    network = network_of(ip)
    if client is None:
        unknown = "unknown_client"
        refusal = refused_sign_ins.without_account(refusals.CLIENT, unknown, None, network)
    else:
        reason = "not_active" if is_proven(client, secret) else "wrong_secret"
        refusal = _of_client(client, reason, network)
    refusals.record_refusals(session, refusals.anonymous_caller(), [refusal])


def record_too_many(
    session: Session, client_id: str, ip: str | None, counter: FailureCounter
) -> None:
    """Record a token request that came too early. It is counted once for its counter."""
    client = _find_client(session, client_id) if counter.is_of_account else None
    network = None if counter.is_of_everywhere else network_of(ip)
    too_many = refused_sign_ins.TOO_MANY
    if client is None:
        refusal = refused_sign_ins.without_account(refusals.CLIENT, too_many, None, network)
    else:
        refusal = _of_client(client, too_many, network)
    refusals.record_refusals(session, refusals.anonymous_caller(), [refusal])


def _find_client(session: Session, client_id: str) -> OAuthClient | None:
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
