"""The mails that a person may choose to get or not; those that guard the account are no choice."""

from app.models import User
from app.policy import Permission
from app.policy.caller import Caller

IMPORT_FINISHED = "importFinished"
"""When an upload that took long has ended."""

_NEEDS = {IMPORT_FINISHED: Permission.CONTACTS_WRITE}


def wants(user: User, mail: str) -> bool:
    """Whether the user gets this kind of mail; on until they turn it off."""
    return user.notifications.get(mail, True) is not False


def offered(caller: Caller) -> list[str]:
    """The kinds of mail that users with the caller's permissions can get."""
    return [mail for mail, needed in _NEEDS.items() if caller.may(needed)]
