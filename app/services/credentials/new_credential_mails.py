"""Mail a partner's administrators about each new credential and each new secret."""

from datetime import datetime

from sqlalchemy.orm import Session

from app.enums import CallerKind
from app.models import ApiKey, CarrierAccount, MailKind, OAuthClient, ScimToken
from app.policy.caller import Caller
from app.services import mail_queue


def send(
    session: Session,
    caller: Caller,
    credential: ApiKey | OAuthClient | ScimToken | CarrierAccount,
    action: str,
    *,
    organization: str | None = None,
) -> None:
    """Queue a mail to the administrators and to the caller. ``action`` is that of the history, such
    as ``key.rolled``. Actions of the command line send none."""
    if caller.kind is CallerKind.SYSTEM or credential.partner_id is None:
        return
    kind, _, verb = action.partition(".")
    end: datetime | None = getattr(credential, "expires_at", None)
    mail_queue.enqueue_to_administrators(
        session,
        MailKind.CREDENTIAL_CREATED,
        credential.partner_id,
        details={
            "kind": kind,
            "done": verb,
            "name": credential.name,
            "organization": organization,
            "by": caller.label,
            "endsAt": end.isoformat() if end else None,
            "id": str(credential.id),
        },
        also=[caller.user_id],
    )
