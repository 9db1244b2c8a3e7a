"""Values before and after a change, in words."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import get_day_names

from app.enums import (
    TIER_NAMES,
    BillingInterval,
    Role,
    SubscriptionStatus,
    Tier,
    UsageUnit,
    UserStatus,
)
from app.languages import LANGUAGES, gettext, labelled, lazy_gettext, lazy_pgettext, locale
from app.languages.dates import NO_BREAK, zone_abbreviation
from app.languages.numbers import localize_number
from app.models import AuditEntry
from app.models.carrier_account import with_masked_sids
from app.phone import country_name, format_international
from app.portal.alerts.forms import PERIODS
from app.portal.audit.field_labels import field_label
from app.portal.billing.formats import month_name
from app.portal.branding.labels import PICTURE_LABELS, value_lines
from app.portal.do_not_call.listing import SOURCES
from app.portal.organizations.listing import STATUS_LABELS
from app.portal.uploads.labels import ACTION_NAMES
from app.portal.web.blueprint import portal
from app.portal.web.formats import CALL_STATUS_LABELS, ROLE_NAMES, day, size
from app.portal.web.plan_names import plan_names
from app.portal.webhooks.forms import EVENT_LABELS
from app.services.exports.labels import FORMAT_NAMES
from app.services.money_format import exact_money
from app.services.users import created_items

MAX_VALUE_LENGTH = 200
_UNSHORTENED_FIELDS = frozenset({"events"})
"""Fields that are shown completely: lists of known words that nothing else on the page repeats."""
_ENDED_FIELDS = ("ended", "handedOver")
"""Fields that name items of a user, in stored English words."""

_VALUES: dict[str, str] = {
    **{role.value: name for role, name in ROLE_NAMES.items() if role is not Role.ADMIN},
    UserStatus.ACTIVE.value: lazy_gettext("Active"),
    UserStatus.INVITED.value: lazy_gettext("Invited"),
    UserStatus.SUSPENDED.value: lazy_gettext("Suspended"),
    UserStatus.DEACTIVATED.value: lazy_gettext("Deactivated"),
    "changed": lazy_gettext("changed"),
    "contacts:read": lazy_gettext("read contacts"),
    "contacts:write": lazy_gettext("write contacts"),
    "calls:read": lazy_gettext("read calls"),
    "calls:create": lazy_gettext("place calls"),
}
_VALUES_OF: dict[str, dict[str, str]] = {
    "action": {each.value: words for each, words in ACTION_NAMES.items()},
    "area": {"A": lazy_gettext("Partner API"), "B": lazy_gettext("Legacy API")},
    "events": EVENT_LABELS,
    "format": FORMAT_NAMES,
    "language": LANGUAGES,
    "reason": {
        "company_account": lazy_gettext("company account not accepted"),
        "company_account_required": lazy_gettext("company account required"),
        "expired": lazy_gettext("expired"),
        "found at the carrier after a restore": lazy_gettext(
            "found at the carrier after a restore"
        ),
        "handed in again": lazy_gettext("queued again"),  # former entries
        "insufficient_scope": lazy_gettext("permission missing"),
        "not_active": lazy_gettext("not active"),
        "queued again": lazy_gettext("queued again"),
        "reported by the carrier": lazy_gettext("reported by the carrier"),
        "revoked": lazy_gettext("revoked"),
        "the carrier's word": lazy_gettext("reported by the carrier"),  # former entries
        "too_many_failures": lazy_gettext("too many failures"),
        "unknown_client": lazy_gettext("unknown client"),
        "unknown_email": lazy_gettext("unknown email"),
        "wrong_code": lazy_gettext("wrong code"),
        "wrong_password": lazy_gettext("wrong password"),
        "wrong_secret": lazy_gettext("wrong secret"),
    },
    "source": SOURCES
    | {
        "api": lazy_gettext("API"),
        "campaign": lazy_gettext("Campaign"),
        "legacy": lazy_gettext("Legacy API"),
        "test": lazy_gettext("Test call"),
        "verification": lazy_gettext("Verification call"),
    },
    "interval": {
        BillingInterval.MONTH.value: lazy_gettext("Each month"),
        BillingInterval.YEAR.value: lazy_gettext("Each year"),
    },
    "usageUnit": {
        UsageUnit.MINUTE.value: lazy_gettext("By the minute"),
        UsageUnit.CALL.value: lazy_gettext("By the call"),
    },
    "purpose": {
        "call-trial": lazy_gettext("calls in trial mode"),
        "caller-id": lazy_gettext("caller ID"),
    },
    "period": {each.value: words for each, words in PERIODS.items()},
    "subscription": {
        SubscriptionStatus.ACTIVE.value: lazy_pgettext("subscription", "Active"),
        SubscriptionStatus.OVERDUE.value: lazy_gettext("Payment overdue"),
        SubscriptionStatus.ENDED.value: lazy_pgettext("subscription", "Ended"),
    },
    "userType": {Role.ADMIN: ROLE_NAMES[Role.ADMIN]},
}
"""Words that apply to one field only."""
_VALUES_OF |= {"user_type": _VALUES_OF["userType"], "role": _VALUES_OF["userType"]}
_STATUSES_OF: dict[str, Mapping[str, str]] = {
    "organization": {each.value: words for each, words in STATUS_LABELS.items()},
    "call": CALL_STATUS_LABELS,
}
"""Words for a status by what has it; those of users are in `_VALUES`."""
_MONEY = {"price", "priceBeyond", "budgetAMonth", "spendingADay", "spendingAMonth"}
_LIMITS = {"agentLimit", "defaultAgentLimit", "userLimit"}
"""Fields in which 0 means no limit."""
_REGIONS = {"allowedRegions", "defaultRegion"}
_BRAND_FIELDS = {
    "brandUIColors",
    "chatTemplateColors",
    "customHeaderLinks",
    "socialLinks",
    "textsByLanguage",
}
_AMOUNT = re.compile(r"(-?\d+(?:\.\d+)?)(?: ([A-Z]{3}))?")
_NUMBER = re.compile(r"\+[1-9]\d{7,14}")
_MONTH = re.compile(r"\d{4}-\d\d")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


@portal.app_template_global()
def sides(entry: AuditEntry, name: str, zone: str = "UTC") -> tuple[str | None, str | None]:
    """Return both sides of a field in words; None for a side that the entry doesn't have, and for
    both if the action or other fields repeat it."""
    before, after = entry.before or {}, entry.after or {}
    if name == "status" and entry.target_type == "campaign":
        return None, None
    if name == "siteImages":
        return _pictures(before, after)
    if name in ("logoImgUrl", "darkLogoUrl"):
        return _picture(before, name, gettext("picture")), _picture(
            after, name, gettext("new picture")
        )
    if name == "status" and (labels := _STATUSES_OF.get(entry.target_type)):
        before, after = (
            {name: labels.get(side[name], side[name])} if name in side else {}
            for side in (before, after)
        )
    old, new = (
        format_value(side[name], zone, name) if name in side else None for side in (before, after)
    )
    return old, new


def _picture(side: Mapping[str, Any], name: str, label: str) -> str | None:
    if name not in side:
        return None
    return label if side[name] else gettext("none")


def _pictures(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Name the changed pictures; the logo only if it isn't shown by its own field."""
    old, new = (
        {str(item.get("type")): item.get("imageUrl") for item in side.get("siteImages") or ()}
        for side in (before, after)
    )
    named = {kind for kind in {**old, **new} if old.get(kind) != new.get(kind)}
    named -= {"logo"} if "logoImgUrl" in {**before, **after} else set()
    if not named:
        return None, None
    names = {kind: str(PICTURE_LABELS.get(kind, kind)) for kind in sorted(named)}
    old_names = [picture_name for kind, picture_name in names.items() if kind in old]
    new_names = [
        gettext("%(name)s (new)", name=picture_name)
        for kind, picture_name in names.items()
        if kind in new
    ]
    return ", ".join(old_names) or gettext("none"), ", ".join(new_names) or gettext("none")


