"""The texts of the mails. One text serves both forms, HTML and plain."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.models import Mail, MailKind
from app.services.branding.brand import Brand


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of figures; the first cell of the head and of each row names the others."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Words:
    """A mail's texts; ``act`` is the button (label, URL), ``reason`` why it was sent.

    ``quoted`` is text that another user wrote, shown as a quotation. ``tables`` stand below the
    paragraphs.
    """

    subject: str
    heading: str
    paragraphs: tuple[str, ...]
    act: tuple[str, str] | None = None
    quoted: str = ""
    after: tuple[str, ...] = ()
    reason: str = ""
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """The data of the texts. ``link`` is the one-time URL of kinds that have one, ``site`` the
    partner's part of the portal without a final slash."""

    mail: Mail
    brand: Brand
    email: str
    zone: str
    site: str
    recover_url: str
    organization: str | None = None
    link: str = ""
    link_ends: datetime | None = None

    @property
    def details(self) -> Mapping[str, Any]:
        return self.mail.details

    @property
    def at(self) -> str:
        return moment(self.mail.created_at, self.zone)

    @property
    def until(self) -> str:
        return moment(self.link_ends, self.zone) if self.link_ends else ""


def moment(value: datetime, zone: str) -> str:
    """21 November 2026, 10:47 GMT"""
    local = value.astimezone(ZoneInfo(zone))
    return f"{local.day} {local:%B %Y}, {local:%H:%M %Z}"


def _invitation(facts: Facts) -> Words:
    product, partner = facts.brand.product_name, facts.brand.partner_name
    where = f" at {facts.organization}" if facts.organization else ""
    return Words(
        subject=f"You are invited to {product}",
        heading=f"You are invited to {product}",
        paragraphs=(f"{partner} created an account for you{where}. Choose a password to sign in.",),
        act=("Accept invitation", facts.link),
        after=(
            f"The link works once, until {facts.until}.",
            "If you did not expect this email, ignore it.",
        ),
        reason=f"Sent to {facts.email} because {partner} entered this address.",
    )


def _set_password(facts: Facts) -> Words:
    product, partner = facts.brand.product_name, facts.brand.partner_name
    where = f" at {facts.organization}" if facts.organization else ""
    return Words(
        subject=f"Set your password for {product}",
        heading="Set your password",
        paragraphs=(
            f"{partner} created an account for you{where} in {product}.",
            f"You sign in as {facts.email}, with your own password.",
        ),
        act=("Set your password", facts.link),
        after=(f"The link works once, until {facts.until}.",),
        reason=f"Sent to {facts.email} because an account was created with this address.",
    )


def _reset_password(facts: Facts) -> Words:
    product = facts.brand.product_name
    return Words(
        subject=f"Set a new password for {product}",
        heading="Set a new password",
        paragraphs=(f"A new password for {facts.email} in {product} was requested.",),
        act=("Set a new password", facts.link),
        after=(
            f"The link works once, until {facts.until}.",
            "If that was not you, ignore this email. Your password stays the same.",
        ),
        reason=f"Sent to {facts.email} because a new password was requested on {facts.at}.",
    )


def _password_changed(facts: Facts) -> Words:
    product = facts.brand.product_name
    return Words(
        subject=f"Your password for {product} was changed",
        heading="Your password was changed",
        paragraphs=(
            f"The password of {facts.email} in {product} was changed on {facts.at}.",
            f"If that was not you, set a new password at once{_and_support(facts.brand)}.",
        ),
        act=("Set a new password", facts.recover_url),
        reason=f"Sent to {facts.email} so that you notice changes of your password.",
    )


def _email_changed(facts: Facts) -> Words:
    product = facts.brand.product_name
    old, new = facts.details["from"], facts.details["to"]
    sender = f"{facts.brand.partner_name}{_at_support(facts.brand)}"
    return Words(
        subject=f"Your email address for {product} was changed",
        heading="Your email address was changed",
        paragraphs=(
            f"On {facts.at} the address of your account in {product} was changed to {new}.",
            f"Until then it was {old}. From now on you sign in as {new}.",
            f"If you did not expect this, contact {sender}.",
        ),
        reason="Sent to both addresses so that you notice changes of your address.",
    )


