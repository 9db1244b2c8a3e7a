"""The purpose of each page in two sentences, and the page to read or open next."""

from typing import NamedTuple

from app.languages import lazy_gettext


class HelpTopic(NamedTuple):
    """``endpoint`` is the page behind ``label``; ``anchor`` is a part of it."""

    summary: str
    details: str
    label: str
    endpoint: str
    anchor: str | None = None


_API = "api_docs.docs"
VIEW_NOTIFICATIONS = (lazy_gettext("View notifications"), "portal.notifications.list_notifications")
VIEW_UPLOADS = (lazy_gettext("View uploads"), "portal.uploads.list_uploads")
VIEW_DO_NOT_CALL_LISTS = (
    lazy_gettext("View do-not-call lists"),
    "portal.do_not_call.list_do_not_call_lists",
)
CHECK_THE_CARRIER = (lazy_gettext("Check the carrier"), "portal.carriers.show_carrier_status")
VIEW_USAGE = (lazy_gettext("View usage"), "portal.usage.show_usage")
VIEW_CALLS = (lazy_gettext("View calls"), "portal.calls.list_calls")
PLANS_AND_PRICES = (lazy_gettext("Plans and prices"), "portal.pricing.show_pricing")
EDIT_THE_BRAND = (lazy_gettext("Edit the brand"), "portal.branding.show_branding")
SETTINGS = (lazy_gettext("Settings"), "portal.settings.edit_settings")
VIEW_USERS = (lazy_gettext("View users"), "portal.users.list_users")
VIEW_PHONE_NUMBERS = (lazy_gettext("View phone numbers"), "portal.phone_numbers.list_numbers")

