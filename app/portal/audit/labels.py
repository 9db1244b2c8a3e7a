"""The words of the history: actions, records and fields."""

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import get_day_names
from flask import Flask

from app.enums import TIER_NAMES, CampaignStatus, Role, UserStatus
from app.languages import gettext, lazy_gettext, locale
from app.languages.dates import NO_BREAK
from app.languages.numbers import written
from app.phone import format_international
from app.portal.web.formats import day
from app.portal.web.navigation import ROLE_NAMES

LONGEST = 200

KIND_WORDS = {
    "alert": lazy_gettext("Alerts"),
    "alert_rule": lazy_gettext("Alert rules"),
    "organization": lazy_gettext("Organizations"),
    "organization_template": lazy_gettext("Organization templates"),
    "installation": lazy_gettext("Installation"),
    "user": lazy_gettext("Users"),
    "agent": lazy_gettext("Assistants"),
    "campaign": lazy_gettext("Campaigns and contacts"),
    "upload": lazy_gettext("Uploads"),
    "call": lazy_gettext("Calls"),
    "do_not_call": lazy_gettext("Do-not-call lists"),
    "api_key": lazy_gettext("API keys"),
    "verified_number": lazy_gettext("Verified numbers"),
    "webhook": lazy_gettext("Webhooks"),
    "carrier_account": lazy_gettext("Carrier accounts"),
    "identity_provider": lazy_gettext("Company accounts"),
    "phone_number": lazy_gettext("Phone numbers"),
    "client": lazy_gettext("API clients"),
    "brand_version": lazy_gettext("Brand"),
    "plan_version": lazy_gettext("Plans"),
    "brand_image": lazy_gettext("Pictures of the brand"),
    "partner": lazy_gettext("Portal settings"),
    "saved_view": lazy_gettext("Saved views"),
}
"""Kinds of records, as the filter offers them."""

