"""The words of the history: actions, records and fields."""

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from flask import Flask

from app.enums import TIER_NAMES, CampaignStatus, Role, UserStatus
from app.phone import format_international
from app.portal.web.navigation import ROLE_NAMES
from app.portal.web.number_format import NO_BREAK, written

LONGEST = 200

KIND_WORDS = {
    "alert": "Alerts",
    "alert_rule": "Alert rules",
    "organization": "Organizations",
    "organization_template": "Organization templates",
    "installation": "Installation",
    "user": "Users",
    "agent": "Assistants",
    "campaign": "Campaigns and contacts",
    "upload": "Uploads",
    "call": "Calls",
    "do_not_call": "Do-not-call lists",
    "api_key": "API keys",
    "verified_number": "Verified numbers",
    "webhook": "Webhooks",
    "carrier_account": "Carrier accounts",
    "phone_number": "Phone numbers",
    "client": "API clients",
    "brand_version": "Brand",
    "plan_version": "Plans",
    "brand_image": "Pictures of the brand",
    "partner": "Portal settings",
    "saved_view": "Saved views",
}
"""Kinds of records, as the filter offers them."""

ACTION_WORDS = {
    "agent.created": "Assistant added",
    "agent.external_id_key_defined": "External id key defined",
    "agent.external_id_key_removed": "External id key removed",
    "agent.updated": "Assistant changed",
    "alert.acknowledged": "Alert acknowledged",
    "alert.opened": "Alert opened",
    "alert.resolved": "Alert resolved",
    "alert_rule.created": "Alert rule added",
    "alert_rule.muted": "Alert rule muted",
    "alert_rule.removed": "Alert rule removed",
    "alert_rule.unmuted": "Alert rule unmuted",
    "alert_rule.updated": "Alert rule changed",
    "brand_image.uploaded": "Picture uploaded",
    "branding.published": "Brand published",
    "checkout.begun": "Upgrade begun",
    "processor_account.removed": "Payment account removed",
    "processor_account.saved": "Payment account set",
    "pricing.discarded": "Draft of the plans discarded",
    "pricing.published": "Plans published",
    "partner.budget_changed": "Budget of the portal changed",
    "partner.budget_reached": "Budget of the portal reached",
    "partner.month_closed": "Month closed",
    "organization.budget_changed": "Budget changed",
    "organization.budget_reached": "Budget reached",
    "pricing.saved": "Plans changed in the draft",
    "call.cancelled": "Call cancelled",
    "call.resolved": "Call outcome resolved",
    "call.scheduled": "Call requested",
    "campaign.created": "Campaign added",
    "campaign.paused": "Campaign paused",
    "campaign.planned": "Plan of a campaign changed",
    "campaign.renamed": "Campaign renamed",
    "campaign.started": "Campaign started",
    "campaign.archived": "Campaign archived",
    "carrier_account.removed": "Carrier account removed",
    "carrier_account.saved": "Carrier account set",
    "client.created": "API client added",
    "client.extended": "API client extended",
    "client.refused": "Token request refused",
    "client.resumed": "API client reactivated",
    "client.revoked": "API client revoked",
    "client.rolled": "Secret of an API client renewed",
    "client.suspended": "API client suspended",
    "contact.added": "Contact added",
    "contact.put_back": "Contact restored",
    "contact.removed": "Contact removed",
    "contact.updated": "Contact changed",
    "contacts.removed": "Contacts removed",
    "contacts.updated": "Contacts updated",
    "contacts.upserted": "Contacts added or updated",
    "dialling.paused": "Calling paused",
    "dialling.resumed": "Calling resumed",
    "do_not_call.added": "Number added to the do-not-call list",
    "do_not_call.removed": "Number removed from the do-not-call list",
    "installation.call_rates_changed": "Call rates changed",
    "installation.destinations_limited": "Call destinations of the installation changed",
    "key.created": "API key added",
    "key.refused": "Ended API key used",
    "key.spending_limited": "Spending limits of an API key changed",
    "key.revoked": "API key revoked",
    "key.rolled": "API key renewed",
    "mail.failed": "Email could not be delivered",
    "operator.created": "Operator added",
    "organization.archived": "Organization archived",
    "organization.created": "Organization added",
    "organization.report_scheduled": "Schedule of an organization’s report changed",
    "organization.resumed": "Organization reactivated",
    "organization.spending_limited": "Spending limits of an organization changed",
    "organization.storage_limited": "Storage limit of an organization changed",
    "organization.suspended": "Organization suspended",
    "organization.trial_ended": "Trial of an organization ended",
    "organization.updated": "Organization changed",
    "organization_template.created": "Organization template added",
    "organization_template.deleted": "Organization template deleted",
    "organization_template.updated": "Organization template changed",
    "organization_template.used": "Organization added from a template",
    "partner.created": "Portal opened",
    "partner.destinations_limited": "Call destinations limited by the operator",
    "partner.destinations_opened": "Call destinations opened",
    "partner.domain_verified": "Domain verified",
    "partner.plan_limited": "Limits of a plan changed",
    "partner.report_scheduled": "Schedule of the report changed",
    "partner.resumed": "Portal reactivated",
    "partner.spending_limited": "Spending limits of the portal changed",
    "partner.storage_limited": "Storage limited by the operator",
    "partner.suspended": "Portal suspended",
    "partner.trial_ended": "Trial ended by the operator",
    "partner.trial_started": "Trial started by the operator",
    "partner.updated": "Portal settings changed",
    "password.refused": "Wrong current password",
    "recovery.refused": "Password reset refused",
    "request.refused": "Action not allowed",
    "saved_view.created": "View saved",
    "saved_view.deleted": "Saved view deleted",
    "saved_view.updated": "Saved view changed",
    "sign_in.refused": "Sign-in refused",
    "phone_number.assigned": "Phone number assigned",
    "phone_number.confirmation_ended": "Phone number no longer listed by the carrier account",
    "phone_number.confirmed": "Phone number listed by the carrier account",
    "phone_number.moved": "Phone number moved to another organization",
    "phone_number.released": "Phone number released",
    "upload.applied": "Upload applied",
    "upload.cancelled": "Upload cancelled",
    "upload.created": "File uploaded",
    "upload.data_deleted": "Data of an upload deleted",
    "upload.mended": "Rows fixed",
    "upload.read_again": "File read again",
    "upload.repaired": "Fix accepted",
    "upload.started": "Applying started",
    "upload.stop_asked": "Stop requested",
    "upload.undo_started": "Undo started",
    "upload.undo_stopped": "Undo stopped by an error",
    "upload.undone": "Upload undone",
    "user.created": "User added",
    "api_key.handed_over": "API key handed over",
    "carrier_account.handed_over": "Carrier account handed over",
    "client.handed_over": "API client handed over",
    "email_change.handed_over": "Email change handed over",
    "invitation.handed_over": "Invitation handed over",
    "webhook.handed_over": "Webhook handed over",
    "user.deactivated": "User deactivated",
    "user.email_change_cancelled": "Email change cancelled",
    "user.email_change_confirmed": "Email change confirmed",
    "user.email_change_requested": "Email change requested",
    "user.invitation_sent": "Invitation sent",
    "user.invited": "User invited",
    "user.joined": "Invitation accepted",
    "user.mails_chosen": "Email choices changed",
    "user.password_set": "Password set",
    "user.reactivated": "User reactivated",
    "user.role_changed": "Role changed",
    "user.session_ended": "Browser signed out",
    "user.signed_in": "Signed in",
    "user.suspended": "User suspended",
    "user.updated": "User changed",
    "verified_number.called": "Verification call requested",
    "verified_number.code_ended": "Verification code ended after wrong entries",
    "verified_number.removed": "Verified number removed",
    "verified_number.verified": "Number verified",
    "webhook.created": "Webhook added",
    "webhook.paused": "Webhook paused",
    "webhook.removed": "Webhook removed",
    "webhook.replayed": "Webhook deliveries sent again",
    "webhook.resumed": "Webhook resumed",
    "webhook.rotated": "Secret of a webhook renewed",
    "webhook.tested": "Test event sent",
    "webhook.updated": "Webhook changed",
}

