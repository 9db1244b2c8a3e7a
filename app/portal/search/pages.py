"""The pages and actions that search finds besides the entries of the sidebar."""

from typing import NamedTuple


class Page(NamedTuple):
    """``words`` are further words that find it."""

    label: str
    endpoint: str
    words: str = ""


PAGES = (
    Page("Organization templates", "portal.organization_templates", "new customer prepared bulk"),
    Page("API clients", "portal.api_clients", "oauth token credentials"),
    Page("Webhooks", "portal.api_webhooks", "events notifications"),
    Page("Carrier accounts", "portal.carrier_accounts", "twilio sip trunk"),
    Page("Call destinations", "portal.portal_settings_destinations", "countries regions allowed"),
    Page("Spending limits", "portal.portal_settings_spending", "money minutes"),
    Page("Storage", "portal.storage", "uploads delete space"),
    Page("Plan limits", "portal.pricing_limits", "calls at once a day"),
    Page("Readability of your colours", "portal.branding_contrast", "contrast accessibility"),
    Page("Versions of your brand", "portal.branding_history", "roll back"),
    Page("Versions of your plans", "portal.pricing_history", "prices"),
    Page("Stripe account", "portal.pricing_stripe", "payments billing"),
    Page("Report emails", "portal.report_schedule", "schedule monthly"),
    Page("Notifications", "portal.notifications", "bell unread"),
    Page("Your account", "portal.account", "change password name time zone email sessions profile"),
    Page("Kept emails", "portal.outbox", "outbox mails"),
)
ACTIONS = (
    Page("Add organization", "portal.organization_new", "create new customer"),
    Page("Add partner", "portal.operator_partner_new", "create new customer"),
    Page("Invite user", "portal.user_new", "add create new person colleague"),
    Page("Invite several users", "portal.users_invite_many", "add many people"),
    Page("Add assistant", "portal.assistant_new", "create new"),
    Page("Create campaign", "portal.campaign_new", "add new"),
    Page("Place test call", "portal.test_call", "try dial"),
    Page("Verify a phone number", "portal.phone_number_verify", "caller id"),
    Page("Create API key", "portal.api_key_new", "add new"),
    Page("Create API client", "portal.api_client_new", "add new oauth"),
    Page("Add alert rule", "portal.alert_rule_new", "create new tell me"),
    Page("Add partner", "portal.operator_partner_new", "create new"),
    Page("Add webhook", "portal.api_webhook_new", "create new events"),
    Page("Add organization template", "portal.organization_template_new", "create new prepared"),
)
