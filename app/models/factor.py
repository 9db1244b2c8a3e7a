"""Second factors of users, and the short-lived rows of signing in with them."""

from sqlalchemy import BigInteger, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Created, Hash, Id, Name, Short, Time, UserId


class AuthenticatorApp(Base):
    """The secret that a user's authenticator app shares with the portal, encrypted.

    Until the first code proves it, ``confirmed_at`` is None and it grants no access. ``last_step``
    is the time step of the last code that was used: neither it nor an earlier one works again.
    """

    __tablename__ = "authenticator_apps"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    secret: Mapped[str] = mapped_column(String(1000))
    last_step: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[Created]
    confirmed_at: Mapped[Time | None]


class RecoveryCode(Base):
    """A code that replaces the second factor once; only its hash is stored."""

    __tablename__ = "recovery_codes"

    code_hash: Mapped[Hash] = mapped_column(primary_key=True)
    user_id: Mapped[UserId] = mapped_column(index=True)
    created_at: Mapped[Created]
    used_at: Mapped[Time | None]


class Passkey(Base):
    """A WebAuthn credential of a user. It works only at the host name ``rp_id``."""

    __tablename__ = "passkeys"

    id: Mapped[Id]
    user_id: Mapped[UserId] = mapped_column(index=True)
    credential_hash: Mapped[Hash] = mapped_column(unique=True)
    """The SHA-256 of the credential's id, which can be too long for an index."""
    credential_id: Mapped[str] = mapped_column(Text)
    public_key: Mapped[str] = mapped_column(Text)
    sign_count: Mapped[int] = mapped_column(BigInteger, default=0)
    rp_id: Mapped[Name]
    name: Mapped[Name]
    created_at: Mapped[Created]
    used_at: Mapped[Time | None]


class PasskeyChallenge(Base):
    """A challenge that waits for its answer: single use, short-lived, for one host and purpose.

    ``user_id`` is None if the answer identifies the user.
    """

    __tablename__ = "passkey_challenges"

    challenge_hash: Mapped[Hash] = mapped_column(primary_key=True)
    user_id: Mapped[UserId | None] = mapped_column(index=True)
    purpose: Mapped[Short]
    host: Mapped[Name]
    expires_at: Mapped[Time] = mapped_column(index=True)


class PendingSignIn(Base):
    """A sign-in whose password was right and whose second step is pending. It grants nothing."""

    __tablename__ = "pending_sign_ins"

    token_hash: Mapped[Hash] = mapped_column(primary_key=True)
    user_id: Mapped[UserId] = mapped_column(index=True)
    host: Mapped[Name]
    expires_at: Mapped[Time] = mapped_column(index=True)


class RememberedBrowser(Base):
    """A browser in which a user isn't asked for the second step until ``expires_at``.

    The cookie holds a token, one for all accounts of the browser; only its hash is stored.
    """

    __tablename__ = "remembered_browsers"

    token_hash: Mapped[Hash] = mapped_column(primary_key=True)
    user_id: Mapped[UserId] = mapped_column(primary_key=True, index=True)
    created_at: Mapped[Created]
    expires_at: Mapped[Time] = mapped_column(index=True)
