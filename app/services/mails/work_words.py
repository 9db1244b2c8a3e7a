"""The texts of the mails about uploads, calls, costs and alerts, in the current language."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from app.languages import gettext, lazy_gettext, ngettext
from app.languages.numbers import written_number
from app.services.exports.words import SUBJECT_TITLES, problem_words
from app.services.mails.facts import (
    MailFacts,
    MailTexts,
    as_administrator,
    emails_link,
    written_time,
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


def import_finished(facts: MailFacts) -> MailTexts:
    counts, product = facts.details, facts.brand.product_name
    given = {
        "rows": written_number(counts["rows"]),
        "total": written_number(counts["total"]),
        "file": counts["file"],
        "campaign": counts["campaign"],
    }
    if counts["state"] == "done":
        heading = ngettext(
            "%(num)s row applied to %(campaign)s",
            "%(num)s rows applied to %(campaign)s",
            counts["rows"],
            campaign=given["campaign"],
        )
        summary = gettext(
            "%(rows)s of %(total)s rows of %(file)s were applied to the campaign %(campaign)s.",
            **given,
        )
    else:
        heading = gettext("The upload %(file)s did not finish", **given)
        summary = gettext(
            "%(rows)s of %(total)s rows of %(file)s were applied to the campaign %(campaign)s "
            "before it stopped.",
            **given,
        )
    return MailTexts(
        subject=heading,
        paragraphs=(summary, " ".join(_contacts_changed(counts))),
        act=(gettext("View result"), f"{facts.site}/uploads/{counts['uploadId']}"),
        reason=gettext(
            "Sent to %(email)s because you uploaded this file to %(product)s.",
            email=facts.email,
            product=product,
        ),
        links=(emails_link(facts),),
    )


def outcome(counts: Mapping[str, Any]) -> str:
    """Return the counts of an upload that aren't 0: "1,200 created, 2 failed"."""
    words = {**_APPLIED, **_NOT_APPLIED}
    return ", ".join(words[name](counts[name]) for name in words if counts.get(name))


def _contacts_changed(counts: Mapping[str, Any]) -> Iterator[str]:
    made, left = (
        [words(counts[name]) for name, words in parts.items() if counts.get(name)]
        for parts in (_APPLIED, _NOT_APPLIED)
    )
    if made:
        yield gettext("Contacts: %(counts)s.", counts=", ".join(made))
    else:
        yield gettext("Contacts: none changed.")
    if left:
        yield gettext("Not applied: %(counts)s.", counts=", ".join(left))


def chat_message(facts: MailFacts) -> MailTexts:
    product, details = facts.brand.product_name, facts.details
    name, email = details.get("name"), details.get("email")
    who = name or email or gettext("A visitor")
    writer = f"{name} ({email})" if name and email else who
    return MailTexts(
        subject=gettext("Chat message from %(product)s", product=product),
        heading=gettext("%(who)s wrote in the chat of %(product)s", who=who, product=product),
        paragraphs=(gettext("%(who)s wrote on %(moment)s:", who=writer, moment=facts.at),),
        quoted=details["message"],
        after=(gettext("Reply to this email to answer."),) if email else (),
        reason=gettext(
            "Sent to %(email)s, the support address of %(partner)s.",
            email=facts.email,
            partner=facts.brand.partner_name,
        ),
    )


def calling_paused(facts: MailFacts) -> MailTexts:
    details = facts.details
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
                partner=facts.brand.partner_name,
            ),
        ),
        act=(
            gettext("View organization"),
            f"{facts.site}/organizations/{details['organizationId']}",
        )
        if details["mayResume"]
        else (gettext("View calls"), f"{facts.site}/calls"),
        reason=gettext(
            "Sent to %(email)s so that you notice calls that aren’t yours.", email=facts.email
        ),
    )


