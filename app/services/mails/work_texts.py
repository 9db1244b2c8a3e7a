"""The texts of the mails about uploads, calls, costs and alerts, in the current language."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from app.languages import gettext, lazy_gettext, ngettext
from app.languages.numbers import localize_number
from app.services.exports.labels import SUBJECT_TITLES, problem_label
from app.services.mails.facts import (
    MailContext,
    MailTexts,
    as_administrator,
    emails_link,
    format_time,
)

_APPLIED: dict[str, Callable[[int], str]] = {
    "created": lambda n: ngettext("%(num)s created", "%(num)s created", n),
    "updated": lambda n: ngettext("%(num)s updated", "%(num)s updated", n),
    "deleted": lambda n: ngettext("%(num)s deleted", "%(num)s deleted", n),
    "unchanged": lambda n: ngettext("%(num)s unchanged", "%(num)s unchanged", n),
}


_NOT_APPLIED: dict[str, Callable[[int], str]] = {
    "ignored": lambda n: ngettext("%(num)s ignored", "%(num)s ignored", n),
    "failed": lambda n: ngettext("%(num)s failed", "%(num)s failed", n),
}
"""The words of an upload's counts, by their names."""


def import_finished(context: MailContext) -> MailTexts:
    counts, product = context.details, context.brand.spoken_name
    values = {
        "rows": localize_number(counts["rows"]),
        "total": localize_number(counts["total"]),
        "file": counts["file"],
        "campaign": counts["campaign"],
    }
    if counts["state"] == "done":
        heading = ngettext(
            "%(num)s row applied to %(campaign)s",
            "%(num)s rows applied to %(campaign)s",
            counts["rows"],
            campaign=values["campaign"],
        )
        summary = gettext(
            "%(rows)s of %(total)s rows of %(file)s were applied to the campaign %(campaign)s.",
            **values,
        )
    else:
        heading = gettext("The upload %(file)s did not finish", **values)
        summary = gettext(
            "%(rows)s of %(total)s rows of %(file)s were applied to the campaign %(campaign)s "
            "before it stopped.",
            **values,
        )
    return MailTexts(
        subject=heading,
        paragraphs=(summary, " ".join(_contact_change_messages(counts))),
        act=(gettext("View result"), f"{context.site}/uploads/{counts['uploadId']}"),
        reason=gettext(
            "Sent to %(email)s because you uploaded this file to %(product)s.",
            email=context.email,
            product=product,
        ),
        links=(emails_link(context),),
    )


def outcome(counts: Mapping[str, Any]) -> str:
    """Return the counts of an upload that aren't 0: "1,200 created, 2 failed"."""
    formatters = {**_APPLIED, **_NOT_APPLIED}
    return ", ".join(formatters[name](counts[name]) for name in formatters if counts.get(name))


def _contact_change_messages(counts: Mapping[str, Any]) -> Iterator[str]:
    changed, not_applied = (
        [
            format_count(counts[name])
            for name, format_count in formatters.items()
            if counts.get(name)
        ]
        for formatters in (_APPLIED, _NOT_APPLIED)
    )
    if changed:
        yield gettext("Contacts: %(counts)s.", counts=", ".join(changed))
    else:
        yield gettext("Contacts: none changed.")
    if not_applied:
        yield gettext("Not applied: %(counts)s.", counts=", ".join(not_applied))


def chat_message(context: MailContext) -> MailTexts:
    product, details = context.brand.spoken_name, context.details
    name, email = details.get("name"), details.get("email")
    display_name = name or email or gettext("A visitor")
    writer = f"{name} ({email})" if name and email else display_name
    return MailTexts(
        subject=gettext("Chat message from %(product)s", product=product),
        heading=gettext(
            "%(who)s wrote in the chat of %(product)s", who=display_name, product=product
        ),
        paragraphs=(gettext("%(who)s wrote on %(moment)s:", who=writer, moment=context.at),),
        quoted=details["message"],
        after=(gettext("Reply to this email to answer."),) if email else (),
        reason=gettext(
            "Sent to %(email)s, the support address of %(partner)s.",
            email=context.email,
            partner=context.brand.partner_name,
        ),
    )


def calling_paused(context: MailContext) -> MailTexts:
    details = context.details
    paused = gettext("Calling is paused for %(organization)s", organization=details["organization"])
    return MailTexts(
        subject=paused,
        paragraphs=(
            details["why"],
            gettext("New calls wait. Calls in progress continue."),
            gettext(
                "If these calls are yours, resume calling. If not, revoke the API keys that you "
                "don’t recognise first."
            )
            if details["mayResume"]
            else gettext(
                "If these calls are yours, ask %(partner)s to resume calling.",
                partner=context.brand.partner_name,
            ),
        ),
        act=(
            gettext("View organization"),
            f"{context.site}/organizations/{details['organizationId']}",
        )
        if details["mayResume"]
        else (gettext("View calls"), f"{context.site}/calls"),
        reason=gettext(
            "Sent to %(email)s so that you notice calls that aren’t yours.", email=context.email
        ),
    )


