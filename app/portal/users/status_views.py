"""Suspending, reactivating, deactivating and signing out a user, resetting the second factor, and
resending an invitation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from flask import abort, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import Role
from app.errors import Conflict, DomainError, Forbidden, NotFound, ValidationFailed
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import User
from app.portal.users import blueprint
from app.portal.users.labels import confirm_role_title, role_changed
from app.portal.users.views import (
    UserActions,
    actions_of,
    deactivate_confirmation,
    suspend_confirmation,
    user_confirmation,
)
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.messages import changing, redirect_with
from app.services import mails, users
from app.services.users import email_changes, factor_reset
from app.services.users.created_items import KIND_LABELS, items_of, may_take_over
from app.services.users.loading import MEMBERS, PARTNER_LEVEL
from app.validation.uuids import as_uuid


@blueprint.get("/users/<uuid:user_id>/suspend")
def confirm_suspend_user(user_id: UUID) -> str:
    return suspend_confirmation(_get_changeable(user_id, lambda offers: offers.suspend)).page()


@blueprint.post("/users/<uuid:user_id>/suspend")
def suspend_user(user_id: UUID) -> Response:
    with _changing(user_id, Conflict, Forbidden) as session:
        user = users.suspend(session, caller(), user_id)
    return _to_user(user, gettext("%(name)s suspended and signed out.", name=_name(user)))


@blueprint.get("/users/<uuid:user_id>/role/<role>")
def confirm_change_role(user_id: UUID, role: str) -> str:
    """Show the confirmation before a role is lowered that the user's clients, keys or invitations
    need."""
    user, lower = _get_changeable(user_id, lambda offers: offers.edit), _role(role)
    confirmation = user_confirmation(
        user,
        url_for("portal.users.change_role", user_id=user.id, role=lower),
        confirm_role_title(_name(user), lower),
        [gettext("The new role takes effect on the next page they open.")],
        gettext("Change role"),
        gettext("Keep the role"),
    )
    return _page_with_items(confirmation, user, lower)


@blueprint.post("/users/<uuid:user_id>/role/<role>")
def change_role(user_id: UUID, role: str) -> Response:
    lower = _role(role)
    with _changing(user_id, Conflict, Forbidden, ValidationFailed) as session:
        user = users.change_role(session, caller(), user_id, lower, hand_over=handed_over_ids())
    return _to_user(user, role_changed(_name(user), lower))


@blueprint.post("/users/<uuid:user_id>/reactivate")
def reactivate_user(user_id: UUID) -> Response:
    with _changing(user_id, Conflict, ValidationFailed) as session:
        user = users.reactivate(session, caller(), user_id)
    return _to_user(user, gettext("%(name)s reactivated.", name=_name(user)))


@blueprint.get("/users/<uuid:user_id>/deactivate")
def confirm_deactivate_user(user_id: UUID) -> str:
    user = _get_changeable(user_id, lambda offers: offers.deactivate)
    return _page_with_items(deactivate_confirmation(user), user)


@blueprint.post("/users/<uuid:user_id>/deactivate")
def deactivate_user(user_id: UUID) -> Response:
    with _changing(user_id, Conflict, Forbidden) as session:
        user = users.deactivate(session, caller(), user_id, hand_over=handed_over_ids())
    return _to_user(user, gettext("%(name)s deactivated and signed out.", name=_name(user)))


@blueprint.post("/users/<uuid:user_id>/resend")
def resend_invitation(user_id: UUID) -> Response:
    with _changing(user_id, Conflict) as session:
        user = mails.send_invitation(session, caller(), user_id)
    return _to_user(user, gettext("A new link is on its way to %(email)s.", email=user.email))


@blueprint.post("/users/<uuid:user_id>/email-change/cancel")
def cancel_email_change(user_id: UUID) -> Response:
    with transaction() as session:
        email_changes.cancel(session, caller(), user_id)
    message = gettext("Email change cancelled.")
    return redirect_with(message, url_for("portal.users.show_user", user_id=user_id))


def _role(text: str) -> Role:
    """Return the role. Raises `NotFound` for anything that isn't a role of a partner or of an
    organization."""
    if text not in PARTNER_LEVEL | MEMBERS:
        raise NotFound
    return Role(text)


def handed_over_ids() -> list[UUID]:
    """Return the items that the form hands over to the current user."""
    return [item_id for text in request.form.getlist("hand_over") if (item_id := as_uuid(text))]


def _get_changeable(user_id: UUID, is_offered: Callable[[UserActions], bool]) -> User:
    """Return the user, if the action is offered for them. Raises `NotFound`."""
    with transaction(read_only=True) as session:
        user = users.get(session, caller(), user_id)
    if not is_offered(actions_of(user)):
        raise NotFound
    return user


def _page_with_items(confirmation: ConfirmationPage, user: User, role: Role | None = None) -> str:
    """Return the confirmation with the user's items that the action ends."""
    with transaction(read_only=True) as session:
        items = items_of(session, user, role)
    return confirmation.page(
        template="portal/users/confirm_with_items.html",
        user=user,
        items=items,
        kind_labels=KIND_LABELS,
        may_take_over=may_take_over(caller(), user),
    )


def _name(user: User) -> str:
    return user.name or user.email


def _to_user(user: User, message: str) -> Response:
    return redirect_with(message, url_for("portal.users.show_user", user_id=user.id))


@contextmanager
def _changing(user_id: UUID, *refusals: type[DomainError]) -> Iterator[Session]:
    """As `changing`, back to the user's page; raises `Forbidden` if the role is too low."""
    try:
        with transaction() as session:
            yield session
    except refusals as error:
        if isinstance(error, Forbidden) and error.code == "role_too_low":
            raise
        message = f"{error.message} {gettext('Nothing was changed.')}"
        abort(redirect_with(message, url_for("portal.users.show_user", user_id=user_id), "warning"))


@blueprint.get("/users/<uuid:user_id>/reset-factors")
def confirm_reset_factors(user_id: UUID) -> str:
    user = _get_changeable(user_id, lambda offers: offers.sign_out)
    return user_confirmation(
        user,
        url_for("portal.users.reset_factors", user_id=user.id),
        gettext("Reset the second factor of %(name)s?", name=_name(user)),
        (
            gettext("Make sure that you are really talking to this user, not by email alone."),
            gettext("The password alone signs in, until they add a second factor again."),
            gettext("Signed out immediately, in every browser."),
            gettext("The user gets an email about it."),
        ),
        gettext("Reset second factor"),
        gettext("Keep it"),
    ).page()


@blueprint.post("/users/<uuid:user_id>/reset-factors")
def reset_factors(user_id: UUID) -> Response:
    url = url_for("portal.users.show_user", user_id=user_id)
    with changing(url, Forbidden, tone="danger") as session:
        user = factor_reset.reset(session, caller(), user_id)
    return redirect_with(gettext("Second factor of %(name)s reset.", name=_name(user)), url)


@blueprint.post("/users/<uuid:user_id>/sign-out")
def sign_out_user(user_id: UUID) -> Response:
    url = url_for("portal.users.show_user", user_id=user_id)
    with changing(url, Forbidden, tone="danger") as session:
        user = factor_reset.sign_out(session, caller(), user_id)
    return redirect_with(gettext("%(name)s signed out everywhere.", name=_name(user)), url)
