"""Settings of signing in: the second factor, and how long sessions last."""

from dataclasses import replace

from flask import render_template, url_for
from flask_login import current_user
from sqlalchemy.orm import Session

from app.enums import UserStatus
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.portal.settings import blueprint
from app.portal.settings.forms import SignInPolicyForm
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving, stored_page_of_own
from app.portal.web.messages import redirect_with
from app.services import partners, users
from app.services.auth.sessions import STAFF
from app.services.partners import sign_in_policy as policies


@blueprint.get("/settings/sign-in")
def edit_sign_in_policy() -> str:
    return stored_page_of_own(_page, _stored)


@blueprint.post("/settings/sign-in")
def save_sign_in_policy() -> Page:
    form, partner_id = SignInPolicyForm(), partners.own_partner_id(caller())
    with saving(
        form, lambda: _page(form), stored=_stored, target=("partner", partner_id)
    ) as session:
        policy, version = form.policy(), form.version.data
        policies.save(session, caller(), partner_id, policy, settings(), expected_version=version)
    message = gettext("Sign-in settings saved. They are in effect now.")
    return redirect_with(message, url_for("portal.settings.edit_sign_in_policy"))


def _stored(session: Session) -> SignInPolicyForm:
    partner = partners.get_own(session, caller())
    policy = policies.of_partner(partner)
    return SignInPolicyForm.from_object(
        version=partner.version,
        second_factor_for=policy.second_factor_for.value,
        session_hours="" if policy.session_hours is None else str(policy.session_hours),
        idle_minutes="" if policy.idle_minutes is None else str(policy.idle_minutes),
    )


def _page(form: SignInPolicyForm) -> str:
    without_factor = users.UserFilter(status=UserStatus.ACTIVE, has_factor=False)
    with transaction(read_only=True) as session:
        lacking = {
            "staff": sum(
                users.count(session, caller(), replace(without_factor, user_type=role))
                for role in STAFF
            ),
            "all": users.count(session, caller(), without_factor),
        }
    return render_template(
        "portal/settings/sign_in.html",
        form=form,
        lacks_own=current_user.second_factor_at is None,
        lacking=lacking,
        max_hours=settings().session_hours,
        max_minutes=settings().session_idle_minutes,
    )
