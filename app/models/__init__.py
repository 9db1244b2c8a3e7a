"""The database tables, one file per noun. Importing this package registers every table."""

from app.models.alert import Alert, AlertRule
from app.models.api_request import ApiRequest
from app.models.audit import AuditEntry, AuditForwarding, AuditLink, AuditRedaction
from app.models.base import Base, new_id, utcnow
from app.models.billing import NO_CAMPAIGN, BillingDay, Statement
from app.models.brand import BrandImage, BrandVersion, OutsidePicture
from app.models.call import (
    Call,
    CallAttempt,
    CallEvent,
    Conversation,
    ConversationDay,
    SimulatedCall,
)
from app.models.campaign import Campaign, CampaignAssistant, Contact, ContactExternalId
from app.models.carrier_account import (
    AccountCheck,
    CarrierAccount,
    CarrierAccountTest,
    CarrierNumberList,
)
from app.models.contact_import import (
    STORED,
    ColumnMapping,
    ContactImport,
    ImportBlock,
    ImportChange,
    ImportCorrection,
    ImportProblem,
    ImportRow,
)
from app.models.credential import ApiKey, IdempotencyRecord, OAuthClient, RevokedToken, SigningKey
from app.models.destinations import InstallationDestinations, PartnerDestinations
from app.models.erasure import ERASED_DOMAIN, Erasure, is_erased
from app.models.factor import (
    AuthenticatorApp,
    Passkey,
    PasskeyChallenge,
    PendingSignIn,
    RecoveryCode,
    RememberedBrowser,
)
from app.models.identity_provider import (
    IdentityProvider,
    IdentityRequest,
    IdentitySignOut,
    UserIdentity,
)
from app.models.legacy import LegacyDay, LegacyExchange
from app.models.list_export import ListExport
from app.models.mail import Mail, MailKind
from app.models.name_index import index_names
from app.models.organization import (
    FIRST_REGION,
    PLAN,
    Assistant,
    DoNotCallEntry,
    ExternalIdKey,
    Organization,
)
from app.models.organization_group import GroupedOrganization, GroupLimit, OrganizationGroup
from app.models.organization_template import OrganizationTemplate
from app.models.outreach import Outreach, OutreachContact
from app.models.partner import (
    BrandColor,
    HeaderLink,
    Partner,
    PlanLimit,
    Pricing,
    SiteImage,
    SocialLink,
)
from app.models.partner_domain import PartnerDomain
from app.models.pause import (
    Backup,
    CallHour,
    CarrierObservation,
    DispatchPause,
    FileStoreMark,
    HeldCall,
    InstallationMark,
)
from app.models.phone_number import PhoneNumber
from app.models.plan import Checkout, PlanVersion, ProcessorAccount, Subscription
from app.models.recording import CallRecording, CallTranscript
from app.models.report_schedule import ReportSchedule
from app.models.rollup import CallDay, CostDay, FigureCheck, PartnerCostDay, PartnerDay, PartnerTier
from app.models.saved_view import SavedView
from app.models.scim import ScimGroup, ScimMember, ScimSettings, ScimToken, ScimUser
from app.models.spending import CallRate, SpendingLimit, SpendingTotal
from app.models.throttle import DailyCount, RateLevel, RefusalCount, ThrottleCounter
from app.models.user import (
    EmailChange,
    LinkPurpose,
    OfferedAccount,
    OneTimeLink,
    PortalSession,
    ReadNotification,
    User,
)
from app.models.verified_number import VerifiedNumber
from app.models.webhook import Webhook, WebhookDelivery
from app.models.worker import (
    CallSignal,
    CarrierPace,
    ProcessorCheck,
    ProcessorPrice,
    RetentionRun,
    WorkerHeartbeat,
)
