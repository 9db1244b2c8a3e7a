"""Who may do what: the one table that both faces, the tests and the docs read.

``ROLE_PERMISSIONS`` gives each role its permissions, ``ROUTES`` gives each route of the
application the permission it needs. A route without an entry stops the start (`unlisted_routes`).
Finer rules (which fields, which user types) live in the services and start from these words.
"""

from collections.abc import Iterable
from enum import StrEnum

from app.enums import Role


class Permission(StrEnum):
    """Permissions; the values are the scope words that tokens and keys carry."""

    PARTNER_READ = "partner:read"
    PARTNER_CREATE = "partner:create"
    PARTNER_WRITE = "partner:write"
    BRANDING_WRITE = "branding:write"
    PRICING_READ = "pricing:read"
    USERS_READ = "users:read"
    USERS_WRITE = "users:write"
    ADMINS_CREATE = "admins:create"
    ORGANIZATIONS_READ = "organizations:read"
    ORGANIZATIONS_WRITE = "organizations:write"
    REPORT_READ = "report:read"
    SUBSCRIPTION_READ = "subscription:read"
    USAGE_READ = "usage:read"
    CREDENTIALS_MANAGE = "credentials:manage"
    AUDIT_READ = "audit:read"
    CAMPAIGNS_READ = "campaigns:read"
    CAMPAIGNS_WRITE = "campaigns:write"
    CONTACTS_READ = "contacts:read"
    CONTACTS_WRITE = "contacts:write"
    CALLS_READ = "calls:read"
    CALLS_CREATE = "calls:create"
    LEGACY_CALL = "phone/call.out"


P = Permission

_OUTREACH = frozenset(
    {
        P.CAMPAIGNS_READ,
        P.CAMPAIGNS_WRITE,
        P.CONTACTS_READ,
        P.CONTACTS_WRITE,
        P.CALLS_READ,
        P.CALLS_CREATE,
    }
)
_READS = frozenset(
    {
        P.PARTNER_READ,
        P.PRICING_READ,
        P.USERS_READ,
        P.ORGANIZATIONS_READ,
        P.REPORT_READ,
        P.SUBSCRIPTION_READ,
        P.USAGE_READ,
    }
)

ROLE_PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.OPERATOR: _READS
    | {P.PARTNER_CREATE, P.PARTNER_WRITE, P.BRANDING_WRITE, P.USERS_WRITE, P.ORGANIZATIONS_WRITE}
    | {P.ADMINS_CREATE, P.AUDIT_READ},
    Role.PARTNER_ADMIN: _READS
    | _OUTREACH
    | {P.PARTNER_WRITE, P.BRANDING_WRITE, P.USERS_WRITE, P.ADMINS_CREATE, P.ORGANIZATIONS_WRITE}
    | {P.CREDENTIALS_MANAGE, P.AUDIT_READ},
    Role.PARTNER_EDITOR: _READS | _OUTREACH | {P.BRANDING_WRITE},
    Role.ADMIN: _READS | _OUTREACH | {P.USERS_WRITE, P.ORGANIZATIONS_WRITE},
    Role.STANDARD: _OUTREACH | {P.USAGE_READ},
}

API_KEY_SCOPES: frozenset[Permission] = frozenset(
    {P.CONTACTS_READ, P.CONTACTS_WRITE, P.CALLS_READ, P.CALLS_CREATE}
)
"""What an Area C key may be given (decisions, section 3)."""


class Access(StrEnum):
    """Routes that ask for no permission, each for a reason that is said where it is listed."""

    PUBLIC = "public"
    SIGNED_IN = "signed-in"


