"""The personal data of the installation: every column, with what erasing and exporting do with it.

Each column that can hold text or bytes is declared here once, as personal data (`HOLDINGS`) or as
none (`NOT_PERSONAL`); `tests/services/personal_data/test_inventory.py` compares both with the
models. Ids, numbers and times identify no one once these columns are erased.
"""

from dataclasses import dataclass
from enum import StrEnum

from app.enums import SubjectKind

USER, CONTACT = SubjectKind.USER, SubjectKind.CONTACT
BOTH = frozenset(SubjectKind)


class OnErasure(StrEnum):
    """The effect of erasing a person on a column."""

    DELETED = "deleted"
    """The row or the value is deleted."""
    PSEUDONYMIZED = "pseudonymized"
    """The person's own rows stay for the figures, with a pseudonym or nothing instead."""
    REPLACED = "replaced"
    """The pseudonym replaces the person's name; the rest of the text stays."""
    REDACTED = "redacted"
    """As replaced, in the append-only history: `app.services.audit.redaction`."""
    KEPT = "kept"
    """It stays; ``reason`` is why."""


@dataclass(frozen=True, slots=True)
class DataHolding:
    """Columns of a table that are treated alike. ``exported``: they are part of a person's
    export."""

    table: str
    columns: tuple[str, ...]
    on_erasure: OnErasure
    about: frozenset[SubjectKind] = BOTH
    exported: bool = False
    reason: str = ""


def _holding(
    columns_of_table: str,
    on_erasure: OnErasure,
    about: SubjectKind | frozenset[SubjectKind] = BOTH,
    *,
    exported: bool = False,
    reason: str = "",
) -> DataHolding:
    table, _, columns = columns_of_table.partition(": ")
    kinds = about if isinstance(about, frozenset) else frozenset({about})
    return DataHolding(table, tuple(columns.split()), on_erasure, kinds, exported, reason)


_H, _E = _holding, OnErasure
_OWN_TEXT = "Text or a name that the company chose; an administrator can edit it."
_COMPANY = "An address or name of the company, which an administrator can edit."

