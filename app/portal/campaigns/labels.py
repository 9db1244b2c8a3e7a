"""A campaign's outreach in words: its blockers, its results, the consequences of starting it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from flask import url_for
from markupsafe import Markup

from app.enums import AnsweredBy, CallStatus, CampaignStatus
from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.models import Assistant, Campaign, Outreach
from app.phone import country_name
from app.portal.calls.labels import in_sentence
from app.portal.calls.listing import CURRENT, calls_url
from app.portal.campaigns.plan_labels import days_of, hours_label
from app.portal.campaigns.progress_labels import duration_message
from app.portal.contacts.listing import OBSTACLE_LABELS
from app.portal.web.closed_countries import closed_country_label, opening_page
from app.portal.web.formats import long_datetime, number, phone
from app.portal.web.navigation import may_open
from app.portal.web.user_timezone import zone
from app.services.contacts import CallObstacle
from app.services.outreach import (
    BlockerKind,
    CampaignBlocker,
    ClosedCountry,
    RoundEstimate,
    RoundForecast,
    RoundProgress,
)
from app.services.outreach.progress import (
    FAILED,
    NOT_ALLOWED,
    NOT_REACHED,
    ON_THE_WAY,
    STOPPED,
)

_ON_LIST_REASON = "listed"
LEFT_OUT_LABELS = {
    "no_phone": lazy_gettext("No phone number"),
    "contact_ended": lazy_gettext("The status ends outreach"),
    "do_not_contact": lazy_gettext("On the do-not-call list, or asked not to be called"),
    "consent_missing": lazy_gettext("No consent to be called"),
    "invalid_phone": lazy_gettext("The number lacks its area code"),
    "number_not_allowed": lazy_gettext("The number may not be called"),
    "trial_mode": lazy_gettext("Trial mode: the number isn’t verified"),
    "no_hour": lazy_gettext("The plan’s hours don’t fit the number"),
}
_OBSTACLES = {
    "no_phone": CallObstacle.NO_PHONE,
    "contact_ended": CallObstacle.ENDED,
    _ON_LIST_REASON: CallObstacle.DO_NOT_CALL,
    "do_not_contact": CallObstacle.REFUSED,
}
"""The filter of the campaign's contacts for each reason that has one."""
_COMPLETED = {"state": CallStatus.COMPLETED.value}
_RESULTS = (
    (AnsweredBy.HUMAN, lazy_gettext("Answered by a person"), _COMPLETED | {"answered": "human"}),
    (AnsweredBy.VOICEMAIL, lazy_gettext("Voicemail"), _COMPLETED | {"answered": "voicemail"}),
    (
        AnsweredBy.UNKNOWN,
        lazy_gettext("Person or voicemail unclear"),
        _COMPLETED | {"answered": "unknown"},
    ),
    (NOT_REACHED, lazy_gettext("Not reached"), {"state": "not-reached"}),
    (ON_THE_WAY, lazy_gettext("In progress"), {"state": "open"}),
    (FAILED, lazy_gettext("Failed, expired or unknown"), {"state": "failures"}),
    (STOPPED, lazy_gettext("Cancelled"), {"state": "canceled"}),
)
"""The results of calls with the filters of the calls that have them."""
_HIDDEN_IF_ZERO = {AnsweredBy.UNKNOWN, STOPPED}
"""Rare results, shown only if there are any."""
OTHER_REASON = lazy_gettext("Refused by a rule for calls")
_FIXES = {
    BlockerKind.ASSISTANT_INACTIVE: (
        "portal.assistants.show_assistant",
        lazy_gettext("View assistant"),
    ),
    BlockerKind.PHONE_NOT_READY: (
        "portal.assistants.show_assistant",
        lazy_gettext("View assistant"),
    ),
    BlockerKind.ASSISTANT_LEFT: (
        "portal.campaigns.edit_plan",
        lazy_gettext("Choose another assistant"),
    ),
    BlockerKind.DAY_USED_UP: ("portal.organizations.edit_settings", lazy_gettext("View limits")),
    BlockerKind.NOT_BEGUN: ("portal.campaigns.edit_plan", lazy_gettext("Edit plan")),
    BlockerKind.OVER: ("portal.campaigns.edit_plan", lazy_gettext("Edit plan")),
    BlockerKind.SPENDING: (
        "portal.spending.edit_organization_spending",
        lazy_gettext("View spending"),
    ),
    BlockerKind.PAUSED: ("portal.carriers.show_carrier_status", lazy_gettext("View carrier")),
}
"""Endpoint and button of the page that fixes each blocker."""


