"""The texts of the mails about an account and its ways to sign in, in the current language."""

from app.enums import Role
from app.languages import gettext, gettext_noop, ngettext
from app.services.mails.facts import MailContext, MailTexts, as_administrator, not_you, sender


def _account_created_message(context: MailContext) -> str:
    """The first sentence of the mails to a user who has no password yet."""
    values = {
        "partner": context.brand.partner_name,
        "organization": context.organization,
        "product": context.brand.spoken_name,
    }
    if context.organization:
        return gettext(
            "%(partner)s created an account for you at %(organization)s in %(product)s.", **values
        )
    return gettext("%(partner)s created an account for you in %(product)s.", **values)


def _link_end_message(context: MailContext) -> str:
    return gettext("The link works once, until %(moment)s.", moment=context.until)


_INVITED = {
    Role.PARTNER_ADMIN: gettext_noop("%(who)s invited you as a partner admin of %(partner)s."),
    Role.PARTNER_EDITOR: gettext_noop("%(who)s invited you as a partner editor of %(partner)s."),
    Role.ADMIN: gettext_noop("%(who)s invited you as a customer admin of %(partner)s."),
    Role.OWNER: gettext_noop("%(who)s invited you as an owner of %(organization)s."),
    Role.STANDARD: gettext_noop("%(who)s invited you as a member of %(organization)s."),
}
_INVITED_BY_OPERATOR = {
    Role.PARTNER_ADMIN: gettext_noop("You are invited as a partner admin of %(partner)s."),
    Role.PARTNER_EDITOR: gettext_noop("You are invited as a partner editor of %(partner)s."),
    Role.ADMIN: gettext_noop("You are invited as a customer admin of %(partner)s."),
}
"""Texts without the inviter: operators are never named to partners, and no partner invites to
itself."""


def _invited_message(context: MailContext) -> str:
    partner = context.brand.partner_name
    by_operator = {} if context.inviter else _INVITED_BY_OPERATOR
    sentence = (_INVITED | by_operator).get(context.role) if context.role else None
    if sentence is None:
        return gettext("%(partner)s created an account for you.", partner=partner)
    inviter = context.inviter or partner
    return gettext(sentence, who=inviter, partner=partner, organization=context.organization)


def invitation(context: MailContext) -> MailTexts:
    product = context.brand.spoken_name
    invited = gettext("You are invited to %(product)s", product=product)
    return MailTexts(
        subject=invited,
        paragraphs=(_invited_message(context), gettext("Choose a password to sign in.")),
        act=(gettext("Accept invitation"), context.link),
        is_act_personal=True,
        after=(_link_end_message(context), gettext("If you did not expect this email, ignore it.")),
        reason=_invitation_reason(context),
    )


def _invitation_reason(context: MailContext) -> str:
    if not context.inviter and context.role in _INVITED_BY_OPERATOR:
        return gettext(
            "Sent to %(email)s because this address was invited to %(product)s.",
            email=context.email,
            product=context.brand.spoken_name,
        )
    return gettext(
        "Sent to %(email)s because %(who)s entered this address.",
        email=context.email,
        who=context.inviter or context.brand.partner_name,
    )


def set_password(context: MailContext) -> MailTexts:
    return MailTexts(
        subject=gettext("Set your password for %(product)s", product=context.brand.spoken_name),
        heading=gettext("Set your password"),
        paragraphs=(
            _account_created_message(context),
            gettext("You sign in as %(email)s, with your own password.", email=context.email),
        ),
        act=(gettext("Set your password"), context.link),
        is_act_personal=True,
        after=(_link_end_message(context),),
        reason=gettext(
            "Sent to %(email)s because an account was created with this address.",
            email=context.email,
        ),
    )


def reset_password(context: MailContext) -> MailTexts:
    product = context.brand.spoken_name
    return MailTexts(
        subject=gettext("Set a new password for %(product)s", product=product),
        heading=gettext("Set a new password"),
        paragraphs=(
            gettext(
                "A new password for %(email)s in %(product)s was requested.",
                email=context.email,
                product=product,
            ),
        ),
        act=(gettext("Set a new password"), context.link),
        is_act_personal=True,
        after=(
            _link_end_message(context),
            gettext("If that was not you, ignore this email. Your password stays the same."),
        ),
        reason=gettext(
            "Sent to %(email)s because a new password was requested on %(moment)s.",
            email=context.email,
            moment=context.at,
        ),
    )


def password_changed(context: MailContext) -> MailTexts:
    product, support = context.brand.spoken_name, context.brand.support_email
    return MailTexts(
        subject=gettext("Your password for %(product)s was changed", product=product),
        heading=gettext("Your password was changed"),
        paragraphs=(
            gettext(
                "The password of %(email)s in %(product)s was changed on %(moment)s.",
                email=context.email,
                product=product,
                moment=context.at,
            ),
            not_you(support),
        ),
        act=(gettext("Set a new password"), context.recover_url),
        reason=gettext(
            "Sent to %(email)s so that you notice changes of your password.", email=context.email
        ),
    )


_FACTOR_CHANGES = {
    "app_added": gettext_noop("An authenticator app was added to your account in %(product)s."),
    "app_removed": gettext_noop(
        "The authenticator app of your account in %(product)s was removed."
    ),
    "passkey_added": gettext_noop(
        "The passkey “%(name)s” was added to your account in %(product)s."
    ),
    "passkey_removed": gettext_noop(
        "The passkey “%(name)s” of your account in %(product)s was removed."
    ),
    "recovery_codes_replaced": gettext_noop(
        "New recovery codes of your account in %(product)s were made. The old ones no longer work."
    ),
    "factors_reset": gettext_noop(
        "%(by)s removed all second factors of your account in %(product)s. You sign in with your "
        "password alone until you add one."
    ),
}
"""Texts by the change of the second factors."""