FIELD_WORDS = {
    "agentLimit": "Assistant limit",
    "agentId": "Assistant",
    "area": "Kind",
    "allowedRegions": "Allowed regions",
    "brandUIColors": "Colours",
    "byMail": "By email",
    "callInstructions": "Instructions",
    "callsAtOnce": "Calls at once",
    "callsPerHour": "Calls an hour",
    "callingHoursEnd": "Calling hours end",
    "callingHoursOn": "Calling hours",
    "callingHoursStart": "Calling hours begin",
    "chatTemplateColors": "Colours of the chat",
    "customHeaderLinks": "Links in the header",
    "confirmedAt": "Confirmed at",
    "darkLogoUrl": "Dark logo",
    "defaultAgentLimit": "Assistants of a new organization",
    "email": "Email",
    "ended": "Ended",
    "handedOver": "Handed over",
    "hosts": "Voice hosts",
    "hoursEnd": "Hours end",
    "hoursStart": "Hours begin",
    "idpUid": "External id",
    "live": "Live",
    "logoImgUrl": "Logo",
    "partnerName": "Name of the portal",
    "mutedUntil": "Muted until",
    "minutesADay": "Call minutes a day",
    "minutesAMonth": "Call minutes a month",
    "paymentTier": "Plan",
    "phoneConfigured": "Phone set up",
    "phoneEnabled": "Phone switched on",
    "processorPriceId": "Price id",
    "processorProductId": "Product id",
    "productName": "Name of the product",
    "consentRequired": "Consent required",
    "numberMostCalls": "Calls to one number",
    "numberMostDays": "Period in days",
    "refuseDoNotCall": "Contacts on the do-not-call list refused",
    "retryMinutes": "Minutes between attempts",
    "retryTimes": "Retries",
    "scopes": "Permissions",
    "source": "Requested by",
    "tagline": "Tagline",
    "storageLimit": "Storage limit in bytes",
    "showBrandingToggle": "“Powered by” shown",
    "showCharacterToggle": "Choice of character offered",
    "showEmbeddedChat": "Chat bubble shown",
    "sid": "Account SID",
    "budgetAMonth": "Budget a month",
    "percent": "Percent spent",
    "month": "Month",
    "statements": "Statements",
    "spendingADay": "Spending limit a day",
    "spendingAMonth": "Spending limit a month",
    "spendingWaits": "Direct calls wait at a spending limit",
    "siteImages": "Pictures",
    "unusualCallsWatched": "Unusual calls pause calling",
    "tier": "Plan",
    "timezone": "Time zone",
    "socialLinks": "Social links",
    "times": "Attempts",
    "since": "Since",
    "userLimit": "User limit",
    "userType": "Role",
}