ACTION_WORDS = {
    "agent.created": lazy_gettext("Assistant added"),
    "agent.external_id_key_defined": lazy_gettext("External id key defined"),
    "agent.external_id_key_removed": lazy_gettext("External id key removed"),
    "agent.updated": lazy_gettext("Assistant changed"),
    "alert.acknowledged": lazy_gettext("Alert acknowledged"),
    "alert.opened": lazy_gettext("Alert opened"),
    "alert.resolved": lazy_gettext("Alert resolved"),
    "alert_rule.created": lazy_gettext("Alert rule added"),
    "alert_rule.muted": lazy_gettext("Alert rule muted"),
    "alert_rule.removed": lazy_gettext("Alert rule removed"),
    "alert_rule.unmuted": lazy_gettext("Alert rule unmuted"),
    "alert_rule.updated": lazy_gettext("Alert rule changed"),
    "brand_image.uploaded": lazy_gettext("Picture uploaded"),
    "branding.published": lazy_gettext("Brand published"),
    "checkout.begun": lazy_gettext("Upgrade begun"),
    "processor_account.removed": lazy_gettext("Payment account removed"),
    "processor_account.saved": lazy_gettext("Payment account set"),
    "pricing.discarded": lazy_gettext("Draft of the plans discarded"),
    "pricing.published": lazy_gettext("Plans published"),
    "partner.budget_changed": lazy_gettext("Budget of the portal changed"),
    "partner.budget_reached": lazy_gettext("Budget of the portal reached"),
    "partner.month_closed": lazy_gettext("Month closed"),
    "organization.budget_changed": lazy_gettext("Budget changed"),
    "organization.budget_reached": lazy_gettext("Budget reached"),
    "pricing.saved": lazy_gettext("Plans changed in the draft"),
    "call.cancelled": lazy_gettext("Call cancelled"),
    "call.resolved": lazy_gettext("Call outcome resolved"),
    "call.scheduled": lazy_gettext("Call requested"),
    "campaign.created": lazy_gettext("Campaign added"),
    "campaign.paused": lazy_gettext("Campaign paused"),
    "campaign.planned": lazy_gettext("Plan of a campaign changed"),
    "campaign.renamed": lazy_gettext("Campaign renamed"),
    "campaign.started": lazy_gettext("Campaign started"),
    "campaign.archived": lazy_gettext("Campaign archived"),
    "carrier_account.removed": lazy_gettext("Carrier account removed"),
    "carrier_account.saved": lazy_gettext("Carrier account set"),
    "client.created": lazy_gettext("API client added"),
    "client.extended": lazy_gettext("API client extended"),
    "client.refused": lazy_gettext("Token request refused"),
    "client.resumed": lazy_gettext("API client reactivated"),
    "client.revoked": lazy_gettext("API client revoked"),
    "client.rolled": lazy_gettext("Secret of an API client renewed"),
    "client.suspended": lazy_gettext("API client suspended"),
    "contact.added": lazy_gettext("Contact added"),
    "contact.put_back": lazy_gettext("Contact restored"),
    "contact.removed": lazy_gettext("Contact removed"),
    "contact.updated": lazy_gettext("Contact changed"),
    "contacts.removed": lazy_gettext("Contacts removed"),
    "contacts.updated": lazy_gettext("Contacts updated"),
    "contacts.upserted": lazy_gettext("Contacts added or updated"),
    "dialling.paused": lazy_gettext("Calling paused"),
    "dialling.resumed": lazy_gettext("Calling resumed"),
    "do_not_call.added": lazy_gettext("Number added to the do-not-call list"),
    "do_not_call.removed": lazy_gettext("Number removed from the do-not-call list"),
    "installation.call_rates_changed": lazy_gettext("Call rates changed"),
    "installation.destinations_limited": lazy_gettext(
        "Call destinations of the installation changed"
    ),
    "installation.signing_key_rotated": lazy_gettext("Token signing key rotated"),
    "key.created": lazy_gettext("API key added"),
    "key.refused": lazy_gettext("Ended API key used"),
    "key.spending_limited": lazy_gettext("Spending limits of an API key changed"),
    "key.revoked": lazy_gettext("API key revoked"),
    "identity_provider.created": lazy_gettext("Company account added"),
    "identity_provider.removed": lazy_gettext("Company account removed"),
    "identity_provider.updated": lazy_gettext("Company account changed"),
    "key.rolled": lazy_gettext("API key renewed"),
    "mail.failed": lazy_gettext("Email could not be delivered"),
    "operator.created": lazy_gettext("Operator added"),
    "operator.view_ended": lazy_gettext("View as a user ended"),
    "operator.view_started": lazy_gettext("View as a user started"),
    "organization.archived": lazy_gettext("Organization archived"),
    "organization.created": lazy_gettext("Organization added"),
    "organization.report_scheduled": lazy_gettext("Schedule of an organization’s report changed"),
    "organization.resumed": lazy_gettext("Organization reactivated"),
    "organization.spending_limited": lazy_gettext("Spending limits of an organization changed"),
    "organization.storage_limited": lazy_gettext("Storage limit of an organization changed"),
    "organization.suspended": lazy_gettext("Organization suspended"),
    "organization.trial_ended": lazy_gettext("Trial of an organization ended"),
    "organization.updated": lazy_gettext("Organization changed"),
    "organization_template.created": lazy_gettext("Organization template added"),
    "organization_template.deleted": lazy_gettext("Organization template deleted"),
    "organization_template.updated": lazy_gettext("Organization template changed"),
    "organization_template.used": lazy_gettext("Organization added from a template"),
    "partner.created": lazy_gettext("Portal opened"),
    "partner.destinations_limited": lazy_gettext("Call destinations limited by the operator"),
    "partner.destinations_opened": lazy_gettext("Call destinations opened"),
    "partner.domain_verified": lazy_gettext("Domain verified"),
    "partner.domain_unverified": lazy_gettext("Domain not verified any more"),
    "partner.plan_limited": lazy_gettext("Limits of a plan changed"),
    "partner.report_scheduled": lazy_gettext("Schedule of the report changed"),
    "partner.resumed": lazy_gettext("Portal reactivated"),
    "partner.spending_limited": lazy_gettext("Spending limits of the portal changed"),
    "partner.storage_limited": lazy_gettext("Storage limited by the operator"),
    "partner.suspended": lazy_gettext("Portal suspended"),
    "partner.trial_ended": lazy_gettext("Trial ended by the operator"),
    "partner.trial_started": lazy_gettext("Trial started by the operator"),
    "partner.updated": lazy_gettext("Portal settings changed"),
    "password.refused": lazy_gettext("Wrong current password"),
    "recovery.refused": lazy_gettext("Password reset refused"),
    "request.refused": lazy_gettext("Action not allowed"),
    "saved_view.created": lazy_gettext("View saved"),
    "saved_view.deleted": lazy_gettext("Saved view deleted"),
    "saved_view.updated": lazy_gettext("Saved view changed"),
    "sign_in.refused": lazy_gettext("Sign-in refused"),
    "phone_number.assigned": lazy_gettext("Phone number assigned"),
    "phone_number.confirmation_ended": lazy_gettext(
        "Phone number no longer listed by the carrier account"
    ),
    "phone_number.confirmed": lazy_gettext("Phone number listed by the carrier account"),
    "phone_number.moved": lazy_gettext("Phone number moved to another organization"),
    "phone_number.released": lazy_gettext("Phone number released"),
    "upload.applied": lazy_gettext("Upload applied"),
    "upload.cancelled": lazy_gettext("Upload cancelled"),
    "upload.created": lazy_gettext("File uploaded"),
    "upload.data_deleted": lazy_gettext("Data of an upload deleted"),
    "upload.mended": lazy_gettext("Rows fixed"),
    "upload.read_again": lazy_gettext("File read again"),
    "upload.repaired": lazy_gettext("Fix accepted"),
    "upload.started": lazy_gettext("Applying started"),
    "upload.stop_asked": lazy_gettext("Stop requested"),
    "upload.undo_started": lazy_gettext("Undo started"),
    "upload.undo_stopped": lazy_gettext("Undo stopped by an error"),
    "upload.undone": lazy_gettext("Upload undone"),
    "user.app_added": lazy_gettext("Authenticator app added"),
    "user.app_removed": lazy_gettext("Authenticator app removed"),
    "user.factors_reset": lazy_gettext("Second factor reset"),
    "user.passkey_added": lazy_gettext("Passkey added"),
    "user.passkey_removed": lazy_gettext("Passkey removed"),
    "user.recovery_code_used": lazy_gettext("Recovery code used"),
    "user.recovery_codes_replaced": lazy_gettext("Recovery codes replaced"),
    "user.signed_out": lazy_gettext("Signed out in all browsers"),
    "user.created": lazy_gettext("User added"),
    "api_key.handed_over": lazy_gettext("API key handed over"),
    "carrier_account.handed_over": lazy_gettext("Carrier account handed over"),
    "client.handed_over": lazy_gettext("API client handed over"),
    "email_change.handed_over": lazy_gettext("Email change handed over"),
    "invitation.handed_over": lazy_gettext("Invitation handed over"),
    "webhook.handed_over": lazy_gettext("Webhook handed over"),
    "user.deactivated": lazy_gettext("User deactivated"),
    "user.email_change_cancelled": lazy_gettext("Email change cancelled"),
    "user.email_change_confirmed": lazy_gettext("Email change confirmed"),
    "user.email_change_requested": lazy_gettext("Email change requested"),
    "user.identity_linked": lazy_gettext("Company account linked"),
    "user.identity_unlinked": lazy_gettext("Link to a company account removed"),
    "user.invitation_sent": lazy_gettext("Invitation sent"),
    "user.invited": lazy_gettext("User invited"),
    "user.joined": lazy_gettext("Invitation accepted"),
    "user.mails_chosen": lazy_gettext("Email choices changed"),
    "user.password_set": lazy_gettext("Password set"),
    "user.reactivated": lazy_gettext("User reactivated"),
    "user.role_changed": lazy_gettext("Role changed"),
    "user.session_ended": lazy_gettext("Browser signed out"),
    "user.signed_in": lazy_gettext("Signed in"),
    "user.suspended": lazy_gettext("User suspended"),
    "user.updated": lazy_gettext("User changed"),
    "user.view_ended": lazy_gettext("Operator stopped viewing the portal as this user"),
    "user.viewed": lazy_gettext("Operator viewed the portal as this user"),
    "verified_number.called": lazy_gettext("Verification call requested"),
    "verified_number.code_ended": lazy_gettext("Verification code ended after wrong entries"),
    "verified_number.removed": lazy_gettext("Verified number removed"),
    "verified_number.verified": lazy_gettext("Number verified"),
    "webhook.created": lazy_gettext("Webhook added"),
    "webhook.paused": lazy_gettext("Webhook paused"),
    "webhook.removed": lazy_gettext("Webhook removed"),
    "webhook.replayed": lazy_gettext("Webhook deliveries sent again"),
    "webhook.resumed": lazy_gettext("Webhook resumed"),
    "webhook.rotated": lazy_gettext("Secret of a webhook renewed"),
    "webhook.tested": lazy_gettext("Test event sent"),
    "webhook.updated": lazy_gettext("Webhook changed"),
}

