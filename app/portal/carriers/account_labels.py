"""What the pages of carrier accounts share."""

from typing import Any
from uuid import UUID

from flask import url_for
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.errors import Conflict
from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.models import CarrierAccount, Organization
from app.portal.web.confirmation import Confirmation
from app.portal.web.forms import PortalForm
from app.services import carrier_accounts

WHOLE = lazy_gettext("Organizations without their own account")
KIND_WORDS = {
    CarrierKind.TWILIO: lazy_gettext("Twilio account"),
    CarrierKind.SIP: lazy_gettext("SIP trunk"),
}
FORMS = {CarrierKind.TWILIO: "portal.carrier_account", CarrierKind.SIP: "portal.line_trunk"}


def short_name(account: CarrierAccount) -> str:
    if account.trunk is not None:
        return str(account.trunk["address"])
    return account.name


def being_tested(account: CarrierAccount) -> str:
    """Return what has happened to an account that was saved; the list shows its test."""
    return gettext(
        "Live calls use %(account)s from now on. Its connection is being tested.",
        account=short_name(account),
    )


def owner_of(account: CarrierAccount, names: dict[UUID, str]) -> str:
    return names.get(account.organization_id, "–") if account.organization_id else str(WHOLE)


def form_url(kind: CarrierKind, organization_id: UUID | None) -> str:
    return url_for(FORMS[kind], organization=organization_id)


def removing(session: Session, account: CarrierAccount) -> Confirmation:
    """Return the confirmation of removing the account, with the consequences."""
    follows = carrier_accounts.leaving(session, caller(), account)
    return Confirmation(
        action=url_for("portal.carrier_account_remove", account_id=account.id),
        title=gettext("Remove the account %(account)s?", account=short_name(account)),
        consequences=[
            _instead(follows.organizations, follows.instead)
            if follows.organizations
            else gettext("No organization uses it."),
            ngettext(
                "You can remove it after %(num)s call over it has ended.",
                "You can remove it after %(num)s calls over it have ended.",
                follows.calls,
            )
            if follows.calls
            else gettext("No calls are using it."),
            gettext("Its token is deleted within two days. Nothing changes at the carrier.")
            if account.trunk is None
            else gettext(
                "Its password is deleted within two days. Nothing changes at the carrier."
            ),
        ],
        act=gettext("Remove account"),
        safe=gettext("Keep account"),
        safe_url=url_for("portal.carrier_accounts"),
    )


def _instead(organizations: int, account: CarrierAccount | None) -> str:
    """Return which account the new calls of this many organizations use."""
    if account is None:
        return ngettext(
            "New live calls of %(num)s organization use the platform’s.",
            "New live calls of %(num)s organizations use the platform’s.",
            organizations,
        )
    return ngettext(
        "New live calls of %(num)s organization use your account %(account)s.",
        "New live calls of %(num)s organizations use your account %(account)s.",
        organizations,
        account=short_name(account),
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
    tests = carrier_accounts.last_tests(session, [present] if present else [])
    return {
        "form": typed or stored,
        "title": KIND_WORDS[kind],
        "owner": organization.name if organization else str(WHOLE),
        "kinds": [
            (words, form_url(each, organization_id), None, each is kind)
            for each, words in KIND_WORDS.items()
        ],
        "present": present if is_same else None,
        "replaced": f"{KIND_WORDS[present.carrier]} {short_name(present)}"
        if present is not None and not is_same
        else None,
        "removing": removing(session, present) if present else None,
        "failed_test": next((test for test in tests.values() if test.works is False), None),
    }
