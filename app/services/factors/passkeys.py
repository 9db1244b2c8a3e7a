"""Passkeys (WebAuthn): keys of a device or a password manager, each for one host name.

A passkey signs in without a password, because the device checks its user, or proves the second
step. One answer to a challenge is accepted, at the host and for the purpose it was made for. A
refused answer leaves the challenge until it expires, because the caller's transaction is rolled
back. This is harmless: an answer needs the private key of the passkey, so trying again helps no one
to guess one, and the challenge ends in the transaction that accepts an answer.
"""

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from ipaddress import ip_address
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from app.errors import Conflict, ValidationFailed
from app.languages import gettext
from app.models import Passkey, PasskeyChallenge, User, utcnow
from app.services.auth.sessions import host_name
from app.services.uniqueness import unless_taken
from app.validation.texts import trim

if TYPE_CHECKING:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

LIFETIME = timedelta(minutes=5)
MAX_PASSKEYS = 20
MAX_CHARACTERS = 20_000


class PasskeyPurpose(StrEnum):
    REGISTER = "register"
    SIGN_IN = "sign_in"
    SECOND_STEP = "second_step"
    STEP_UP = "step_up"


@dataclass(frozen=True, slots=True)
class BrowserSite:
    """The site of the browser: ``host`` with its port, ``origin`` with the scheme."""

    host: str
    origin: str

    @property
    def rp_id(self) -> str:
        return host_name(self.host)

    @property
    def has_passkeys(self) -> bool:
        """Return whether browsers allow passkeys here: never at an IP address."""
        try:
            ip_address(self.rp_id.strip("[]"))
        except ValueError:
            return True
        return False


@dataclass(frozen=True, slots=True)
class PasskeyRequest:
    """``options`` are JSON for the browser; ``challenge`` belongs in its cookie."""

    options: str
    challenge: str


def of_user(session: Session, user_id: UUID) -> Sequence[Passkey]:
    """Return the passkeys of a user that the caller has loaded, the oldest first."""
    query = select(Passkey).where(Passkey.user_id == user_id).order_by(Passkey.id)
    return session.scalars(query).all()


def ask_to_register(
    session: Session, user: User, site: BrowserSite, product: str
) -> PasskeyRequest:
    """Return a request for a new passkey. Raises `Conflict` (``too_many_passkeys``)."""
    import webauthn
    from webauthn.helpers import structs

    existing = of_user(session, user.id)
    _refuse_too_many(existing)
    challenge = _create_challenge(session, PasskeyPurpose.REGISTER, site, user.id)
    options = webauthn.generate_registration_options(
        rp_id=site.rp_id,
        rp_name=product,
        user_id=user.id.bytes,
        user_name=user.email,
        user_display_name=user.name or user.email,
        challenge=_decode(challenge),
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=_descriptors(existing, site),
    )
    return PasskeyRequest(webauthn.options_to_json(options), challenge)


def register(
    session: Session, user: User, site: BrowserSite, challenge: str, answer: str, name: str
) -> Passkey:
    """Store the passkey from the browser.

    Raises `ValidationFailed` (``passkey_refused``) and `Conflict` (``passkey_exists``,
    ``too_many_passkeys``).
    """
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    _refuse_too_many(of_user(session, user.id))
    _use_challenge(session, challenge, PasskeyPurpose.REGISTER, site, user.id)
    try:
        verified = webauthn.verify_registration_response(
            credential=_parse_answer(answer),
            expected_challenge=_decode(challenge),
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError) as error:
        raise refused() from error
    passkey = Passkey(
        user_id=user.id,
        credential_hash=_hash(verified.credential_id),
        credential_id=_encode(verified.credential_id),
        public_key=_encode(verified.credential_public_key),
        sign_count=verified.sign_count,
        rp_id=site.rp_id,
        name=trim(name)[:200] or site.rp_id,
    )
    message = gettext("This passkey is registered already.")
    with unless_taken(session, Conflict(message, "passkey_exists")):
        session.add(passkey)
    return passkey


def ask_to_prove(
    session: Session, site: BrowserSite, purpose: PasskeyPurpose, user_id: UUID | None = None
) -> PasskeyRequest:
    """Return a request to prove a passkey: one of the user's, or any if the user isn't known."""
    import webauthn
    from webauthn.helpers import structs

    challenge = _create_challenge(session, purpose, site, user_id)
    existing = of_user(session, user_id) if user_id else ()
    options = webauthn.generate_authentication_options(
        rp_id=site.rp_id,
        challenge=_decode(challenge),
        allow_credentials=_descriptors(existing, site),
        user_verification=structs.UserVerificationRequirement.REQUIRED,
    )
    return PasskeyRequest(webauthn.options_to_json(options), challenge)