def numbers_unconfirmed(context: MailContext) -> MailTexts:
    details = context.details
    numbers, count = details["numbers"], details["count"]
    values = {"account": details["account"], "numbers": ", ".join(numbers)}
    more = localize_number(count - len(numbers))
    heading = ngettext(
        "%(number)s is no longer confirmed",
        "%(num)s numbers are no longer confirmed",
        count,
        number=numbers[0],
    )
    return MailTexts(
        subject=heading,
        paragraphs=(
            gettext(
                "The carrier account %(account)s no longer lists %(numbers)s and %(more)s more.",
                **values,
                more=more,
            )
            if count > len(numbers)
            else gettext("The carrier account %(account)s no longer lists %(numbers)s.", **values),
            gettext("Calls can’t come from these numbers until the account lists them again."),
        ),
        act=(gettext("View numbers"), f"{context.site}/numbers"),
        reason=as_administrator(context),
    )


def budget_reached(context: MailContext) -> MailTexts:
    details = context.details
    organization, percent = details["organization"], details["percent"]
    path = f"organizations/{details['organizationId']}" if organization else "settings"
    heading = (
        gettext(
            "%(percent)s %% of the budget of %(organization)s spent",
            percent=percent,
            organization=organization,
        )
        if organization
        else gettext("%(percent)s %% of your budget spent", percent=percent)
    )
    return MailTexts(
        subject=heading,
        paragraphs=(
            gettext(
                "Calls have cost %(spent)s this month. The budget is %(budget)s.",
                spent=details["spent"],
                budget=details["budget"],
            ),
            gettext("A budget stops no calls. To stop them at an amount, set a spending limit."),
        ),
        act=(gettext("View spending"), f"{context.site}/{path}/spending"),
        reason=(
            gettext(
                "Sent to %(email)s because %(partner)s sends alerts of this budget there.",
                email=context.email,
                partner=context.brand.partner_name,
            )
            if details.get("isRecipient")
            else gettext(
                "Sent to %(email)s, a partner admin of %(partner)s.",
                email=context.email,
                partner=context.brand.partner_name,
            )
        ),
    )


def alerts_opened(context: MailContext) -> MailTexts:
    details = context.details
    is_chosen, organization_id = details.get("isRecipient", False), details.get("organizationId")
    titles = tuple(f"{title}." for title in details["titles"])
    more = (
        (gettext("And %(count)s more.", count=localize_number(details["more"])),)
        if details["more"]
        else ()
    )
    count = len(titles) + details["more"]
    heading = (
        details["titles"][0]
        if count == 1
        else gettext(
            "%(count)s alerts: %(rule)s", count=localize_number(count), rule=details["rule"]
        )
    )
    return MailTexts(
        subject=heading,
        paragraphs=(*titles, *more)
        if count > 1
        else (gettext("Rule: %(rule)s.", rule=details["rule"]),),
        act=(gettext("View usage"), f"{context.site}/usage?organization={organization_id}")
        if organization_id
        else (gettext("View alerts"), f"{context.site}/alerts"),
        after=()
        if is_chosen
        else (gettext("Alerts resolve by themselves. To get no more emails, mute the rule."),),
        reason=gettext(
            "Sent to %(email)s because %(partner)s sends alerts of this rule there.",
            email=context.email,
            partner=context.brand.partner_name,
        )
        if is_chosen
        else gettext(
            "Sent to %(email)s because this rule of %(product)s sends emails.",
            email=context.email,
            product=context.brand.spoken_name,
        ),
        links=() if is_chosen else _rule_links(context),
    )


def _rule_links(context: MailContext) -> tuple[tuple[str, str], ...]:
    rule = f"/rules/{context.details['ruleId']}" if "ruleId" in context.details else ""
    return (gettext("Mute rule"), f"{context.site}/alerts{rule}"), emails_link(context)


_LISTS: dict[str, str] = {
    "organizations": lazy_gettext("Organizations"),
    "users": lazy_gettext("Users"),
    "assistants": lazy_gettext("Assistants"),
    "campaigns": lazy_gettext("Campaigns"),
    "contacts": lazy_gettext("Contacts"),
    "uploads": lazy_gettext("Uploads"),
    "campaign-uploads": lazy_gettext("Uploads"),
    "calls": lazy_gettext("Calls"),
    "do-not-call": lazy_gettext("Do-not-call lists"),
    "webhooks": lazy_gettext("Webhooks"),
    "history": lazy_gettext("History"),
    "report": lazy_gettext("Members"),
    "usage": lazy_gettext("Usage"),
    **SUBJECT_TITLES,
}
"""Lists by their names."""


def export_finished(context: MailContext) -> MailTexts:
    details, product = context.details, context.brand.spoken_name
    problem = details["problem"]
    name = str(_LISTS.get(details["list"], details["list"]))
    heading = (
        gettext("Your export could not be written") if problem else gettext("Your export is ready")
    )
    summary = (
        gettext("List: %(list)s.", list=name)
        if problem
        else gettext(
            "List: %(list)s. Rows: %(rows)s.", list=name, rows=localize_number(details["rows"])
        )
    )
    until = format_time(datetime.fromisoformat(details["until"]), context.zone)
    ending = (
        problem_label(details["list"], problem)
        if problem
        else gettext("Sign in to download the file until %(moment)s.", moment=until)
    )
    return MailTexts(
        subject=heading,
        paragraphs=(summary, ending),
        act=(gettext("View exports"), f"{context.site}/exports"),
        reason=gettext(
            "Sent to %(email)s because you requested this export in %(product)s.",
            email=context.email,
            product=product,
        ),
    )
