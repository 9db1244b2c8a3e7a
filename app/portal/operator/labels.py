"""What the operator's pages decide in words: partners, their calls, emails kept, stored figures."""

from collections.abc import Mapping
from datetime import datetime

from app.languages import gettext, lazy_gettext, ngettext
from app.models import FigureCheck, Partner
from app.portal.web.formats import number
from app.portal.web.user_timezone import zone_note
from app.services import figure_check
from app.services.figure_check import CheckedDay, FigureCheckResults
from app.services.money_format import exact_micros

FIGURE_LABELS = {
    figure_check.CONVERSATIONS: lazy_gettext("Conversations by organization"),
    figure_check.OF_PARTNERS: lazy_gettext("Conversations by partner"),
    figure_check.ENDED_CALLS: lazy_gettext("Ended calls by organization"),
    figure_check.MINUTES: lazy_gettext("Billed minutes by organization"),
    figure_check.SPENDING: lazy_gettext("Spending by organization"),
}


def calls_message(*, counted: bool) -> str:
    """Say which calls are listed; ``counted`` are those of usage."""
    hidden = gettext("Numbers and names of the people called aren’t shown.") + zone_note()
    if not counted:
        return hidden
    by_day = gettext("Calls counted in usage, by the UTC day they were answered.")
    return f"{by_day} {hidden}"


def outbox_message(shown_count: int, count: int) -> str:
    """Say why emails are kept, and how many of them are shown."""
    if count > shown_count:
        message = gettext(
            "Emails kept on this machine, not sent, because it runs in development mode: the "
            "newest %(shown)s of %(count)s.",
            shown=shown_count,
            count=count,
        )
    else:
        message = gettext(
            "Emails kept on this machine, not sent, because it runs in development mode."
        )
    return message + zone_note()


def partner_status(partner: Partner) -> tuple[str, str]:
    """Return the word and the tone of the partner's badge."""
    if partner.suspended_at:
        return gettext("Suspended"), "danger"
    if partner.trial_ended_at:
        return gettext("Active"), "success"
    return gettext("Trial mode"), "info"


def domain_label(partner: Partner) -> str | None:
    """Return the partner's domain, and whether it still has to be verified."""
    if partner.domain_verified_at or not partner.domain:
        return partner.domain
    return gettext("%(domain)s, not verified", domain=partner.domain)


def deleted_label(ran_at: datetime | None, count: int) -> str:
    """Return how much the last run of a retention period deleted; nothing before the first one."""
    if ran_at is None:
        return ""
    if not count:
        return gettext("nothing was due")
    return ngettext("%(num)s deleted", "%(num)s deleted", count)


def scope_label(check: FigureCheckResults) -> str:
    """Return what a check covers: 2 partners, 14 organizations."""
    partners = ngettext("%(num)s partner", "%(num)s partners", check.partners)
    organizations = ngettext("%(num)s organization", "%(num)s organizations", check.organizations)
    return f"{partners}, {organizations}"


def compared_label(checked: CheckedDay) -> str:
    """Return what the totals of a day were compared with: 14 conversations, 20 ended calls."""
    if not checked.conversations and not checked.calls:
        return gettext("No calls on this day")
    conversations = ngettext("%(num)s conversation", "%(num)s conversations", checked.conversations)
    calls = gettext("no ended calls")
    if checked.calls:
        calls = ngettext("%(num)s ended call", "%(num)s ended calls", checked.calls)
    return f"{conversations}, {calls}"


def difference_message(check: FigureCheck, names: Mapping[str, str], currency: str) -> str:
    """Return the stored and the counted total, then those of the first organizations or partners
    that differ; ``names`` by their ids."""
    totals = gettext(
        "%(total)s stored, %(counted)s counted.",
        total=_format_amount(check, check.total, currency),
        counted=_format_amount(check, check.counted, currency),
    )
    if not check.examples:
        return totals
    examples = ", ".join(
        gettext(
            "%(name)s (%(total)s stored, %(counted)s counted)",
            name=names.get(example["id"], example["id"]),
            total=_format_amount(check, example["total"], currency),
            counted=_format_amount(check, example["counted"], currency),
        )
        for example in check.examples
    )
    differ = ngettext("%(num)s differs:", "%(num)s differ:", check.differing)
    more = check.differing - len(check.examples)
    remainder = [ngettext("and %(num)s more", "and %(num)s more", more)] if more > 0 else []
    return " ".join([totals, differ, examples, *remainder])


def _format_amount(check: FigureCheck, value: int, currency: str) -> str:
    is_money = check.figure == figure_check.SPENDING
    return exact_micros(value, currency) if is_money else number(value)
