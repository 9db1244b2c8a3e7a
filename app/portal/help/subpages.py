"""The help of pages that are reached from another page."""

from app.languages import lazy_gettext
from app.portal.help.topics import (
    PLANS_AND_PRICES,
    SETTINGS,
    VIEW_CALLS,
    VIEW_DO_NOT_CALL_LISTS,
    VIEW_NOTIFICATIONS,
    VIEW_PHONE_NUMBERS,
    VIEW_UPLOADS,
    VIEW_USAGE,
    VIEW_USERS,
    HelpTopic,
)

OF_SUBPAGES: dict[str, HelpTopic] = {
    "portal.access.explain_access": HelpTopic(
        lazy_gettext("Whether a user or API client may do something, and why."),
        lazy_gettext("Role, organization and groups together decide it."),
        *VIEW_USERS,
    ),
    "portal.account.show_factors": HelpTopic(
        lazy_gettext("A second factor proves that it is you, even if someone has your password."),
        lazy_gettext("Keep the recovery codes: they replace a lost phone or passkey."),
        lazy_gettext("Your account"),
        "portal.account.show_account",
    ),
    "portal.calls.show_call": HelpTopic(
        lazy_gettext(
            "Everything about one call: its attempts, recording, transcript and timeline."
        ),
        lazy_gettext("A call in progress is shown live until it ends."),
        *VIEW_CALLS,
    ),
    "portal.campaigns.list_left_out_contacts": HelpTopic(
        lazy_gettext("Contacts that this campaign doesn’t call, with the reason for each."),
        lazy_gettext("They stay in the campaign; correct one on its own page."),
        *VIEW_DO_NOT_CALL_LISTS,
    ),
    "portal.campaigns.edit_plan": HelpTopic(
        lazy_gettext("Which assistant calls, at which times, and what it says first."),
        lazy_gettext("The organization’s calling hours and limits apply as well."),
        lazy_gettext("View assistants"),
        "portal.assistants.list_assistants",
    ),
    "portal.campaigns.edit_campaign": HelpTopic(
        lazy_gettext("The name of the campaign and the assistants that may use its contacts."),
        lazy_gettext("An archived campaign places no calls and keeps its contacts."),
        lazy_gettext("View campaigns"),
        "portal.campaigns.list_campaigns",
    ),
    "portal.contacts.show_contact": HelpTopic(
        lazy_gettext("A person that this campaign can call, with what you know about them."),
        lazy_gettext("A number on the do-not-call list is never called."),
        *VIEW_DO_NOT_CALL_LISTS,
    ),
    "portal.personal_data.show_erasure": HelpTopic(
        lazy_gettext("The data about this person is deleted or replaced by a pseudonym."),
        lazy_gettext("Figures and the history stay correct without naming the person."),
        *VIEW_CALLS,
    ),
    "portal.record_lists.list_exports": HelpTopic(
        lazy_gettext("Files of long lists that were prepared for you."),
        lazy_gettext("Only you can download them, and they are deleted after some days."),
        *VIEW_NOTIFICATIONS,
    ),
    "portal.search.search": HelpTopic(
        lazy_gettext(
            "Finds organizations, users, assistants, campaigns, contacts, calls, keys and pages."
        ),
        lazy_gettext("Press Ctrl+K on any page to search from there."),
        *VIEW_NOTIFICATIONS,
    ),
    "portal.operator.show_partner": HelpTopic(
        lazy_gettext("A partner with its administrators, customers, limits and trial mode."),
        lazy_gettext("To see its portal as a user does, open that user here."),
        lazy_gettext("View calls"),
        "portal.operator.list_calls",
    ),
    "portal.operator.new_partner": HelpTopic(
        lazy_gettext("A new partner gets its own portal and an administrator, who is invited."),
        lazy_gettext("It begins in trial mode, where only verified numbers can be called."),
        lazy_gettext("Call destinations"),
        "portal.destinations.edit_installation_destinations",
    ),
    "portal.organizations.choose_plan": HelpTopic(
        lazy_gettext(
            "The plan decides what the organization pays, what is included and its limits."
        ),
        lazy_gettext("A month is charged by the plan at its end."),
        *PLANS_AND_PRICES,
    ),
    "portal.personal_data.edit_settings": HelpTopic(
        lazy_gettext("How long calls, files and other personal data are kept."),
        lazy_gettext("A shorter time also deletes older data that is already stored."),
        *SETTINGS,
    ),
    "portal.personal_data.find_personal_data": HelpTopic(
        lazy_gettext("Everything that is stored about one user or contact, in numbers."),
        lazy_gettext("A contact is everyone in the organization with the same number or email."),
        lazy_gettext("View exports"),
        "portal.record_lists.list_exports",
    ),
    "portal.phone_numbers.choose_numbers": HelpTopic(
        lazy_gettext("Gives a phone number to one organization, whose calls may then show it."),
        lazy_gettext("Assign only numbers that the carrier has for you."),
        *VIEW_PHONE_NUMBERS,
    ),
    "portal.phone_numbers.new_verification": HelpTopic(
        lazy_gettext("We call the number and speak a code, which proves that it is yours."),
        lazy_gettext("Afterwards calls can show this number as caller ID."),
        *VIEW_PHONE_NUMBERS,
    ),
    "portal.record_lists.new_saved_view": HelpTopic(
        lazy_gettext("A view keeps the filters, order and columns of a list under a name."),
        lazy_gettext("A shared view is also offered to your colleagues; only you can change it."),
        lazy_gettext("Your exports"),
        "portal.record_lists.list_exports",
    ),
    "portal.settings.edit_sign_in_policy": HelpTopic(
        lazy_gettext("Who needs a second factor, and when a session ends."),
        lazy_gettext("A change also applies to users who are signed in."),
        *SETTINGS,
    ),
    "portal.billing.show_statement": HelpTopic(
        lazy_gettext("What an organization pays for a month, line by line."),
        lazy_gettext(
            "It shows the addresses from the settings and never changes once the month is closed."
        ),
        *VIEW_USAGE,
    ),
    "portal.uploads.edit_columns": HelpTopic(
        lazy_gettext("Choose what each column of the file means."),
        lazy_gettext("Columns without a meaning are kept as metadata of the contacts."),
        *VIEW_UPLOADS,
    ),
    "portal.uploads.confirm_undo_upload": HelpTopic(
        lazy_gettext("Undoing reverses what this upload added and changed."),
        lazy_gettext("What was changed again afterwards stays as it is."),
        *VIEW_UPLOADS,
    ),
    "portal.users.new_user": HelpTopic(
        lazy_gettext("An invited user gets an email with a link to choose a password."),
        lazy_gettext("The role decides what the user sees and may change."),
        *VIEW_USERS,
    ),
    "portal.verified_numbers.list_numbers": HelpTopic(
        lazy_gettext("In trial mode only these numbers can be called."),
        lazy_gettext("The owner of a number proves it by entering the code of a call."),
        *VIEW_PHONE_NUMBERS,
    ),
}