FIELD_WORDS = {
    "secondFactorFor": lazy_gettext("Second factor required for"),
    "sessionHours": lazy_gettext("Hours until signing in again"),
    "idleMinutes": lazy_gettext("Minutes without use"),
    "recoveryCodesLeft": lazy_gettext("Recovery codes left"),
    "label": lazy_gettext("Label"),
    "value": lazy_gettext("Value"),
    "created": lazy_gettext("Created"),
    "until": lazy_gettext("Until"),
    "tokensEnded": lazy_gettext("Tokens ended"),
    "updated": lazy_gettext("Updated"),
    "deleted": lazy_gettext("Deleted"),
    "ignored": lazy_gettext("Ignored"),
    "failed": lazy_gettext("Failed"),
    "pricing": lazy_gettext("Pricing"),
    "role": lazy_gettext("Role"),
    "defaultIntro": lazy_gettext("Intro"),
    "defaultVoicemail": lazy_gettext("Voicemail"),
    "agentLimit": lazy_gettext("Assistant limit"),
    "agentId": lazy_gettext("Assistant"),
    "area": lazy_gettext("Kind"),
    "allowedRegions": lazy_gettext("Allowed regions"),
    "brandUIColors": lazy_gettext("Colours"),
    "byMail": lazy_gettext("By email"),
    "callInstructions": lazy_gettext("Instructions"),
    "callsAtOnce": lazy_gettext("Calls at once"),
    "callsPerHour": lazy_gettext("Calls an hour"),
    "callingHoursEnd": lazy_gettext("Calling hours end"),
    "callingHoursOn": lazy_gettext("Calling hours"),
    "callingHoursStart": lazy_gettext("Calling hours begin"),
    "chatTemplateColors": lazy_gettext("Colours of the chat"),
    "customHeaderLinks": lazy_gettext("Links in the header"),
    "clientId": lazy_gettext("Client ID"),
    "clientSecret": lazy_gettext("Client secret"),
    "companyAccount": lazy_gettext("Company account"),
    "createsUsers": lazy_gettext("Creates users"),
    "defaultRole": lazy_gettext("Role of a new user"),
    "domains": lazy_gettext("Email domains"),
    "issuer": lazy_gettext("Issuer"),
    "requiredForStaff": lazy_gettext("Required for your staff"),
    "roleClaim": lazy_gettext("Claim that maps to a role"),
    "roleValues": lazy_gettext("Values of the roles"),
    "confirmedAt": lazy_gettext("Confirmed at"),
    "darkLogoUrl": lazy_gettext("Dark logo"),
    "defaultAgentLimit": lazy_gettext("Assistants of a new organization"),
    "email": lazy_gettext("Email"),
    "ended": lazy_gettext("Ended"),
    "handedOver": lazy_gettext("Handed over"),
    "hosts": lazy_gettext("Voice hosts"),
    "hoursEnd": lazy_gettext("Hours end"),
    "hoursStart": lazy_gettext("Hours begin"),
    "idpUid": lazy_gettext("External id"),
    "live": lazy_gettext("Live"),
    "logoImgUrl": lazy_gettext("Logo"),
    "partnerName": lazy_gettext("Name of the portal"),
    "mutedUntil": lazy_gettext("Muted until"),
    "minutesADay": lazy_gettext("Call minutes a day"),
    "minutesAMonth": lazy_gettext("Call minutes a month"),
    "paymentTier": lazy_gettext("Plan"),
    "phoneConfigured": lazy_gettext("Phone set up"),
    "phoneEnabled": lazy_gettext("Phone switched on"),
    "processorPriceId": lazy_gettext("Price id"),
    "processorProductId": lazy_gettext("Product id"),
    "productName": lazy_gettext("Name of the product"),
    "consentRequired": lazy_gettext("Consent required"),
    "numberSpacingMinutes": lazy_gettext("Minutes between calls to one number"),
    "numberMostCalls": lazy_gettext("Calls to one number"),
    "numberMostDays": lazy_gettext("Period in days"),
    "refuseDoNotCall": lazy_gettext("Contacts on the do-not-call list refused"),
    "retryMinutes": lazy_gettext("Minutes between attempts"),
    "retryTimes": lazy_gettext("Retries"),
    "scopes": lazy_gettext("Permissions"),
    "source": lazy_gettext("Requested by"),
    "tagline": lazy_gettext("Tagline"),
    "mailGreeting": lazy_gettext("Greeting in emails"),
    "textsByLanguage": lazy_gettext("Texts in other languages"),
    "storageLimit": lazy_gettext("Storage limit in bytes"),
    "showBrandingToggle": lazy_gettext("“Powered by” shown"),
    "showCharacterToggle": lazy_gettext("Choice of character offered"),
    "showEmbeddedChat": lazy_gettext("Chat bubble shown"),
    "sid": lazy_gettext("Account SID"),
    "budgetAMonth": lazy_gettext("Budget a month"),
    "percent": lazy_gettext("Percent spent"),
    "month": lazy_gettext("Month"),
    "statements": lazy_gettext("Statements"),
    "spendingADay": lazy_gettext("Spending limit a day"),
    "spendingAMonth": lazy_gettext("Spending limit a month"),
    "spendingWaits": lazy_gettext("Direct calls wait at a spending limit"),
    "siteImages": lazy_gettext("Pictures"),
    "unusualCallsWatched": lazy_gettext("Unusual calls pause calling"),
    "tier": lazy_gettext("Plan"),
    "timezone": lazy_gettext("Time zone"),
    "socialLinks": lazy_gettext("Social links"),
    "times": lazy_gettext("Attempts"),
    "since": lazy_gettext("Since"),
    "userLimit": lazy_gettext("User limit"),
    "userType": lazy_gettext("Role"),
    "accountId": lazy_gettext("Account id"),
    "action": lazy_gettext("Action"),
    "active": lazy_gettext("Active"),
    "agents": lazy_gettext("Assistants"),
    "allAgents": lazy_gettext("All assistants"),
    "allowedQueryParams": lazy_gettext("Allowed query params"),
    "because": lazy_gettext("Because"),
    "billingEmail": lazy_gettext("Billing email"),
    "bytes": lazy_gettext("Bytes"),
    "callerId": lazy_gettext("Caller id"),
    "campaign": lazy_gettext("Campaign"),
    "campaignId": lazy_gettext("Campaign id"),
    "cells": lazy_gettext("Cells"),
    "changes": lazy_gettext("Changes"),
    "chatAgentId": lazy_gettext("Assistant of the chat"),
    "collectionEmail": lazy_gettext("Collection email"),
    "currency": lazy_gettext("Currency"),
    "default": lazy_gettext("Default"),
    "defaultRegion": lazy_gettext("Default region"),
    "defaultAgentName": lazy_gettext("Name of new assistants"),
    "defaultService": lazy_gettext("Default service"),
    "deliveries": lazy_gettext("Deliveries"),
    "demoLink": lazy_gettext("Demo link"),
    "description": lazy_gettext("Description"),
    "domain": lazy_gettext("Domain"),
    "emailDomain": lazy_gettext("Email domain"),
    "senderEmail": lazy_gettext("Sender of emails"),
    "events": lazy_gettext("Events"),
    "expiresAt": lazy_gettext("Expires at"),
    "fileName": lazy_gettext("File name"),
    "filters": lazy_gettext("Filters"),
    "firstName": lazy_gettext("First name"),
    "height": lazy_gettext("Height"),
    "identifies": lazy_gettext("Identifies"),
    "importId": lazy_gettext("Import id"),
    "introMessage": lazy_gettext("Intro message"),
    "key": lazy_gettext("Key"),
    "language": lazy_gettext("Language"),
    "lastName": lazy_gettext("Last name"),
    "list": lazy_gettext("List"),
    "mail": lazy_gettext("Mail"),
    "mapping": lazy_gettext("Mapping"),
    "maxCallsADay": lazy_gettext("Max calls a day"),
    "maxCallsAtOnce": lazy_gettext("Max calls at once"),
    "name": lazy_gettext("Name"),
    "notificationEmail": lazy_gettext("Notification email"),
    "numbers": lazy_gettext("Numbers"),
    "order": lazy_gettext("Order"),
    "organization": lazy_gettext("Organization"),
    "organizationId": lazy_gettext("Organization id"),
    "partnerRedirectLink": lazy_gettext("Partner redirect link"),
    "partnerType": lazy_gettext("Partner type"),
    "partnerUpgradeMessage": lazy_gettext("Partner upgrade message"),
    "paymentMethodId": lazy_gettext("Payment method id"),
    "period": lazy_gettext("Period"),
    "phoneNumber": lazy_gettext("Phone number"),
    "previousUntil": lazy_gettext("Previous until"),
    "purchaseLink": lazy_gettext("Purchase link"),
    "purpose": lazy_gettext("Purpose"),
    "rates": lazy_gettext("Rates"),
    "reading": lazy_gettext("Reading"),
    "reason": lazy_gettext("Reason"),
    "responsible": lazy_gettext("Responsible"),
    "rows": lazy_gettext("Rows"),
    "rowsApplied": lazy_gettext("Rows applied"),
    "rowsLeftOut": lazy_gettext("Rows left out"),
    "secret": lazy_gettext("Secret"),
    "servedUntil": lazy_gettext("Served until"),
    "service": lazy_gettext("Service"),
    "sessions": lazy_gettext("Sessions"),
    "shared": lazy_gettext("Shared"),
    "size": lazy_gettext("Size"),
    "slug": lazy_gettext("Slug"),
    "status": lazy_gettext("Status"),
    "statusReason": lazy_gettext("Status reason"),
    "supportEmail": lazy_gettext("Support email"),
    "threshold": lazy_gettext("Threshold"),
    "trackingEmail": lazy_gettext("Tracking email"),
    "type": lazy_gettext("Type"),
    "undone": lazy_gettext("Undone"),
    "unsubscribe": lazy_gettext("Unsubscribe"),
    "url": lazy_gettext("Url"),
    "voicemailMessage": lazy_gettext("Voicemail message"),
    "width": lazy_gettext("Width"),
}

