"""Inviting again, suspending and reactivating several users."""

from app.enums import UserStatus
from app.extensions import caller
from app.languages import gettext, lazy_gettext, lazy_pgettext, ngettext
from app.models import User
from app.policy import Permission
from app.portal.web.bulk import BulkAction, BulkItem
from app.services import mails, users

SHUT = (UserStatus.SUSPENDED, UserStatus.DEACTIVATED)


def may_change(user: User) -> bool:
    """Return whether the caller may change users like this one."""
    return caller().may(Permission.USERS_WRITE) and user.role in users.types_for(caller())


def _refusal(user: User, *, is_so: bool) -> str | None:
    if not may_change(user):
        return gettext("Your role may not change this user.")
    if user.id == caller().subject_id:
        return gettext("You can’t do this to yourself.")
    return gettext("Already done. Nothing was changed.") if is_so else None


def _not_invited_message(item: BulkItem) -> str | None:
    user = item.row.user
    if may_change(user) and user.status is not UserStatus.INVITED:
        return gettext("Already accepted the invitation.")
    return _refusal(user, is_so=False)


ACTIONS = (
    BulkAction(
        name="resend",
        label=lazy_gettext("Resend invitation…"),
        permission=Permission.USERS_WRITE,
        button=lambda n: ngettext("Resend %(num)s invitation", "Resend %(num)s invitations", n),
        done=lambda n: ngettext("%(num)s invitation sent", "%(num)s invitations sent", n),
        keep_label=lazy_gettext("Cancel"),
        consequences=(
            lazy_gettext("They get a new link. Earlier links work until one of them is used."),
        ),
        act=lambda session, item: mails.send_invitation(session, caller(), item.row.user.id),
        done_label=lazy_gettext("A new link is on its way."),
        refusal=_not_invited_message,
        is_risky=False,
    ),
    BulkAction(
        name="suspend",
        label=lazy_gettext("Suspend…"),
        permission=Permission.USERS_WRITE,
        button=lambda n: ngettext("Suspend %(num)s user", "Suspend %(num)s users", n),
        done=lambda n: ngettext("%(num)s user suspended", "%(num)s users suspended", n),
        keep_label=lazy_pgettext("users", "Keep active"),
        consequences=(
            lazy_gettext("Signed out immediately, in every browser, and can’t sign in."),
            lazy_gettext("Their seats stay taken."),
            lazy_gettext("Nothing is deleted; you can reactivate them at any time."),
        ),
        act=lambda session, item: users.suspend(session, caller(), item.row.user.id),
        done_label=lazy_gettext("Suspended and signed out."),
        refusal=lambda item: _refusal(item.row.user, is_so=item.row.user.status in SHUT),
    ),
    BulkAction(
        name="reactivate",
        label=lazy_gettext("Reactivate…"),
        permission=Permission.USERS_WRITE,
        button=lambda n: ngettext("Reactivate %(num)s user", "Reactivate %(num)s users", n),
        done=lambda n: ngettext("%(num)s user reactivated", "%(num)s users reactivated", n),
        keep_label=lazy_pgettext("users", "Keep suspended"),
        consequences=(
            lazy_gettext("They can sign in again with their own passwords."),
            lazy_gettext("Users without a free seat are refused, with the reason."),
        ),
        act=lambda session, item: users.reactivate(session, caller(), item.row.user.id),
        done_label=lazy_gettext("Can sign in again."),
        refusal=lambda item: _refusal(item.row.user, is_so=item.row.user.status not in SHUT),
        is_risky=False,
    ),
)
