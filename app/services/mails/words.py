"""The texts of the mails, in the current language. One text serves both forms, HTML and plain."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.enums import DomainPurpose
from app.languages import gettext, gettext_noop, ngettext
from app.languages.dates import NO_BREAK, written_date
from app.languages.numbers import written
from app.models import Mail, MailKind
from app.services.branding.brand import Brand

_CHANGED: dict[str, Callable[[int, str], str]] = {
    "created": lambda n, num: ngettext("%(num)s created", "%(num)s created", n, num=num),
    "updated": lambda n, num: ngettext("%(num)s updated", "%(num)s updated", n, num=num),
    "deleted": lambda n, num: ngettext("%(num)s deleted", "%(num)s deleted", n, num=num),
}
_NOT_APPLIED: dict[str, Callable[[int, str], str]] = {
    "ignored": lambda n, num: ngettext("%(num)s ignored", "%(num)s ignored", n, num=num),
    "failed": lambda n, num: ngettext("%(num)s failed", "%(num)s failed", n, num=num),
}
"""The words of an upload's counts, by their names."""


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
    return f"{written_date(local, 'yMMMMd')}, {local:%H:%M %Z}".replace(NO_BREAK, " ")


def _account_created(facts: Facts) -> str:
    """The first sentence of the mails to a user who has no password yet."""
    given = {
        "partner": facts.brand.partner_name,
        "organization": facts.organization,
        "product": facts.brand.product_name,
    }
    if facts.organization:
        return gettext(
            "%(partner)s created an account for you at %(organization)s in %(product)s.", **given
        )
    return gettext("%(partner)s created an account for you in %(product)s.", **given)


def _link_ends(facts: Facts) -> str:
    return gettext("The link works once, until %(moment)s.", moment=facts.until)


def _invitation(facts: Facts) -> Words:
    product, partner = facts.brand.product_name, facts.brand.partner_name
    invited = gettext("You are invited to %(product)s", product=product)
    given = {"partner": partner, "organization": facts.organization}
    created = (
        gettext(
            "%(partner)s created an account for you at %(organization)s. "
            "Choose a password to sign in.",
            **given,
        )
        if facts.organization
        else gettext(
            "%(partner)s created an account for you. Choose a password to sign in.", **given
        )
    )
    return Words(
        subject=invited,
        heading=invited,
        paragraphs=(created,),
        act=(gettext("Accept invitation"), facts.link),
        after=(_link_ends(facts), gettext("If you did not expect this email, ignore it.")),
        reason=gettext(
            "Sent to %(email)s because %(partner)s entered this address.",
            email=facts.email,
            partner=partner,
        ),
    )


def _set_password(facts: Facts) -> Words:
    return Words(
        subject=gettext("Set your password for %(product)s", product=facts.brand.product_name),
        heading=gettext("Set your password"),
        paragraphs=(
            _account_created(facts),
            gettext("You sign in as %(email)s, with your own password.", email=facts.email),
        ),
        act=(gettext("Set your password"), facts.link),
        after=(_link_ends(facts),),
        reason=gettext(
            "Sent to %(email)s because an account was created with this address.",
            email=facts.email,
        ),
    )


def _reset_password(facts: Facts) -> Words:
    product = facts.brand.product_name
    return Words(
        subject=gettext("Set a new password for %(product)s", product=product),
        heading=gettext("Set a new password"),
        paragraphs=(
            gettext(
                "A new password for %(email)s in %(product)s was requested.",
                email=facts.email,
                product=product,
            ),
        ),
        act=(gettext("Set a new password"), facts.link),
        after=(
            _link_ends(facts),
            gettext("If that was not you, ignore this email. Your password stays the same."),
        ),
        reason=gettext(
            "Sent to %(email)s because a new password was requested on %(moment)s.",
            email=facts.email,
            moment=facts.at,
        ),
    )


