"""The mails that users can turn off, unlike those that protect the account."""

from app.models import User
from app.policy import Permission
from app.policy.caller import Caller

IMPORT_FINISHED = "importFinished"
"""When an upload that took long has ended."""

ALERT_OPENED = "alertOpened"
"""When a rule opens an alert."""

_NEEDS = {
    IMPORT_FINISHED: Permission.CONTACTS_WRITE,
    ALERT_OPENED: Permission.ORGANIZATIONS_WRITE,
}


def wants_mail(user: User, mail: str) -> bool:
    """Return whether the user gets this kind of mail; on until they turn it off."""
    return user.notifications.get(mail, True) is not False


def offered_mails(caller: Caller) -> list[str]:
    """Return the kinds of mail for users with the caller's permissions."""
    return [mail for mail, needed in _NEEDS.items() if caller.may(needed)]