HOLDINGS: tuple[DataHolding, ...] = (
    # users and how they sign in
    _H(
        "users: email email_key name idp_uid timezone theme language notifications search_words",
        _E.PSEUDONYMIZED,
        USER,
        exported=True,
    ),
    _H("users: password_hash", _E.DELETED, USER),
    _H("portal_sessions: data", _E.DELETED, USER),  # tokens of forms and sign-ins
    _H("portal_sessions: host ip user_agent factor", _E.DELETED, USER, exported=True),
    _H("email_changes: email", _E.DELETED, USER, exported=True),
    _H("email_changes: requested_by", _E.REPLACED, USER),
    _H("authenticator_apps: secret", _E.DELETED, USER),
    _H("passkeys: credential_id public_key", _E.DELETED, USER),
    _H("passkeys: rp_id name", _E.DELETED, USER, exported=True),
    _H("user_identities: subject", _E.DELETED, USER, exported=True),
    _H("identity_requests: redirect_uri next_path", _E.DELETED, USER),
    _H("scim_users: external_id given_name family_name", _E.DELETED, USER, exported=True),
    _H("saved_views: list_name name query", _E.REPLACED, exported=True),
    _H("mails: kind to details failure", _E.DELETED, exported=True),
    _H("alert_rules: recipients", _E.DELETED),
    _H("report_schedules: recipients", _E.DELETED),
    _H("spending_limits: budget_recipients", _E.DELETED),
    _H("refusal_counts: entry", _E.REPLACED),
    # authors of changes: the address of a user, next to the action
    *(
        _H(columns, _E.REPLACED, USER)
        for columns in (
            "alerts: acknowledged_by",
            "api_keys: created_by",
            "brand_versions: author",
            "carrier_accounts: created_by",
            "contact_imports: author undo_author",
            "dialling_pauses: paused_by",
            "oauth_clients: created_by",
            "phone_numbers: confirmed_by",
            "plan_versions: author",
            "scim_tokens: created_by",
            "verified_numbers: requested_by verified_by",
            "webhook_endpoints: created_by",
        )
    ),
    _H("calls: requested_by", _E.REPLACED, USER),
    # contacts
    _H(
        "contacts: phone email email_key first_name last_name search_name sort_name status "
        "contact_metadata consent consent_source",
        _E.DELETED,
        CONTACT,
        exported=True,
    ),
    _H("contact_external_ids: key value", _E.DELETED, CONTACT, exported=True),
    _H("outreach_contacts: reason", _E.DELETED, CONTACT),
    _H(
        "do_not_call: phone",
        _E.KEPT,
        CONTACT,
        exported=True,
        reason="The law requires that the number is never called again.",
    ),
    _H("do_not_call: reason source added_by", _E.REPLACED),
    # calls
    _H(
        "calls: phone_number contact call_metadata intro_message voicemail_message "
        "call_instructions status_detail",
        _E.PSEUDONYMIZED,
        CONTACT,
        exported=True,
    ),
    _H("call_attempts: detail spoken", _E.PSEUDONYMIZED, CONTACT, exported=True),
    _H(
        "call_attempts: carrier_reference",
        _E.KEPT,
        CONTACT,
        reason="The carrier's invoice refers to it; it names no one.",
    ),
    _H("call_events: key detail", _E.PSEUDONYMIZED, CONTACT, exported=True),
    _H("call_recordings: file_key url", _E.DELETED, CONTACT),
    _H(
        "call_recordings: carrier_reference problem content_type",
        _E.DELETED,
        CONTACT,
        exported=True,
    ),
    _H("call_transcripts: turns summary report_id", _E.DELETED, CONTACT, exported=True),
    _H("simulated_calls: to_number", _E.PSEUDONYMIZED, CONTACT),
    _H("verified_numbers: phone", _E.DELETED, CONTACT),
    _H("carrier_observations: detail", _E.REPLACED),
    # uploads: the file as a whole; of an applied upload the rows that name the person
    _H("contact_imports: file_name columns failure found", _E.REPLACED),
    _H("contact_imports: file_key samples", _E.DELETED, CONTACT),
    _H("import_rows: cells contact", _E.DELETED, CONTACT),
    _H("import_problems: message repair", _E.DELETED, CONTACT),
    _H("import_blocks: content", _E.DELETED, CONTACT),
    _H("import_corrections: cells was", _E.DELETED, CONTACT),
    _H("import_changes: before after fields_left", _E.DELETED, CONTACT),
    # copies and traces
    _H("webhook_deliveries: payload last_answer attempt_log", _E.DELETED),
    _H("idempotency_records: key", _E.DELETED),
    _H("idempotency_records: response", _E.REPLACED),
    _H("legacy_exchanges: request answer shadow_answer", _E.DELETED, CONTACT),
    _H("list_exports: query file_key", _E.DELETED),
    _H("audit_entries: actor ip target_id target before after", _E.REDACTED, exported=True),
    _H("erasures: sought", _E.DELETED),
    _H("erasures: requested_by", _E.REPLACED, USER),
    # data of a company, even if it names a person
    *(
        _H(columns, _E.KEPT, reason=_COMPANY)
        for columns in (
            "organizations: name name_key search_words status_reason billing_address",
            "statements: parties",
            "partners: name name_key billing_email support_email notification_email",
            "partners: sender_email collection_email tracking_email billing_address",
            "partners: payment_instructions payment_texts",
            "phone_numbers: number",
            "agents: phone_number voice_address",
            "call_attempts: from_number hand_over_to",
            "simulated_calls: from_number",
            "webhook_endpoints: url",
        )
    ),
    *(
        _H(columns, _E.KEPT, reason=_OWN_TEXT)
        for columns in (
            "agents: name name_key default_intro default_voicemail",
            "api_keys: name name_key",
            "brand_versions: content",
            "campaigns: name name_key",
            "dialling_pauses: reason",
            "identity_providers: name",
            "oauth_clients: name name_key",
            "organization_groups: name name_key",
            "organization_templates: name name_key content",
            "outreaches: intro_message voicemail_message call_instructions held_reason",
            "partners: mail_greeting texts_by_language empty_lists partner_upgrade_message",
            "scim_groups: display_name display_key",
            "scim_tokens: name",
        )
    ),
)

