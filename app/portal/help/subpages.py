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
    "portal.access_why": HelpTopic(
        lazy_gettext("Whether a user or API client may do something, and why."),
        lazy_gettext("Role, organization and groups together decide it."),
        *VIEW_USERS,
    ),
    "portal.account_factors": HelpTopic(
        lazy_gettext("A second factor proves that it is you, even if someone has your password."),
        lazy_gettext("Keep the recovery codes: they replace a lost phone or passkey."),
        lazy_gettext("Your account"),
        "portal.account",
    ),
    "portal.call": HelpTopic(
        lazy_gettext(
            "Everything about one call: its attempts, recording, transcript and timeline."
        ),
        lazy_gettext("A call in progress is shown live until it ends."),
        *VIEW_CALLS,
    ),
    "portal.campaign_left_out": HelpTopic(
        lazy_gettext("Contacts that this campaign doesn’t call, with the reason for each."),
        lazy_gettext("They stay in the campaign; correct one on its own page."),
        *VIEW_DO_NOT_CALL_LISTS,
    ),
    "portal.campaign_plan": HelpTopic(
        lazy_gettext("Which assistant calls, at which times, and what it says first."),
        lazy_gettext("The organization’s calling hours and limits apply as well."),
        lazy_gettext("View assistants"),
        "portal.assistants",
    ),
    "portal.campaign_settings": HelpTopic(
        lazy_gettext("The name of the campaign and the assistants that may use its contacts."),
        lazy_gettext("An archived campaign places no calls and keeps its contacts."),
        lazy_gettext("View campaigns"),
        "portal.campaigns",
    ),
    "portal.contact": HelpTopic(
        lazy_gettext("A person that this campaign can call, with what you know about them."),
        lazy_gettext("A number on the do-not-call list is never called."),
        *VIEW_DO_NOT_CALL_LISTS,
    ),
    "portal.erasure": HelpTopic(
        lazy_gettext("The data about this person is deleted or replaced by a pseudonym."),
        lazy_gettext("Figures and the history stay correct without naming the person."),
        *VIEW_CALLS,
    ),
    "portal.exports": HelpTopic(
        lazy_gettext("Files of long lists that were prepared for you."),
        lazy_gettext("Only you can download them, and they are deleted after some days."),
        *VIEW_NOTIFICATIONS,
    ),
    "portal.find": HelpTopic(
        lazy_gettext(
            "Finds organizations, users, assistants, campaigns, contacts, calls, keys and pages."
        ),
        lazy_gettext("Press Ctrl+K on any page to search from there."),
        *VIEW_NOTIFICATIONS,
    ),
    "portal.operator_partner": HelpTopic(
        lazy_gettext("A partner with its administrators, customers, limits and trial mode."),
        lazy_gettext("To see its portal as a user does, open that user here."),
        lazy_gettext("View calls"),
        "portal.operator_calls",
    ),
    "portal.operator_partner_new": HelpTopic(
        lazy_gettext("A new partner gets its own portal and an administrator, who is invited."),
        lazy_gettext("It begins in trial mode, where only verified numbers can be called."),
        lazy_gettext("Call destinations"),
        "portal.operator_destinations",
    ),
    "portal.organization_plan": HelpTopic(
        lazy_gettext(
            "The plan decides what the organization pays, what is included and its limits."
        ),
        lazy_gettext("A month is charged by the plan at its end."),
        *PLANS_AND_PRICES,
    ),
    "portal.personal_data_settings": HelpTopic(
        lazy_gettext("How long calls, files and other personal data are kept."),
        lazy_gettext("A shorter time also deletes older data that is already stored."),
        *SETTINGS,
    ),
    "portal.personal_data": HelpTopic(
        lazy_gettext("Everything that is stored about one user or contact, in numbers."),
        lazy_gettext("A contact is everyone in the organization with the same number or email."),
        lazy_gettext("View exports"),
        "portal.exports",
    ),
    "portal.phone_number_assign": HelpTopic(
        lazy_gettext("Gives a phone number to one organization, whose calls may then show it."),
        lazy_gettext("Assign only numbers that the carrier has for you."),
        *VIEW_PHONE_NUMBERS,
    ),
    "portal.phone_number_verify": HelpTopic(
        lazy_gettext("We call the number and speak a code, which proves that it is yours."),
        lazy_gettext("Afterwards calls can show this number as caller ID."),
        *VIEW_PHONE_NUMBERS,
    ),
    "portal.saved_view_new": HelpTopic(
        lazy_gettext("A view keeps the filters, order and columns of a list under a name."),
        lazy_gettext("A shared view is also offered to your colleagues; only you can change it."),
        lazy_gettext("Your exports"),
        "portal.exports",
    ),
    "portal.sign_in_policy": HelpTopic(
        lazy_gettext("Who needs a second factor, and when a session ends."),
        lazy_gettext("A change also applies to users who are signed in."),
        *SETTINGS,
    ),
    "portal.statement": HelpTopic(
        lazy_gettext("What an organization pays for a month, line by line."),
        lazy_gettext(
            "It shows the addresses from the settings and never changes once the month is closed."
        ),
        *VIEW_USAGE,
    ),
    "portal.upload_columns": HelpTopic(
        lazy_gettext("Choose what each column of the file means."),
        lazy_gettext("Columns without a meaning are kept as metadata of the contacts."),
        *VIEW_UPLOADS,
    ),
    "portal.upload_undo": HelpTopic(
        lazy_gettext("Undoing reverses what this upload added and changed."),
        lazy_gettext("What was changed again afterwards stays as it is."),
        *VIEW_UPLOADS,
    ),
    "portal.user_new": HelpTopic(
        lazy_gettext("An invited user gets an email with a link to choose a password."),
        lazy_gettext("The role decides what the user sees and may change."),
        *VIEW_USERS,
    ),
    "portal.verified_numbers": HelpTopic(
        lazy_gettext("In trial mode only these numbers can be called."),
        lazy_gettext("The owner of a number proves it by entering the code of a call."),
        *VIEW_PHONE_NUMBERS,
    ),
}

