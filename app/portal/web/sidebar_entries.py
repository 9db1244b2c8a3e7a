"""The entries of the sidebar and the pages of the settings, in their groups."""

from dataclasses import dataclass

from app.languages import lazy_gettext, lazy_pgettext


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """An entry of the sidebar; ``endpoint`` is its page."""

    label: str
    icon: str
    endpoint: str
    within: tuple[str, ...] = ()
    """Prefixes of the endpoints for which this entry is highlighted."""


CUSTOMERS = lazy_gettext("Customers")
OWN_ORGANIZATION = lazy_gettext("Your organization")

OVERVIEW = NavigationEntry(
    lazy_gettext("Overview"), "layout-dashboard", "portal.overview.show_overview"
)
CARRIER_STATUS = NavigationEntry(
    lazy_gettext("Carrier status"),
    "activity-heartbeat",
    "portal.carriers.show_carrier_status",
    (
        "portal.carriers.confirm_pause_calling",
        "portal.carriers.pause_calling",
    ),
)
HISTORY = NavigationEntry(lazy_gettext("History"), "history", "portal.audit.show_audit")
CUSTOMER_ENTRIES = (
    NavigationEntry(
        lazy_gettext("Organizations"),
        "building",
        "portal.organizations.list_organizations",
        (
            "portal.organizations.",
            "portal.organization_templates.",
            "portal.verified_numbers.",
            "portal.audit.show_organization_activity",
            "portal.spending.edit_organization_",
            "portal.spending.save_organization_",
            "portal.storage.edit_organization_storage",
            "portal.storage.save_organization_storage",
        ),
    ),
    NavigationEntry(
        lazy_gettext("Users"),
        "users",
        "portal.users.list_users",
        (
            "portal.users.",
            "portal.organization_groups.edit_user_groups",
            "portal.organization_groups.save_user_groups",
            "portal.personal_data.show_user_data",
            "portal.personal_data.confirm_erase_user",
            "portal.personal_data.erase_user",
        ),
    ),
    NavigationEntry(
        lazy_gettext("Assistants"),
        "headset",
        "portal.assistants.list_assistants",
        ("portal.assistants.",),
    ),
    NavigationEntry(
        lazy_gettext("Phone numbers"),
        "number",
        "portal.phone_numbers.list_numbers",
        ("portal.phone_numbers.",),
    ),
)