ACTOR_WORDS = {
    "client": "API client",
    "legacy_client": "Client of the legacy API",
    "api_key": "API key",
    "system": "System",
    "visitor": "Not signed in",
}
"""Names of actors that are not users."""

_VALUES: dict[str, str] = {
    **{tier.value: name for tier, name in TIER_NAMES.items()},
    **{role.value: name for role, name in ROLE_NAMES.items() if role is not Role.ADMIN},
    **{status.value: status.value.capitalize() for status in UserStatus},
    "contacts:read": "read contacts",
    "contacts:write": "write contacts",
    "calls:read": "read calls",
    "calls:create": "place calls",
}
_VALUES_OF: dict[str, dict[str, str]] = {
    "area": {"A": "Administration", "B": "Legacy API"},
    "reason": {
        "expired": "expired",
        "insufficient_scope": "permission missing",
        "not_active": "not active",
        "revoked": "revoked",
        "too_many_failures": "too many failures",
        "unknown_client": "unknown client",
        "unknown_email": "unknown email",
        "wrong_password": "wrong password",  # nosec B105 - a reason in words
        "wrong_secret": "wrong secret",  # nosec B105 - a reason in words
    },
    "source": {
        "api": "a script",
        "campaign": "a campaign",
        "command": "the command line",
        "legacy": "a script of the legacy API",
        "portal": "a person",
        "test": "a test call",
        "verification": "a verification call",
    },
    "purpose": {"call-trial": "calls in trial mode", "caller-id": "caller ID"},
    "status": {status.value: status.value.capitalize() for status in CampaignStatus},
    "userType": {Role.ADMIN: ROLE_NAMES[Role.ADMIN]},
}
"""Words that apply to one field only."""
_VALUES_OF |= {"user_type": _VALUES_OF["userType"], "role": _VALUES_OF["userType"]}
_WEEKDAYS = ("", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_NUMBER = re.compile(r"\+[1-9]\d{7,14}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


def change_words(action: str) -> str:
    """organization.suspended -> Organization suspended"""
    plain = action.replace(".", " ").replace("_", " ").capitalize()
    return ACTION_WORDS.get(action, plain)


def field_words(name: str) -> str:
    """paymentTier or payment_tier -> Plan; fields without a label of their own are spelt out."""
    first, *rest = name.split("_")
    camel = first + "".join(part.capitalize() for part in rest)
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in name)
    return FIELD_WORDS.get(camel, spaced.replace("_", " ").strip().capitalize())


def value_words(value: Any, zone: str = "UTC", name: str = "") -> str:
    """Return a value before or after a change, in one line; ``name`` is that of its field."""
    match value:
        case [int(), *_] if name == "weekdays":
            return ", ".join(_WEEKDAYS[day] for day in value)
        case _ if value in (None, "", [], {}):
            return "none"
        case bool():
            return "Yes" if value else "No"
        case str() if _MOMENT.match(value):
            return _moment(value, zone)
        case str() if _NUMBER.fullmatch(value):
            return format_international(value).replace("-", " ").replace(" ", NO_BREAK)
        case str():
            words = _VALUES_OF.get(name, _VALUES).get(value) or _VALUES.get(value, value)
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
    return (
        f"{local.day}{NO_BREAK}{local:%b}{NO_BREAK}{local.year}, {local:%H:%M}{NO_BREAK}{local:%Z}"
    )


def register(app: Flask) -> None:
    filters = (change_words, field_words, value_words)
    app.jinja_env.filters.update({f.__name__: f for f in filters})
