"""The email address that a partner's mails come from, and the key that signs them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from joserfc.jwk import RSAKey
from sqlalchemy.orm import Session

from app.enums import DomainPurpose
from app.errors import ValidationFailed
from app.gateways.mailers import DkimSignature
from app.languages import gettext
from app.models import Partner
from app.policy import Permission
from app.policy.caller import Caller
from app.services import partners
from app.services.credentials.encryption import seal, try_unseal
from app.services.domains.records import SELECTOR
from app.services.partners import domains
from app.services.partners.updating import record_update
from app.validation.emails import is_email

PURPOSE = "DKIM key"
KEY_BITS = 2048


@dataclass(frozen=True, slots=True)
class ProvedSender:
    """A proved sender address, and what signs its mails."""

    email: str
    signature: DkimSignature


def choose_sender(
    session: Session, caller: Caller, partner_id: UUID, email: str | None, keys: Sequence[str]
) -> Partner:
    """Set the address that the partner's mails come from once DNS proves its domain; None is the
    installation's. A key that signs the mails is made once for each domain.

    Raises `ValidationFailed` (``invalid_email``).
    """
    caller.require(Permission.PARTNER_WRITE)
    partner = partners.get(session, caller, partner_id, for_change=True)
    if email == partner.sender_email:
        return partner
    domain = email.rpartition("@")[2].lower() if email else None
    if email and not (email.isascii() and is_email(email) and domains.HOST.fullmatch(domain or "")):
        message = gettext("Enter an email like no-reply@example.com.")
        raise ValidationFailed.on("senderEmail", "invalid_email", message)
    before = {"senderEmail": partner.sender_email}
    previous = domains.domain_of(session, partner, DomainPurpose.MAIL)
    former = previous.domain if previous else None
    tracked = domains.track(session, partner, DomainPurpose.MAIL, domain)
    if tracked is not None and domain != former:
        key = RSAKey.generate_key(KEY_BITS)
        tracked.dkim_key = seal(key.as_pem(private=True).decode(), PURPOSE, keys)
        public = key.as_pem(private=False).decode().splitlines()[1:-1]
        tracked.dkim_public = "".join(public)
    partner.sender_email = email
    record_update(session, caller, partner, before, {"senderEmail": email})
    return partner


def sender_of(
    session: Session, partner: Partner | None, keys: Sequence[str]
) -> ProvedSender | None:
    """Return the partner's own sender; None while DNS doesn't prove it, or it can't be signed."""
    if partner is None or partner.sender_email is None:
        return None
    domain = domains.domain_of(session, partner, DomainPurpose.MAIL)
    if domain is None or domain.proved_at is None or domain.dkim_key is None:
        return None
    key = try_unseal(domain.dkim_key, PURPOSE, keys)
    if key is None:
        return None
    return ProvedSender(partner.sender_email, DkimSignature(domain.domain, SELECTOR, key))
