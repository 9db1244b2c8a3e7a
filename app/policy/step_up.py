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
        "portal.api_access.new_key",
        "portal.api_access.create_key",
        "portal.api_access.rotate_key",
        "portal.api_access.revoke_key",
        "portal.api_access.new_client",
        "portal.api_access.create_client",
        "portal.api_access.rotate_client_secret",
        "portal.api_access.suspend_client",
        "portal.api_access.resume_client",
        "portal.api_access.revoke_client",
        "portal.legacy_migration.extend_legacy_access",
        "portal.legacy_migration.end_extension",
        # webhooks: a new address receives data about people
        "portal.webhooks.new_webhook",
        "portal.webhooks.create_webhook",
        "portal.webhooks.edit_webhook",
        "portal.webhooks.save_webhook",
        "portal.webhooks.rotate_webhook_secret",
        "portal.webhooks.remove_webhook",
        # users: their roles, addresses and access; also those invited with an organization
        "portal.users.new_user",
        "portal.users.invite_user",
        "portal.users.new_users",
        "portal.users.invite_users",
        "portal.users.edit_user",
        "portal.users.save_user",
        "portal.users.change_role",
        "portal.users.reactivate_user",
        "portal.organization_groups.edit_user_groups",
        "portal.organization_groups.save_user_groups",
        "portal.organization_groups.edit_client_groups",
        "portal.organization_groups.save_client_groups",
        "portal.organization_groups.new_group",
        "portal.organization_groups.create_group",
        "portal.organization_groups.edit_group",
        "portal.organization_groups.save_group",
        "portal.organization_groups.delete_group",
        "portal.organizations.new_organization",
        "portal.organizations.create_organization",
        "portal.organization_templates.new_organization_from_template",
        "portal.organization_templates.create_organization_from_template",
        "portal.organization_templates.new_organizations_from_template",
        "portal.organization_templates.create_organizations_from_template",
        "portal.operator.new_partner",
        "portal.operator.create_partner",
        "portal.view_as.view_as_user",
        "portal.users.reset_factors",
        # carrier accounts, Stripe accounts and their payments
        "portal.pricing.open_invoices",
        "portal.carriers.edit_account",
        "portal.carriers.save_account",
        "portal.carriers.choose_account_kind",
        "portal.carriers.edit_sip_trunk",
        "portal.carriers.save_sip_trunk",
        "portal.carriers.use_account",
        "portal.carriers.remove_account",
        "portal.pricing.save_stripe_account",
        "portal.pricing.remove_stripe_account",
        # files about people
        "portal.contacts.download_contacts",
        "portal.uploads.download_file",
        "portal.uploads.download_failed_rows",
        "portal.record_lists.new_export",
        "portal.record_lists.create_export",
        "portal.record_lists.download_export",
        "portal.personal_data.export_user_data",
        "portal.personal_data.export_contact_data",
        "portal.personal_data.export_call_data",
        # deletion
        "portal.personal_data.erase_user",
        "portal.personal_data.erase_contact",
        "portal.personal_data.erase_call",
        "portal.users.deactivate_user",
        "portal.organizations.archive_organization",
        "portal.contacts.remove_contact",
        "portal.do_not_call.remove_number",
        "portal.uploads.delete_upload_data",
        "portal.personal_data.edit_settings",
        "portal.personal_data.save_settings",
        # how users sign in
        "portal.settings.edit_sign_in_policy",
        "portal.settings.save_sign_in_policy",
        "portal.account.start_app_setup",
        "portal.account.show_app_setup",
        "portal.account.check_app_code",
        "portal.account.remove_app",
        "portal.account.passkey_registration_options",
        "portal.account.add_passkey",
        "portal.account.remove_passkey",
        "portal.account.create_recovery_codes",
        "portal.account.link_company_account",
        "portal.account.unlink_company_account",
        "portal.identity_providers.new_provider",
        "portal.identity_providers.create_provider",
        "portal.identity_providers.edit_provider",
        "portal.identity_providers.save_provider",
        "portal.identity_providers.remove_provider",
        "portal.scim.save_directory",
        "portal.scim.new_token",
        "portal.scim.create_token",
        "portal.scim.rotate_token",
        "portal.scim.revoke_token",
        "portal.scim.edit_directory_group",
        "portal.scim.save_directory_group",
    }
)
STEP_UP = frozenset(each for each in ROUTES if each.replace(".confirm_", ".") in _ACTS)
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
    if endpoint in ("portal.record_lists.export_list", "portal.record_lists.export_selected"):
        return values.get("name") in PERSONAL_LISTS
    if endpoint in (
        "portal.record_lists.confirm_bulk_action",
        "portal.record_lists.apply_bulk_action",
    ):
        return (values.get("name"), values.get("action")) in SEVERAL
    return endpoint in STEP_UP


WITHOUT_FACTOR = frozenset(
    {
        "portal.account.show_factors",
        "portal.account.start_app_setup",
        "portal.account.show_app_setup",
        "portal.account.check_app_code",
        "portal.account.passkey_registration_options",
        "portal.account.add_passkey",
        "portal.auth.show_step_up",
        "portal.auth.check_step_up",
        "portal.save_theme",
        "portal.account.save_timezone",
        "portal.notifications.show_bell",
    }
)
"""The endpoints for users without a second factor while their partner requires one."""