def factors_changed(context: MailContext) -> MailTexts:
    product, support = context.brand.spoken_name, context.brand.support_email
    details = {"name": "", "by": "", **context.details}
    if details["what"] == "recovery_code_used":
        happened = ngettext(
            "A recovery code of your account in %(product)s was used. %(num)s code is left.",
            "A recovery code of your account in %(product)s was used. %(num)s codes are left.",
            details["left"],
            product=product,
        )
    else:
        sentence = _FACTOR_CHANGES[details["what"]]
        happened = gettext(sentence, product=product, name=details["name"], by=details["by"])
    return MailTexts(
        subject=gettext("Your sign-in to %(product)s was changed", product=product),
        heading=gettext("Your sign-in was changed"),
        paragraphs=(
            happened,
            gettext("It happened on %(moment)s.", moment=context.at),
            not_you(support),
        ),
        act=(gettext("Set a new password"), context.recover_url),
        reason=gettext(
            "Sent to %(email)s so that you notice changes of your sign-in.", email=context.email
        ),
    )


def new_browser(context: MailContext) -> MailTexts:
    product, support = context.brand.spoken_name, context.brand.support_email
    return MailTexts(
        subject=gettext("New sign-in to %(product)s", product=product),
        heading=gettext("New sign-in"),
        paragraphs=(
            gettext(
                "On %(moment)s someone signed in as %(email)s from the address %(address)s, in a "
                "browser that this account wasn’t used in before.",
                moment=context.at,
                email=context.email,
                address=context.details["address"],
            ),
            gettext("If that was you, there is nothing to do."),
            not_you(support),
        ),
        act=(gettext("Set a new password"), context.recover_url),
        reason=gettext(
            "Sent to %(email)s so that you notice sign-ins of others.", email=context.email
        ),
    )


def identity_linked(context: MailContext) -> MailTexts:
    product, provider = context.brand.spoken_name, context.details["provider"]
    return MailTexts(
        subject=gettext("A company account was linked to %(product)s", product=product),
        heading=gettext("A company account was linked"),
        paragraphs=(
            gettext(
                "On %(moment)s an account of %(provider)s was linked to %(email)s in %(product)s.",
                moment=context.at,
                provider=provider,
                email=context.email,
                product=product,
            ),
            gettext("It signs you in without your password."),
            gettext(
                "If that was not you, remove the link in your account and contact %(partner)s.",
                partner=sender(context),
            ),
        ),
        act=(gettext("View your account"), f"{context.site}/account"),
        reason=gettext(
            "Sent to %(email)s so that you notice new ways to sign in.", email=context.email
        ),
    )


def email_changed(context: MailContext) -> MailTexts:
    product = context.brand.spoken_name
    old, new = context.details["from"], context.details["to"]
    return MailTexts(
        subject=gettext("Your email address for %(product)s was changed", product=product),
        heading=gettext("Your email address was changed"),
        paragraphs=(
            gettext(
                "On %(moment)s the address of your account in %(product)s was changed to %(new)s.",
                moment=context.at,
                product=product,
                new=new,
            ),
            gettext(
                "Until then it was %(old)s. From now on you sign in as %(new)s.", old=old, new=new
            ),
            gettext("If you did not expect this, contact %(partner)s.", partner=sender(context)),
        ),
        reason=gettext("Sent to both addresses so that you notice changes of your address."),
    )


def confirm_email(context: MailContext) -> MailTexts:
    product, details = context.brand.spoken_name, context.details
    return MailTexts(
        subject=gettext("Confirm your email address for %(product)s", product=product),
        heading=gettext("Confirm the new email address"),
        paragraphs=(
            gettext(
                "%(who)s asked to change the address of an account in %(product)s.",
                who=details["by"],
                product=product,
            ),
            gettext(
                "It is %(old)s now and would be %(new)s.", old=details["from"], new=details["to"]
            ),
            gettext("The address changes after both addresses confirm it."),
        ),
        act=(gettext("Review change"), context.link),
        is_act_personal=True,
        after=(
            gettext(
                "The link works until %(moment)s. You can also reject the change there.",
                moment=context.until,
            ),
            gettext(
                "If you did not expect this, reject it and contact %(partner)s.",
                partner=sender(context),
            ),
        ),
        reason=gettext(
            "Sent to %(email)s because the account has this address now.", email=context.email
        )
        if details["side"] == "old"
        else gettext(
            "Sent to %(email)s because the account is to get this address.", email=context.email
        ),
    )


def access_ended(context: MailContext) -> MailTexts:
    details = context.details
    values = {"who": details["who"], "by": details["by"], "moment": context.at}
    if details["what"] == "deactivated":
        subject = gettext("%(who)s was deactivated", **values)
        message = gettext("On %(moment)s %(by)s deactivated the account of %(who)s.", **values)
    else:
        subject = gettext("The role of %(who)s was changed", **values)
        message = gettext("On %(moment)s %(by)s changed the role of %(who)s.", **values)
    ended, handed_over = details.get("ended"), details.get("handedOver")
    lists = []
    if ended:
        lists.append(gettext("Ended: %(items)s.", items=", ".join(ended)))
    if handed_over:
        lists.append(gettext("Handed over: %(items)s.", items=", ".join(handed_over)))
    rotate = gettext("Rotate the secrets of the items that were handed over.")
    return MailTexts(
        subject=subject,
        paragraphs=(message, *lists),
        act=(gettext("View users"), f"{context.site}/users"),
        after=(rotate,) if handed_over else (),
        reason=as_administrator(context),
    )