ROUTES: dict[str, Permission | Access] = {
    "static": Access.PUBLIC,
    "health.healthz": Access.PUBLIC,
    "health.readyz": Access.PUBLIC,
    "api_docs.openapi_json": Access.PUBLIC,
    "api_docs.docs": Access.PUBLIC,
    "oauth.token": Access.PUBLIC,  # clients prove themselves in the form
    "oauth.revoke_token": Access.PUBLIC,
    "oauth.metadata": Access.PUBLIC,
    "oauth.key_set": Access.PUBLIC,
    "partner_admin.list_partners": P.PARTNER_READ,
    "partner_admin.create_partner": P.PARTNER_CREATE,
    "partner_admin.get_partner": P.PARTNER_READ,
    "partner_admin.update_partner": P.BRANDING_WRITE,  # the service looks at each field
    "partner_admin.list_pricing": P.PRICING_READ,
    "partner_admin.list_partner_users": P.USERS_READ,
    "partner_admin.create_partner_user": P.USERS_WRITE,
    "partner_admin.list_organizations": P.ORGANIZATIONS_READ,
    "partner_admin.list_organization_users": P.USERS_READ,
    "partner_admin.update_organization": P.ORGANIZATIONS_WRITE,
    "partner_admin.admin_report": P.REPORT_READ,
    "partner_admin.create_user": P.USERS_WRITE,
    "partner_admin.create_partial_user": P.USERS_WRITE,
    "partner_admin.update_user": P.USERS_WRITE,
    "partner_admin.find_subscription": P.SUBSCRIPTION_READ,
    "partner_admin.get_user_subscription": P.SUBSCRIPTION_READ,
    "partner_admin.find_usage": P.USAGE_READ,
    "partner_admin.create_admin": P.ADMINS_CREATE,
    "legacy_calls.place_call": P.LEGACY_CALL,
    "twilio.status": Access.PUBLIC,  # the carrier's signature is the proof, here and below
    "twilio.answer": Access.PUBLIC,
    "portal.brand_stylesheet": Access.PUBLIC,
    "portal.brand_image": Access.PUBLIC,
    "portal.chat_stylesheet": Access.PUBLIC,
    "portal.sign_in": Access.PUBLIC,
    "portal.sign_in_post": Access.PUBLIC,
    "portal.partner_sign_in": Access.PUBLIC,
    "portal.partner_sign_in_post": Access.PUBLIC,
    "portal.choose_portal": Access.PUBLIC,
    "portal.sign_in_again": Access.PUBLIC,
    "portal.partner_sign_in_again": Access.PUBLIC,
    "portal.sign_out": Access.PUBLIC,
    "portal.forgot_password": Access.PUBLIC,
    "portal.forgot_password_post": Access.PUBLIC,
    "portal.partner_forgot_password": Access.PUBLIC,
    "portal.partner_forgot_password_post": Access.PUBLIC,
    "portal.password": Access.PUBLIC,  # the link's own token is the proof, here and below
    "portal.password_post": Access.PUBLIC,
    "portal.partner_password": Access.PUBLIC,
    "portal.partner_password_post": Access.PUBLIC,
    "portal.invitation": Access.PUBLIC,
    "portal.invitation_post": Access.PUBLIC,
    "portal.account": Access.SIGNED_IN,
    "portal.account_save": Access.SIGNED_IN,
    "portal.account_password": Access.SIGNED_IN,
    "portal.account_mails": Access.SIGNED_IN,
    "portal.account_session_end": Access.SIGNED_IN,
    "portal.account_sessions_end": Access.SIGNED_IN,
    "portal.outbox": P.PARTNER_WRITE,  # a mail's link lets in whom it was for
    "portal.outbox_mail": P.PARTNER_WRITE,
    "portal.outbox_html": P.PARTNER_WRITE,
    "portal.theme": Access.SIGNED_IN,
    "portal.overview": Access.SIGNED_IN,
    "portal.find": Access.SIGNED_IN,
    "portal.organizations": P.ORGANIZATIONS_READ,
    "portal.organization": P.ORGANIZATIONS_READ,
    "portal.assistants": P.ORGANIZATIONS_READ,
    "portal.assistant": P.ORGANIZATIONS_READ,
    "portal.assistant_new": P.ORGANIZATIONS_WRITE,
    "portal.assistant_create": P.ORGANIZATIONS_WRITE,
    "portal.assistant_edit": P.ORGANIZATIONS_WRITE,
    "portal.assistant_save": P.ORGANIZATIONS_WRITE,
    "portal.assistant_key_add": P.ORGANIZATIONS_WRITE,
    "portal.assistant_key_remove_question": P.ORGANIZATIONS_WRITE,
    "portal.assistant_key_remove": P.ORGANIZATIONS_WRITE,
    "portal.organization_new": P.ORGANIZATIONS_WRITE,
    "portal.organization_create": P.ORGANIZATIONS_WRITE,
    "portal.organization_people": P.USERS_READ,
    "portal.organization_assistants": P.ORGANIZATIONS_READ,
    "portal.organization_campaigns": P.CAMPAIGNS_READ,
    "portal.organization_usage": P.USAGE_READ,
    "portal.organization_activity": P.AUDIT_READ,
    "portal.organization_edit": P.ORGANIZATIONS_WRITE,
    "portal.organization_save": P.ORGANIZATIONS_WRITE,
    "portal.organization_plan": P.ORGANIZATIONS_WRITE,
    "portal.organization_plan_check": P.ORGANIZATIONS_WRITE,
    "portal.organization_plan_save": P.ORGANIZATIONS_WRITE,
    "portal.organization_suspend": P.ORGANIZATIONS_WRITE,
    "portal.organization_suspend_now": P.ORGANIZATIONS_WRITE,
    "portal.organization_resume": P.ORGANIZATIONS_WRITE,
    "portal.organization_archive": P.ORGANIZATIONS_WRITE,
    "portal.organization_archive_now": P.ORGANIZATIONS_WRITE,
    "portal.organization_restore": P.ORGANIZATIONS_WRITE,
    "portal.organization_settings": P.ORGANIZATIONS_READ,
    "portal.organization_settings_save": P.ORGANIZATIONS_WRITE,
    "portal.do_not_call_lists": P.CONTACTS_READ,
    "portal.do_not_call": P.CONTACTS_READ,
    "portal.do_not_call_export": P.CONTACTS_READ,
    "portal.do_not_call_add": P.CONTACTS_WRITE,
    "portal.do_not_call_add_all": P.CONTACTS_WRITE,
    "portal.do_not_call_add_good": P.CONTACTS_WRITE,
    "portal.do_not_call_remove": P.CONTACTS_WRITE,
    "portal.do_not_call_remove_now": P.CONTACTS_WRITE,
    "portal.users": P.USERS_READ,
    "portal.user": P.USERS_READ,
    "portal.user_new": P.USERS_WRITE,
    "portal.user_invite": P.USERS_WRITE,
    "portal.user_edit": P.USERS_WRITE,
    "portal.user_save": P.USERS_WRITE,
    "portal.user_resend": P.USERS_WRITE,
    "portal.user_suspend": P.USERS_WRITE,
    "portal.user_suspend_now": P.USERS_WRITE,
    "portal.user_reactivate": P.USERS_WRITE,
    "portal.user_deactivate": P.USERS_WRITE,
    "portal.user_deactivate_now": P.USERS_WRITE,
    "portal.users_suspend": P.USERS_WRITE,
    "portal.users_suspend_now": P.USERS_WRITE,
    "portal.users_reactivate": P.USERS_WRITE,
    "portal.users_reactivate_now": P.USERS_WRITE,
    "portal.users_invite_many": P.USERS_WRITE,
    "portal.users_invite_many_now": P.USERS_WRITE,
    "portal.campaigns": P.CAMPAIGNS_READ,
    "portal.campaign": P.CAMPAIGNS_READ,
    "portal.campaign_uploads": P.CAMPAIGNS_READ,
    "portal.campaign_settings": P.CAMPAIGNS_READ,
    "portal.campaign_new": P.CAMPAIGNS_WRITE,
    "portal.campaign_create": P.CAMPAIGNS_WRITE,
    "portal.campaign_save": P.CAMPAIGNS_WRITE,
    "portal.campaign_archive_question": P.CAMPAIGNS_WRITE,
    "portal.campaign_archive": P.CAMPAIGNS_WRITE,
    "portal.contact": P.CONTACTS_READ,
    "portal.contact_file": P.CONTACTS_READ,
    "portal.contact_new": P.CONTACTS_WRITE,
    "portal.contact_create": P.CONTACTS_WRITE,
    "portal.contact_edit": P.CONTACTS_WRITE,
    "portal.contact_save": P.CONTACTS_WRITE,
    "portal.contact_remove_question": P.CONTACTS_WRITE,
    "portal.contact_remove": P.CONTACTS_WRITE,
    "portal.contact_put_back": P.CONTACTS_WRITE,
    "portal.contact_do_not_call_question": P.CONTACTS_WRITE,
    "portal.contact_do_not_call": P.CONTACTS_WRITE,
    "portal.uploads": P.CONTACTS_WRITE,
    "portal.upload_new": P.CONTACTS_WRITE,
    "portal.upload_create": P.CONTACTS_WRITE,
    "portal.upload": P.CONTACTS_WRITE,
    "portal.upload_live": P.CONTACTS_WRITE,
    "portal.upload_failures": P.CONTACTS_WRITE,
    "portal.upload_file": P.CONTACTS_WRITE,
    "portal.upload_undo": P.CONTACTS_WRITE,
    "portal.upload_undo_start": P.CONTACTS_WRITE,
    "portal.upload_columns": P.CONTACTS_WRITE,
    "portal.upload_columns_save": P.CONTACTS_WRITE,
    "portal.upload_check_again": P.CONTACTS_WRITE,
    "portal.upload_repair": P.CONTACTS_WRITE,
    "portal.upload_take_back": P.CONTACTS_WRITE,
    "portal.upload_mend": P.CONTACTS_WRITE,
    "portal.upload_left_out_take_back": P.CONTACTS_WRITE,
    "portal.upload_forget_mended": P.CONTACTS_WRITE,
    "portal.upload_apply": P.CONTACTS_WRITE,
    "portal.upload_cancel": P.CONTACTS_WRITE,
    "portal.calls": P.CALLS_READ,
    "portal.call": P.CALLS_READ,
    "portal.call_live": P.CALLS_READ,
    "portal.call_cancel_ask": P.CALLS_CREATE,
    "portal.call_cancel": P.CALLS_CREATE,
    "portal.test_call": P.CALLS_CREATE,
    "portal.test_call_checks": P.CALLS_CREATE,
    "portal.test_call_place": P.CALLS_CREATE,
    "portal.usage": P.USAGE_READ,
    "portal.usage_file": P.USAGE_READ,
    "portal.audit": P.AUDIT_READ,
    "portal.audit_file": P.AUDIT_READ,
    "portal.report": P.REPORT_READ,
    "portal.report_file": P.REPORT_READ,
    "portal.pricing": P.PRICING_READ,
    "portal.pricing_edit": P.PARTNER_WRITE,
    "portal.pricing_save": P.PARTNER_WRITE,
    "portal.branding": P.BRANDING_WRITE,
    "portal.branding_save": P.BRANDING_WRITE,
    "portal.branding_rearrange": P.BRANDING_WRITE,
    "portal.branding_use_shade": P.BRANDING_WRITE,
    "portal.branding_publish": P.BRANDING_WRITE,
    "portal.branding_discard": P.BRANDING_WRITE,
    "portal.branding_discard_ask": P.BRANDING_WRITE,
    "portal.branding_image": P.BRANDING_WRITE,
    "portal.branding_image_remove": P.BRANDING_WRITE,
    "portal.branding_preview": P.BRANDING_WRITE,
    "portal.api_access": P.CREDENTIALS_MANAGE,
    "portal.api_key": P.CREDENTIALS_MANAGE,
    "portal.api_key_new": P.CREDENTIALS_MANAGE,
    "portal.api_key_create": P.CREDENTIALS_MANAGE,
    "portal.api_key_roll_page": P.CREDENTIALS_MANAGE,
    "portal.api_key_roll": P.CREDENTIALS_MANAGE,
    "portal.api_key_revoke_question": P.CREDENTIALS_MANAGE,
    "portal.api_key_revoke": P.CREDENTIALS_MANAGE,
    "portal.api_clients": P.CREDENTIALS_MANAGE,
    "portal.api_client": P.CREDENTIALS_MANAGE,
    "portal.api_client_new": P.CREDENTIALS_MANAGE,
    "portal.api_client_create": P.CREDENTIALS_MANAGE,
    "portal.api_client_roll_page": P.CREDENTIALS_MANAGE,
    "portal.api_client_roll": P.CREDENTIALS_MANAGE,
    "portal.api_client_suspend_question": P.CREDENTIALS_MANAGE,
    "portal.api_client_suspend": P.CREDENTIALS_MANAGE,
    "portal.api_client_resume": P.CREDENTIALS_MANAGE,
    "portal.api_client_revoke_question": P.CREDENTIALS_MANAGE,
    "portal.api_client_revoke": P.CREDENTIALS_MANAGE,
    "portal.api_webhooks": P.CREDENTIALS_MANAGE,
    "portal.api_webhook": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_new": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_create": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_delivery": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_roll_page": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_roll": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_test": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_pause": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_resume": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_replay": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_replay_failed": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_remove_question": P.CREDENTIALS_MANAGE,
    "portal.api_webhook_remove": P.CREDENTIALS_MANAGE,
    "portal.branding_contrast": P.BRANDING_WRITE,
    "portal.branding_surfaces": P.BRANDING_WRITE,
    "portal.branding_history": P.BRANDING_WRITE,
    "portal.branding_version": P.BRANDING_WRITE,
    "portal.branding_roll_back": P.BRANDING_WRITE,
    "portal.branding_roll_back_post": P.BRANDING_WRITE,
    "portal.portal_settings": P.PARTNER_WRITE,
    "portal.portal_settings_save": P.PARTNER_WRITE,
    "portal.chat": Access.PUBLIC,
    "portal.chat_send": Access.PUBLIC,
    "portal.partner_chat": Access.PUBLIC,
    "portal.partner_chat_send": Access.PUBLIC,
    "public.create_call": P.CALLS_CREATE,
    "public.list_calls": P.CALLS_READ,
    "public.get_call": P.CALLS_READ,
    "public.cancel_call": P.CALLS_CREATE,
    "public.list_agents": Access.SIGNED_IN,
    "public.list_campaigns": Access.SIGNED_IN,
    "public.send_contacts": P.CONTACTS_WRITE,
    "public.list_contacts": P.CONTACTS_READ,
    "public.get_contact": P.CONTACTS_READ,
}
"""Flask endpoint name -> what it needs. One line a route, grouped by blueprint."""


def unlisted_routes(endpoints: Iterable[str]) -> list[str]:
    """The endpoints that have no entry in `ROUTES`, sorted."""
    return sorted(set(endpoints) - ROUTES.keys())
