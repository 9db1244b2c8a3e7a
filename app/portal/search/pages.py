"""The pages and actions that search finds in addition to the entries of the sidebar."""

from typing import NamedTuple

from app.languages import lazy_gettext
from app.portal.web.sidebar_entries import SETTINGS_PAGES


class SearchablePage(NamedTuple):
    """``keywords`` are additional words that find it.

    ``within`` names the page that leads to it, ``anchor`` its part of the page. An action of
    another page's button has that page in ``shown_on``.
    """

    label: str
    endpoint: str
    keywords: str = ""
    within: str = ""
    anchor: str | None = None
    shown_on: str | None = None


SETTINGS = lazy_gettext("Settings")
ACCOUNT = lazy_gettext("Your account")

# Translators: words that find a page of the settings, separated by spaces.
SETTINGS_WORDS = {
    "portal.settings.show_domain": lazy_gettext(
        "dns records txt cname spf dkim dmarc verify sender mail subdomain certificate"
    ),
    "portal.branding.show_branding": lazy_gettext(
        "logo colours icon pictures texts emails tagline slogan"
    ),
    "portal.pricing.show_pricing": lazy_gettext(
        "price prices plans fees costs currency euro dollar trial free minutes included"
    ),
    "portal.settings.edit_sign_in_policy": lazy_gettext(
        "second factor two-factor 2fa mfa passkey password policy rules sessions security login"
    ),
    "portal.personal_data.edit_settings": lazy_gettext(
        "privacy gdpr retention kept days recordings transcripts delete erase"
    ),
    "portal.destinations.edit_partner_destinations": lazy_gettext(
        "countries regions allowed international abroad"
    ),
    "portal.spending.show_partner_spending": lazy_gettext("money minutes limit costs"),
    "portal.storage.show_storage": lazy_gettext("uploads delete space files disk"),
    "portal.carriers.list_accounts": lazy_gettext("twilio sip trunk voip provider"),
    "portal.identity_providers.list_providers": lazy_gettext(
        "single sign-on sso oidc google microsoft identity provider login"
    ),
    "portal.scim.edit_directory": lazy_gettext("scim provisioning sync users groups okta entra"),
    "portal.organization_groups.list_groups": lazy_gettext("limit staff access"),
}
"""Pages by endpoint."""

