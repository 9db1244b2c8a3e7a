"""Initial schema."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON_TYPE = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)

revision: str = "0001"
down_revision: str | Sequence[str] | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "carrier_paces",
        sa.Column("carrier", sa.String(length=200), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("carrier", name=op.f("pk_carrier_paces")),
    )
    op.create_table(
        "failed_sign_ins",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("subject_hash", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failed_sign_ins")),
    )
    with op.batch_alter_table("failed_sign_ins", schema=None) as batch_op:
        batch_op.create_index("ix_failed_sign_ins_subject", ["subject_hash", "at"], unique=False)

    op.create_table(
        "idempotency_records",
        sa.Column("credential_id", sa.Uuid(), nullable=False),
        sa.Column("operation", sa.String(length=100), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("response", JSON_TYPE, nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint(
            "credential_id", "operation", "key", name=op.f("pk_idempotency_records")
        ),
    )
    with op.batch_alter_table("idempotency_records", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_idempotency_records_created_at"), ["created_at"], unique=False
        )

    op.create_table(
        "partners",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("slug", sa.String(length=100), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("suspended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("logo_img_url", sa.String(length=2000), nullable=True),
        sa.Column("show_branding_toggle", sa.Boolean(), nullable=False),
        sa.Column("show_character_toggle", sa.Boolean(), nullable=False),
        sa.Column("domain", sa.String(length=200), nullable=True),
        sa.Column("domain_key", sa.String(length=200), nullable=True),
        sa.Column("domain_verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("default_agent_name", sa.String(length=200), nullable=True),
        sa.Column("default_service", sa.String(length=200), nullable=True),
        sa.Column("show_embedded_chat", sa.Boolean(), nullable=False),
        sa.Column("chat_agent_id", sa.String(length=200), nullable=True),
        sa.Column("chat_template_colors", JSON_TYPE, nullable=True),
        sa.Column("billing_email", sa.String(length=254), nullable=True),
        sa.Column("support_email", sa.String(length=254), nullable=True),
        sa.Column("notification_email", sa.String(length=254), nullable=True),
        sa.Column("email_domain", sa.String(length=200), nullable=True),
        sa.Column("partner_type", sa.String(length=200), nullable=True),
        sa.Column("payment_method_id", sa.String(length=200), nullable=True),
        sa.Column("partner_redirect_link", sa.String(length=2000), nullable=True),
        sa.Column("partner_upgrade_message", sa.Text(), nullable=True),
        sa.Column("collection_email", sa.String(length=254), nullable=True),
        sa.Column("processor_collection_customer_id", sa.String(length=200), nullable=True),
        sa.Column("processor_tracking_customer_id", sa.String(length=200), nullable=True),
        sa.Column("tracking_email", sa.String(length=254), nullable=True),
        sa.Column("purchase_link", sa.String(length=2000), nullable=True),
        sa.Column("default_agent_limit", sa.Integer(), nullable=False),
        sa.Column("demo_link", sa.String(length=2000), nullable=True),
        sa.Column("product_name", sa.String(length=200), nullable=False),
        sa.Column("allowed_query_params", JSON_TYPE, nullable=True),
        sa.Column("empty_lists", JSON_TYPE, nullable=False),
        sa.CheckConstraint(
            "default_agent_limit >= 0", name=op.f("ck_partners_default_agent_limit")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_partners")),
        sa.UniqueConstraint("slug", name=op.f("uq_partners_slug")),
    )
    with op.batch_alter_table("partners", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_partners_domain_key"), ["domain_key"], unique=False)
        batch_op.create_index(
            "uq_partners_verified_domain",
            ["domain_key"],
            unique=True,
            sqlite_where=sa.text("domain_verified_at IS NOT NULL"),
            postgresql_where=sa.text("domain_verified_at IS NOT NULL"),
        )

    op.create_table(
        "processor_prices",
        sa.Column("price_id", sa.String(length=200), nullable=False),
        sa.Column("product_id", sa.String(length=200), nullable=True),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("cost", sa.Numeric(precision=12, scale=4), nullable=False),
        sa.Column("currency", sa.String(length=100), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("price_id", name=op.f("pk_processor_prices")),
    )
    op.create_table(
        "revoked_tokens",
        sa.Column("jti", sa.String(length=100), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("jti", name=op.f("pk_revoked_tokens")),
    )
    with op.batch_alter_table("revoked_tokens", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_revoked_tokens_expires_at"), ["expires_at"], unique=False
        )

    op.create_table(
        "signing_keys",
        sa.Column("kid", sa.String(length=100), nullable=False),
        sa.Column("private_key", sa.Text(), nullable=False),
        sa.Column("public_jwk", JSON_TYPE, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("kid", name=op.f("pk_signing_keys")),
    )
    op.create_table(
        "simulated_calls",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("reference", sa.String(length=100), nullable=False),
        sa.Column("from_number", sa.String(length=16), nullable=False),
        sa.Column("to_number", sa.String(length=16), nullable=False),
        sa.Column("placed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("hung_up_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_simulated_calls")),
    )
    with op.batch_alter_table("simulated_calls", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_simulated_calls_reference"), ["reference"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_simulated_calls_to_number"), ["to_number"], unique=False
        )

    op.create_table(
        "worker_heartbeats",
        sa.Column("executor_id", sa.String(length=100), nullable=False),
        sa.Column("hostname", sa.String(length=200), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("stopped_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("executor_id", name=op.f("pk_worker_heartbeats")),
    )
    with op.batch_alter_table("worker_heartbeats", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_worker_heartbeats_beat_at"), ["beat_at"], unique=False)

    op.create_table(
        "audit_entries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=True),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_kind", sa.String(length=100), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=True),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("ip", sa.String(length=100), nullable=True),
        sa.Column("request_id", sa.String(length=100), nullable=True),
        sa.Column("action", sa.String(length=100), nullable=False),
        sa.Column("target_type", sa.String(length=100), nullable=False),
        sa.Column("target_id", sa.String(length=100), nullable=False),
        sa.Column("target", sa.String(length=500), nullable=True),
        sa.Column("before", JSON_TYPE, nullable=False),
        sa.Column("after", JSON_TYPE, nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_audit_entries_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    with op.batch_alter_table("audit_entries", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_audit_entries_organization_id"), ["organization_id"], unique=False
        )
        batch_op.create_index("ix_audit_entries_partner", ["partner_id", "id"], unique=False)
        batch_op.create_index("ix_audit_entries_target", ["target_type", "target_id"], unique=False)

    op.create_table(
        "brand_images",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column(
            "type",
            sa.Enum(
                "logo",
                "hero",
                "favicon",
                name="imagetype",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("content_type", sa.String(length=100), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_brand_images_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_brand_images")),
        sa.UniqueConstraint("partner_id", "sha256", name=op.f("uq_brand_images_partner_id_sha256")),
    )
    op.create_table(
        "brand_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", JSON_TYPE, nullable=False),
        sa.Column("author", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_brand_versions_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_brand_versions")),
        sa.UniqueConstraint(
            "partner_id", "number", name=op.f("uq_brand_versions_partner_id_number")
        ),
    )
    with op.batch_alter_table("brand_versions", schema=None) as batch_op:
        batch_op.create_index(
            "uq_brand_versions_draft",
            ["partner_id"],
            unique=True,
            sqlite_where=sa.text("published_at IS NULL"),
            postgresql_where=sa.text("published_at IS NULL"),
        )

    op.create_table(
        "organizations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column(
            "status",
            sa.Enum(
                "active",
                "suspended",
                "archived",
                name="organizationstatus",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("status_reason", sa.String(length=500), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("referral_code", sa.String(length=200), nullable=True),
        sa.Column("referred_by_code", sa.String(length=200), nullable=True),
        sa.Column(
            "payment_tier",
            sa.Enum(
                "customerFreePlan",
                "customerBasicPlan",
                "customerPlusPlan",
                "customerBasicFreeTrialPlan",
                name="tier",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=True,
        ),
        sa.Column("tier_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("processor_customer_id", sa.String(length=200), nullable=True),
        sa.Column("referral_promo_used", sa.String(length=200), nullable=True),
        sa.Column("referral_ui_customization", JSON_TYPE, nullable=True),
        sa.Column("admin_owned", sa.Boolean(), nullable=False),
        sa.Column("temp_demo_org", sa.Boolean(), nullable=False),
        sa.Column("agent_limit", sa.Integer(), nullable=False),
        sa.Column("user_limit", sa.Integer(), nullable=False),
        sa.Column("default_region", sa.String(length=100), nullable=False),
        sa.Column("allowed_regions", JSON_TYPE, nullable=False),
        sa.Column("calling_hours_on", sa.Boolean(), nullable=False),
        sa.Column("calling_hours_start", sa.Time(), nullable=False),
        sa.Column("calling_hours_end", sa.Time(), nullable=False),
        sa.Column("max_calls_at_once", sa.Integer(), nullable=True),
        sa.Column("max_calls_a_day", sa.Integer(), nullable=True),
        sa.Column("retry_times", sa.Integer(), nullable=False),
        sa.Column("retry_minutes", sa.Integer(), nullable=False),
        sa.Column("refuse_do_not_call", sa.Boolean(), nullable=False),
        sa.Column("consent_required", sa.Boolean(), nullable=False),
        sa.CheckConstraint(
            "agent_limit >= 0 AND user_limit >= 0", name=op.f("ck_organizations_limits")
        ),
        sa.CheckConstraint(
            "max_calls_at_once IS NULL OR max_calls_at_once > 0",
            name=op.f("ck_organizations_at_once"),
        ),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_organizations_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organizations")),
        sa.UniqueConstraint("partner_id", "id", name=op.f("uq_organizations_partner_id_id")),
    )
    with op.batch_alter_table("organizations", schema=None) as batch_op:
        batch_op.create_index(
            "ix_organizations_partner_created", ["partner_id", "created_at", "id"], unique=False
        )
        batch_op.create_index(
            "ix_organizations_referral", ["partner_id", "referral_code"], unique=False
        )

    op.create_table(
        "partner_brand_colors",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("value", sa.String(length=100), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_brand_colors_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_partner_brand_colors")),
    )
    with op.batch_alter_table("partner_brand_colors", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_partner_brand_colors_partner_id"), ["partner_id"], unique=False
        )

    op.create_table(
        "partner_header_links",
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_header_links_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_partner_header_links")),
    )
    with op.batch_alter_table("partner_header_links", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_partner_header_links_partner_id"), ["partner_id"], unique=False
        )

    op.create_table(
        "partner_pricing",
        sa.Column(
            "tier",
            sa.Enum(
                "customerFreePlan",
                "customerBasicPlan",
                "customerPlusPlan",
                "customerBasicFreeTrialPlan",
                name="tier",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("processor_price_id", sa.String(length=200), nullable=False),
        sa.Column("processor_product_id", sa.String(length=200), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_pricing_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_partner_pricing")),
    )
    with op.batch_alter_table("partner_pricing", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_partner_pricing_partner_id"), ["partner_id"], unique=False
        )

    op.create_table(
        "partner_site_images",
        sa.Column(
            "type",
            sa.Enum(
                "logo",
                "hero",
                "favicon",
                name="imagetype",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("image_url", sa.String(length=2000), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_site_images_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_partner_site_images")),
    )
    with op.batch_alter_table("partner_site_images", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_partner_site_images_partner_id"), ["partner_id"], unique=False
        )

    op.create_table(
        "partner_social_links",
        sa.Column(
            "type",
            sa.Enum(
                "facebook",
                "twitter",
                "linkedin",
                "instagram",
                "youtube",
                name="socialtype",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_social_links_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_partner_social_links")),
    )
    with op.batch_alter_table("partner_social_links", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_partner_social_links_partner_id"), ["partner_id"], unique=False
        )

    op.create_table(
        "agents",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("service", sa.String(length=200), nullable=True),
        sa.Column("timezone", sa.String(length=100), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("phone_number", sa.String(length=16), nullable=True),
        sa.Column("phone_enabled", sa.Boolean(), nullable=False),
        sa.Column("phone_configured", sa.Boolean(), nullable=False),
        sa.Column("default_intro", sa.Text(), nullable=True),
        sa.Column("default_voicemail", sa.Text(), nullable=True),
        sa.Column("voice_address", sa.String(length=2000), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_agents_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agents")),
        sa.UniqueConstraint("organization_id", "id", name=op.f("uq_agents_organization_id_id")),
        sa.UniqueConstraint(
            "organization_id", "phone_number", name=op.f("uq_agents_organization_id_phone_number")
        ),
    )
    with op.batch_alter_table("agents", schema=None) as batch_op:
        batch_op.create_index("ix_agents_partner", ["partner_id"], unique=False)

    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("public_id", sa.String(length=100), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.Column("scopes", JSON_TYPE, nullable=False),
        sa.Column("created_by", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("replaced_by", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_api_keys_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["replaced_by"], ["api_keys.id"], name=op.f("fk_api_keys_replaced_by")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("public_id", name=op.f("uq_api_keys_public_id")),
    )
    with op.batch_alter_table("api_keys", schema=None) as batch_op:
        batch_op.create_index(
            "ix_api_keys_organization", ["organization_id", "created_at"], unique=False
        )

    op.create_table(
        "campaigns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column(
            "status",
            sa.Enum(
                "paused",
                "active",
                "archived",
                name="campaignstatus",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("all_agents", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_campaigns_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaigns")),
        sa.UniqueConstraint("organization_id", "id", name=op.f("uq_campaigns_organization_id_id")),
    )
    with op.batch_alter_table("campaigns", schema=None) as batch_op:
        batch_op.create_index(
            "ix_campaigns_partner_created", ["partner_id", "created_at", "id"], unique=False
        )

    op.create_table(
        "conversation_days",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("conversations", sa.Integer(), nullable=False),
        sa.Column("by_person", sa.Integer(), nullable=False),
        sa.Column("by_voicemail", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_conversation_days_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "day", name=op.f("pk_conversation_days")),
    )
    with op.batch_alter_table("conversation_days", schema=None) as batch_op:
        batch_op.create_index("ix_conversation_days_partner", ["partner_id", "day"], unique=False)

    op.create_table(
        "do_not_call",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("phone", sa.String(length=16), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=True),
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("added_by", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_do_not_call_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "phone", name=op.f("pk_do_not_call")),
    )
    op.create_table(
        "oauth_clients",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=True),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column(
            "area",
            sa.Enum(
                "A", "B", "C", name="area", native_enum=False, create_constraint=True, length=40
            ),
            nullable=False,
        ),
        sa.Column(
            "role",
            sa.Enum(
                "operator",
                "partnerAdmin",
                "partnerEditor",
                "admin",
                "standard",
                name="role",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=True,
        ),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("client_id", sa.String(length=100), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_by", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("suspended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("served_until", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(area = 'A' AND role IS NOT NULL AND organization_id IS NULL) OR (area = 'B' AND role IS NULL AND organization_id IS NOT NULL)",
            name=op.f("ck_oauth_clients_area_owner"),
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_oauth_clients_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_oauth_clients_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_clients")),
        sa.UniqueConstraint("client_id", name=op.f("uq_oauth_clients_client_id")),
    )
    with op.batch_alter_table("oauth_clients", schema=None) as batch_op:
        batch_op.create_index(
            "ix_oauth_clients_partner", ["partner_id", "created_at"], unique=False
        )

    op.create_table(
        "users",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=True),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("email_key", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=True),
        sa.Column(
            "user_type",
            sa.Enum(
                "operator",
                "partnerAdmin",
                "partnerEditor",
                "admin",
                "standard",
                name="role",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("admin_owned", sa.Boolean(), nullable=False),
        sa.Column("unsubscribe", sa.Boolean(), nullable=False),
        sa.Column("last_session", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_login", sa.DateTime(timezone=True), nullable=True),
        sa.Column("idp_uid", sa.String(length=200), nullable=True),
        sa.Column(
            "status",
            sa.Enum(
                "active",
                "invited",
                "suspended",
                "deactivated",
                name="userstatus",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("password_hash", sa.String(length=500), nullable=True),
        sa.Column("timezone", sa.String(length=100), nullable=True),
        sa.Column("theme", sa.String(length=100), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(user_type = 'operator') = (partner_id IS NULL)", name=op.f("ck_users_operator")
        ),
        sa.CheckConstraint(
            "(user_type = 'standard') = (organization_id IS NOT NULL)",
            name=op.f("ck_users_standard"),
        ),
        sa.CheckConstraint(
            "idp_uid IS NULL OR idp_uid NOT IN ('usage', 'subscription', 'partial')",
            name=op.f("ck_users_idp_uid"),
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_users_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id"], ["partners.id"], name=op.f("fk_users_partner_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("partner_id", "email_key", name=op.f("uq_users_partner_id_email_key")),
        sa.UniqueConstraint("partner_id", "id", name=op.f("uq_users_partner_id_id")),
        sa.UniqueConstraint("partner_id", "idp_uid", name=op.f("uq_users_partner_id_idp_uid")),
    )
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.create_index("ix_users_email_key", ["email_key"], unique=False)
        batch_op.create_index("ix_users_organization", ["organization_id"], unique=False)
        batch_op.create_index(
            "ix_users_partner_created", ["partner_id", "created_at", "id"], unique=False
        )
        batch_op.create_index(
            "uq_users_operator_email",
            ["email_key"],
            unique=True,
            sqlite_where=sa.text("partner_id IS NULL"),
            postgresql_where=sa.text("partner_id IS NULL"),
        )

    op.create_table(
        "campaign_agents",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name=op.f("fk_campaign_agents_organization_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "campaign_id"],
            ["campaigns.organization_id", "campaigns.id"],
            name=op.f("fk_campaign_agents_organization_id_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("campaign_id", "agent_id", name=op.f("pk_campaign_agents")),
    )
    with op.batch_alter_table("campaign_agents", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_campaign_agents_organization_id"), ["organization_id"], unique=False
        )

    op.create_table(
        "column_mappings",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("columns_hash", sa.String(length=64), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("mapping", JSON_TYPE, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "campaign_id"],
            ["campaigns.organization_id", "campaigns.id"],
            name=op.f("fk_column_mappings_organization_id_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("campaign_id", "columns_hash", name=op.f("pk_column_mappings")),
    )
    op.create_table(
        "contact_imports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("created_by", sa.Uuid(), nullable=True),
        sa.Column("author", sa.String(length=200), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "uploaded",
                "reading",
                "checked",
                "applying",
                "done",
                "failed",
                "cancelled",
                name="importstate",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column(
            "action",
            sa.Enum(
                "upsert",
                "updateOnly",
                "remove",
                name="contactaction",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("file_name", sa.String(length=200), nullable=False),
        sa.Column("file_size", sa.Integer(), nullable=False),
        sa.Column("file_sha256", sa.String(length=64), nullable=False),
        sa.Column("file_key", sa.String(length=200), nullable=False),
        sa.Column("file_kind", sa.String(length=100), nullable=True),
        sa.Column("check_number", sa.Integer(), nullable=False),
        sa.Column("check_run", sa.Uuid(), nullable=True),
        sa.Column("apply_number", sa.Integer(), nullable=False),
        sa.Column("read_options", JSON_TYPE, nullable=False),
        sa.Column("found", JSON_TYPE, nullable=False),
        sa.Column("columns", JSON_TYPE, nullable=False),
        sa.Column("samples", JSON_TYPE, nullable=False),
        sa.Column("mapping", JSON_TYPE, nullable=False),
        sa.Column("repairs", JSON_TYPE, nullable=False),
        sa.Column("campaign_revision", sa.Integer(), nullable=False),
        sa.Column("rows_total", sa.Integer(), nullable=False),
        sa.Column("rows_skipped", sa.Integer(), nullable=False),
        sa.Column("rows_applied", sa.Integer(), nullable=False),
        sa.Column("applied_to_row", sa.Integer(), nullable=False),
        sa.Column("created", sa.Integer(), nullable=False),
        sa.Column("updated", sa.Integer(), nullable=False),
        sa.Column("deleted", sa.Integer(), nullable=False),
        sa.Column("ignored", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("expected", JSON_TYPE, nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("apply_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id", "campaign_id"],
            ["campaigns.organization_id", "campaigns.id"],
            name=op.f("fk_contact_imports_organization_id_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_contact_imports_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contact_imports")),
        sa.UniqueConstraint(
            "organization_id", "id", name=op.f("uq_contact_imports_organization_id_id")
        ),
    )
    with op.batch_alter_table("contact_imports", schema=None) as batch_op:
        batch_op.create_index("ix_contact_imports_campaign", ["campaign_id", "id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_contact_imports_file_sha256"), ["file_sha256"], unique=False
        )
        batch_op.create_index("ix_contact_imports_partner", ["partner_id", "id"], unique=False)

    op.create_table(
        "contacts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("phone", sa.String(length=16), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("email_key", sa.String(length=254), nullable=True),
        sa.Column("first_name", sa.String(length=100), nullable=True),
        sa.Column("last_name", sa.String(length=100), nullable=True),
        sa.Column("status", sa.String(length=100), nullable=True),
        sa.Column("contact_metadata", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("consent", sa.String(length=100), nullable=True),
        sa.Column("consent_source", sa.String(length=200), nullable=True),
        sa.Column("consent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "phone IS NOT NULL OR email_key IS NOT NULL", name=op.f("ck_contacts_identifier")
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "campaign_id"],
            ["campaigns.organization_id", "campaigns.id"],
            name=op.f("fk_contacts_organization_id_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contacts")),
        sa.UniqueConstraint(
            "campaign_id", "email_key", name=op.f("uq_contacts_campaign_id_email_key")
        ),
        sa.UniqueConstraint("campaign_id", "phone", name=op.f("uq_contacts_campaign_id_phone")),
    )
    with op.batch_alter_table("contacts", schema=None) as batch_op:
        batch_op.create_index("ix_contacts_campaign", ["campaign_id", "id"], unique=False)

    op.create_table(
        "external_id_keys",
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("identifies", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name=op.f("fk_external_id_keys_organization_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("agent_id", "key", name=op.f("pk_external_id_keys")),
    )
    with op.batch_alter_table("external_id_keys", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_external_id_keys_organization_id"), ["organization_id"], unique=False
        )

    op.create_table(
        "one_time_links",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column(
            "purpose",
            sa.Enum(
                "invitation",
                "set_password",
                "reset_password",
                name="linkpurpose",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_one_time_links_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_one_time_links")),
    )
    with op.batch_alter_table("one_time_links", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_one_time_links_user_id"), ["user_id"], unique=False)

    op.create_table(
        "portal_sessions",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("data", JSON_TYPE, nullable=False),
        sa.Column("ip", sa.String(length=100), nullable=True),
        sa.Column("user_agent", sa.String(length=500), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_portal_sessions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_portal_sessions")),
    )
    with op.batch_alter_table("portal_sessions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_portal_sessions_expires_at"), ["expires_at"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_portal_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "calls",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=True),
        sa.Column("contact_id", sa.Uuid(), nullable=True),
        sa.Column(
            "source",
            sa.Enum(
                "api",
                "legacy",
                "test",
                "campaign",
                name="callsource",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.Column(
            "carrier",
            sa.Enum(
                "simulator",
                "sip",
                "twilio",
                name="carrierkind",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("credential_id", sa.Uuid(), nullable=True),
        sa.Column("requested_by", sa.String(length=200), nullable=False),
        sa.Column("phone_number", sa.String(length=16), nullable=False),
        sa.Column("contact", JSON_TYPE, nullable=False),
        sa.Column("call_metadata", JSON_TYPE, nullable=False),
        sa.Column("intro_message", sa.Text(), nullable=True),
        sa.Column("voicemail_message", sa.Text(), nullable=True),
        sa.Column("call_instructions", sa.Text(), nullable=True),
        sa.Column(
            "status",
            sa.Enum(
                "scheduled",
                "queued",
                "dialing",
                "ringing",
                "in-progress",
                "completed",
                "busy",
                "no-answer",
                "failed",
                "canceled",
                "expired",
                "unknown",
                name="callstatus",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column(
            "answered_by",
            sa.Enum(
                "human",
                "voicemail",
                "unknown",
                name="answeredby",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=True,
        ),
        sa.Column(
            "ended_reason",
            sa.Enum(
                "completed",
                "voicemail",
                "busy",
                "no_answer",
                "rejected",
                "carrier_error",
                "number_invalid",
                "canceled",
                "organization_suspended",
                "agent_inactive",
                "do_not_contact",
                "region_not_allowed",
                "contact_ended",
                "expired",
                "unknown",
                name="endedreason",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=True,
        ),
        sa.Column("status_detail", sa.String(length=500), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("scheduled_for", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_calls_contact_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name=op.f("fk_calls_organization_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "campaign_id"],
            ["campaigns.organization_id", "campaigns.id"],
            name=op.f("fk_calls_organization_id_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_calls_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_calls")),
        sa.UniqueConstraint("organization_id", "id", name=op.f("uq_calls_organization_id_id")),
    )
    with op.batch_alter_table("calls", schema=None) as batch_op:
        batch_op.create_index("ix_calls_contact", ["contact_id"], unique=False)
        batch_op.create_index(
            "ix_calls_organization_live", ["organization_id", "live", "id"], unique=False
        )
        batch_op.create_index("ix_calls_partner", ["partner_id", "id"], unique=False)
        batch_op.create_index("ix_calls_phone", ["organization_id", "phone_number"], unique=False)
        batch_op.create_index("ix_calls_status", ["status", "organization_id"], unique=False)

    op.create_table(
        "contact_external_ids",
        sa.Column("contact_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("value", sa.String(length=200), nullable=False),
        sa.Column("identifies", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["contact_id"],
            ["contacts.id"],
            name=op.f("fk_contact_external_ids_contact_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("contact_id", "key", name=op.f("pk_contact_external_ids")),
    )
    with op.batch_alter_table("contact_external_ids", schema=None) as batch_op:
        batch_op.create_index(
            "ix_contact_external_ids_value", ["campaign_id", "value"], unique=False
        )
        batch_op.create_index(
            "uq_contact_external_ids_identifying",
            ["campaign_id", "key", "value"],
            unique=True,
            sqlite_where=sa.text("identifies"),
            postgresql_where=sa.text("identifies"),
        )

    op.create_table(
        "import_changes",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("row_number", sa.Integer(), nullable=False),
        sa.Column("contact_id", sa.Uuid(), nullable=False),
        sa.Column("action", sa.String(length=100), nullable=False),
        sa.Column("before", JSON_TYPE, nullable=True),
        sa.Column("after", JSON_TYPE, nullable=True),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["contact_imports.id"],
            name=op.f("fk_import_changes_import_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("import_id", "row_number", name=op.f("pk_import_changes")),
    )
    with op.batch_alter_table("import_changes", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_import_changes_contact_id"), ["contact_id"], unique=False
        )

    op.create_table(
        "import_problems",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("row_number", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("column_index", sa.Integer(), nullable=True),
        sa.Column("code", sa.String(length=100), nullable=False),
        sa.Column("reason", sa.String(length=100), nullable=True),
        sa.Column("field", sa.String(length=100), nullable=True),
        sa.Column("message", sa.String(length=500), nullable=False),
        sa.Column("is_warning", sa.Boolean(), nullable=False),
        sa.Column("repair", sa.String(length=500), nullable=True),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["contact_imports.id"],
            name=op.f("fk_import_problems_import_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "import_id", "row_number", "position", name=op.f("pk_import_problems")
        ),
    )
    with op.batch_alter_table("import_problems", schema=None) as batch_op:
        batch_op.create_index(
            "ix_import_problems_code", ["import_id", "code", "row_number"], unique=False
        )

    op.create_table(
        "import_rows",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("row_number", sa.Integer(), nullable=False),
        sa.Column("cells", JSON_TYPE, nullable=False),
        sa.Column("contact", JSON_TYPE, nullable=True),
        sa.Column("outcome", sa.String(length=100), nullable=False),
        sa.Column("code", sa.String(length=100), nullable=True),
        sa.Column("reason", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["contact_imports.id"],
            name=op.f("fk_import_rows_import_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("import_id", "row_number", name=op.f("pk_import_rows")),
    )
    with op.batch_alter_table("import_rows", schema=None) as batch_op:
        batch_op.create_index(
            "ix_import_rows_outcome", ["import_id", "outcome", "row_number"], unique=False
        )

    op.create_table(
        "call_attempts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("call_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column(
            "carrier",
            sa.Enum(
                "simulator",
                "sip",
                "twilio",
                name="carrierkind",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("carrier_reference", sa.String(length=200), nullable=True),
        sa.Column(
            "status",
            sa.Enum(
                "scheduled",
                "queued",
                "dialing",
                "ringing",
                "in-progress",
                "completed",
                "busy",
                "no-answer",
                "failed",
                "canceled",
                "expired",
                "unknown",
                name="callstatus",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column(
            "answered_by",
            sa.Enum(
                "human",
                "voicemail",
                "unknown",
                name="answeredby",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=True,
        ),
        sa.Column(
            "ended_reason",
            sa.Enum(
                "completed",
                "voicemail",
                "busy",
                "no_answer",
                "rejected",
                "carrier_error",
                "number_invalid",
                "canceled",
                "organization_suspended",
                "agent_inactive",
                "do_not_contact",
                "region_not_allowed",
                "contact_ended",
                "expired",
                "unknown",
                name="endedreason",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=True,
        ),
        sa.Column("detail", sa.String(length=500), nullable=True),
        sa.Column("spoken", sa.Text(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ringing_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cost", sa.Numeric(precision=12, scale=6), nullable=True),
        sa.Column("cost_currency", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id", "call_id"],
            ["calls.organization_id", "calls.id"],
            name=op.f("fk_call_attempts_organization_id_call_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_call_attempts")),
        sa.UniqueConstraint("call_id", "number", name=op.f("uq_call_attempts_call_id_number")),
    )
    with op.batch_alter_table("call_attempts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_call_attempts_call_id"), ["call_id"], unique=False)
        batch_op.create_index(
            "ix_call_attempts_reference", ["carrier", "carrier_reference"], unique=False
        )

    op.create_table(
        "call_events",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("call_id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=True),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "status",
            sa.Enum(
                "scheduled",
                "queued",
                "dialing",
                "ringing",
                "in-progress",
                "completed",
                "busy",
                "no-answer",
                "failed",
                "canceled",
                "expired",
                "unknown",
                name="callstatus",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["call_id"], ["calls.id"], name=op.f("fk_call_events_call_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_call_events")),
        sa.UniqueConstraint("call_id", "key", name=op.f("uq_call_events_call_id_key")),
    )
    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("call_id", sa.Uuid(), nullable=True),
        sa.Column(
            "answered_by",
            sa.Enum(
                "human",
                "voicemail",
                "unknown",
                name="answeredby",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["call_id"], ["calls.id"], name=op.f("fk_conversations_call_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_conversations_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
        sa.UniqueConstraint("call_id", name=op.f("uq_conversations_call_id")),
    )
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.create_index(
            "ix_conversations_organization", ["organization_id", "started_at"], unique=False
        )


def downgrade() -> None:
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.drop_index("ix_conversations_organization")

    op.drop_table("conversations")
    op.drop_table("call_events")
    with op.batch_alter_table("call_attempts", schema=None) as batch_op:
        batch_op.drop_index("ix_call_attempts_reference")
        batch_op.drop_index(batch_op.f("ix_call_attempts_call_id"))

    op.drop_table("call_attempts")
    with op.batch_alter_table("import_rows", schema=None) as batch_op:
        batch_op.drop_index("ix_import_rows_outcome")

    op.drop_table("import_rows")
    with op.batch_alter_table("import_problems", schema=None) as batch_op:
        batch_op.drop_index("ix_import_problems_code")

    op.drop_table("import_problems")
    with op.batch_alter_table("import_changes", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_import_changes_contact_id"))

    op.drop_table("import_changes")
    with op.batch_alter_table("contact_external_ids", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_contact_external_ids_identifying",
            sqlite_where=sa.text("identifies"),
            postgresql_where=sa.text("identifies"),
        )
        batch_op.drop_index("ix_contact_external_ids_value")

    op.drop_table("contact_external_ids")
    with op.batch_alter_table("calls", schema=None) as batch_op:
        batch_op.drop_index("ix_calls_status")
        batch_op.drop_index("ix_calls_phone")
        batch_op.drop_index("ix_calls_partner")
        batch_op.drop_index("ix_calls_organization_live")
        batch_op.drop_index("ix_calls_contact")

    op.drop_table("calls")
    with op.batch_alter_table("portal_sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_portal_sessions_user_id"))
        batch_op.drop_index(batch_op.f("ix_portal_sessions_expires_at"))

    op.drop_table("portal_sessions")
    with op.batch_alter_table("one_time_links", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_one_time_links_user_id"))

    op.drop_table("one_time_links")
    with op.batch_alter_table("external_id_keys", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_external_id_keys_organization_id"))

    op.drop_table("external_id_keys")
    with op.batch_alter_table("contacts", schema=None) as batch_op:
        batch_op.drop_index("ix_contacts_campaign")

    op.drop_table("contacts")
    with op.batch_alter_table("contact_imports", schema=None) as batch_op:
        batch_op.drop_index("ix_contact_imports_partner")
        batch_op.drop_index(batch_op.f("ix_contact_imports_file_sha256"))
        batch_op.drop_index("ix_contact_imports_campaign")

    op.drop_table("contact_imports")
    op.drop_table("column_mappings")
    with op.batch_alter_table("campaign_agents", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_campaign_agents_organization_id"))

    op.drop_table("campaign_agents")
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_users_operator_email",
            sqlite_where=sa.text("partner_id IS NULL"),
            postgresql_where=sa.text("partner_id IS NULL"),
        )
        batch_op.drop_index("ix_users_partner_created")
        batch_op.drop_index("ix_users_organization")
        batch_op.drop_index("ix_users_email_key")

    op.drop_table("users")
    with op.batch_alter_table("oauth_clients", schema=None) as batch_op:
        batch_op.drop_index("ix_oauth_clients_partner")

    op.drop_table("oauth_clients")
    op.drop_table("do_not_call")
    with op.batch_alter_table("conversation_days", schema=None) as batch_op:
        batch_op.drop_index("ix_conversation_days_partner")

    op.drop_table("conversation_days")
    with op.batch_alter_table("campaigns", schema=None) as batch_op:
        batch_op.drop_index("ix_campaigns_partner_created")

    op.drop_table("campaigns")
    with op.batch_alter_table("api_keys", schema=None) as batch_op:
        batch_op.drop_index("ix_api_keys_organization")

    op.drop_table("api_keys")
    with op.batch_alter_table("agents", schema=None) as batch_op:
        batch_op.drop_index("ix_agents_partner")

    op.drop_table("agents")
    with op.batch_alter_table("partner_social_links", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_partner_social_links_partner_id"))

    op.drop_table("partner_social_links")
    with op.batch_alter_table("partner_site_images", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_partner_site_images_partner_id"))

    op.drop_table("partner_site_images")
    with op.batch_alter_table("partner_pricing", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_partner_pricing_partner_id"))

    op.drop_table("partner_pricing")
    with op.batch_alter_table("partner_header_links", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_partner_header_links_partner_id"))

    op.drop_table("partner_header_links")
    with op.batch_alter_table("partner_brand_colors", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_partner_brand_colors_partner_id"))

    op.drop_table("partner_brand_colors")
    with op.batch_alter_table("organizations", schema=None) as batch_op:
        batch_op.drop_index("ix_organizations_referral")
        batch_op.drop_index("ix_organizations_partner_created")

    op.drop_table("organizations")
    with op.batch_alter_table("brand_versions", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_brand_versions_draft",
            sqlite_where=sa.text("published_at IS NULL"),
            postgresql_where=sa.text("published_at IS NULL"),
        )

    op.drop_table("brand_versions")
    op.drop_table("brand_images")
    with op.batch_alter_table("audit_entries", schema=None) as batch_op:
        batch_op.drop_index("ix_audit_entries_target")
        batch_op.drop_index("ix_audit_entries_partner")
        batch_op.drop_index(batch_op.f("ix_audit_entries_organization_id"))

    op.drop_table("audit_entries")
    with op.batch_alter_table("worker_heartbeats", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_worker_heartbeats_beat_at"))

    op.drop_table("worker_heartbeats")
    with op.batch_alter_table("simulated_calls", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_simulated_calls_to_number"))
        batch_op.drop_index(batch_op.f("ix_simulated_calls_reference"))

    op.drop_table("simulated_calls")
    op.drop_table("signing_keys")
    with op.batch_alter_table("revoked_tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_revoked_tokens_expires_at"))

    op.drop_table("revoked_tokens")
    op.drop_table("processor_prices")
    with op.batch_alter_table("partners", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_partners_verified_domain",
            sqlite_where=sa.text("domain_verified_at IS NOT NULL"),
            postgresql_where=sa.text("domain_verified_at IS NOT NULL"),
        )
        batch_op.drop_index(batch_op.f("ix_partners_domain_key"))

    op.drop_table("partners")
    with op.batch_alter_table("idempotency_records", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_idempotency_records_created_at"))

    op.drop_table("idempotency_records")
    with op.batch_alter_table("failed_sign_ins", schema=None) as batch_op:
        batch_op.drop_index("ix_failed_sign_ins_subject")

    op.drop_table("failed_sign_ins")
    op.drop_table("carrier_paces")