def _confirm_email(facts: Facts) -> Words:
    product, details = facts.brand.product_name, facts.details
    contact = f"{facts.brand.partner_name}{_at_support(facts.brand)}"
    return Words(
        subject=f"Confirm your email address for {product}",
        heading="Confirm the new email address",
        paragraphs=(
            f"{details['by']} asked to change the address of an account in {product}.",
            f"It is {details['from']} now and would be {details['to']}.",
            "The address changes after both addresses confirm it.",
        ),
        act=("Review change", facts.link),
        after=(
            f"The link works until {facts.until}. You can also reject the change there.",
            f"If you did not expect this, reject it and contact {contact}.",
        ),
        reason=f"Sent to {facts.email} because the account "
        f"{'has this address now' if details['side'] == 'old' else 'is to get this address'}.",
    )


def _access_ended(facts: Facts) -> Words:
    details = facts.details
    who, by = details["who"], details["by"]
    if details["what"] == "deactivated":
        subject, done = f"{who} was deactivated", f"{by} deactivated the account of {who}"
    else:
        subject, done = f"The role of {who} was changed", f"{by} changed the role of {who}"
    lists = (("Ended", details.get("ended")), ("Handed over", details.get("handedOver")))
    return Words(
        subject=subject,
        heading=subject,
        paragraphs=(
            f"On {facts.at} {done}.",
            *(f"{title}: {', '.join(items)}." for title, items in lists if items),
        ),
        act=("View users", f"{facts.site}/people"),
        after=("Roll the secret of what was handed over.",) if details.get("handedOver") else (),
        reason=f"Sent to {facts.email} because you administer {facts.brand.product_name}.",
    )


def _import_finished(facts: Facts) -> Words:
    counts, product = facts.details, facts.brand.product_name
    file, campaign = counts["file"], counts["campaign"]
    done = f"{counts['rows']:,} of {counts['total']:,} rows of {file}"
    if counts["state"] == "done":
        heading = f"{counts['rows']:,} rows applied to {campaign}"
        summary = f"{done} were applied to the campaign {campaign}."
    else:
        heading = f"The upload {file} did not finish"
        summary = f"{done} were applied to the campaign {campaign} before it stopped."
    made = ", ".join(
        f"{counts[name]:,} {name}" for name in ("created", "updated", "deleted") if counts[name]
    )
    left = ", ".join(f"{counts[name]:,} {name}" for name in ("ignored", "failed") if counts[name])
    sums = [f"Contacts: {made or 'none changed'}."] + ([f"Not applied: {left}."] if left else [])
    return Words(
        subject=heading,
        heading=heading,
        paragraphs=(summary, " ".join(sums)),
        act=("View result", f"{facts.site}/uploads/{counts['uploadId']}"),
        reason=f"Sent to {facts.email} because you uploaded this file to {product}. "
        "Choose your emails in your account.",
    )


def _chat_message(facts: Facts) -> Words:
    product = facts.brand.product_name
    details = facts.details
    who = details.get("name") or details.get("email") or "A visitor"
    writer = f"{who} ({details['email']})" if details.get("name") and details.get("email") else who
    return Words(
        subject=f"Chat message from {product}",
        heading=f"{who} wrote in the chat of {product}",
        paragraphs=(f"{writer} wrote on {facts.at}:",),
        quoted=details["message"],
        after=("Reply to this email to answer.",) if details.get("email") else (),
        reason=f"Sent to {facts.email}, the support address of {facts.brand.partner_name}.",
    )


def _webhook_paused(facts: Facts) -> Words:
    product, details = facts.brand.product_name, facts.details
    host, organization = details["host"], details["organization"]
    why = (
        "It answered that it is permanently gone (status 410)."
        if details["reason"] == "gone"
        else "It accepted nothing for 24 hours."
    )
    return Words(
        subject=f"A webhook of {organization} was paused",
        heading=f"The webhook to {host} was paused",
        paragraphs=(
            f"{product} sends events of {organization} to {host}. {why}",
            "Its events are kept for 30 days and delivered when you resume it.",
        ),
        act=("View webhook", f"{facts.site}/api-access/webhooks/{details['webhookId']}"),
        reason=f"Sent to {facts.email}, the address for notices of {facts.brand.partner_name}.",
    )


def _calling_paused(facts: Facts) -> Words:
    details = facts.details
    organization = details["organization"]
    return Words(
        subject=f"Calling is paused for {organization}",
        heading=f"Calling is paused for {organization}",
        paragraphs=(
            details["why"],
            "Calls are accepted and wait. Calls in progress go on.",
            "If these calls are yours, resume calling. If not, revoke the API keys that you don’t "
            "recognise first."
            if details["mayResume"]
            else f"If these calls are yours, ask {facts.brand.partner_name} to resume calling.",
        ),
        act=("View organization", f"{facts.site}/organizations/{details['organizationId']}")
        if details["mayResume"]
        else ("View calls", f"{facts.site}/calls"),
        reason=f"Sent to {facts.email} so that you notice calls that aren’t yours.",
    )


