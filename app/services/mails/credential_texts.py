"""The texts of the mails about credentials of scripts and about new administrators."""

from datetime import datetime

from app.enums import Role
from app.languages import gettext, gettext_noop, ngettext
from app.services.mails.facts import (
    MailContext,
    MailTable,
    MailTexts,
    as_administrator,
    format_time,
)

_CREATED = {
    "key": gettext_noop("New API key: %(name)s"),
    "client": gettext_noop("New API client: %(name)s"),
    "scim_token": gettext_noop("New SCIM token: %(name)s"),
    "carrier_account": gettext_noop("New carrier account: %(name)s"),
}
_ROTATED = {
    "key": gettext_noop("API key rotated: %(name)s"),
    "client": gettext_noop("API client has a new secret: %(name)s"),
    "scim_token": gettext_noop("SCIM token rotated: %(name)s"),
}
_ENDS = {
    "key": gettext_noop("API key expires soon: %(name)s"),
    "client": gettext_noop("API client expires soon: %(name)s"),
    "scim_token": gettext_noop("SCIM token expires soon: %(name)s"),
}
_PAGES = {
    "key": (gettext_noop("View API key"), "/api-access/keys/{id}"),
    "client": (gettext_noop("View API client"), "/api-access/clients/{id}"),
    "scim_token": (gettext_noop("View SCIM tokens"), "/settings/directory"),
    "carrier_account": (gettext_noop("View carrier accounts"), "/carriers/accounts"),
}
_BECAME = {
    Role.PARTNER_ADMIN: gettext_noop("%(who)s is now a partner admin"),
    Role.PARTNER_EDITOR: gettext_noop("%(who)s is now a partner editor"),
    Role.ADMIN: gettext_noop("%(who)s is now a customer admin"),
    Role.OWNER: gettext_noop("%(who)s is now an owner of %(organization)s"),
}
_INVITED = {
    Role.PARTNER_ADMIN: gettext_noop("%(who)s was invited as a partner admin"),
    Role.PARTNER_EDITOR: gettext_noop("%(who)s was invited as a partner editor"),
    Role.ADMIN: gettext_noop("%(who)s was invited as a customer admin"),
    Role.OWNER: gettext_noop("%(who)s was invited as an owner of %(organization)s"),
}
_INVITATION_CHANGED = {
    Role.PARTNER_ADMIN: gettext_noop("The role of %(who)s was changed to partner admin"),
    Role.PARTNER_EDITOR: gettext_noop("The role of %(who)s was changed to partner editor"),
    Role.ADMIN: gettext_noop("The role of %(who)s was changed to customer admin"),
    Role.OWNER: gettext_noop("The role of %(who)s was changed to owner of %(organization)s"),
}
"""Titles about users who are invited and got another role."""


def credential_created(context: MailContext) -> MailTexts:
    details = context.details
    titles = _ROTATED if details["done"] == "rolled" else _CREATED
    sentence = titles[details["kind"]]
    title = gettext(sentence, name=details["name"])
    return MailTexts(
        subject=title,
        paragraphs=(_done_by_message(context), *_credential_messages(context)),
        act=_page_link(context),
        after=(gettext("If you did not expect this, revoke or remove it immediately."),),
        reason=as_administrator(context),
    )


def credential_ends(context: MailContext) -> MailTexts:
    details = context.details
    sentence = _ENDS[details["kind"]]
    title = gettext(sentence, name=details["name"])
    return MailTexts(
        subject=title,
        paragraphs=(
            *_credential_messages(context),
            gettext("Scripts that use it will be refused from then on."),
            gettext("Rotate it before then, and update your scripts with the new secret."),
        ),
        act=_page_link(context),
        reason=gettext(
            "Sent to %(email)s because you created it or administer %(product)s.",
            email=context.email,
            product=context.brand.spoken_name,
        ),
    )


def administrator_added(context: MailContext) -> MailTexts:
    details = context.details
    if "owners" in details:
        return _owners_added(context)
    invited = _INVITATION_CHANGED if details.get("role_changed") else _INVITED
    titles = invited if details.get("invited") else _BECAME
    sentence = titles[Role(details["role"])]
    title = gettext(sentence, who=details["who"], organization=details["organization"])
    return MailTexts(
        subject=title,
        paragraphs=(_done_by_message(context),),
        act=(gettext("View user"), f"{context.site}/users/{details['userId']}"),
        after=(gettext("If you did not expect this, change the role or deactivate the account."),),
        reason=as_administrator(context),
    )


def _owners_added(context: MailContext) -> MailTexts:
    owners = [tuple(row) for row in context.details["owners"]]
    title = ngettext("%(num)s owner was invited", "%(num)s owners were invited", len(owners))
    return MailTexts(
        subject=title,
        paragraphs=(_done_by_message(context),),
        tables=(
            MailTable((gettext("Organization"), gettext("Owner")), tuple(owners), has_words=True),
        ),
        act=(gettext("View users"), f"{context.site}/users"),
        after=(gettext("If you did not expect this, change the role or deactivate the account."),),
        reason=as_administrator(context),
    )


def _done_by_message(context: MailContext) -> str:
    return gettext(
        "Done by %(by)s in %(product)s on %(moment)s.",
        by=context.details["by"],
        product=context.brand.spoken_name,
        moment=context.at,
    )


def _credential_messages(context: MailContext) -> tuple[str, ...]:
    """Return the organization and the end of a credential, as far as it has them."""
    messages, details = [], context.details
    if details["organization"]:
        name = details["organization"]
        messages.append(gettext("It belongs to the organization %(name)s.", name=name))
    if details["endsAt"]:
        ends = format_time(datetime.fromisoformat(details["endsAt"]), context.zone)
        messages.append(gettext("It works until %(moment)s.", moment=ends))
    return tuple(messages)


def _page_link(context: MailContext) -> tuple[str, str]:
    label, path = _PAGES[context.details["kind"]]
    return gettext(label), context.site + path.format(id=context.details["id"])
