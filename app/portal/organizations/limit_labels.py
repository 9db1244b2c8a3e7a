"""The limits, calling rules and use of an organization in words."""

from collections.abc import Iterable

from app.enums import UsageUnit
from app.languages import gettext, ngettext
from app.models import Organization, PlanLimit
from app.phone import country_name
from app.portal.web.formats import hours_end, number
from app.portal.web.plan_names import plan_name
from app.services.billing.rating import StatementLine
from app.services.calls.limits import AppliedLimit, LimitSource
from app.services.organizations import CallingRules, OrganizationUsage


def region_names(codes: Iterable[str]) -> str:
    """Return the countries' names for lists, without the article."""
    return ", ".join(country_name(code).removeprefix("the ") for code in codes)


def assistants_note(organization: Organization, use: OrganizationUsage) -> str:
    """Return what follows from the assistants in use; nothing below the limit."""
    limit = organization.assistant_limit
    if not limit or use.assistants < limit:
        return ""
    if use.assistants > limit:
        return _over_limit()
    return gettext("At the limit: the next assistant will be refused.")


def users_note(organization: Organization, use: OrganizationUsage) -> str:
    """Return how many seats are left, or what follows from none; nothing without a limit."""
    limit = organization.user_limit
    if not limit:
        return ""
    if use.users > limit:
        return _over_limit()
    if use.users == limit:
        return gettext("At the limit: the next invitation will be refused.")
    return ngettext("%(num)s seat left.", "%(num)s seats left.", limit - use.users)


def _over_limit() -> str:
    return gettext("Over the limit: existing ones keep working, new ones are refused.")


def at_once_note(organization: Organization, limit: AppliedLimit, under_way: int) -> str:
    waiting_hint = gettext("All are in use. More calls wait.") if under_way >= limit.value else ""
    return f"{_limit_source_message(organization, limit)} {waiting_hint}".strip()


def a_day_note(organization: Organization, limit: AppliedLimit | None, calls_today: int) -> str:
    if limit is None:
        return ""
    waiting_hint = (
        gettext("All are used. More calls wait for tomorrow.") if calls_today >= limit.value else ""
    )
    return f"{_limit_source_message(organization, limit)} {waiting_hint}".strip()


def _limit_source_message(organization: Organization, limit: AppliedLimit) -> str:
    if limit.source is LimitSource.OWN:
        return gettext("Set in the organization’s settings.")
    if limit.source is LimitSource.PLAN:
        return gettext("Set by the plan %(plan)s.", plan=plan_name(organization))
    return gettext("The limit of this portal for every organization.")


def pace_message(plan: PlanLimit | None, carrier_pace: float | None) -> str:
    """Return the limits of the plan and of the carrier, which apply in addition to the settings."""
    message = _plan_limits(plan.max_calls_at_once, plan.max_calls_a_day) if plan else ""
    if not carrier_pace:
        return message
    pace = gettext(
        "Live calls go to the carrier one by one, at most %(number)s per second.",
        number=number(carrier_pace, None),
    )
    return f"{message} {pace}".strip()


def _plan_limits(at_once: int | None, a_day: int | None) -> str:
    if at_once and a_day:
        return gettext(
            "The plan allows %(at_once)s at the same time and %(a_day)s a day; a lower limit here "
            "applies.",
            at_once=ngettext("%(num)s call", "%(num)s calls", at_once),
            a_day=ngettext("%(num)s call", "%(num)s calls", a_day),
        )
    if at_once:
        return ngettext(
            "The plan allows %(num)s concurrent call; a lower limit here applies.",
            "The plan allows %(num)s concurrent calls; a lower limit here applies.",
            at_once,
        )
    if a_day:
        return ngettext(
            "The plan allows %(num)s call a day; a lower limit here applies.",
            "The plan allows %(num)s calls a day; a lower limit here applies.",
            a_day,
        )
    return ""


def rules_in_groups(rules: CallingRules) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return (title, group of the settings, facts) for those who may only read the rules."""
    return [
        (
            gettext("Calling hours"),
            "hours",
            [(gettext("Calls are placed"), _hours(rules))],
        ),
        (
            gettext("Regions"),
            "regions",
            [
                (gettext("Default region"), region_names([rules.default_region])),
                (gettext("Allowed regions"), region_names(rules.allowed_regions)),
            ],
        ),
        (gettext("Pace"), "pace", _pace(rules)),
        (
            gettext("Retries"),
            "retries",
            [
                (gettext("Retries"), str(rules.retry_times)),
                (gettext("Time between attempts"), _minutes(rules.retry_minutes)),
            ],
        ),
        (
            gettext("Do not call"),
            "do_not_call",
            [
                (
                    gettext("Contacts on the list"),
                    gettext("Refused")
                    if rules.refuse_do_not_call
                    else gettext("Stored and never called"),
                )
            ],
        ),
        (
            gettext("Consent"),
            "consent",
            [
                (
                    gettext("Numbers without consent"),
                    gettext("Not called") if rules.consent_required else gettext("May be called"),
                )
            ],
        ),
    ]


def _hours(rules: CallingRules) -> str:
    if not rules.calling_hours_on:
        return gettext("At any time")
    return gettext(
        "%(start)s to %(end)s, local to the person called",
        start=f"{rules.calling_hours_start:%H:%M}",
        end=hours_end(rules.calling_hours_end),
    )


def _pace(rules: CallingRules) -> list[tuple[str, str]]:
    at_once, a_day = rules.max_calls_at_once, rules.max_calls_a_day
    spacing = rules.number_spacing_minutes
    per_number = gettext("No limit")
    if rules.number_most_calls and rules.number_most_days:
        per_number = ngettext(
            "At most %(calls)s in %(num)s day",
            "At most %(calls)s in %(num)s days",
            rules.number_most_days,
            calls=number(rules.number_most_calls),
        )
    return [
        (gettext("Concurrent calls"), str(at_once) if at_once else gettext("No limit of its own")),
        (gettext("Calls a day"), number(a_day) if a_day else gettext("No limit")),
        (
            gettext("Time between calls to one number"),
            _minutes(spacing) if spacing else gettext("None"),
        ),
        (gettext("Calls to one number"), per_number),
    ]


def _minutes(num: int) -> str:
    return ngettext("%(num)s minute", "%(num)s minutes", num)


def used_label(usage: StatementLine | None) -> str:
    """Return the minutes or calls of this month; nothing for a plan that doesn't count them."""
    if usage is None:
        return ""
    if usage.unit == UsageUnit.MINUTE:
        return ngettext(
            "%(num)s minute used this month (UTC).",
            "%(num)s minutes used this month (UTC).",
            usage.used,
        )
    return ngettext(
        "%(num)s answered call this month (UTC).",
        "%(num)s answered calls this month (UTC).",
        usage.used,
    )


def remaining_label(usage: StatementLine | None) -> str:
    """Return what is left of what the plan includes, or how much was used beyond it."""
    if usage is None or not usage.included:
        return ""
    if usage.charged:
        return gettext("%(num)s more than the plan includes.", num=number(usage.charged))
    return gettext("%(num)s left.", num=number(usage.included - usage.used))