SAME_HELP: dict[str, str] = {
    page: other
    for other, pages in {
        "portal.account.show_factors": ("portal.account.show_app_setup",),
        "portal.alerts.list_alerts": (
            "portal.alerts.show_alert_rule",
            "portal.alerts.new_alert_rule",
        ),
        "portal.api_access.list_keys": (
            "portal.api_access.show_key",
            "portal.api_access.new_key",
        ),
        "portal.api_access.list_clients": (
            "portal.api_access.show_client",
            "portal.api_access.new_client",
        ),
        "portal.webhooks.list_webhooks": (
            "portal.webhooks.show_webhook",
            "portal.webhooks.show_delivery",
            "portal.webhooks.edit_webhook",
            "portal.webhooks.new_webhook",
        ),
        "portal.assistants.list_assistants": (
            "portal.assistants.show_assistant",
            "portal.assistants.edit_assistant",
            "portal.assistants.new_assistant",
            "portal.organizations.list_organization_assistants",
        ),
        "portal.audit.show_audit": ("portal.audit.show_organization_activity",),
        "portal.branding.show_branding": ("portal.branding.review_branding",),
        "portal.branding.list_versions": ("portal.branding.show_version",),
        "portal.campaigns.list_campaigns": (
            "portal.campaigns.new_campaign",
            "portal.organizations.list_organization_campaigns",
        ),
        "portal.carriers.list_accounts": (
            "portal.carriers.edit_account",
            "portal.carriers.choose_account_kind",
            "portal.carriers.show_connection_test",
            "portal.carriers.edit_sip_trunk",
        ),
        "portal.contacts.show_contact": (
            "portal.contacts.edit_contact",
            "portal.contacts.new_contact",
        ),
        "portal.billing.show_costs": ("portal.billing.show_organization_costs",),
        "portal.scim.edit_directory": (
            "portal.scim.edit_directory_group",
            "portal.scim.new_token",
        ),
        "portal.do_not_call.list_do_not_call_lists": (
            "portal.do_not_call.list_numbers",
            "portal.do_not_call.new_numbers",
        ),
        "portal.carriers.show_carrier_status": ("portal.operator.show_stuck_call",),
        "portal.destinations.edit_installation_destinations": (
            "portal.destinations.edit_allowed_destinations",
        ),
        "portal.operator.show_partner": ("portal.operator.edit_domain",),
        "portal.spending.show_installation_spending": ("portal.spending.edit_partner_limits",),
        "portal.storage.show_installation_storage": ("portal.storage.edit_partner_storage",),
        "portal.organizations.choose_plan": ("portal.organizations.check_plan",),
        "portal.spending.edit_organization_spending": ("portal.spending.edit_key_spending",),
        "portal.organization_templates.list_templates": (
            "portal.organization_templates.new_template_from_organization",
            "portal.organization_templates.show_template",
            "portal.organization_templates.edit_template_assistant",
            "portal.organization_templates.new_template_assistant",
            "portal.organization_templates.edit_template_campaign",
            "portal.organization_templates.edit_template",
            "portal.organization_templates.new_template",
            "portal.organization_templates.new_organization_from_template",
        ),
        "portal.organizations.list_organizations": (
            "portal.organizations.edit_organization",
            "portal.organizations.new_organization",
        ),
        "portal.operator.list_mails": ("portal.operator.show_mail",),
        "portal.personal_data.find_personal_data": (
            "portal.personal_data.show_call_data",
            "portal.personal_data.confirm_erase_call",
            "portal.personal_data.show_contact_data",
            "portal.personal_data.confirm_erase_contact",
            "portal.personal_data.show_user_data",
            "portal.personal_data.confirm_erase_user",
        ),
        "portal.phone_numbers.list_numbers": (
            "portal.phone_numbers.confirm_move_number",
            "portal.phone_numbers.list_account_numbers",
        ),
        "portal.pricing.show_plan": ("portal.pricing.show_checkout",),
        "portal.spending.edit_partner_budget": ("portal.spending.edit_organization_budget",),
        "portal.identity_providers.list_providers": (
            "portal.identity_providers.edit_provider",
            "portal.identity_providers.new_provider",
        ),
        "portal.organization_groups.list_groups": (
            "portal.organization_groups.edit_client_groups",
            "portal.organization_groups.edit_group",
            "portal.organization_groups.new_group",
            "portal.organization_groups.edit_user_groups",
        ),
        "portal.pricing.show_pricing": (
            "portal.pricing.edit_plan",
            "portal.pricing.review_draft",
        ),
        "portal.pricing.list_versions": ("portal.pricing.show_version",),
        "portal.pricing.edit_limits": ("portal.pricing.check_limits",),
        "portal.record_lists.new_saved_view": ("portal.record_lists.edit_saved_view",),
        "portal.storage.show_storage": ("portal.storage.edit_organization_storage",),
        "portal.uploads.list_uploads": (
            "portal.campaigns.list_campaign_uploads",
            "portal.uploads.show_upload",
            "portal.uploads.choose_campaign",
            "portal.uploads.new_upload",
        ),
        "portal.usage.show_usage": ("portal.organizations.show_organization_usage",),
        "portal.users.new_user": ("portal.users.new_users",),
        "portal.users.list_users": (
            "portal.organizations.list_organization_users",
            "portal.users.show_user",
            "portal.users.edit_user",
        ),
        "portal.verified_numbers.list_numbers": ("portal.verified_numbers.enter_code",),
    }.items()
    for page in pages
}
"""Pages that need no help of their own -> the page whose help is shown there."""
