"""Several users at once: suspending, reactivating, inviting; with a result for each of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from flask import render_template, request
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage

from app.enums import UserStatus
from app.errors import DomainError, ValidationFailed
from app.extensions import caller, transaction
from app.languages import gettext, ngettext
from app.models import User
from app.policy.caller import Caller
from app.portal.users import listing
from app.portal.users.forms import InviteManyForm
from app.portal.users.views import may_change, suggested_organizations
from app.portal.web.blueprint import portal
from app.portal.web.formats import number
from app.portal.web.forms import refused
from app.services import organizations, users
from app.services.pasted_lines import decoded
from app.services.users import LineResult, Outcome
from app.services.users.inviting import MOST_USERS
from app.validation.uuids import as_uuid

Page = str | tuple[str, int]

MOST_AT_ONCE = 100
MOST_BYTES = 300_000
SHUT = (UserStatus.SUSPENDED, UserStatus.DEACTIVATED)
OPEN = (UserStatus.ACTIVE, UserStatus.INVITED)


@dataclass(frozen=True, slots=True)
class Result:
    """The result for one user."""

    user: User
    changed: bool
    words: str


@portal.get("/people/suspend")
def users_suspend_confirm() -> str:
    return _confirmation("portal/users/suspend_several.html", SHUT)


@portal.post("/people/suspend")
def users_suspend() -> str:
    results = _for_each(users.suspend, SHUT, gettext("Suspended and signed out."))
    changed = sum(result.changed for result in results)
    title = ngettext(
        "%(num)s user suspended", "%(num)s users suspended", changed, num=number(changed)
    )
    return _results(title, results)


@portal.get("/people/reactivate")
def users_reactivate_confirm() -> str:
    return _confirmation("portal/users/reactivate_several.html", OPEN)


@portal.post("/people/reactivate")
def users_reactivate() -> str:
    results = _for_each(users.reactivate, OPEN, gettext("Can sign in again."))
    changed = sum(result.changed for result in results)
    title = ngettext(
        "%(num)s user reactivated", "%(num)s users reactivated", changed, num=number(changed)
    )
    return _results(title, results)


@portal.get("/people/invite-many")
def users_invite_many() -> str:
    form = InviteManyForm()
    given = as_uuid(request.args.get("organization", ""))
    if given is not None and caller().organization_id is None:
        with transaction(read_only=True) as session:
            form.organization.data = organizations.get(session, caller(), given).name
    return _many_page(form)


@portal.post("/people/invite-many")
def users_invite_many_send() -> Page:
    """Invite line by line; in a repeated form, users invited before are skipped without a second
    mail."""
    form = InviteManyForm()
    sent: FileStorage | None = form.file.data
    try:
        text = _file_text(sent) if sent else form.users.data or ""
        wanted = users.read_invitees(text)
    except ValidationFailed as error:
        if sent:
            form.file.errors = (error.message,)
            return _many_page(form), 422
        return refused(error, form, lambda: _many_page(form))
    usual = (form.organization.data or "").strip()
    try:
        with transaction() as session:
            chosen = caller().organization_id
            if usual and chosen is None:
                chosen = users.by_name(session, caller(), usual).id
            results = users.invite_many(session, caller(), wanted, organization_id=chosen)
    except ValidationFailed as error:
        return refused(error, form, lambda: _many_page(form))
    return render_template(
        "portal/users/invited.html",
        results=results,
        counts={outcome: sum(r.outcome is outcome for r in results) for outcome in Outcome},
        again=_refused_lines(results, text),
        organization=usual,
    )


def _confirmation(template: str, already: Sequence[UserStatus]) -> str:
    """Ask for confirmation about the selected users that the caller may change, or about all that
    match the filters of the list."""
    are_more = False
    if request.args.get("all"):
        chosen, are_more = _matching(already)
    else:
        chosen = _chosen(request.args.getlist("id"))
    if not chosen:
        return render_template("portal/users/nobody_chosen.html")
    return render_template(
        template, chosen=chosen, are_more=are_more, statuses=listing.STATUS_NAMES
    )


def _matching(already: Sequence[UserStatus]) -> tuple[list[User], bool]:
    """Return the first users that match the filters of the list and that the caller can act on,
    and whether there may be more."""
    wanted = listing.chosen()
    found: list[User] = []
    cursor: str | None = None
    with transaction(read_only=True) as session:
        while len(found) <= MOST_AT_ONCE:
            page = users.search(session, caller(), wanted, cursor=cursor, limit=MOST_AT_ONCE)
            others = (user for user in page.items if user.id != caller().subject_id)
            found += [user for user in others if may_change(user) and user.status not in already]
            cursor = page.next_cursor
            if cursor is None:
                break
    return found[:MOST_AT_ONCE], cursor is not None or len(found) > MOST_AT_ONCE


def _chosen(ids: Sequence[str]) -> list[User]:
    wanted = {known for text in ids[:MOST_AT_ONCE] if (known := as_uuid(text))}
    with transaction(read_only=True) as session:
        found = users.several(session, caller(), wanted)
    return [user for user in found if may_change(user)]


def _for_each(
    act: Callable[[Session, Caller, UUID], User], already: Sequence[UserStatus], done: str
) -> list[Result]:
    """Each user in a transaction of its own: an error for one stops no other."""
    results = []
    for user in _chosen(request.form.getlist("id")):
        if user.status in already:
            results.append(Result(user, False, gettext("Already so. Nothing was changed.")))
            continue
        try:
            with transaction() as session:
                results.append(Result(act(session, caller(), user.id), True, done))
        except DomainError as error:
            results.append(Result(user, False, error.message))
    return results


def _results(title: str, results: list[Result]) -> str:
    return render_template("portal/users/results.html", title=title, results=results)


def _many_page(form: InviteManyForm) -> str:
    return render_template(
        "portal/users/invite_many.html",
        form=form,
        organizations=suggested_organizations(),
        most=MOST_USERS,
    )


def _file_text(sent: FileStorage) -> str:
    """Return the file's text. Raises `ValidationFailed`."""
    data = sent.stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        message = gettext(
            "The file is larger than 300 kB. Invite at most %(most)s users at a time.",
            most=MOST_USERS,
        )
        raise ValidationFailed.on("file", "too_large", message)
    return decoded(data)


def _refused_lines(results: Sequence[LineResult], text: str) -> str:
    """Return the lines to fix, as they were typed."""
    lines = text.splitlines()
    refused = [result.line for result in results if result.outcome is Outcome.REFUSED]
    numbers = dict.fromkeys(refused)
    return "\n".join(lines[number - 1] for number in numbers if number <= len(lines))