TOPICS: dict[str, HelpTopic] = {
    "portal.overview.show_overview": HelpTopic(
        lazy_gettext("Compares this month with the same days of the previous month."),
        lazy_gettext(
            "Below, everything that someone has to decide is listed with a link to its page."
        ),
        *VIEW_NOTIFICATIONS,
    ),
    "portal.notifications.list_notifications": HelpTopic(
        lazy_gettext("Alerts, pauses, finished uploads and failed emails of the last 14 days."),
        lazy_gettext(
            "Each user reads them separately: your colleagues still see theirs as unread."
        ),
        lazy_gettext("Choose your emails"),
        "portal.account.show_account",
    ),
    "portal.account.show_account": HelpTopic(
        lazy_gettext("Your name, time zone, password and the emails you get."),
        lazy_gettext("Times on every page are shown in your time zone."),
        *VIEW_NOTIFICATIONS,
    ),
    "portal.organizations.list_organizations": HelpTopic(
        lazy_gettext(
            "An organization is one of your customers, with its own users, assistants and "
            "campaigns."
        ),
        lazy_gettext("Its plan and its settings limit what it can do."),
        lazy_gettext("Add organizations from a template"),
        "portal.organization_templates.list_templates",
    ),
    "portal.organization_templates.list_templates": HelpTopic(
        lazy_gettext(
            "A template holds plan, limits, calling rules, assistants and a campaign plan."
        ),
        lazy_gettext(
            "Later changes of a template don’t change organizations that were created from it."
        ),
        lazy_gettext("View organizations"),
        "portal.organizations.list_organizations",
    ),
    "portal.organization_templates.new_organizations_from_template": HelpTopic(
        lazy_gettext("A file creates up to 200 organizations, one for each row."),
        lazy_gettext("You see the problems of all rows before anything is created."),
        lazy_gettext("View templates"),
        "portal.organization_templates.list_templates",
    ),
    "portal.organizations.show_organization": HelpTopic(
        lazy_gettext(
            "Everything about one customer: usage this month, limits and the latest changes."
        ),
        lazy_gettext("While it is suspended, it places no calls and keeps its data."),
        lazy_gettext("View all organizations"),
        "portal.organizations.list_organizations",
    ),
    "portal.organizations.edit_settings": HelpTopic(
        lazy_gettext(
            "These rules apply to every call of the organization, whichever campaign it belongs to."
        ),
        lazy_gettext(
            "A call outside the hours or over a limit waits; a call to another region is refused."
        ),
        lazy_gettext("Open countries for all organizations"),
        "portal.destinations.edit_partner_destinations",
    ),
    "portal.spending.edit_organization_spending": HelpTopic(
        lazy_gettext(
            "A spending limit stops new calls once calls cost or last that much in a day or month."
        ),
        lazy_gettext("A budget only sends alerts."),
        lazy_gettext("Limits of your portal"),
        "portal.spending.show_partner_spending",
    ),
    "portal.users.list_users": HelpTopic(
        lazy_gettext("Everyone with access to your portal, and the members of your customers."),
        lazy_gettext("A suspended user is signed out immediately and can be reactivated later."),
        lazy_gettext("Invite several users"),
        "portal.users.new_users",
    ),
    "portal.assistants.list_assistants": HelpTopic(
        lazy_gettext(
            "An assistant is the AI that calls, with its own voice, messages and phone number."
        ),
        lazy_gettext("It can call once it is switched on and its number is set up."),
        lazy_gettext("Place a test call"),
        "portal.calls.show_test_call",
    ),
    "portal.phone_numbers.list_numbers": HelpTopic(
        lazy_gettext("Calls show one of these numbers as caller ID."),
        lazy_gettext("Each number belongs to one organization and can be moved to another."),
        lazy_gettext("Verify a phone number"),
        "portal.phone_numbers.new_verification",
    ),
    "portal.campaigns.list_campaigns": HelpTopic(
        lazy_gettext(
            "A campaign holds the contacts that an assistant calls, and the plan of when it calls."
        ),
        lazy_gettext("Calls begin when you start the campaign, never on upload."),
        *VIEW_UPLOADS,
    ),
    "portal.campaigns.show_campaign": HelpTopic(
        lazy_gettext("The contacts of this campaign and what happened with each."),
        lazy_gettext("Contacts on the do-not-call list stay here and are never called."),
        *VIEW_DO_NOT_CALL_LISTS,
    ),
    "portal.campaigns.show_outreach": HelpTopic(
        lazy_gettext("Start, pause and follow the calls of this campaign."),
        lazy_gettext("Pausing keeps calls in progress and cancels those that wait."),
        *CHECK_THE_CARRIER,
    ),
    "portal.uploads.list_uploads": HelpTopic(
        lazy_gettext(
            "A contact file is checked row by row before anything changes in the campaign."
        ),
        lazy_gettext("An applied upload can be undone for some days."),
        lazy_gettext("View stored files"),
        "portal.storage.show_storage",
    ),
    "portal.storage.show_storage": HelpTopic(
        lazy_gettext("Uploaded files and pictures of your brand count as storage."),
        lazy_gettext("Deleting the data of an upload frees space and keeps the contacts."),
        *VIEW_UPLOADS,
    ),
    "portal.calls.list_calls": HelpTopic(
        lazy_gettext("Every call of campaigns, scripts and tests, with its attempts and outcome."),
        lazy_gettext("A call with an unknown outcome is never placed again automatically."),
        *VIEW_USAGE,
    ),
    "portal.calls.show_test_call": HelpTopic(
        lazy_gettext("Call your own phone to hear an assistant before customers do."),
        lazy_gettext("A test call follows the same rules as any other call."),
        lazy_gettext("View assistants"),
        "portal.assistants.list_assistants",
    ),
    "portal.carriers.show_carrier_status": HelpTopic(
        lazy_gettext("Whether calls get through: the carrier, the queue and the calling service."),
        lazy_gettext("While calling is paused, new calls wait."),
        lazy_gettext("Carrier accounts"),
        "portal.carriers.list_accounts",
    ),
    "portal.carriers.list_accounts": HelpTopic(
        lazy_gettext(
            "Your own account or SIP trunk places your customers’ calls and is billed to you."
        ),
        lazy_gettext("Live calls use a new account once its test has passed."),
        *CHECK_THE_CARRIER,
    ),
    "portal.do_not_call.list_do_not_call_lists": HelpTopic(
        lazy_gettext("Numbers on these lists are never called, by no campaign, script or test."),
        lazy_gettext("Each organization has its own list."),
        lazy_gettext("View campaigns"),
        "portal.campaigns.list_campaigns",
    ),
    "portal.usage.show_usage": HelpTopic(
        lazy_gettext("A conversation is a call that a person or a voicemail answered."),
        lazy_gettext("Days begin at midnight UTC, so they can differ from your own days."),
        *VIEW_CALLS,
    ),
    "portal.billing.show_costs": HelpTopic(
        lazy_gettext("What your customers pay, what calls and voices cost you, and the margin."),
        lazy_gettext("A closed month never changes; later usage appears as a correction."),
        *PLANS_AND_PRICES,
    ),
    "portal.report.show_month": HelpTopic(
        lazy_gettext(
            "A month compared with the previous one, with growing and shrinking customers."
        ),
        lazy_gettext("It can be emailed to you and to your customers each month."),
        lazy_gettext("Schedule emails"),
        "portal.report.edit_schedule",
    ),
    "portal.report.show_report": HelpTopic(
        lazy_gettext("The members of your customers over all time."),
        lazy_gettext("Each organization’s conversations are counted once in the sums."),
        lazy_gettext("Report of the month"),
        "portal.report.show_month",
    ),
    "portal.report.edit_schedule": HelpTopic(
        lazy_gettext("The report of the last month is emailed on this day and hour."),
        lazy_gettext("The preview shows the email in the chosen language."),
        lazy_gettext("Report of the month"),
        "portal.report.show_month",
    ),
    "portal.alerts.list_alerts": HelpTopic(
        lazy_gettext("A rule watches a figure and opens an alert when its threshold is met."),
        lazy_gettext("An alert resolves by itself once the figure is back to normal."),
        *VIEW_NOTIFICATIONS,
    ),
    "portal.pricing.show_plan": HelpTopic(
        lazy_gettext("What your plan includes, what you used this month and what it costs."),
        lazy_gettext("An upgrade takes effect as soon as it is paid."),
        *VIEW_USAGE,
    ),
    "portal.branding.show_branding": HelpTopic(
        lazy_gettext("Logo, colours and texts of everything that your customers see."),
        lazy_gettext("Changes stay in a draft until you publish them."),
        lazy_gettext("Check readability"),
        "portal.branding.show_contrast",
    ),
    "portal.branding.show_contrast": HelpTopic(
        lazy_gettext("Each colour of your brand with its contrast against the page."),
        lazy_gettext("Where a colour is hard to read, the nearest readable shade is used."),
        *EDIT_THE_BRAND,
    ),
    "portal.branding.list_versions": HelpTopic(
        lazy_gettext("Every published version of your brand."),
        lazy_gettext("Rolling back publishes an earlier version again."),
        *EDIT_THE_BRAND,
    ),
    "portal.branding.show_surfaces": HelpTopic(
        lazy_gettext("Where your brand appears, and what is missing there."),
        lazy_gettext("Places without your brand show a neutral look."),
        *EDIT_THE_BRAND,
    ),
    "portal.api_access.list_keys": HelpTopic(
        lazy_gettext("An API key lets a script of one organization send contacts and place calls."),
        lazy_gettext("The key is shown once, when you create it."),
        lazy_gettext("Read the quick start"),
        _API,
        "start",
    ),
    "portal.api_access.list_clients": HelpTopic(
        lazy_gettext("An API client signs scripts in that manage your customers."),
        lazy_gettext("Its role decides what the scripts may do."),
        lazy_gettext("Read the quick start"),
        _API,
        "start",
    ),
    "portal.webhooks.list_webhooks": HelpTopic(
        lazy_gettext("A webhook sends events, such as an ended call, to your own server."),
        lazy_gettext("Events are signed and sent again until your server accepts them."),
        lazy_gettext("Read the limits of the API"),
        _API,
        "limits",
    ),
    "portal.pricing.show_pricing": HelpTopic(
        lazy_gettext("The plans that your customers see, with prices and what is included."),
        lazy_gettext("Changes stay in a draft until you publish a version."),
        lazy_gettext("Limits of the plans"),
        "portal.pricing.edit_limits",
    ),
    "portal.pricing.list_versions": HelpTopic(
        lazy_gettext("Every published version of your plans."),
        lazy_gettext("Restoring a version puts it into the draft, where you can review it."),
        *PLANS_AND_PRICES,
    ),
    "portal.pricing.edit_limits": HelpTopic(
        lazy_gettext(
            "How many calls each organization on a plan may place at the same time and in a day."
        ),
        lazy_gettext("A lower limit in an organization’s settings still applies."),
        *PLANS_AND_PRICES,
    ),
    "portal.pricing.edit_stripe_account": HelpTopic(
        lazy_gettext("Connect your Stripe account to sell plans to your customers."),
        lazy_gettext("Products and prices are created there when you publish your plans."),
        *PLANS_AND_PRICES,
    ),
    "portal.settings.edit_settings": HelpTopic(
        lazy_gettext("Company details, addresses and defaults of your portal."),
        lazy_gettext("New organizations start with the default assistant that you set here."),
        *EDIT_THE_BRAND,
    ),
    "portal.settings.show_domain": HelpTopic(
        lazy_gettext("The DNS records that prove your domain, and whether they are seen."),
        lazy_gettext("Your own host name shows your brand alone, also in the links of emails."),
        *SETTINGS,
    ),
    "portal.identity_providers.list_providers": HelpTopic(
        lazy_gettext("Sign-in with accounts that your company or your customers already have."),
        lazy_gettext("Each provider needs the address of this portal and a client of its own."),
        *SETTINGS,
    ),
    "portal.scim.edit_directory": HelpTopic(
        lazy_gettext("Your directory creates, changes and deactivates users by SCIM."),
        lazy_gettext("Users get the role of their groups; choose it here for each group."),
        *SETTINGS,
    ),
    "portal.organization_groups.list_groups": HelpTopic(
        lazy_gettext("Organizations that some of your admins look after."),
        lazy_gettext("Limit an admin or API client to groups on its own page."),
        lazy_gettext("Users"),
        "portal.users.list_users",
    ),
    "portal.destinations.edit_partner_destinations": HelpTopic(
        lazy_gettext("Countries that your customers may call besides their own."),
        lazy_gettext("A country that you don’t open here is refused for every organization."),
        lazy_gettext("Spending limits"),
        "portal.spending.show_partner_spending",
    ),
    "portal.spending.show_partner_spending": HelpTopic(
        lazy_gettext(
            "The most that the calls of all your organizations together may cost or last."
        ),
        lazy_gettext(
            "The platform operator sets these limits; you set those of each organization."
        ),
        lazy_gettext("Call destinations"),
        "portal.destinations.edit_partner_destinations",
    ),
    "portal.spending.edit_partner_budget": HelpTopic(
        lazy_gettext("An amount a month with emails at 50, 80 and 100 %%."),
        lazy_gettext("A budget stops no calls."),
        lazy_gettext("Spending limits"),
        "portal.spending.show_partner_spending",
    ),
    "portal.audit.show_audit": HelpTopic(
        lazy_gettext("Who changed what and when, with the values before and after."),
        lazy_gettext("Entries can’t be changed or deleted."),
        *VIEW_USERS,
    ),
    "portal.operator.list_mails": HelpTopic(
        lazy_gettext("Emails that were kept here because no mail server is set up."),
        lazy_gettext("Open one to see it as its reader would."),
        *VIEW_USERS,
    ),
    "portal.operator.show_installation": HelpTopic(
        lazy_gettext(
            "Workers, queues, carriers, emails, storage and versions of this installation."
        ),
        lazy_gettext("A part that needs attention says why in its details."),
        *CHECK_THE_CARRIER,
    ),
    "portal.destinations.edit_installation_destinations": HelpTopic(
        lazy_gettext("Countries and voice hosts that the partners may open."),
        lazy_gettext("A limit here also applies to what a partner opened before."),
        lazy_gettext("Spending limits"),
        "portal.spending.show_installation_spending",
    ),
    "portal.spending.show_installation_spending": HelpTopic(
        lazy_gettext(
            "Spending limits of each partner, and the call rates that they are counted with."
        ),
        lazy_gettext("The installation’s limit applies to partners without one."),
        lazy_gettext("Call destinations"),
        "portal.destinations.edit_installation_destinations",
    ),
    "portal.storage.show_installation_storage": HelpTopic(
        lazy_gettext("What each partner stores, and its limit."),
        lazy_gettext("At the limit new uploads are refused."),
        lazy_gettext("Installation"),
        "portal.operator.show_installation",
    ),
    "portal.operator.list_calls": HelpTopic(
        lazy_gettext("The calls of all partners, with their outcome, length and cost."),
        lazy_gettext("Who was called is visible only to the partner and its customer."),
        *CHECK_THE_CARRIER,
    ),
    "portal.operator.show_figures": HelpTopic(
        lazy_gettext("Each night the daily totals are compared with the rows that they count."),
        lazy_gettext("A difference is listed with its day."),
        lazy_gettext("Installation"),
        "portal.operator.show_installation",
    ),
}
"""Topics by endpoint; these pages show the “?”."""

OF_OPERATORS: dict[str, HelpTopic] = {
    "portal.overview.show_overview": HelpTopic(
        lazy_gettext("Every partner with its customers and the conversations of this month."),
        lazy_gettext("A suspended partner’s users are signed out and its calls stop."),
        lazy_gettext("Add a partner"),
        "portal.operator.new_partner",
    ),
    "portal.phone_numbers.list_numbers": HelpTopic(
        lazy_gettext("Calls show one of these numbers as caller ID."),
        lazy_gettext("You assign each number to one organization."),
        lazy_gettext("Assign a phone number"),
        "portal.phone_numbers.choose_numbers",
    ),
}
"""Pages that operators see differently."""