PARTNER_SIDEBAR: tuple[tuple[str | None, tuple[NavigationEntry, ...]], ...] = (
    (None, (OVERVIEW,)),
    (CUSTOMERS, CUSTOMER_ENTRIES),
    (
        lazy_gettext("Outreach"),
        (
            NavigationEntry(
                lazy_gettext("Campaigns"),
                "speakerphone",
                "portal.campaigns.list_campaigns",
                (
                    "portal.campaigns.",
                    "portal.contacts.",
                    "portal.uploads.",
                    "portal.personal_data.show_contact_data",
                    "portal.personal_data.confirm_erase_contact",
                    "portal.personal_data.erase_contact",
                ),
            ),
            NavigationEntry(
                lazy_gettext("Uploads"),
                "upload",
                "portal.uploads.list_uploads",
                (
                    "portal.uploads.choose_campaign",
                    "portal.storage.show_storage",
                ),
            ),
            NavigationEntry(
                lazy_gettext("Calls"),
                "phone",
                "portal.calls.list_calls",
                (
                    "portal.calls.show_call",
                    "portal.calls.confirm_",
                    "portal.calls.cancel_call",
                    "portal.calls.add_to_do_not_call",
                    "portal.personal_data.show_call_data",
                    "portal.personal_data.confirm_erase_call",
                    "portal.personal_data.erase_call",
                ),
            ),
            NavigationEntry(
                lazy_gettext("Test call"),
                "phone-outgoing",
                "portal.calls.show_test_call",
                (
                    "portal.calls.check_test_call",
                    "portal.calls.place_test_call",
                ),
            ),
            CARRIER_STATUS,
            NavigationEntry(
                lazy_gettext("Do not call"),
                "phone-off",
                "portal.do_not_call.list_do_not_call_lists",
                ("portal.do_not_call.",),
            ),
        ),
    ),
    (
        lazy_gettext("Figures"),
        (
            NavigationEntry(lazy_gettext("Usage"), "chart-bar", "portal.usage.show_usage"),
            NavigationEntry(
                lazy_gettext("Costs and margin"),
                "coins",
                "portal.billing.show_costs",
                ("portal.billing.",),
            ),
            NavigationEntry(
                lazy_gettext("Report"),
                "clipboard-data",
                "portal.report.show_month",
                ("portal.report.",),
            ),
            NavigationEntry(
                lazy_gettext("Alerts"), "bell", "portal.alerts.list_alerts", ("portal.alerts.",)
            ),
            NavigationEntry(
                lazy_gettext("Plan"),
                "tag",
                "portal.pricing.show_plan",
                (
                    "portal.pricing.show_checkout",
                    "portal.billing.show_statement",
                ),
            ),
        ),
    ),
    (
        lazy_gettext("Your portal"),
        (
            NavigationEntry(
                lazy_gettext("Branding"),
                "palette",
                "portal.branding.show_branding",
                ("portal.branding.",),
            ),
            NavigationEntry(
                lazy_gettext("API access"),
                "key",
                "portal.api_access.list_keys",
                (
                    "portal.api_access.",
                    "portal.legacy_migration.",
                    "portal.webhooks.",
                    "portal.organization_groups.edit_client_groups",
                    "portal.organization_groups.save_client_groups",
                    "portal.spending.edit_key_spending",
                    "portal.spending.save_key_spending",
                ),
            ),
            NavigationEntry(
                lazy_gettext("Pricing"), "tag", "portal.pricing.show_pricing", ("portal.pricing.",)
            ),
            NavigationEntry(
                lazy_gettext("Settings"),
                "settings",
                "portal.settings.edit_settings",
                (
                    "portal.settings.",
                    "portal.identity_providers.",
                    "portal.scim.",
                    "portal.destinations.",
                    "portal.organization_groups.list_groups",
                    "portal.organization_groups.new_group",
                    "portal.organization_groups.create_group",
                    "portal.organization_groups.edit_group",
                    "portal.organization_groups.save_group",
                    "portal.organization_groups.confirm_delete_group",
                    "portal.organization_groups.delete_group",
                    "portal.personal_data.find_personal_data",
                    "portal.personal_data.edit_settings",
                    "portal.personal_data.save_settings",
                    "portal.personal_data.show_erasure",
                    "portal.carriers.list_accounts",
                    "portal.carriers.choose_account_kind",
                    "portal.carriers.edit_account",
                    "portal.carriers.save_account",
                    "portal.carriers.show_connection_test",
                    "portal.carriers.confirm_use_account",
                    "portal.carriers.confirm_remove_account",
                    "portal.carriers.edit_sip_trunk",
                    "portal.carriers.save_sip_trunk",
                    "portal.carriers.use_account",
                    "portal.carriers.remove_account",
                    "portal.spending.show_partner_spending",
                    "portal.spending.edit_partner_budget",
                    "portal.spending.save_partner_budget",
                    "portal.storage.show_storage",
                ),
            ),
            HISTORY,
        ),
    ),
)
"""The sidebar of a partner's staff and of members."""