def _numbers_unconfirmed(facts: Facts) -> Words:
    details = facts.details
    numbers, count = details["numbers"], details["count"]
    listed = ", ".join(numbers)
    if count > len(numbers):
        listed += f" and {count - len(numbers):,} more"
    heading = (
        f"{numbers[0]} is no longer confirmed"
        if count == 1
        else f"{count:,} numbers are no longer confirmed"
    )
    return Words(
        subject=heading,
        heading=heading,
        paragraphs=(
            f"The carrier account {details['account']} no longer lists {listed}.",
            "Calls can’t come from these numbers until the account lists them again.",
        ),
        act=("View numbers", f"{facts.site}/numbers"),
        reason=f"Sent to {facts.email} because you administer {facts.brand.product_name}.",
    )


def _budget_reached(facts: Facts) -> Words:
    details = facts.details
    whose, percent = details["organization"], details["percent"]
    place = f"organizations/{details['organizationId']}" if whose else "settings"
    of_whose = f"the budget of {whose}" if whose else "your budget"
    return Words(
        subject=f"{percent} % of {of_whose} spent",
        heading=f"{percent} % of {of_whose} spent",
        paragraphs=(
            f"Calls have cost {details['spent']} this month. The budget is {details['budget']}.",
            "A budget stops no calls. To stop them at an amount, set a spending limit.",
        ),
        act=("View spending", f"{facts.site}/{place}/spending"),
        reason=f"Sent to {facts.email}, a partner admin of {facts.brand.partner_name}.",
    )


def _alerts_opened(facts: Facts) -> Words:
    details, product = facts.details, facts.brand.product_name
    titles = tuple(f"{words}." for words in details["titles"])
    more = (f"And {details['more']:,} more.",) if details["more"] else ()
    count = len(titles) + details["more"]
    heading = details["titles"][0] if count == 1 else f"{count:,} alerts: {details['rule']}"
    return Words(
        subject=heading,
        heading=heading,
        paragraphs=(*(titles if count > 1 else ()), *more, f"Rule: {details['rule']}."),
        act=("View alerts", f"{facts.site}/alerts"),
        after=("Alerts resolve by themselves. To get no more emails, mute the rule.",),
        reason=f"Sent to {facts.email} because this rule of {product} sends emails. "
        "Choose your emails in your account.",
    )


def _monthly_report(facts: Facts) -> Words:
    details = facts.details
    month, name = details["month"], details["name"]
    columns = (month, "Month before")
    parts = (
        ("Figures", details["figures"], columns),
        ("Growing", details["growing"], columns),
        ("Falling", details["falling"], columns),
        ("Near a limit", details["near"], ("In use now",)),
    )
    whose = f"&organization={details['organizationId']}" if details["organizationId"] else ""
    return Words(
        subject=f"Report of {month} for {name}",
        heading=f"Report of {month}",
        paragraphs=(f"Conversations and calls of {name}. Days are UTC.",),
        tables=tuple(
            Table((title, *head), tuple(tuple(row) for row in rows))
            for title, rows, head in parts
            if rows
        ),
        act=("View report", f"{facts.site}/report/month?month={details['start'][:7]}{whose}"),
        reason=f"Sent to {facts.email} because {facts.brand.partner_name} sends this report there "
        "each month.",
    )


def _and_support(brand: Brand) -> str:
    return f" and write to {brand.support_email}" if brand.support_email else ""


def _at_support(brand: Brand) -> str:
    return f" at {brand.support_email}" if brand.support_email else ""


WORDS: dict[MailKind, Callable[[Facts], Words]] = {
    MailKind.INVITATION: _invitation,
    MailKind.SET_PASSWORD: _set_password,
    MailKind.RESET_PASSWORD: _reset_password,
    MailKind.PASSWORD_CHANGED: _password_changed,
    MailKind.EMAIL_CHANGED: _email_changed,
    MailKind.CONFIRM_EMAIL: _confirm_email,
    MailKind.ACCESS_ENDED: _access_ended,
    MailKind.IMPORT_FINISHED: _import_finished,
    MailKind.CHAT_MESSAGE: _chat_message,
    MailKind.WEBHOOK_PAUSED: _webhook_paused,
    MailKind.CALLING_PAUSED: _calling_paused,
    MailKind.NUMBERS_UNCONFIRMED: _numbers_unconfirmed,
    MailKind.BUDGET_REACHED: _budget_reached,
    MailKind.ALERTS_OPENED: _alerts_opened,
    MailKind.MONTHLY_REPORT: _monthly_report,
}
