"""Values before and after a change, in words."""

import re
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import get_day_names
from flask import Flask

from app.enums import (
    TIER_NAMES,
    BillingInterval,
    CampaignStatus,
    Role,
    SubscriptionState,
    UsageUnit,
    UserStatus,
)
from app.languages import LANGUAGES, gettext, lazy_gettext, locale
from app.languages.dates import NO_BREAK, zone_letters
from app.languages.numbers import written
from app.models.carrier_account import with_masked_sids
from app.phone import format_international
from app.portal.alerts.forms import PERIODS
from app.portal.audit.labels import change_words, field_words
from app.portal.billing.words import month_name
from app.portal.web.formats import day
from app.portal.web.navigation import ROLE_NAMES

LONGEST = 200

_VALUES: dict[str, str] = {
    **{tier.value: name for tier, name in TIER_NAMES.items()},
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
    "area": {"A": lazy_gettext("Partner API"), "B": lazy_gettext("Legacy API")},
    "language": LANGUAGES,
    "reason": {
        "company_account": lazy_gettext("company account not accepted"),
        "company_account_required": lazy_gettext("company account required"),
        "expired": lazy_gettext("expired"),
        "insufficient_scope": lazy_gettext("permission missing"),
        "not_active": lazy_gettext("not active"),
        "revoked": lazy_gettext("revoked"),
        "too_many_failures": lazy_gettext("too many failures"),
        "unknown_client": lazy_gettext("unknown client"),
        "unknown_email": lazy_gettext("unknown email"),
        "wrong_code": lazy_gettext("wrong code"),
        "wrong_password": lazy_gettext("wrong password"),  # nosec B105 - a reason in words
        "wrong_secret": lazy_gettext("wrong secret"),  # nosec B105 - a reason in words
    },
    "source": {
        "api": lazy_gettext("a script"),
        "campaign": lazy_gettext("a campaign"),
        "command": lazy_gettext("the command line"),
        "legacy": lazy_gettext("a script of the legacy API"),
        "portal": lazy_gettext("a person"),
        "test": lazy_gettext("a test call"),
        "verification": lazy_gettext("a verification call"),
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
    "status": {
        CampaignStatus.PAUSED.value: lazy_gettext("Paused"),
        CampaignStatus.ACTIVE.value: lazy_gettext("Active"),
        CampaignStatus.ARCHIVED.value: lazy_gettext("Archived"),
    },
    "subscription": {
        SubscriptionState.ACTIVE.value: lazy_gettext("Active"),
        SubscriptionState.OVERDUE.value: lazy_gettext("Payment overdue"),
        SubscriptionState.ENDED.value: lazy_gettext("Ended"),
    },
    "userType": {Role.ADMIN: ROLE_NAMES[Role.ADMIN]},
}
"""Words that apply to one field only."""
_VALUES_OF |= {"user_type": _VALUES_OF["userType"], "role": _VALUES_OF["userType"]}
_NUMBER = re.compile(r"\+[1-9]\d{7,14}")
_MONTH = re.compile(r"\d{4}-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


def value_words(value: Any, zone: str = "UTC", name: str = "") -> str:
    """Return a value before or after a change, in one line; ``name`` is that of its field."""
    match value:
        case [int(), *_] if name == "weekdays":
            names = get_day_names("abbreviated", locale=locale())
            return ", ".join(names[day - 1] for day in value)
        case _ if value in (None, "", [], {}):
            return gettext("none")
        case bool():
            return gettext("Yes") if value else gettext("No")
        case str() if _MOMENT.match(value):
            return _moment(value, zone)
        case str() if name == "month" and _MONTH.fullmatch(value):
            words = month_name(date.fromisoformat(f"{value}-01"))
        case str() if _NUMBER.fullmatch(value):
            return format_international(value).replace("-", " ").replace(" ", NO_BREAK)
        case str():
            known = _VALUES_OF.get(name, _VALUES).get(value) or _VALUES.get(value, value)
            words = with_masked_sids(str(known))
        case list():
            words = ", ".join(value_words(item, zone) for item in value)
        case dict():
            kept = {name: item for name, item in value.items() if name != "id"}
            words = ", ".join(
                f"{field_words(name)}: {value_words(item, zone)}" for name, item in kept.items()
            )
        case _:
            words = written(value, None) if isinstance(value, int | float) else str(value)
    return words if len(words) <= LONGEST else words[: LONGEST - 1].rstrip() + "…"


def _moment(text: str, zone: str) -> str:
    try:
        local = datetime.fromisoformat(text).astimezone(ZoneInfo(zone))
    except ValueError:
        return text
    return f"{day(local, zone)}, {local:%H:%M}{NO_BREAK}{zone_letters(local)}"


def register(app: Flask) -> None:
    filters = (change_words, field_words, value_words)
    app.jinja_env.filters.update({f.__name__: f for f in filters})