def format_value(value: Any, zone: str = "UTC", name: str = "") -> str:
    """Return a value before or after a change, in one line; ``name`` is that of its field."""
    match value:
        case [int(), *_] if name == "weekdays":
            names = get_day_names("abbreviated", locale=locale())
            return ", ".join(names[day - 1] for day in value)
        case _ if value in (None, "", [], {}) or (value == 0 and name in _LIMITS):
            return _nothing_label(name)
        case bool():
            return gettext("Yes") if value else gettext("No")
        case int() if name == "size":
            text = size(value)
        case str():
            text = _format_text(value, zone, name)
        case list() | dict() if name in _BRAND_FIELDS:
            text = "; ".join(line.text for line in value_lines(name, value, {}))
        case list() if name in _ENDED_FIELDS:
            text = ", ".join(map(created_items.in_language, value))
        case list():
            text = ", ".join(format_value(item, zone, name) for item in value)
        case dict():
            items = {name: item for name, item in value.items() if name != "id"}
            text = ", ".join(
                labelled(field_label(name), format_value(item, zone))
                for name, item in items.items()
            )
        case _:
            text = localize_number(value, None) if isinstance(value, int | float) else str(value)
    return _shorten(text, name)


def _nothing_label(name: str) -> str:
    if name in _LIMITS:
        return gettext("No limit")
    return gettext("Automatic") if name == "language" else gettext("none")


def _shorten(text: str, name: str) -> str:
    if name in _UNSHORTENED_FIELDS or len(text) <= MAX_VALUE_LENGTH:
        return text
    return text[: MAX_VALUE_LENGTH - 1].rstrip() + "…"


def _format_text(value: str, zone: str, name: str) -> str:
    if _MOMENT.match(value) or _DAY.fullmatch(value):
        return _format_moment(value, zone)
    if name == "month" and _MONTH.fullmatch(value):
        return month_name(date.fromisoformat(f"{value}-01"))
    if name in _MONEY and (amount := _AMOUNT.fullmatch(value)):
        return exact_money(Decimal(amount[1]), amount[2] or "")
    if _NUMBER.fullmatch(value):
        return format_international(value).replace("-", " ").replace(" ", NO_BREAK)
    if name in _REGIONS or value in TIER_NAMES:
        return country_name(value) if name in _REGIONS else str(plan_names()[Tier(value)])
    label = _VALUES_OF.get(name, _VALUES).get(value) or _VALUES.get(value, value)
    lines = filter(None, str(label).splitlines())
    return with_masked_sids(" / ".join(lines))


def _format_moment(text: str, zone: str) -> str:
    try:
        if _DAY.fullmatch(text):
            return day(date.fromisoformat(text))
        local = datetime.fromisoformat(text).astimezone(ZoneInfo(zone))
    except ValueError:
        return text
    return f"{day(local, zone)}, {local:%H:%M}{NO_BREAK}{zone_abbreviation(local)}"
