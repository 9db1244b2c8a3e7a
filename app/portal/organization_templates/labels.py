"""What the pages of a template say about its content."""

from app.enums import TIER_NAMES, Role
from app.phone import country_name
from app.portal.campaigns.plan_forms import DAYS
from app.portal.web.formats import plural
from app.services.organization_templates import Content, PreparedCampaign
from app.services.organizations import CallingRules

FIRST_ROLE_NAMES = {Role.OWNER: "Owner", Role.STANDARD: "Member", None: "No one"}


def content_words(content: Content) -> str:
    """Basic plan, 2 assistants, 1 campaign"""
    parts = [f"{TIER_NAMES[content.payment_tier]} plan"]
    parts.append(plural(len(content.assistants), "assistant"))
    if content.campaign is not None:
        parts.append(f"campaign {content.campaign.name}")
    return ", ".join(parts)


def limit_facts(content: Content) -> list[tuple[str, str]]:
    return [
        ("Plan", TIER_NAMES[content.payment_tier]),
        ("Assistant limit", _limit(content.assistant_limit)),
        ("User limit", _limit(content.user_limit)),
        ("First user", FIRST_ROLE_NAMES[content.first_role]),
    ]


def rule_facts(rules: CallingRules) -> list[tuple[str, str]]:
    hours = f"{rules.calling_hours_start:%H:%M} to {rules.calling_hours_end:%H:%M}"
    others = [region for region in rules.allowed_regions if region != rules.default_region]
    retries = f"{rules.retry_times:,}, after {plural(rules.retry_minutes, 'minute')}"
    return [
        ("Country", _names([rules.default_region])),
        ("More regions", _names(others) or "None"),
        ("Calling hours", hours if rules.calling_hours_on else "Any time"),
        ("Calls at once", _most(rules.max_calls_at_once)),
        ("Calls a day", _most(rules.max_calls_a_day)),
        ("Retries", retries if rules.retry_times else "None"),
        ("Consent", "Required" if rules.consent_required else "Not required"),
    ]


def campaign_facts(content: Content, campaign: PreparedCampaign) -> list[tuple[str, str]]:
    plan = campaign.plan
    end = f"{plan.hours_end:%H:%M}"
    days = [name[:3] for number, name in enumerate(DAYS, 1) if number in plan.weekdays]
    messages = "Default messages of the assistant"
    if plan.call_instructions:
        messages = "Instructions"
    elif plan.intro_message:
        messages = "Exact intro and voicemail"
    return [
        ("Name", campaign.name),
        ("Assistant", content.assistants[campaign.speaker].name),
        ("Days", ", ".join(days)),
        ("Hours", f"{plan.hours_start:%H:%M} to {end}"),
        ("Calls an hour", _most(plan.calls_per_hour)),
        ("Calls at once", _most(plan.calls_at_once)),
        ("Message", messages),
    ]


def _limit(number: int) -> str:
    return f"{number:,}" if number else "No limit"


def _most(number: int | None) -> str:
    return "No limit" if number is None else f"{number:,}"


def _names(regions: list[str]) -> str:
    names = (country_name(region).removeprefix("the ") for region in regions)
    return ", ".join(name[0].upper() + name[1:] for name in names)
