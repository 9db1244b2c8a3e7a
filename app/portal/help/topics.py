"""What each page is for, in two sentences, and the page to read or open next."""

from typing import NamedTuple


class Topic(NamedTuple):
    """``endpoint`` is the page that ``label`` leads to; ``anchor`` is a part of it."""

    what: str
    more: str
    label: str
    endpoint: str
    anchor: str | None = None


_API = "api_docs.docs"

TOPICS: dict[str, Topic] = {
    "portal.overview": Topic(
        "The figures of this month stand beside the same days of the month before.",
        "Below, everything that someone has to decide is listed with a link to its page.",
        "View notifications",
        "portal.notifications",
    ),
    "portal.notifications": Topic(
        "Alerts, pauses, finished uploads and failed emails of the last 14 days.",
        "Each user reads them separately: your colleagues still see theirs as unread.",
        "Choose your emails",
        "portal.account",
    ),
    "portal.account": Topic(
        "Your name, time zone, password and the emails you get.",
        "Times on every page are shown in your time zone.",
        "View notifications",
        "portal.notifications",
    ),
    "portal.organizations": Topic(
        "An organization is one of your customers, with its own users, assistants and campaigns.",
        "Its plan and its settings limit what it can do.",
        "Create organizations from a template",
        "portal.organization_templates",
    ),
    "portal.organization_templates": Topic(
        "A template holds plan, limits, calling rules, assistants and a campaign plan.",
        "Later changes of a template don’t change organizations that were created from it.",
        "View organizations",
        "portal.organizations",
    ),
    "portal.organization_template_use_many": Topic(
        "A file creates up to 200 organizations, one for each row.",
        "You see the problems of all rows before anything is created.",
        "View templates",
        "portal.organization_templates",
    ),
    "portal.organization": Topic(
        "Everything about one customer: usage this month, limits and the latest changes.",
        "While it is suspended, it places no calls and keeps its data.",
        "View all organizations",
        "portal.organizations",
    ),
    "portal.organization_settings": Topic(
        "These rules apply to every call of the organization, whichever campaign it belongs to.",
        "A call outside the hours or over a limit waits; a call to another region is refused.",
        "Open countries for all organizations",
        "portal.portal_settings_destinations",
    ),
    "portal.organization_spending": Topic(
        "A spending limit stops new calls once calls cost or last that much in a day or month.",
        "A budget only sends alerts.",
        "Limits of your portal",
        "portal.portal_settings_spending",
    ),
    "portal.users": Topic(
        "Everyone with access to your portal, and the members of your customers.",
        "A suspended user is signed out at once and can be reactivated later.",
        "Invite several users",
        "portal.users_invite_many",
    ),
    "portal.assistants": Topic(
        "An assistant is the AI that calls, with its own voice, messages and phone number.",
        "It can call once it is switched on and its number is set up.",
        "Place a test call",
        "portal.test_call",
    ),
    "portal.phone_numbers": Topic(
        "Calls show one of these numbers as caller ID.",
        "Each number belongs to one organization and can be moved to another.",
        "Verify a phone number",
        "portal.phone_number_verify",
    ),
    "portal.campaigns": Topic(
        "A campaign holds the contacts that an assistant calls, and the plan of when it calls.",
        "Calls begin when you start the campaign, never on upload.",
        "View uploads",
        "portal.uploads",
    ),
    "portal.campaign": Topic(
        "The contacts of this campaign and what happened with each.",
        "Contacts on the do-not-call list stay here and are never called.",
        "View do-not-call lists",
        "portal.do_not_call_lists",
    ),
    "portal.campaign_outreach": Topic(
        "Start, pause and follow the calls of this campaign.",
        "Pausing keeps calls in progress and cancels those that wait.",
        "Check the carrier",
        "portal.line_health",
    ),
    "portal.uploads": Topic(
        "A contact file is checked row by row before anything changes in the campaign.",
        "An applied upload can be undone for some days.",
        "View stored files",
        "portal.storage",
    ),
    "portal.storage": Topic(
        "Uploaded files and pictures of your brand count as storage.",
        "Deleting the data of an upload frees space and keeps the contacts.",
        "View uploads",
        "portal.uploads",
    ),
    "portal.calls": Topic(
        "Every call of campaigns, scripts and tests, with its attempts and outcome.",
        "A call with an unknown outcome is never placed again automatically.",
        "View usage",
        "portal.usage",
    ),
    "portal.test_call": Topic(
        "Call your own phone to hear an assistant before customers do.",
        "A test call follows the same rules as any other call.",
        "View assistants",
        "portal.assistants",
    ),
    "portal.line_health": Topic(
        "Whether calls get through: the carrier, the queue and the calling service.",
        "While calling is paused, calls are accepted and wait.",
        "Carrier accounts",
        "portal.carrier_accounts",
    ),
    "portal.carrier_accounts": Topic(
        "Your own account or SIP trunk places your customers’ calls and is billed to you.",
        "Test an account before you choose it for calls.",
        "Check the carrier",
        "portal.line_health",
    ),
    "portal.do_not_call_lists": Topic(
        "Numbers on these lists are never called, by no campaign, script or test.",
        "Each organization has its own list.",
        "View campaigns",
        "portal.campaigns",
    ),
    "portal.usage": Topic(
        "A conversation is a call that a person or a voicemail answered.",
        "Days begin at midnight UTC, so they can differ from your own days.",
        "View calls",
        "portal.calls",
    ),
    "portal.costs": Topic(
        "What your customers pay, what calls and voices cost you, and the margin.",
        "A closed month never changes; later usage appears as a correction.",
        "Plans and prices",
        "portal.pricing",
    ),
    "portal.report_month": Topic(
        "A month beside the month before, with customers that grow or fall.",
        "It can be emailed to you and to your customers each month.",
        "Schedule emails",
        "portal.report_schedule",
    ),
    "portal.report": Topic(
        "The members of your customers over all time.",
        "Each organization’s conversations are counted once in the sums.",
        "Report of the month",
        "portal.report_month",
    ),
    "portal.report_schedule": Topic(
        "The report of the last month is emailed on this day and hour.",
        "Send a test email to see it first.",
        "Report of the month",
        "portal.report_month",
    ),
    "portal.alerts": Topic(
        "A rule watches a figure and opens an alert when its threshold is met.",
        "An alert resolves by itself once the figure is back to normal.",
        "View notifications",
        "portal.notifications",
    ),
    "portal.plan": Topic(
        "What your plan includes, what you used this month and what it costs.",
        "An upgrade takes effect as soon as it is paid.",
        "View usage",
        "portal.usage",
    ),
    "portal.branding": Topic(
        "Logo, colours and texts of everything that your customers see.",
        "Changes stay in a draft until you publish them.",
        "Check readability",
        "portal.branding_contrast",
    ),
    "portal.branding_contrast": Topic(
        "Each colour of your brand with its contrast against the page.",
        "Where a colour is hard to read, the nearest readable shade is used.",
        "Edit the brand",
        "portal.branding",
    ),
    "portal.branding_history": Topic(
        "Every published version of your brand.",
        "Rolling back publishes an earlier version again.",
        "Edit the brand",
        "portal.branding",
    ),
    "portal.branding_surfaces": Topic(
        "Where your brand appears, and what is missing there.",
        "Places without your brand show a neutral look.",
        "Edit the brand",
        "portal.branding",
    ),
    "portal.api_access": Topic(
        "An API key lets a script of one organization send contacts and place calls.",
        "The key is shown once, when you create it.",
        "Read the quick start",
        _API,
        "start",
    ),
    "portal.api_clients": Topic(
        "An API client signs scripts in that manage your customers.",
        "Its role decides what the scripts may do.",
        "Read the quick start",
        _API,
        "start",
    ),
    "portal.api_webhooks": Topic(
        "A webhook sends events, such as an ended call, to your own server.",
        "Events are signed and sent again until your server accepts them.",
        "Read the limits of the API",
        _API,
        "limits",
    ),
    "portal.api_migration": Topic(
        "Clients of the legacy API and the date on which it ends for each.",
        "Each page shows the new request that equals the last old one.",
        "Read the quick start",
        _API,
        "start",
    ),
    "portal.pricing": Topic(
        "The plans that your customers see, with prices and what is included.",
        "Changes stay in a draft until you publish a version.",
        "Limits of the plans",
        "portal.pricing_limits",
    ),
    "portal.pricing_history": Topic(
        "Every published version of your plans.",
        "Restoring a version puts it into the draft, where you can review it.",
        "Plans and prices",
        "portal.pricing",
    ),
    "portal.pricing_limits": Topic(
        "How many calls each organization on a plan may place at once and in a day.",
        "A lower limit in an organization’s settings still applies.",
        "Plans and prices",
        "portal.pricing",
    ),
    "portal.pricing_stripe": Topic(
        "Connect your Stripe account to sell plans to your customers.",
        "Products and prices are created there when you publish your plans.",
        "Plans and prices",
        "portal.pricing",
    ),
    "portal.portal_settings": Topic(
        "Company details, addresses and defaults of your portal.",
        "New organizations start with the default assistant that you set here.",
        "Edit the brand",
        "portal.branding",
    ),
    "portal.portal_settings_destinations": Topic(
        "Countries that your customers may call besides their own.",
        "A country that you don’t open here is refused for every organization.",
        "Spending limits",
        "portal.portal_settings_spending",
    ),
    "portal.portal_settings_spending": Topic(
        "The most that the calls of all your organizations together may cost or last.",
        "The platform operator sets these limits; you set those of each organization.",
        "Call destinations",
        "portal.portal_settings_destinations",
    ),
    "portal.portal_settings_budget": Topic(
        "An amount a month with emails at 50, 80 and 100 %.",
        "A budget stops no calls.",
        "Spending limits",
        "portal.portal_settings_spending",
    ),
    "portal.audit": Topic(
        "Who changed what and when, with the values before and after.",
        "Entries can’t be changed or deleted.",
        "View users",
        "portal.users",
    ),
    "portal.outbox": Topic(
        "Emails that were kept here because no mail server is set up.",
        "Open one to see it as its reader would.",
        "View users",
        "portal.users",
    ),
    "portal.operator_installation": Topic(
        "Workers, queues, carriers, emails, storage and versions of this installation.",
        "A part that needs attention says why in its details.",
        "Check the carrier",
        "portal.line_health",
    ),
    "portal.operator_destinations": Topic(
        "Countries and voice hosts that the partners may open.",
        "A limit here also applies to what a partner opened before.",
        "Spending limits",
        "portal.operator_spending",
    ),
    "portal.operator_spending": Topic(
        "Spending limits of each partner, and the call rates that they are counted with.",
        "The installation’s limit applies to partners without one.",
        "Call destinations",
        "portal.operator_destinations",
    ),
    "portal.operator_storage": Topic(
        "What each partner stores, and its limit.",
        "At the limit new uploads are refused.",
        "Installation",
        "portal.operator_installation",
    ),
    "portal.operator_figures": Topic(
        "Each night the daily totals are compared with the rows that they count.",
        "A difference is listed with its day.",
        "Installation",
        "portal.operator_installation",
    ),
}
"""By endpoint; the “?” stands on these pages."""

OF_OPERATORS: dict[str, Topic] = {
    "portal.overview": Topic(
        "Every partner with its customers and the conversations of this month.",
        "A suspended partner’s users are signed out and its calls stop.",
        "Add a partner",
        "portal.operator_partner_new",
    ),
    "portal.phone_numbers": Topic(
        "Calls show one of these numbers as caller ID.",
        "You assign each number to one organization.",
        "Assign a phone number",
        "portal.phone_number_assign",
    ),
}
"""Pages that operators see differently."""