NOT_PERSONAL: dict[str, str] = {
    "agents": "service timezone",
    "api_keys": "public_id secret_hash scopes",
    "api_requests": "credential_kind method route operation code request_id",
    "audit_entries": "actor_kind request_id action target_type salt",
    "audit_links": "digest hash",
    "audit_redactions": "digest",
    "backups": "file problem",
    "billing_days": "currency",
    "brand_images": "sha256 content_type data",
    "call_attempts": "attestation cost_currency",
    "call_hours": "region",
    "call_rates": "prefix currency",
    "carrier_account_tests": "words",
    "carrier_accounts": "sid trunk secret",
    "carrier_number_lists": "words",
    "carrier_observations": "code",
    "carrier_paces": "carrier",
    "checkouts": "customer back_url url problem",
    "column_mappings": "columns_hash mapping",
    "contact_imports": "file_sha256 file_kind read_options mapping repairs expected undo_state "
    "undo_result packed",
    "cost_days": "currency",
    "daily_counts": "subject",
    "dialling_pauses": "scope",
    "email_changes": "old_token_hash new_token_hash",
    "erasures": "pseudonym counts",
    "external_id_keys": "key",
    "figure_checks": "figure examples",
    "file_store_marks": "identity",
    "idempotency_records": "operation request_hash",
    "identity_providers": "issuer client_id secret domains default_role role_claim role_values",
    "identity_requests": "state_hash browser_hash",
    "identity_sign_outs": "token_hash",
    "import_changes": "action undone",
    "import_problems": "code reason field",
    "import_rows": "outcome code reason",
    "installation_destinations": "regions hosts",
    "installation_marks": "lineage",
    "list_exports": "list_name zone",
    "oauth_clients": "client_id secret_hash previous_secret_hash",
    "offered_accounts": "token_hash browser_hash",
    "one_time_links": "token_hash",
    "organizations": "referral_code referred_by_code processor_customer_id referral_promo_used "
    "referral_ui_customization default_region allowed_regions",
    "outreaches": "weekdays",
    "outside_pictures": "url problem etag sha256 content_type data",
    "partner_brand_colors": "name value",
    "partner_cost_days": "currency",
    "partner_destinations": "regions hosts limit_regions limit_hosts",
    "partner_domains": "domain token findings dkim_key dkim_public",
    "partner_header_links": "label url",
    "partner_pricing": "processor_price_id processor_product_id",
    "partner_processor_checks": "price_id",
    "partner_processor_prices": "price_id product_id name currency interval",
    "partner_site_images": "image_url",
    "partner_social_links": "url",
    "partners": "slug logo_img_url domain domain_key default_agent_name default_service "
    "chat_agent_id chat_template_colors email_domain partner_type payment_method_id "
    "partner_redirect_link processor_collection_customer_id processor_tracking_customer_id "
    "purchase_link demo_link product_name allowed_query_params tagline language dark_logo_url "
    "second_factor_for retention_days",
    "passkey_challenges": "challenge_hash purpose host",
    "passkeys": "credential_hash",
    "pending_sign_ins": "token_hash host",
    "plan_versions": "plans texts send_problem",
    "portal_sessions": "token_hash provider_sid_hash",
    "processor_accounts": "account_id secret webhook_secret words",
    "rate_levels": "key",
    "recovery_codes": "code_hash",
    "refusal_counts": "key",
    "remembered_browsers": "token_hash",
    "report_schedules": "scope timezone language",
    "retention_runs": "kind",
    "revoked_tokens": "jti",
    "scim_groups": "external_id",
    "scim_tokens": "public_id secret_hash",
    "signing_keys": "kid private_key public_jwk",
    "simulated_calls": "reference",
    "spending_limits": "scope budget_alert budget_levels",
    "spending_totals": "scope period",
    "statements": "plan_name currency lines invoice_item charge_problem",
    "subscriptions": "reference customer",
    "throttle_counters": "key",
    "webhook_deliveries": "type",
    "webhook_endpoints": "events secret previous_secret",
    "worker_heartbeats": "executor_id hostname queues",
}
"""Columns by table: settings, secrets, hashes and figures, or texts written by a program."""


def replaced_columns() -> dict[str, list[str]]:
    """Return the columns in which an erased person is replaced by the pseudonym, by table."""
    by_table: dict[str, list[str]] = {}
    for holding in HOLDINGS:
        if holding.on_erasure is OnErasure.REPLACED:
            by_table.setdefault(holding.table, []).extend(holding.columns)
    return by_table
