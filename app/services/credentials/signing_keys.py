"""The key pairs that sign access tokens: ES256, made when needed, replaced every 90 days.

The private half is stored encrypted (A256GCM) under a key derived from the application's secret,
and stays so while that is configured as the previous one: hosts that don't have the new secret yet
sign with the same pair. Without it a new pair is made, and tokens of the old one stay valid until
their end.
"""

import json
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any

from joserfc.jwk import ECKey
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.models import SigningKey, utcnow
from app.policy.caller import Caller
from app.services import audit
from app.services.credentials.encryption import seal, try_unseal
from app.services.destinations import INSTALLATION_ID

ALGORITHM = "ES256"
PURPOSE = "portal signing keys"
REPLACED_AFTER = timedelta(days=90)
PUBLISHED_AFTER_RETIREMENT = timedelta(days=1)


def current(session: Session, keys: tuple[str, ...]) -> ECKey:
    """Return the private key to sign with; create one if all are too old, or encrypted with none of
    the application's secrets ``keys``."""
    now = utcnow()
    in_use = session.scalars(
        select(SigningKey)
        .where(SigningKey.retired_at.is_(None))
        .order_by(SigningKey.created_at.desc(), SigningKey.kid)
    ).all()
    for stored in in_use:
        if stored.created_at > now - REPLACED_AFTER:
            key = _unseal_key(stored.private_key, keys)
            if key is not None:
                return key
    for stored in in_use:
        stored.retired_at = now
    return _create_key(session, keys)


def published(session: Session) -> Sequence[dict[str, Any]]:
    """Return the public halves of every key whose tokens may still be valid, as JSON Web Keys."""
    return session.scalars(
        select(SigningKey.public_jwk)
        .where(
            or_(
                SigningKey.retired_at.is_(None),
                SigningKey.retired_at > utcnow() - PUBLISHED_AFTER_RETIREMENT,
            )
        )
        .order_by(SigningKey.created_at, SigningKey.kid)
    ).all()


def rotate(
    session: Session, caller: Caller, keys: tuple[str, ...], *, end_tokens: bool = False
) -> str:
    """Sign with a new key from now on; return its id.

    Tokens of earlier keys stay valid until their end, and these keys are published a day longer.
    With ``end_tokens``, for a key that became known, every token issued before ends at once. Raises
    `Forbidden` for callers other than the command line (``command_line_only``).
    """
    caller.require_command_line("Rotate keys on the command line.")
    before = session.scalars(select(SigningKey).with_for_update()).all()
    for stored in before:
        stored.retired_at = stored.retired_at or utcnow()
        if end_tokens:
            session.delete(stored)
    kid = str(_create_key(session, keys).kid)
    audit.record(
        session,
        caller,
        action="installation.signing_key_rotated",
        target_type="installation",
        target_id=INSTALLATION_ID,
        target="Installation",
        after={"keyId": kid, "tokensEnded": end_tokens},
    )
    return kid


@lru_cache(maxsize=32)
def imported(public_jwk: str) -> ECKey:
    """Return the public key of a JSON text, cached because importing costs a third of a
    verification."""
    return ECKey.import_key(json.loads(public_jwk))


def _create_key(session: Session, keys: tuple[str, ...]) -> ECKey:
    key = ECKey.generate_key("P-256", {"use": "sig", "alg": ALGORITHM}, auto_kid=True)
    private = seal(json.dumps(key.as_dict(private=True)), PURPOSE, keys)
    session.add(
        SigningKey(kid=key.kid, private_key=private, public_jwk=dict(key.as_dict(private=False)))
    )
    session.flush()
    return key


@lru_cache(maxsize=8)
def _unseal_key(private_key: str, keys: tuple[str, ...]) -> ECKey | None:
    plain = try_unseal(private_key, PURPOSE, keys)
    return None if plain is None else ECKey.import_key(json.loads(plain))
