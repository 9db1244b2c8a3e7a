"""The actions of the portal that need a fresh proof of who the user is.

A session may be an open screen of someone who left. Actions that give access, export data about
people or delete it need a proof of the last minutes (`app.services.auth.sessions.FRESH_FOR`);
signing in is one. The pages of their forms are listed too, so that users confirm before they type;
a confirmation page needs the same proof as its action. The JSON APIs have scopes instead.
"""

from collections.abc import Mapping
from typing import Any

from app.policy.routes import ROUTES

_ACTS = frozenset(
    {
        # keys and clients
        "portal.api_key_new",
        "portal.api_key_create",
        "portal.api_key_roll",
        "portal.api_key_revoke",
        "portal.api_client_new",
        "portal.api_client_create",
        "portal.api_client_roll",
        "portal.api_client_suspend",
        "portal.api_client_resume",
        "portal.api_client_revoke",
        "portal.api_migration_extend",
        "portal.api_migration_end",
        # webhooks: a new address receives data about people
        "portal.api_webhook_new",
        "portal.api_webhook_create",
        "portal.api_webhook_edit",
        "portal.api_webhook_save",
        "portal.api_webhook_roll",
        "portal.api_webhook_remove",
        # users: their roles, addresses and access; also those invited with an organization
        "portal.user_new",
        "portal.user_invite",
        "portal.users_invite_many",
        "portal.users_invite_many_send",
        "portal.user_edit",
        "portal.user_save",
        "portal.user_role",
        "portal.user_reactivate",
        "portal.user_groups",
        "portal.user_groups_save",
        "portal.api_client_groups",
        "portal.api_client_groups_save",
        "portal.portal_settings_group_new",
        "portal.portal_settings_group_create",
        "portal.portal_settings_group",
        "portal.portal_settings_group_save",
        "portal.portal_settings_group_delete",
        "portal.organization_new",
        "portal.organization_create",
        "portal.organization_template_use",
        "portal.organization_template_use_create",
        "portal.organization_template_use_many",
        "portal.organization_template_create_many",
        "portal.operator_partner_new",
        "portal.operator_partner_create",
        "portal.view_as",
        "portal.user_reset_factors",
        # carrier accounts, Stripe accounts and their payments
        "portal.plan_invoices",
        "portal.carrier_account",
        "portal.carrier_account_save",
        "portal.carrier_account_choose",
        "portal.sip_trunk",
        "portal.sip_trunk_save",
        "portal.carrier_account_use",
        "portal.carrier_account_remove",
        "portal.pricing_stripe_save",
        "portal.pricing_stripe_remove",
        # files about people
        "portal.contact_file",
        "portal.upload_file",
        "portal.upload_failures",
        "portal.list_export_new",
        "portal.list_export_create",
        "portal.export_file",
        "portal.user_data_export",
        "portal.contact_data_export",
        "portal.call_data_export",
        # deletion
        "portal.user_erase",
        "portal.contact_erase",
        "portal.call_erase",
        "portal.user_deactivate",
        "portal.organization_archive",
        "portal.contact_remove",
        "portal.do_not_call_remove",
        "portal.upload_delete_data",
        "portal.personal_data_settings",
        "portal.personal_data_settings_save",
        # how users sign in
        "portal.sign_in_policy",
        "portal.sign_in_policy_save",
        "portal.account_app_begin",
        "portal.account_app",
        "portal.account_app_remove",
        "portal.account_passkey_options",
        "portal.account_passkey_add",
        "portal.account_passkey_remove",
        "portal.account_recovery_codes",
        "portal.account_company_link",
        "portal.account_company_unlink",
        "portal.portal_settings_company_new",
        "portal.portal_settings_company_create",
        "portal.portal_settings_company",
        "portal.portal_settings_company_save",
        "portal.portal_settings_company_remove",
        "portal.directory_save",
        "portal.directory_token_new",
        "portal.directory_token_create",
        "portal.directory_token_roll",
        "portal.directory_token_revoke",
        "portal.directory_group",
        "portal.directory_group_save",
    }
)
STEP_UP = frozenset(each for each in ROUTES if each.removesuffix("_confirm") in _ACTS)
"""Endpoints that only a session with a fresh proof may use."""

PERSONAL_LISTS = frozenset({"users", "contacts", "calls", "do-not-call", "history", "report"})
"""Lists whose export files need a fresh proof too; those of other lists need it only if they are
long."""

SEVERAL = frozenset(
    {
        ("campaign-uploads", "delete-data"),
        ("contacts", "remove"),
        ("do-not-call", "remove"),
        ("organizations", "group"),
        ("uploads", "delete-data"),
        ("users", "reactivate"),
        ("webhooks", "remove"),
    }
)
"""Lists and their bulk actions that need a proof, as for one row."""


def needs_proof(endpoint: str | None, values: Mapping[str, Any]) -> bool:
    """Return whether a request of a page needs a fresh proof; ``values`` are those of its path."""
    if endpoint in ("portal.list_export", "portal.list_export_selected"):
        return values.get("name") in PERSONAL_LISTS
    if endpoint in ("portal.bulk_confirm", "portal.bulk_act"):
        return (values.get("name"), values.get("action")) in SEVERAL
    return endpoint in STEP_UP


WITHOUT_FACTOR = frozenset(
    {
        "portal.account_factors",
        "portal.account_app_begin",
        "portal.account_app",
        "portal.account_app_confirm",
        "portal.account_passkey_options",
        "portal.account_passkey_add",
        "portal.step_up",
        "portal.step_up_confirm",
        "portal.theme",
        "portal.account_timezone",
        "portal.notifications_bell",
    }
)
"""The endpoints for users without a second factor while their partner requires one."""