def reason_label(code: str) -> str:
    return str(LEFT_OUT_LABELS.get(code, OTHER_REASON))


def consequences(
    campaign: Campaign,
    forecast: RoundForecast,
    closed: Counter[ClosedCountry],
    plan: Outreach,
    call_details: Sequence[str],
    blocker: CampaignBlocker | None,
) -> list[str]:
    """Return the consequences of starting now, in numbers; contacts that won't be called with a
    link to them. ``call_details`` comes from `how_lines`."""
    lines = [
        *([_hold_line(blocker)] if blocker else []),
        _called_line(forecast, plan, is_held=needs_action(blocker)),
        *call_details,
    ]
    if forecast.before:
        lines.append(
            ngettext(
                "%(num)s contact of this round was already called.",
                "%(num)s contacts of this round were already called.",
                forecast.before,
            )
        )
    left_out = dict(forecast.left_out)
    if forecast.on_do_not_call_list:
        left_out[_ON_LIST_REASON] = forecast.on_do_not_call_list
        left_out["do_not_contact"] -= forecast.on_do_not_call_list
    if closed:
        left_out[NOT_ALLOWED] -= closed.total()
    lines += [_left_out_line(campaign, *each) for each in sorted(left_out.items()) if each[1] > 0]
    lines += [_closed_line(campaign, *each) for each in closed.most_common()]
    if not forecast.is_exact:
        lines.append(gettext("Numbers that can’t be called are skipped."))
    lines.append(gettext("Contacts added later are called too, until you pause the campaign."))
    return lines


def needs_action(blocker: CampaignBlocker | None) -> bool:
    """Return whether someone must act before calls begin."""
    return blocker is not None and blocker.until is None


def _hold_line(blocker: CampaignBlocker) -> str:
    if blocker.code is BlockerKind.ORGANIZATION_SUSPENDED:
        return gettext("No calls until the organization is reactivated.")
    return gettext("No calls for now. %(reason)s", reason=_blocker_text(blocker))


def _called_line(forecast: RoundForecast, plan: Outreach, *, is_held: bool) -> str:
    hours = hours_label(plan)
    if is_held:
        return ngettext(
            "After that, %(num)s contact will be called: %(hours)s.",
            "After that, %(num)s contacts will be called: %(hours)s.",
            forecast.called,
            hours=hours,
        )
    return ngettext(
        "%(num)s contact will be called: %(hours)s.",
        "%(num)s contacts will be called: %(hours)s.",
        forecast.called,
        hours=hours,
    )


def how_lines(
    plan: Outreach,
    assistant: Assistant,
    estimate: RoundEstimate,
    *,
    simulated: bool,
    is_held: bool,
) -> list[str]:
    """Return about how long the calls take unless they are held, who calls, how many at once, and
    on which days."""
    days = [f"{label}: {day}." for label, day in days_of(plan)]
    duration_line = None if is_held else duration_message(estimate)
    return [
        *([duration_line] if duration_line else []),
        ngettext(
            "%(assistant)s calls from %(number)s, at most %(num)s person at the same time.",
            "%(assistant)s calls from %(number)s, at most %(num)s people at the same time.",
            estimate.at_once,
            assistant=assistant.name,
            number=phone(assistant.phone_number) if assistant.phone_number else "–",
        ),
        *([" ".join(days)] if days else []),
        *([gettext("The calls are simulated: no phone rings.")] if simulated else []),
    ]


def _left_out_line(campaign: Campaign, code: str, count: int) -> str:
    obstacle = _OBSTACLES.get(code)
    line = gettext(
        "%(number)s will not be called: %(reason)s.",
        number=number(count),
        reason=in_sentence(OBSTACLE_LABELS[obstacle] if obstacle else reason_label(code)),
    )
    if obstacle is None or not may_open(caller(), "portal.campaigns.show_campaign"):
        return line
    url = url_for(
        "portal.campaigns.show_campaign", campaign_id=campaign.id, hindrance=obstacle.value
    )
    return Markup('<a class="inline" href="{}">{}</a>').format(url, line)


def closed_link(campaign: Campaign, country: ClosedCountry) -> Markup | None:
    """Return a link to the page where the country is opened, if the user may open it."""
    page = opening_page(country.layer, campaign.organization_id)
    return Markup('<a class="inline" href="{}">{}</a>').format(*page) if page else None


