"""What the pages of carrier accounts share."""

from typing import Any
from uuid import UUID

from flask import url_for
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.errors import Conflict, NotFound
from app.extensions import caller
from app.models import CarrierAccount, Organization
from app.portal.web.confirmation import Confirmation
from app.portal.web.formats import plural
from app.portal.web.forms import PortalForm
from app.services import carrier_accounts

WHOLE = "All other organizations"
KIND_WORDS = {CarrierKind.TWILIO: "Twilio account", CarrierKind.SIP: "SIP trunk"}
FORMS = {CarrierKind.TWILIO: "portal.carrier_account", CarrierKind.SIP: "portal.line_trunk"}


def only_partners() -> None:
    """Operators have no account here: theirs is in the settings."""
    if caller().partner_id is None:
        raise NotFound


def short_name(account: CarrierAccount) -> str:
    if account.trunk is not None:
        return str(account.trunk["address"])
    return f"{account.sid[:6]}…{account.sid[-4:]}"


def owner_of(account: CarrierAccount, names: dict[UUID, str]) -> str:
    return names.get(account.organization_id, "–") if account.organization_id else WHOLE


def form_url(kind: CarrierKind, organization_id: UUID | None) -> str:
    return url_for(FORMS[kind], organization=organization_id)


def removing(session: Session, account: CarrierAccount) -> Confirmation:
    """Return the confirmation of removing the account, with the consequences."""
    follows = carrier_accounts.leaving(session, caller(), account)
    instead = f"your account {short_name(follows.instead)}" if follows.instead else "the platform’s"
    secret = "token" if account.trunk is None else "password"
    return Confirmation(
        action=url_for("portal.carrier_account_remove", account_id=account.id),
        title=f"Remove the account {short_name(account)}?",
        consequences=[
            f"New live calls of {plural(follows.organizations, 'organization')} use {instead}."
            if follows.organizations
            else "No organization uses it.",
            f"You can remove it after {plural(follows.calls, 'call')} over it "
            f"{'has' if follows.calls == 1 else 'have'} ended."
            if follows.calls
            else "No calls are using it.",
            f"Its {secret} is deleted within two days. Nothing changes at the carrier.",
        ],
        act="Remove account",
        safe="Keep account",
        safe_url=url_for("portal.carrier_accounts"),
    )


def about(
    session: Session,
    organization: Organization | None,
    kind: CarrierKind,
    typed: PortalForm | None,
    *,
    stored: PortalForm,
    conflict: Conflict | None = None,
) -> dict[str, Any]:
    """Return the data of a form's page: ``typed`` values or, before any were typed, the ``stored``
    ones."""
    organization_id = organization.id if organization else None
    current = carrier_accounts.current(session, caller(), organization_id)
    present = current.account
    if conflict is not None and typed is not None:
        if current.last_id is None:
            typed.apply_errors(conflict)
        else:
            target = ("carrier_account", current.last_id)
            typed.show_conflict(session, conflict, stored, *target)
    is_same = present is not None and present.carrier is kind
    return {
        "form": typed or stored,
        "title": KIND_WORDS[kind],
        "owner": organization.name if organization else WHOLE,
        "kinds": [
            (words, form_url(each, organization_id), None, each is kind)
            for each, words in KIND_WORDS.items()
        ],
        "present": present if is_same else None,
        "replaced": f"{KIND_WORDS[present.carrier]} {short_name(present)}"
        if present is not None and not is_same
        else None,
        "removing": removing(session, present) if present else None,
    }