SAME_HELP: dict[str, str] = {
    f"portal.{page}": f"portal.{other}"
    for other, pages in {
        "account_factors": "account_app",
        "alerts": "alert_rule alert_rule_new",
        "api_access": "api_key api_key_new",
        "api_clients": "api_client api_client_new",
        "api_webhooks": "api_webhook api_webhook_delivery api_webhook_edit api_webhook_new",
        "assistants": "assistant assistant_edit assistant_new organization_assistants",
        "audit": "organization_activity",
        "branding": "branding_review",
        "branding_history": "branding_version",
        "campaigns": "campaign_new organization_campaigns",
        "carrier_accounts": "carrier_account carrier_account_choose carrier_account_connection "
        "sip_trunk",
        "contact": "contact_edit contact_new",
        "costs": "costs_of_organization",
        "directory": "directory_group directory_token_new",
        "do_not_call_lists": "do_not_call do_not_call_add",
        "carrier_status": "operator_stuck_call",
        "operator_destinations": "operator_partner_destinations",
        "operator_partner": "operator_partner_domain",
        "operator_spending": "operator_partner_spending",
        "operator_storage": "operator_partner_storage",
        "organization_plan": "organization_plan_check",
        "organization_spending": "api_key_spending",
        "organization_templates": "organization_save_as_template organization_template "
        "organization_template_assistant organization_template_assistant_new "
        "organization_template_campaign organization_template_edit organization_template_new "
        "organization_template_use",
        "organizations": "organization_edit organization_new",
        "outbox": "outbox_mail",
        "personal_data": "call_data call_erase_confirm contact_data contact_erase_confirm "
        "user_data user_erase_confirm",
        "phone_numbers": "phone_number_list",
        "plan": "plan_checkout",
        "portal_settings_budget": "organization_budget",
        "portal_settings_companies": "portal_settings_company portal_settings_company_new",
        "portal_settings_groups": "api_client_groups portal_settings_group "
        "portal_settings_group_new user_groups",
        "pricing": "pricing_plan pricing_review",
        "pricing_history": "pricing_version",
        "pricing_limits": "pricing_limits_check",
        "saved_view_new": "saved_view",
        "storage": "organization_storage",
        "uploads": "campaign_uploads upload upload_choose_campaign upload_new",
        "usage": "organization_usage",
        "user_new": "users_invite_many",
        "users": "organization_users user user_edit",
        "verified_numbers": "verified_number",
    }.items()
    for page in pages.split()
}
"""Pages that need no help of their own -> the page whose help is shown there."""