OPERATOR_SIDEBAR: tuple[tuple[str | None, tuple[NavigationEntry, ...]], ...] = (
    (None, (OVERVIEW,)),
    (CUSTOMERS, CUSTOMER_ENTRIES),
    (
        lazy_pgettext("subject", "Calling"),
        (
            NavigationEntry(lazy_gettext("Calls"), "phone", "portal.operator.list_calls"),
            CARRIER_STATUS,
            NavigationEntry(
                lazy_gettext("Call destinations"),
                "world",
                "portal.destinations.edit_installation_destinations",
                ("portal.destinations.",),
            ),
            NavigationEntry(
                lazy_gettext("Spending"),
                "coin",
                "portal.spending.show_installation_spending",
                (
                    "portal.spending.edit_partner_limits",
                    "portal.spending.save_partner_limits",
                    "portal.spending.import_rates",
                ),
            ),
        ),
    ),
    (
        lazy_gettext("Platform"),
        (
            NavigationEntry(
                lazy_gettext("Installation"), "server", "portal.operator.show_installation"
            ),
            NavigationEntry(
                lazy_gettext("Storage"),
                "database",
                "portal.storage.show_installation_storage",
                (
                    "portal.storage.edit_partner_storage",
                    "portal.storage.save_partner_storage",
                ),
            ),
            NavigationEntry(lazy_gettext("Figure check"), "checks", "portal.operator.show_figures"),
            HISTORY,
        ),
    ),
)


PARTNER_ONLY_ENDPOINTS = frozenset(
    {
        "portal.alerts.list_alerts",
        "portal.calls.list_calls",
        "portal.usage.show_usage",
        "portal.billing.show_costs",
        "portal.report.show_report",
        "portal.report.show_month",
        "portal.branding.show_branding",
        "portal.branding.show_contrast",
        "portal.branding.list_versions",
        "portal.branding.show_version",
        "portal.organizations.new_organization",
        "portal.overview.show_earnings",
        "portal.organization_templates.list_templates",
        "portal.organization_templates.new_template",
        "portal.pricing.show_pricing",
        "portal.pricing.list_versions",
        "portal.pricing.edit_limits",
        "portal.pricing.edit_stripe_account",
        "portal.pricing.show_version",
        "portal.report.edit_schedule",
        "portal.alerts.new_alert_rule",
        "portal.notifications.list_notifications",
        "portal.settings.edit_settings",
        "portal.destinations.edit_partner_destinations",
        "portal.spending.show_partner_spending",
        "portal.spending.edit_partner_budget",
        "portal.identity_providers.list_providers",
        "portal.settings.show_domain",
        "portal.organization_groups.list_groups",
        "portal.settings.edit_sign_in_policy",
        "portal.personal_data.edit_settings",
        "portal.scim.edit_directory",
        "portal.carriers.confirm_pause_calling",
        "portal.carriers.resume_calling",
    }
)
"""Screens of the caller's own partner: operators have none."""


SETTINGS_GROUPS = (
    (
        lazy_gettext("Company"),
        (
            ("portal.settings.edit_settings", lazy_gettext("General")),
            ("portal.settings.show_domain", lazy_gettext("Domain and email")),
            ("portal.organization_groups.list_groups", lazy_gettext("Organization groups")),
        ),
    ),
    (
        lazy_pgettext("subject", "Calling"),
        (
            ("portal.carriers.list_accounts", lazy_gettext("Carrier accounts")),
            ("portal.destinations.edit_partner_destinations", lazy_gettext("Call destinations")),
            ("portal.spending.show_partner_spending", lazy_gettext("Spending")),
        ),
    ),
    (
        lazy_gettext("Security"),
        (
            ("portal.settings.edit_sign_in_policy", lazy_gettext("Sign-in")),
            ("portal.identity_providers.list_providers", lazy_gettext("Company accounts")),
            ("portal.scim.edit_directory", lazy_gettext("Directory")),
        ),
    ),
    (
        lazy_gettext("Data"),
        (
            ("portal.personal_data.edit_settings", lazy_gettext("Personal data")),
            ("portal.storage.show_storage", lazy_gettext("Storage")),
        ),
    ),
)
"""The pages of the settings in their groups: endpoints and names."""

SETTINGS_PAGES = tuple(page for _, pages in SETTINGS_GROUPS for page in pages)
