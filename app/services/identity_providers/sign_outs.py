"""Back-channel logout: a provider ends the sessions that its sign-ins began."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.models import IdentityProvider, IdentitySignOut, UserIdentity
from app.services.auth import sessions
from app.services.identity_providers.tokens import LEEWAY_SECONDS, TokenRefused


def end_sessions(session: Session, provider: IdentityProvider, claims: Mapping[str, Any]) -> int:
    """End the sessions of these checked claims, and return how many; a token that was received
    before is refused. Raises `TokenRefused`."""
    ends = datetime.fromtimestamp(claims["exp"], UTC) + timedelta(seconds=LEEWAY_SECONDS)
    identity = f"{provider.id}\0{claims['jti']}".encode()
    try:
        with session.begin_nested():
            session.add(
                IdentitySignOut(
                    token_hash=hashlib.sha256(identity).hexdigest(),
                    provider_id=provider.id,
                    expires_at=ends,
                )
            )
    except IntegrityError:
        raise TokenRefused("replayed") from None
    user_id = None
    if "sub" in claims:
        user_id = session.scalar(
            select(UserIdentity.user_id).where(
                UserIdentity.provider_id == provider.id, UserIdentity.subject == claims["sub"]
            )
        )
        if user_id is None:
            return 0
    return sessions.end_all_of_provider(
        session, provider.id, user_id=user_id, sid=claims.get("sid")
    )