def prove(
    session: Session,
    site: BrowserSite,
    purpose: PasskeyPurpose,
    challenge: str,
    answer: str,
    user_id: UUID | None = None,
) -> UUID:
    """Return the user whose passkey answered the challenge, which must be ``user_id`` if that is
    known.

    Raises `ValidationFailed` (``passkey_refused``).
    """
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    _use_challenge(session, challenge, purpose, site, user_id)
    credential = _parse_answer(answer)
    try:
        credential_id = _decode(str(credential["id"]))
    except (KeyError, ValueError) as error:
        raise refused() from error
    query = select(Passkey).where(
        Passkey.credential_hash == _hash(credential_id), Passkey.rp_id == site.rp_id
    )
    passkey = session.scalars(query.with_for_update()).one_or_none()
    if passkey is None or (user_id is not None and passkey.user_id != user_id):
        raise refused()
    try:
        verified = webauthn.verify_authentication_response(
            credential=credential,
            expected_challenge=_decode(challenge),
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            credential_public_key=_decode(passkey.public_key),
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError) as error:
        raise refused() from error
    session.execute(
        update(Passkey)
        .where(Passkey.id == passkey.id)
        .values(sign_count=verified.new_sign_count, used_at=utcnow())
    )
    return passkey.user_id


def remove_all(session: Session, user_id: UUID) -> None:
    """Delete every passkey of the user."""
    session.execute(delete(Passkey).where(Passkey.user_id == user_id))


def count(session: Session, user_id: UUID, rp_id: str) -> int:
    """Return how many passkeys of the user work at a host."""
    query = select(func.count()).where(Passkey.user_id == user_id, Passkey.rp_id == rp_id)
    return session.scalar(query) or 0


def purge(session: Session) -> None:
    """Remove challenges that have expired."""
    session.execute(delete(PasskeyChallenge).where(PasskeyChallenge.expires_at <= utcnow()))


def refused() -> ValidationFailed:
    """Return the error for every passkey that is not accepted."""
    message = gettext("This passkey was not accepted. Try again.")
    return ValidationFailed.on("", "passkey_refused", message)


def _create_challenge(
    session: Session, purpose: PasskeyPurpose, site: BrowserSite, user_id: UUID | None
) -> str:
    challenge = secrets.token_urlsafe(32)
    session.add(
        PasskeyChallenge(
            challenge_hash=_hash(challenge.encode()),
            user_id=user_id,
            purpose=purpose.value,
            host=site.rp_id,
            expires_at=utcnow() + LIFETIME,
        )
    )
    session.flush()
    return challenge


def _refuse_too_many(existing: Sequence[Passkey]) -> None:
    if len(existing) >= MAX_PASSKEYS:
        message = gettext(
            "Your account has %(most)s passkeys. Remove one first.", most=MAX_PASSKEYS
        )
        raise Conflict(message, "too_many_passkeys")


def _use_challenge(
    session: Session,
    challenge: str,
    purpose: PasskeyPurpose,
    site: BrowserSite,
    user_id: UUID | None,
) -> None:
    """Use the challenge up, if the transaction is committed. Raises `ValidationFailed`
    (``passkey_refused``)."""
    used = (
        delete(PasskeyChallenge)
        .where(
            PasskeyChallenge.challenge_hash == _hash(challenge.encode("utf-8", "replace")),
            PasskeyChallenge.purpose == purpose.value,
            PasskeyChallenge.host == site.rp_id,
            PasskeyChallenge.user_id.is_not_distinct_from(user_id),
        )
        .returning(PasskeyChallenge.expires_at)
    )
    if not any(expires_at > utcnow() for expires_at in session.scalars(used).all()):
        raise refused()


def _descriptors(
    passkeys: Sequence[Passkey], site: BrowserSite
) -> list["PublicKeyCredentialDescriptor"]:
    from webauthn.helpers import structs

    return [
        structs.PublicKeyCredentialDescriptor(id=_decode(passkey.credential_id))
        for passkey in passkeys
        if passkey.rp_id == site.rp_id
    ]


def _parse_answer(answer: str) -> dict[str, object]:
    try:
        parsed = json.loads(answer) if len(answer) <= MAX_CHARACTERS else None
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise refused()
    return parsed


def _hash(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(f"{text}===")  # superfluous padding is ignored


def _encode(value: bytes) -> str:
    return urlsafe_b64encode(value).decode().rstrip("=")