# Translators: the last text of each page has further words that find it, separated by spaces.
PAGES = (
    SearchablePage(
        lazy_gettext("Calling hours and limits"),
        "portal.organizations.list_organizations",
        lazy_gettext("time region retries retry attempts calls at once a day consent"),
        lazy_gettext("Settings of an organization"),
    ),
    SearchablePage(
        lazy_gettext("Costs and margin"),
        "portal.billing.show_costs",
        lazy_gettext("invoices statements bills profit earnings tax"),
    ),
    SearchablePage(
        lazy_gettext("Plan"),
        "portal.pricing.show_plan",
        lazy_gettext("invoices statements bills price subscription upgrade tax"),
    ),
    SearchablePage(
        lazy_gettext("Users"),
        "portal.users.list_users",
        lazy_gettext("people team members staff roles"),
    ),
    SearchablePage(
        lazy_gettext("Do not call"),
        "portal.do_not_call.list_do_not_call_lists",
        lazy_gettext("block dnc opt-out refuse"),
    ),
    SearchablePage(
        lazy_gettext("API access"),
        "portal.api_access.list_keys",
        lazy_gettext("keys developer integration documentation"),
    ),
    SearchablePage(
        lazy_gettext("Organization templates"),
        "portal.organization_templates.list_templates",
        lazy_gettext("new customer prepared bulk"),
    ),
    SearchablePage(
        lazy_gettext("API clients"),
        "portal.api_access.list_clients",
        lazy_gettext("oauth token credentials"),
    ),
    SearchablePage(
        lazy_gettext("Webhooks"),
        "portal.webhooks.list_webhooks",
        lazy_gettext("events notifications"),
    ),
    SearchablePage(
        lazy_gettext("Find a person’s data"),
        "portal.personal_data.find_personal_data",
        lazy_gettext("export erase request access"),
    ),
    SearchablePage(
        lazy_gettext("Plan limits"),
        "portal.pricing.edit_limits",
        lazy_gettext("calls at once a day"),
    ),
    SearchablePage(
        lazy_gettext("Readability of your colours"),
        "portal.branding.show_contrast",
        lazy_gettext("contrast accessibility"),
    ),
    SearchablePage(
        lazy_gettext("Versions of your brand"),
        "portal.branding.list_versions",
        lazy_gettext("roll back"),
    ),
    SearchablePage(
        lazy_gettext("Stripe account"),
        "portal.pricing.edit_stripe_account",
        lazy_gettext("payments billing"),
    ),
    SearchablePage(
        lazy_gettext("Report emails"),
        "portal.report.edit_schedule",
        lazy_gettext("schedule monthly"),
    ),
    SearchablePage(
        lazy_gettext("Notifications"),
        "portal.notifications.list_notifications",
        lazy_gettext("bell unread"),
    ),
    SearchablePage(
        lazy_gettext("Your account"),
        "portal.account.show_account",
        lazy_gettext("name email profile"),
    ),
    *(
        SearchablePage(label, "portal.account.show_account", words, ACCOUNT, anchor)
        for label, words, anchor in (
            (lazy_gettext("Time zone"), lazy_gettext("clock"), "timezone"),
            (
                lazy_gettext("Language"),
                lazy_gettext("translation English German Spanish French"),
                "language",
            ),
            (
                lazy_gettext("Appearance"),
                lazy_gettext("dark light theme mode colours"),
                "appearance",
            ),
            (lazy_gettext("Password"), lazy_gettext("change"), "change-password"),
            (lazy_gettext("Signed-in browsers"), lazy_gettext("sessions devices"), "sessions"),
        )
    ),
    SearchablePage(
        lazy_gettext("Second factor"),
        "portal.account.show_factors",
        lazy_gettext("two-factor 2fa mfa authenticator app passkey recovery codes security"),
        ACCOUNT,
    ),
    *(
        SearchablePage(label, "portal.settings.edit_settings", words, SETTINGS, anchor)
        for label, words, anchor in (
            (lazy_gettext("Your company"), lazy_gettext("partner name language"), "company"),
            (lazy_gettext("Addresses"), lazy_gettext("domain portal url host"), "addresses"),
            (
                lazy_gettext("Email addresses"),
                lazy_gettext("support sender from notification mail"),
                "email",
            ),
            (
                lazy_gettext("Billing"),
                lazy_gettext(
                    "payment collection invoice invoices tax vat id seller address bank due "
                    "statements"
                ),
                "billing",
            ),
            (
                lazy_gettext("New customers"),
                lazy_gettext("default assistant limit service"),
                "new-customers",
            ),
            (lazy_gettext("Links"), lazy_gettext("upgrade redirect url parameters"), "links"),
        )
    ),
    SearchablePage(
        lazy_gettext("Budget"),
        "portal.spending.edit_partner_budget",
        lazy_gettext("money costs month alerts"),
        SETTINGS,
    ),
    *(
        SearchablePage(name, endpoint, SETTINGS_WORDS.get(endpoint, ""), SETTINGS)
        for endpoint, name in (
            *SETTINGS_PAGES,
            ("portal.branding.show_branding", lazy_gettext("Branding")),
            ("portal.pricing.show_pricing", lazy_gettext("Pricing")),
        )
    ),
    SearchablePage(
        lazy_gettext("Versions of your plans"),
        "portal.pricing.list_versions",
        lazy_gettext("prices"),
    ),
    SearchablePage(
        lazy_gettext("Kept emails"), "portal.operator.list_mails", lazy_gettext("outbox mails")
    ),
)
ACTIONS = (
    SearchablePage(
        lazy_gettext("Add organization"),
        "portal.organizations.new_organization",
        lazy_gettext("create new customer"),
    ),
    SearchablePage(
        lazy_gettext("Add partner"),
        "portal.operator.new_partner",
        lazy_gettext("create new customer"),
    ),
    SearchablePage(
        lazy_gettext("Invite user"),
        "portal.users.new_user",
        lazy_gettext("add create new person colleague"),
    ),
    SearchablePage(
        lazy_gettext("Invite several users"),
        "portal.users.new_users",
        lazy_gettext("add many people"),
    ),
    SearchablePage(
        lazy_gettext("Add assistant"), "portal.assistants.new_assistant", lazy_gettext("create new")
    ),
    SearchablePage(
        lazy_gettext("Create campaign"), "portal.campaigns.new_campaign", lazy_gettext("add new")
    ),
    SearchablePage(
        lazy_gettext("Upload contacts"),
        "portal.uploads.choose_campaign",
        lazy_gettext("import file csv excel add new"),
    ),
    SearchablePage(
        lazy_gettext("Pause all calls"),
        "portal.carriers.confirm_pause_calling",
        lazy_gettext("stop calling hold emergency"),
    ),
    SearchablePage(
        lazy_gettext("Resume all calls"),
        "portal.carriers.resume_calling",
        lazy_gettext("calling continue end pause"),
        shown_on="portal.carriers.show_carrier_status",
    ),
    SearchablePage(
        lazy_gettext("Sign out"),
        "portal.auth.sign_out",
        lazy_gettext("log out leave"),
        ACCOUNT,
        "sessions",
        shown_on="portal.account.show_account",
    ),
    SearchablePage(
        lazy_gettext("Place test call"), "portal.calls.show_test_call", lazy_gettext("try dial")
    ),
    SearchablePage(
        lazy_gettext("Verify a phone number"),
        "portal.phone_numbers.new_verification",
        lazy_gettext("caller id trial"),
    ),
    SearchablePage(
        lazy_gettext("Create API key"), "portal.api_access.new_key", lazy_gettext("add new")
    ),
    SearchablePage(
        lazy_gettext("Create API client"),
        "portal.api_access.new_client",
        lazy_gettext("add new oauth"),
    ),
    SearchablePage(
        lazy_gettext("Add alert rule"),
        "portal.alerts.new_alert_rule",
        lazy_gettext("create new tell me"),
    ),
    SearchablePage(
        lazy_gettext("Add webhook"),
        "portal.webhooks.new_webhook",
        lazy_gettext("create new events"),
    ),
    SearchablePage(
        lazy_gettext("Add organization template"),
        "portal.organization_templates.new_template",
        lazy_gettext("create new prepared"),
    ),
)
