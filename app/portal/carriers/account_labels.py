"""Shared by the pages of carrier accounts."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from flask import url_for
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.errors import Conflict, translate_stored
from app.extensions import caller, settings
from app.languages import gettext, lazy_gettext, ngettext
from app.models import Assistant, CarrierAccount, CarrierAccountTest, Organization
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import number
from app.portal.web.forms import PortalForm
from app.services import carrier_accounts, organizations, phone_numbers
from app.services.calls.traffic import CallTraffic

MAX_NAMES = 10
WHOLE = lazy_gettext("Organizations without their own account")
KIND_LABELS = {
    CarrierKind.TWILIO: lazy_gettext("Twilio account"),
    CarrierKind.SIP: lazy_gettext("SIP trunk"),
}
FORMS = {
    CarrierKind.TWILIO: "portal.carriers.edit_account",
    CarrierKind.SIP: "portal.carriers.edit_sip_trunk",
}


def short_name(account: CarrierAccount) -> str:
    if account.trunk is not None:
        return str(account.trunk["address"])
    return account.name


def saved_message(account: CarrierAccount) -> str:
    """Return the result of saving an account; the list shows its test."""
    if not account.is_pending:
        return gettext("No changes. Live calls use %(account)s.", account=short_name(account))
    return gettext(
        "%(account)s is saved and tested now. Live calls use it once the test has passed.",
        account=short_name(account),
    )


def account_facts(
    account: CarrierAccount, calls: CallTraffic, numbers: int, users: str
) -> list[tuple[str, str]]:
    """Return the effects of an account; ``users`` as in `users_label`."""
    if account.is_pending:
        return [(gettext("Will be used by"), users), (gettext("Phone numbers"), number(numbers))]
    return [
        (gettext("Used by"), users),
        (gettext("Phone numbers"), number(numbers)),
        (gettext("Calls in 24 hours"), number(calls.last_day)),
    ]


def users_label(organization: str | None, organization_count: int) -> str:
    """Return which organizations use an account: the named one, or the number of
    those without their own account."""
    return organization or ngettext(
        "%(num)s organization without its own account",
        "%(num)s organizations without their own account",
        organization_count,
    )


def owner_of(account: CarrierAccount, names: dict[UUID, str]) -> str:
    return names.get(account.organization_id, "–") if account.organization_id else str(WHOLE)


def form_url(kind: CarrierKind, organization_id: UUID | None) -> str:
    return url_for(FORMS[kind], organization=organization_id)


def removal_confirmation(session: Session, account: CarrierAccount) -> ConfirmationPage:
    """Return the confirmation of removing the account, with the consequences."""
    if account.is_pending:
        return _discard_confirmation(account)
    follows = carrier_accounts.removal_effects(session, caller(), account)
    return ConfirmationPage(
        action=url_for("portal.carriers.remove_account", account_id=account.id),
        title=gettext("Remove the account %(account)s?", account=short_name(account)),
        consequences=[
            _replacement_message(follows.organizations, follows.replacement)
            if follows.organizations
            else gettext("No organization uses it."),
            ngettext(
                "You can remove it after %(num)s call over it has ended.",
                "You can remove it after %(num)s calls over it have ended.",
                follows.calls,
            )
            if follows.calls
            else gettext("No calls are using it."),
            _secret_deleted(account),
        ],
        action_label=gettext("Remove account"),
        keep_label=gettext("Keep account"),
        keep_url=url_for("portal.carriers.list_accounts"),
    )


def _secret_deleted(account: CarrierAccount) -> str:
    if account.trunk is None:
        return gettext("Its token is deleted within two days. Nothing changes at the carrier.")
    return gettext("Its password is deleted within two days. Nothing changes at the carrier.")


def _discard_confirmation(account: CarrierAccount) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.carriers.remove_account", account_id=account.id),
        title=gettext("Discard %(account)s?", account=short_name(account)),
        consequences=[
            gettext("No live call uses it. Calls still use the current account."),
            _secret_deleted(account),
        ],
        action_label=gettext("Discard"),
        keep_label=gettext("Keep account"),
        keep_url=url_for("portal.carriers.list_accounts"),
    )


def using(session: Session, account: CarrierAccount) -> ConfirmationPage:
    """Return the confirmation of using the account without a passed test, with the consequences."""
    name, carrier = short_name(account), CarrierKind(settings().carrier)
    count = carrier_accounts.removal_effects(session, caller(), account).organizations
    affected = phone_numbers.not_callable_over(session, account, carrier)
    consequences = [
        ngettext(
            "New live calls of %(num)s organization use %(account)s. They fail if the account "
            "doesn’t work.",
            "New live calls of %(num)s organizations use %(account)s. They fail if the account "
            "doesn’t work.",
            count,
            account=name,
        ),
        gettext("Calls in progress don’t change."),
    ]
    if affected:
        callable_message = ngettext(
            "%(num)s assistant can’t call any more, because its number isn’t confirmed for this "
            "account: %(names)s.",
            "%(num)s assistants can’t call any more, because their numbers aren’t confirmed for "
            "this account: %(names)s.",
            len(affected),
            names=_name_list(session, affected),
        )
    else:
        callable_message = gettext("All assistants that can call now can still call.")
    return ConfirmationPage(
        action=url_for("portal.carriers.use_account", account_id=account.id),
        title=gettext("Use %(account)s without a passed test?", account=name),
        consequences=[*consequences, callable_message],
        action_label=gettext("Use account"),
        keep_label=gettext("Don’t use it"),
        keep_url=url_for("portal.carriers.list_accounts"),
    )


def _name_list(session: Session, assistants: Sequence[Assistant]) -> str:
    ids = {each.organization_id for each in assistants[:MAX_NAMES]}
    owners = organizations.names_of(session, caller(), ids)
    names = ", ".join(
        f"{each.name} ({owners.get(each.organization_id, '–')})" for each in assistants[:MAX_NAMES]
    )
    more = len(assistants) - MAX_NAMES
    if more <= 0:
        return names
    return ngettext("%(names)s and %(num)s more", "%(names)s and %(num)s more", more, names=names)


def _replacement_message(organizations: int, account: CarrierAccount | None) -> str:
    """Return the account that new calls of this many organizations use."""
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


def form_page_data(
    session: Session,
    organization: Organization | None,
    kind: CarrierKind,
    submitted: PortalForm | None,
    *,
    stored: PortalForm,
    conflict: Conflict | None = None,
) -> dict[str, Any]:
    """Return the data of a form's page: ``submitted`` values or, before any input, the ``stored``
    ones."""
    organization_id = organization.id if organization else None
    current = carrier_accounts.current(session, caller(), organization_id)
    present = current.account
    if conflict is not None and submitted is not None:
        if current.last_id is None:
            submitted.apply_errors(conflict)
        else:
            target = ("carrier_account", current.last_id)
            submitted.show_conflict(session, conflict, stored, *target)
    newest = current.newest
    is_same = newest is not None and newest.carrier is kind
    organization_count = carrier_accounts.count_organizations(session, caller().partner_id)
    users = users_label(organization.name if organization else None, organization_count)
    tests = carrier_accounts.last_checks(
        session, CarrierAccountTest, [newest] if newest and is_same else []
    )
    return {
        "form": submitted or stored,
        "title": KIND_LABELS[kind] if newest else gettext("Add account"),
        "form_message": _form_message(users, newest if not is_same else None),
        "kinds": [
            (label, form_url(each, organization_id), None, each is kind)
            for each, label in KIND_LABELS.items()
        ],
        "present": newest if is_same else None,
        "removing": removal_confirmation(session, present) if present else None,
        "failed_test": _failed_test(tests.values(), is_pending=current.pending is not None),
    }


def _form_message(users: str, replaced: CarrierAccount | None) -> str:
    """Say which organizations use the account, what it replaces, and when it is used."""
    sentences = [gettext("Used by %(organizations)s.", organizations=users)]
    if replaced is not None:
        name = f"{KIND_LABELS[replaced.carrier]} {short_name(replaced)}"
        sentences.append(gettext("It replaces the %(account)s.", account=name))
    test_sentence = gettext(
        "It is tested first. New live calls use it once the test has passed; calls in progress "
        "don’t change."
    )
    return " ".join([*sentences, test_sentence])


def _failed_test(tests: Iterable[CarrierAccountTest], *, is_pending: bool) -> dict[str, str] | None:
    """Return the title and the text of a failed test, with what live calls use; None if none
    failed."""
    failed = next((test for test in tests if test.works is False), None)
    if failed is None:
        return None
    if is_pending:
        title = gettext("Not in use: the test failed")
        consequence = gettext("Live calls still use the current account.")
    else:
        title = gettext("The account in use failed its test")
        consequence = gettext(
            "Live calls use this account anyway and may fail. Correct it, or remove it so that "
            "they use the next account."
        )
    return {"title": title, "text": f"{translate_stored(failed.message)} {consequence}"}


def failing_message(count: int) -> str:
    """Say how many of the accounts that live calls use failed their last test; nothing for none."""
    if not count:
        return ""
    return ngettext(
        "%(num)s account that live calls use failed its test",
        "%(num)s accounts that live calls use failed their tests",
        count,
    )
