"""The texts of the mails to partners about their webhooks, visits and domains."""

from datetime import datetime

from app.enums import DomainPurpose
from app.languages import gettext
from app.services.mails.facts import MailContext, MailTexts, as_administrator, format_time


def webhook_paused(context: MailContext) -> MailTexts:
    details = context.details
    values = {
        "product": context.brand.spoken_name,
        "host": details["host"],
        "organization": details["organization"],
    }
    if details["organization"] is None:
        subject = gettext("A webhook for the whole portal was paused")
        summary = gettext("%(product)s sends events of all organizations to %(host)s.", **values)
    else:
        subject = gettext("A webhook of %(organization)s was paused", **values)
        summary = gettext("%(product)s sends events of %(organization)s to %(host)s.", **values)
    reason = (
        gettext("It answered that it is permanently gone (status 410).")
        if details["reason"] == "gone"
        else gettext("It accepted nothing for 24 hours.")
    )
    return MailTexts(
        subject=subject,
        heading=gettext("The webhook to %(host)s was paused", **values),
        paragraphs=(
            f"{summary} {reason}",
            gettext("Its events are kept for 30 days and delivered when you resume it."),
        ),
        act=(gettext("View webhook"), f"{context.site}/api-access/webhooks/{details['webhookId']}"),
        reason=gettext(
            "Sent to %(email)s, the address for notices of %(partner)s.",
            email=context.email,
            partner=context.brand.partner_name,
        ),
    )


def portal_viewed(context: MailContext) -> MailTexts:
    details = context.details
    return MailTexts(
        subject=gettext("A platform operator viewed your portal"),
        paragraphs=(
            gettext(
                "%(operator)s saw %(product)s as %(user)s sees it, from %(moment)s on, for at most "
                "30 minutes.",
                operator=details["operator"],
                product=context.brand.spoken_name,
                user=details["as"],
                moment=context.at,
            ),
            gettext("The operator couldn’t change anything. The reason:"),
        ),
        quoted=details["reason"],
        act=(gettext("View history"), f"{context.site}/audit"),
        reason=as_administrator(context),
    )


def domain_records(context: MailContext) -> MailTexts:
    domain, until = context.details["domain"], context.details["until"]
    paragraphs: tuple[str, ...]
    if context.details["purpose"] == DomainPurpose.MAIL:
        heading = gettext("Emails don’t come from %(domain)s any more", domain=domain)
        paragraphs = (
            gettext("DNS records of %(domain)s are missing or have changed.", domain=domain),
            gettext(
                "Until they are set again, your emails come from the address of the portal, with "
                "your name."
            ),
        )
    elif until:
        heading = gettext("DNS records of %(domain)s are missing", domain=domain)
        ends = format_time(datetime.fromisoformat(until), context.zone)
        paragraphs = (
            gettext(
                "If they are still missing on %(moment)s, your customers can’t use this domain any "
                "more.",
                moment=ends,
            ),
        )
    else:
        heading = gettext("%(domain)s is not verified any more", domain=domain)
        paragraphs = (
            gettext("Its DNS records were missing for too long."),
            gettext(
                "Everyone who was signed in at this domain is signed out. It is verified again "
                "when its records are set."
            ),
        )
    return MailTexts(
        subject=heading,
        paragraphs=paragraphs,
        act=(gettext("View DNS records"), f"{context.site}/settings/domain"),
        reason=as_administrator(context),
    )