def _password_changed(facts: Facts) -> Words:
    product, support = facts.brand.product_name, facts.brand.support_email
    return Words(
        subject=gettext("Your password for %(product)s was changed", product=product),
        heading=gettext("Your password was changed"),
        paragraphs=(
            gettext(
                "The password of %(email)s in %(product)s was changed on %(moment)s.",
                email=facts.email,
                product=product,
                moment=facts.at,
            ),
            gettext(
                "If that was not you, set a new password at once and write to %(support)s.",
                support=support,
            )
            if support
            else gettext("If that was not you, set a new password at once."),
        ),
        act=(gettext("Set a new password"), facts.recover_url),
        reason=gettext(
            "Sent to %(email)s so that you notice changes of your password.", email=facts.email
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
"""By what happened to the second factors."""


def _factors_changed(facts: Facts) -> Words:
    product, support = facts.brand.product_name, facts.brand.support_email
    details = {"name": "", "by": "", **facts.details}
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
    return Words(
        subject=gettext("Your sign-in to %(product)s was changed", product=product),
        heading=gettext("Your sign-in was changed"),
        paragraphs=(
            happened,
            gettext("It happened on %(moment)s.", moment=facts.at),
            _not_you(support),
        ),
        act=(gettext("Set a new password"), facts.recover_url),
        reason=gettext(
            "Sent to %(email)s so that you notice changes of your sign-in.", email=facts.email
        ),
    )


def _new_browser(facts: Facts) -> Words:
    product, support = facts.brand.product_name, facts.brand.support_email
    return Words(
        subject=gettext("New sign-in to %(product)s", product=product),
        heading=gettext("New sign-in"),
        paragraphs=(
            gettext(
                "On %(moment)s someone signed in as %(email)s from the address %(address)s, in a "
                "browser that this account wasn’t used in before.",
                moment=facts.at,
                email=facts.email,
                address=facts.details["address"],
            ),
            gettext("If that was you, there is nothing to do."),
            _not_you(support),
        ),
        act=(gettext("Set a new password"), facts.recover_url),
        reason=gettext(
            "Sent to %(email)s so that you notice sign-ins of others.", email=facts.email
        ),
    )


def _identity_linked(facts: Facts) -> Words:
    product, provider = facts.brand.product_name, facts.details["provider"]
    return Words(
        subject=gettext("A company account was linked to %(product)s", product=product),
        heading=gettext("A company account was linked"),
        paragraphs=(
            gettext(
                "On %(moment)s an account of %(provider)s was linked to %(email)s in %(product)s.",
                moment=facts.at,
                provider=provider,
                email=facts.email,
                product=product,
            ),
            gettext("It signs you in without your password."),
            gettext(
                "If that was not you, remove the link in your account and contact %(partner)s.",
                partner=_sender(facts),
            ),
        ),
        act=(gettext("View your account"), f"{facts.site}/account"),
        reason=gettext(
            "Sent to %(email)s so that you notice new ways to sign in.", email=facts.email
        ),
    )


def _not_you(support: str | None) -> str:
    if support:
        return gettext(
            "If that was not you, set a new password at once and write to %(support)s.",
            support=support,
        )
    return gettext("If that was not you, set a new password at once.")


def _email_changed(facts: Facts) -> Words:
    product = facts.brand.product_name
    old, new = facts.details["from"], facts.details["to"]
    return Words(
        subject=gettext("Your email address for %(product)s was changed", product=product),
        heading=gettext("Your email address was changed"),
        paragraphs=(
            gettext(
                "On %(moment)s the address of your account in %(product)s was changed to %(new)s.",
                moment=facts.at,
                product=product,
                new=new,
            ),
            gettext(
                "Until then it was %(old)s. From now on you sign in as %(new)s.", old=old, new=new
            ),
            gettext("If you did not expect this, contact %(partner)s.", partner=_sender(facts)),
        ),
        reason=gettext("Sent to both addresses so that you notice changes of your address."),
    )


def _confirm_email(facts: Facts) -> Words:
    product, details = facts.brand.product_name, facts.details
    return Words(
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
        act=(gettext("Review change"), facts.link),
        after=(
            gettext(
                "The link works until %(moment)s. You can also reject the change there.",
                moment=facts.until,
            ),
            gettext(
                "If you did not expect this, reject it and contact %(partner)s.",
                partner=_sender(facts),
            ),
        ),
        reason=gettext(
            "Sent to %(email)s because the account has this address now.", email=facts.email
        )
        if details["side"] == "old"
        else gettext(
            "Sent to %(email)s because the account is to get this address.", email=facts.email
        ),
    )


def _access_ended(facts: Facts) -> Words:
    details = facts.details
    given = {"who": details["who"], "by": details["by"], "moment": facts.at}
    if details["what"] == "deactivated":
        subject = gettext("%(who)s was deactivated", **given)
        done = gettext("On %(moment)s %(by)s deactivated the account of %(who)s.", **given)
    else:
        subject = gettext("The role of %(who)s was changed", **given)
        done = gettext("On %(moment)s %(by)s changed the role of %(who)s.", **given)
    ended, handed_over = details.get("ended"), details.get("handedOver")
    lists = []
    if ended:
        lists.append(gettext("Ended: %(items)s.", items=", ".join(ended)))
    if handed_over:
        lists.append(gettext("Handed over: %(items)s.", items=", ".join(handed_over)))
    roll = gettext("Roll the secret of what was handed over.")
    return Words(
        subject=subject,
        heading=subject,
        paragraphs=(done, *lists),
        act=(gettext("View users"), f"{facts.site}/people"),
        after=(roll,) if handed_over else (),
        reason=_as_administrator(facts),
    )


def _import_finished(facts: Facts) -> Words:
    counts, product = facts.details, facts.brand.product_name
    given = {
        "rows": written(counts["rows"]),
        "total": written(counts["total"]),
        "file": counts["file"],
        "campaign": counts["campaign"],
    }
    if counts["state"] == "done":
        heading = ngettext(
            "%(num)s row applied to %(campaign)s",
            "%(num)s rows applied to %(campaign)s",
            counts["rows"],
            num=given["rows"],
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
    return Words(
        subject=heading,
        heading=heading,
        paragraphs=(summary, " ".join(_contacts_changed(counts))),
        act=(gettext("View result"), f"{facts.site}/uploads/{counts['uploadId']}"),
        reason=gettext(
            "Sent to %(email)s because you uploaded this file to %(product)s. "
            "Choose your emails in your account.",
            email=facts.email,
            product=product,
        ),
    )


def _contacts_changed(counts: Mapping[str, Any]) -> Iterator[str]:
    made, left = (
        [
            words(counts[name], written(counts[name]))
            for name, words in parts.items()
            if counts[name]
        ]
        for parts in (_CHANGED, _NOT_APPLIED)
    )
    if made:
        yield gettext("Contacts: %(counts)s.", counts=", ".join(made))
    else:
        yield gettext("Contacts: none changed.")
    if left:
        yield gettext("Not applied: %(counts)s.", counts=", ".join(left))


def _chat_message(facts: Facts) -> Words:
    product, details = facts.brand.product_name, facts.details
    name, email = details.get("name"), details.get("email")
    who = name or email or gettext("A visitor")
    writer = f"{name} ({email})" if name and email else who
    return Words(
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


def _webhook_paused(facts: Facts) -> Words:
    details = facts.details
    given = {
        "product": facts.brand.product_name,
        "host": details["host"],
        "organization": details["organization"],
    }
    sends = gettext("%(product)s sends events of %(organization)s to %(host)s.", **given)
    why = (
        gettext("It answered that it is permanently gone (status 410).")
        if details["reason"] == "gone"
        else gettext("It accepted nothing for 24 hours.")
    )
    return Words(
        subject=gettext("A webhook of %(organization)s was paused", **given),
        heading=gettext("The webhook to %(host)s was paused", **given),
        paragraphs=(
            f"{sends} {why}",
            gettext("Its events are kept for 30 days and delivered when you resume it."),
        ),
        act=(gettext("View webhook"), f"{facts.site}/api-access/webhooks/{details['webhookId']}"),
        reason=gettext(
            "Sent to %(email)s, the address for notices of %(partner)s.",
            email=facts.email,
            partner=facts.brand.partner_name,
        ),
    )


def _calling_paused(facts: Facts) -> Words:
    details = facts.details
    paused = gettext("Calling is paused for %(organization)s", organization=details["organization"])
    return Words(
        subject=paused,
        heading=paused,
        paragraphs=(
            details["why"],
            gettext("Calls are accepted and wait. Calls in progress go on."),
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


def _numbers_unconfirmed(facts: Facts) -> Words:
    details = facts.details
    numbers, count = details["numbers"], details["count"]
    listed = {"account": details["account"], "numbers": ", ".join(numbers)}
    more = written(count - len(numbers))
    heading = ngettext(
        "%(number)s is no longer confirmed",
        "%(num)s numbers are no longer confirmed",
        count,
        num=written(count),
        number=numbers[0],
    )
    return Words(
        subject=heading,
        heading=heading,
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
        reason=_as_administrator(facts),
    )


def _portal_viewed(facts: Facts) -> Words:
    details = facts.details
    return Words(
        subject=gettext("A platform operator viewed your portal"),
        heading=gettext("A platform operator viewed your portal"),
        paragraphs=(
            gettext(
                "%(operator)s saw %(product)s as %(user)s sees it, from %(moment)s on, for at most "
                "30 minutes.",
                operator=details["operator"],
                product=facts.brand.product_name,
                user=details["as"],
                moment=facts.at,
            ),
            gettext("The operator couldn’t change anything. The reason:"),
        ),
        quoted=details["reason"],
        act=(gettext("View history"), f"{facts.site}/audit"),
        reason=_as_administrator(facts),
    )


def _budget_reached(facts: Facts) -> Words:
    details = facts.details
    whose, percent = details["organization"], details["percent"]
    place = f"organizations/{details['organizationId']}" if whose else "settings"
    heading = (
        gettext(
            "%(percent)s %% of the budget of %(organization)s spent",
            percent=percent,
            organization=whose,
        )
        if whose
        else gettext("%(percent)s %% of your budget spent", percent=percent)
    )
    return Words(
        subject=heading,
        heading=heading,
        paragraphs=(
            gettext(
                "Calls have cost %(spent)s this month. The budget is %(budget)s.",
                spent=details["spent"],
                budget=details["budget"],
            ),
            gettext("A budget stops no calls. To stop them at an amount, set a spending limit."),
        ),
        act=(gettext("View spending"), f"{facts.site}/{place}/spending"),
        reason=gettext(
            "Sent to %(email)s, a partner admin of %(partner)s.",
            email=facts.email,
            partner=facts.brand.partner_name,
        ),
    )


def _alerts_opened(facts: Facts) -> Words:
    details = facts.details
    titles = tuple(f"{words}." for words in details["titles"])
    more = (
        (gettext("And %(count)s more.", count=written(details["more"])),) if details["more"] else ()
    )
    count = len(titles) + details["more"]
    heading = (
        details["titles"][0]
        if count == 1
        else gettext("%(count)s alerts: %(rule)s", count=written(count), rule=details["rule"])
    )
    return Words(
        subject=heading,
        heading=heading,
        paragraphs=(
            *(titles if count > 1 else ()),
            *more,
            gettext("Rule: %(rule)s.", rule=details["rule"]),
        ),
        act=(gettext("View alerts"), f"{facts.site}/alerts"),
        after=(gettext("Alerts resolve by themselves. To get no more emails, mute the rule."),),
        reason=gettext(
            "Sent to %(email)s because this rule of %(product)s sends emails. "
            "Choose your emails in your account.",
            email=facts.email,
            product=facts.brand.product_name,
        ),
    )


def _monthly_report(facts: Facts) -> Words:
    details = facts.details
    month = written_date(date.fromisoformat(details["start"]), "yMMMM").replace(NO_BREAK, " ")
    columns = (month, gettext("Month before"))
    parts = (
        (gettext("Figures"), details["figures"], columns),
        (gettext("Growing"), details["growing"], columns),
        (gettext("Falling"), details["falling"], columns),
        (gettext("Near a limit"), details["near"], (gettext("In use now"),)),
    )
    whose = f"&organization={details['organizationId']}" if details["organizationId"] else ""
    return Words(
        subject=gettext("Report of %(month)s for %(name)s", month=month, name=details["name"]),
        heading=gettext("Report of %(month)s", month=month),
        paragraphs=(
            gettext("Conversations and calls of %(name)s. Days are UTC.", name=details["name"]),
        ),
        tables=tuple(
            Table((title, *head), tuple(tuple(row) for row in rows))
            for title, rows, head in parts
            if rows
        ),
        act=(
            gettext("View report"),
            f"{facts.site}/report/month?month={details['start'][:7]}{whose}",
        ),
        reason=gettext(
            "Sent to %(email)s because %(partner)s sends this report there each month.",
            email=facts.email,
            partner=facts.brand.partner_name,
        ),
    )


def _as_administrator(facts: Facts) -> str:
    return gettext(
        "Sent to %(email)s because you administer %(product)s.",
        email=facts.email,
        product=facts.brand.product_name,
    )


def _sender(facts: Facts) -> str:
    """The partner, with its support address where it has one."""
    brand = facts.brand
    if not brand.support_email:
        return brand.partner_name
    return gettext(
        "%(partner)s at %(support)s", partner=brand.partner_name, support=brand.support_email
    )


def _domain_records(facts: Facts) -> Words:
    domain, until = facts.details["domain"], facts.details["until"]
    paragraphs: tuple[str, ...]
    if facts.details["purpose"] == DomainPurpose.MAIL:
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
        ends = moment(datetime.fromisoformat(until), facts.zone)
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
    return Words(
        subject=heading,
        heading=heading,
        paragraphs=paragraphs,
        act=(gettext("View DNS records"), f"{facts.site}/settings/domain"),
        reason=_as_administrator(facts),
    )


WORDS: dict[MailKind, Callable[[Facts], Words]] = {
    MailKind.INVITATION: _invitation,
    MailKind.SET_PASSWORD: _set_password,
    MailKind.RESET_PASSWORD: _reset_password,
    MailKind.PASSWORD_CHANGED: _password_changed,
    MailKind.FACTORS_CHANGED: _factors_changed,
    MailKind.NEW_BROWSER: _new_browser,
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
    MailKind.PORTAL_VIEWED: _portal_viewed,
    MailKind.IDENTITY_LINKED: _identity_linked,
    MailKind.MONTHLY_REPORT: _monthly_report,
    MailKind.DOMAIN_RECORDS: _domain_records,
}
