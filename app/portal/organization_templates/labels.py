"""The content of a template in words, for its pages."""

from datetime import time

from babel.dates import get_day_names

from app.enums import Role
from app.languages import gettext, lazy_gettext, locale, ngettext
from app.portal.campaigns.plan_labels import message_label
from app.portal.organizations.limit_labels import region_names
from app.portal.web.formats import ROLE_NAMES, hours_end, number
from app.portal.web.plan_names import plan_names
from app.services.assistants.settings import AssistantFields
from app.services.organization_templates import PreparedCampaign, TemplateContent
from app.services.organizations import CallingRules

FIRST_ROLE_LABELS: dict[Role | None, str] = {
    Role.OWNER: ROLE_NAMES[Role.OWNER],
    Role.STANDARD: ROLE_NAMES[Role.STANDARD],
    None: lazy_gettext("No one"),
}
INVITATION_HINTS: dict[Role | None, str] = {
    Role.OWNER: lazy_gettext("Gets an invitation as owner. Its link works once, for seven days."),
    Role.STANDARD: lazy_gettext(
        "Gets an invitation as member. Its link works once, for seven days."
    ),
}


def content_label(content: TemplateContent) -> str:
    """Return "Basic plan, 2 assistants, campaign Recall"."""
    count = len(content.assistants)
    items = [
        gettext("%(plan)s plan", plan=plan_names()[content.payment_tier]),
        ngettext("%(num)s assistant", "%(num)s assistants", count),
    ]
    if content.campaign is not None:
        items.append(gettext("campaign %(name)s", name=content.campaign.name))
    return ", ".join(items)


def message_lines(assistant: AssistantFields) -> list[str]:
    """Return the assistant's default messages."""
    lines = []
    if assistant.default_intro:
        lines.append(gettext("Intro: “%(text)s”", text=assistant.default_intro))
    if assistant.default_voicemail:
        lines.append(gettext("Voicemail: “%(text)s”", text=assistant.default_voicemail))
    return lines


def limit_facts(content: TemplateContent) -> list[tuple[str, str]]:
    return [
        (gettext("Plan"), plan_names()[content.payment_tier]),
        (gettext("Assistant limit"), _limit_label(content.assistant_limit)),
        (gettext("User limit"), _limit_label(content.user_limit)),
        (gettext("First user"), FIRST_ROLE_LABELS[content.first_role]),
    ]


def limits_used(content: TemplateContent) -> list[str]:
    """Return which limits a new organization reaches as soon as it is created."""
    messages = []
    if content.assistants and len(content.assistants) >= content.assistant_limit > 0:
        messages.append(
            ngettext(
                "The one assistant uses up the assistant limit.",
                "The %(num)s assistants use up the assistant limit.",
                len(content.assistants),
            )
        )
    if content.first_role is not None and content.user_limit == 1:
        messages.append(gettext("The first user uses up the user limit."))
    return messages


def zone_label(content: TemplateContent) -> str:
    """Return the default time zone of an organization in the template's country."""
    zones = {assistant.timezone for assistant in content.assistants}
    zone = zones.pop() if len(zones) == 1 else None
    if zone is None:
        return gettext("As in the template")
    return gettext("%(zone)s (template)", zone=zone.replace("_", " "))


def rule_facts(rules: CallingRules, max_at_once: int) -> list[tuple[str, str]]:
    """Return the calling rules in words. ``max_at_once`` is the installation's limit."""
    at_once = number(rules.max_calls_at_once) if rules.max_calls_at_once else None
    hours = gettext("Any time")
    if rules.calling_hours_on:
        hours = _hours_label(rules.calling_hours_start, rules.calling_hours_end)
    retries = gettext("None")
    if rules.retry_times:
        retries = ngettext(
            "%(times)s, after %(num)s minute",
            "%(times)s, after %(num)s minutes",
            rules.retry_minutes,
            times=number(rules.retry_times),
        )
    return [
        (gettext("Default region"), region_names([rules.default_region])),
        (gettext("Allowed regions"), region_names(rules.allowed_regions)),
        (gettext("Calling hours"), hours),
        (
            gettext("Concurrent calls"),
            at_once or gettext("The portal’s limit (%(most)s)", most=number(max_at_once)),
        ),
        (gettext("Calls a day"), _limit_label(rules.max_calls_a_day)),
        (gettext("Retries"), retries),
        (
            gettext("Consent"),
            gettext("Required") if rules.consent_required else gettext("Not required"),
        ),
    ]


def campaign_facts(content: TemplateContent, campaign: PreparedCampaign) -> list[tuple[str, str]]:
    plan = campaign.plan
    days = get_day_names("abbreviated", locale=locale())
    at_once = number(plan.calls_at_once) if plan.calls_at_once else None
    return [
        (gettext("Name"), campaign.name),
        (gettext("Assistant"), content.assistants[campaign.speaker].name),
        (gettext("Days"), ", ".join(days[day - 1] for day in sorted(plan.weekdays))),
        (gettext("Hours"), _hours_label(plan.hours_start, plan.hours_end)),
        (gettext("Calls an hour"), _limit_label(plan.calls_per_hour)),
        (gettext("Concurrent calls"), at_once or gettext("The organization’s limit")),
        (gettext("Message"), message_label(plan)),
        *(
            (label, text)
            for label, text in (
                (gettext("Intro"), plan.intro_message),
                (gettext("Voicemail"), plan.voicemail_message),
                (gettext("Instructions"), plan.call_instructions),
            )
            if text
        ),
    ]


def _hours_label(start: time, end: time) -> str:
    return gettext("%(start)s to %(end)s", start=f"{start:%H:%M}", end=hours_end(end))


def _limit_label(limit: int | None) -> str:
    return number(limit) if limit else gettext("No limit")