def _closed_line(campaign: Campaign, country: ClosedCountry, count: int) -> str:
    line = gettext(
        "%(number)s will not be called: %(reason)s.",
        number=number(count),
        reason=closed_country_label(country),
    )
    link = closed_link(campaign, country)
    return line if link is None else Markup("{} {}").format(line, link)


def result_figures(
    campaign: Campaign, progress: RoundProgress
) -> list[tuple[str, int, str | None]]:
    """Return (result, count, URL of the calls if the user may open them)."""
    return [
        (str(label), count, calls_of_round(campaign, **filters) if count else None)
        for result, label, filters in _RESULTS
        if (count := progress.calls.get(result, 0)) or result not in _HIDDEN_IF_ZERO
    ]


def calls_of_round(campaign: Campaign, **filters: str) -> str | None:
    """Return the URL of the calls of the campaign's round; None if the user may not open it."""
    return calls_url(campaign=campaign.id, round=CURRENT, **filters)


def left_out_message(progress: RoundProgress, closed: Counter[ClosedCountry]) -> str | None:
    """Return in one line how many contacts won't be called, and why, most first."""
    if not progress.left_out:
        return None
    counts: Counter[str | ClosedCountry] = Counter(progress.left_out)
    counts.update(closed)
    counts[NOT_ALLOWED] -= closed.total()
    by_number = sorted((+counts).items(), key=lambda item: (-item[1], str(item[0])))
    reasons = [_count_label(reason, number(count)) for reason, count in by_number]
    if len(by_number) == 1:
        reasons = [_reason_in_sentence(by_number[0][0])]
    return ngettext(
        "%(num)s won’t be called: %(reasons)s",
        "%(num)s won’t be called: %(reasons)s",
        sum(progress.left_out.values()),
        reasons=", ".join(reasons),
    )


def _reason_in_sentence(reason: str | ClosedCountry) -> str:
    return (
        in_sentence(reason_label(reason))
        if isinstance(reason, str)
        else closed_country_label(reason)
    )


def _count_label(reason: str | ClosedCountry, count: str) -> str:
    """Return a number of contacts: 2 without a phone number."""
    if isinstance(reason, ClosedCountry):
        name = country_name(reason.region)
        return gettext(
            "%(number)s in %(country)s, which isn’t open for calls", number=count, country=name
        )
    labels = {
        "no_phone": gettext("%(number)s without a phone number", number=count),
        "contact_ended": gettext("%(number)s with a status that ends outreach", number=count),
        "do_not_contact": gettext(
            "%(number)s on the do-not-call list or asked not to be called", number=count
        ),
        "consent_missing": gettext("%(number)s without consent", number=count),
        "invalid_phone": gettext("%(number)s without a usable number", number=count),
        "number_not_allowed": gettext(
            "%(number)s with a number that may not be called", number=count
        ),
        "trial_mode": gettext("%(number)s not verified in trial mode", number=count),
        "no_hour": gettext("%(number)s outside the plan’s hours", number=count),
    }
    return labels.get(reason) or gettext("%(number)s refused by a rule for calls", number=count)


def blocker_message(
    campaign: Campaign, plan: Outreach, blocker: CampaignBlocker | None
) -> dict[str, str | None] | None:
    """Return why calling is held, and the page that fixes it if the user may; None if it is not, or
    if the organization is suspended, which the head of the page says."""
    if blocker is None or campaign.status is CampaignStatus.ARCHIVED:
        return None
    if blocker.code is BlockerKind.ORGANIZATION_SUSPENDED:
        return None
    runs = campaign.status is CampaignStatus.ACTIVE
    endpoint, act = _FIXES[blocker.code]
    ids: dict[str, Any] = {
        "portal.assistants.show_assistant": {"assistant_id": plan.assistant_id},
        "portal.campaigns.edit_plan": {"campaign_id": campaign.id},
        "portal.carriers.show_carrier_status": {},
    }.get(endpoint, {"organization_id": campaign.organization_id})
    return {
        "title": gettext("No calls right now") if runs else gettext("No one would be called"),
        "text": _blocker_text(blocker),
        "url": url_for(endpoint, **ids) if may_open(caller(), endpoint) else None,
        "act": str(act),
    }


def _blocker_text(blocker: CampaignBlocker) -> str:
    """Return why calling is held, and until when if it ends by itself."""
    if blocker.until is None:
        return blocker.message
    until = long_datetime(blocker.until, zone())
    return gettext("%(sentence)s Until %(moment)s.", sentence=blocker.message, moment=until)
