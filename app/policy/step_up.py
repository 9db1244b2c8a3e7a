"""The acts of the portal that need a fresh proof of who the user is.

A session may be an open screen of someone who left. Acts that give access, export data about people
or delete it need a proof of the last minutes (`app.services.auth.sessions.FRESH_FOR`); signing in
is one. The pages of their forms are listed too, so that users confirm before they type. The JSON
APIs have scopes instead.
"""

STEP_UP = frozenset(
    {
        # keys and clients
        "portal.api_key_new",
        "portal.api_key_create",
        "portal.api_key_roll_confirm",
        "portal.api_key_roll",
        "portal.api_key_revoke_confirm",
        "portal.api_key_revoke",
        "portal.api_client_new",
        "portal.api_client_create",
        "portal.api_client_roll_confirm",
        "portal.api_client_roll",
        "portal.api_client_suspend_confirm",
        "portal.api_client_suspend",
        "portal.api_client_resume",
        "portal.api_client_revoke_confirm",
        "portal.api_client_revoke",
        "portal.api_webhook_roll_confirm",
        "portal.api_webhook_roll",
        # users: their roles, addresses and access
        "portal.user_new",
        "portal.user_invite",
        "portal.users_invite_many",
        "portal.users_invite_many_send",
        "portal.user_edit",
        "portal.user_save",
        "portal.user_role_confirm",
        "portal.user_role",
        "portal.user_reactivate",
        "portal.user_reset_factors_confirm",
        "portal.user_reset_factors",
        # accounts at carriers and at the payment processor
        "portal.carrier_account_save",
        "portal.carrier_account_choose",
        "portal.line_trunk_save",
        "portal.carrier_account_remove_confirm",
        "portal.carrier_account_remove",
        "portal.pricing_stripe_save",
        "portal.pricing_stripe_remove_confirm",
        "portal.pricing_stripe_remove",
        # files about people
        "portal.contact_file",
        "portal.list_export_new",
        "portal.list_export_create",
        "portal.export_file",
        # deletion
        "portal.user_deactivate_confirm",
        "portal.user_deactivate",
        "portal.organization_archive_confirm",
        "portal.organization_archive",
        "portal.upload_delete_data_confirm",
        "portal.upload_delete_data",
        # how users sign in
        "portal.sign_in_policy",
        "portal.sign_in_policy_save",
        "portal.account_app_begin",
        "portal.account_app",
        "portal.account_app_confirm",
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
        "portal.portal_settings_company_remove_confirm",
        "portal.portal_settings_company_remove",
        "portal.directory_save",
        "portal.directory_token_new",
        "portal.directory_token_create",
        "portal.directory_token_roll_confirm",
        "portal.directory_token_roll",
        "portal.directory_token_revoke_confirm",
        "portal.directory_token_revoke",
        "portal.directory_group",
        "portal.directory_group_save",
    }
)
"""Endpoints that only a session with a fresh proof may use."""

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
"""What users can reach whose partner requires a second factor before they have added one."""
