"""Authenticate a client by its secret."""

import re

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import OAuthClient, Partner, utcnow
from app.services.credentials import last_used
from app.services.credentials import secrets as credential_secrets

CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_DUMMY_HASH = credential_secrets.hash_of("")


def authenticate(session: Session, client_id: str, secret: str) -> OAuthClient | None:
    """Return the client with this secret, if it may have tokens now.

    None for an unknown client, a wrong secret, and a client that is suspended, revoked or expired,
    or whose partner is suspended: all look the same. Records the use once a minute.
    """
    found = None
    if CLIENT_ID.fullmatch(client_id):
        query = select(OAuthClient, Partner.suspended_at).outerjoin(
            Partner, Partner.id == OAuthClient.partner_id
        )
        found = session.execute(query.where(OAuthClient.client_id == client_id)).one_or_none()
    client, partner_suspended_at = found or (None, None)
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
    """Whether this is the client's secret, or the one before while that still counts."""
    proven = credential_secrets.matches_secret(
        secret, client.secret_hash if client else _DUMMY_HASH
    )
    if not proven and client and client.previous_until and client.previous_until > utcnow():
        proven = credential_secrets.matches_secret(
            secret, client.previous_secret_hash or _DUMMY_HASH
        )
    return proven