def numbers_unconfirmed(facts: MailFacts) -> MailTexts:
    details = facts.details
    numbers, count = details["numbers"], details["count"]
    listed = {"account": details["account"], "numbers": ", ".join(numbers)}
    more = written_number(count - len(numbers))
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
                **listed,
                more=more,
            )
            if count > len(numbers)
            else gettext("The carrier account %(account)s no longer lists %(numbers)s.", **listed),
            gettext("Calls can’t come from these numbers until the account lists them again."),
        ),
        act=(gettext("View numbers"), f"{facts.site}/numbers"),
        reason=as_administrator(facts),
    )


def budget_reached(facts: MailFacts) -> MailTexts:
    details = facts.details
    whose, percent = details["organization"], details["percent"]
    path = f"organizations/{details['organizationId']}" if whose else "settings"
    heading = (
        gettext(
            "%(percent)s %% of the budget of %(organization)s spent",
            percent=percent,
            organization=whose,
        )
        if whose
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
        act=(gettext("View spending"), f"{facts.site}/{path}/spending"),
        reason=(
            gettext(
                "Sent to %(email)s because %(partner)s sends alerts of this budget there.",
                email=facts.email,
                partner=facts.brand.partner_name,
            )
            if details.get("isRecipient")
            else gettext(
                "Sent to %(email)s, a partner admin of %(partner)s.",
                email=facts.email,
                partner=facts.brand.partner_name,
            )
        ),
    )


def alerts_opened(facts: MailFacts) -> MailTexts:
    details = facts.details
    is_chosen, about = details.get("isRecipient", False), details.get("organizationId")
    titles = tuple(f"{words}." for words in details["titles"])
    more = (
        (gettext("And %(count)s more.", count=written_number(details["more"])),)
        if details["more"]
        else ()
    )
    count = len(titles) + details["more"]
    heading = (
        details["titles"][0]
        if count == 1
        else gettext(
            "%(count)s alerts: %(rule)s", count=written_number(count), rule=details["rule"]
        )
    )
    return MailTexts(
        subject=heading,
        paragraphs=(*titles, *more)
        if count > 1
        else (gettext("Rule: %(rule)s.", rule=details["rule"]),),
        act=(gettext("View usage"), f"{facts.site}/usage?organization={about}")
        if about
        else (gettext("View alerts"), f"{facts.site}/alerts"),
        after=()
        if is_chosen
        else (gettext("Alerts resolve by themselves. To get no more emails, mute the rule."),),
        reason=gettext(
            "Sent to %(email)s because %(partner)s sends alerts of this rule there.",
            email=facts.email,
            partner=facts.brand.partner_name,
        )
        if is_chosen
        else gettext(
            "Sent to %(email)s because this rule of %(product)s sends emails.",
            email=facts.email,
            product=facts.brand.product_name,
        ),
        links=() if is_chosen else _rule_links(facts),
    )


def _rule_links(facts: MailFacts) -> tuple[tuple[str, str], ...]:
    rule = f"/rules/{facts.details['ruleId']}" if "ruleId" in facts.details else ""
    return (gettext("Mute rule"), f"{facts.site}/alerts{rule}"), emails_link(facts)


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


def export_finished(facts: MailFacts) -> MailTexts:
    details, product = facts.details, facts.brand.product_name
    problem = details["problem"]
    name = str(_LISTS.get(details["list"], details["list"]))
    heading = (
        gettext("Your export could not be written") if problem else gettext("Your export is ready")
    )
    listed = (
        gettext("List: %(list)s.", list=name)
        if problem
        else gettext(
            "List: %(list)s. Rows: %(rows)s.", list=name, rows=written_number(details["rows"])
        )
    )
    until = written_time(datetime.fromisoformat(details["until"]), facts.zone)
    ending = (
        problem_words(details["list"], problem)
        if problem
        else gettext("Sign in to download the file until %(moment)s.", moment=until)
    )
    return MailTexts(
        subject=heading,
        paragraphs=(listed, ending),
        act=(gettext("View exports"), f"{facts.site}/exports"),
        reason=gettext(
            "Sent to %(email)s because you requested this export in %(product)s.",
            email=facts.email,
            product=product,
        ),
    )