ACTOR_WORDS = {
    "client": lazy_gettext("API client"),
    "legacy_client": lazy_gettext("Client of the legacy API"),
    "api_key": lazy_gettext("API key"),
    "system": lazy_gettext("System"),
    "visitor": lazy_gettext("Not signed in"),
}
"""Names of actors that are not users."""

_VALUES: dict[str, str] = {
    **{tier.value: name for tier, name in TIER_NAMES.items()},
    **{role.value: name for role, name in ROLE_NAMES.items() if role is not Role.ADMIN},
    UserStatus.ACTIVE.value: lazy_gettext("Active"),
    UserStatus.INVITED.value: lazy_gettext("Invited"),
    UserStatus.SUSPENDED.value: lazy_gettext("Suspended"),
    UserStatus.DEACTIVATED.value: lazy_gettext("Deactivated"),
    "contacts:read": lazy_gettext("read contacts"),
    "contacts:write": lazy_gettext("write contacts"),
    "calls:read": lazy_gettext("read calls"),
    "calls:create": lazy_gettext("place calls"),
}
_VALUES_OF: dict[str, dict[str, str]] = {
    "area": {"A": lazy_gettext("Administration"), "B": lazy_gettext("Legacy API")},
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
    "purpose": {
        "call-trial": lazy_gettext("calls in trial mode"),
        "caller-id": lazy_gettext("caller ID"),
    },
    "status": {
        CampaignStatus.PAUSED.value: lazy_gettext("Paused"),
        CampaignStatus.ACTIVE.value: lazy_gettext("Active"),
        CampaignStatus.ARCHIVED.value: lazy_gettext("Archived"),
    },
    "userType": {Role.ADMIN: ROLE_NAMES[Role.ADMIN]},
}
"""Words that apply to one field only."""
_VALUES_OF |= {"user_type": _VALUES_OF["userType"], "role": _VALUES_OF["userType"]}
_NUMBER = re.compile(r"\+[1-9]\d{7,14}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


def change_words(action: str) -> str:
    """organization.suspended -> Organization suspended"""
    plain = action.replace(".", " ").replace("_", " ").capitalize()
    return str(ACTION_WORDS.get(action, plain))


def field_words(name: str) -> str:
    """paymentTier or payment_tier -> Plan; fields without a label of their own are spelt out."""
    first, *rest = name.split("_")
    camel = first + "".join(part.capitalize() for part in rest)
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in name)
    return str(FIELD_WORDS.get(camel, spaced.replace("_", " ").strip().capitalize()))


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
        case str() if _NUMBER.fullmatch(value):
            return format_international(value).replace("-", " ").replace(" ", NO_BREAK)
        case str():
            words = str(_VALUES_OF.get(name, _VALUES).get(value) or _VALUES.get(value, value))
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
    return f"{day(local, zone)}, {local:%H:%M}{NO_BREAK}{local:%Z}"


def register(app: Flask) -> None:
    filters = (change_words, field_words, value_words)
    app.jinja_env.filters.update({f.__name__: f for f in filters})
