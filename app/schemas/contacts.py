"""Campaign contacts: the bulk envelope, its answer and the reads (contract, section 2.9).

The items of ``contacts`` are checked one by one by the contacts service, which answers for each
of them; `CampaignContact` documents what it reads.
"""

from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    model_validator,
)

from app.enums import CampaignStatus, ContactAction
from app.schemas.base import ADDITION, Input, Query, Resource
from app.schemas.checks import (
    MAX_METADATA_KEY,
    MAX_METADATA_KEYS,
    MAX_METADATA_VALUE,
    Omittable,
    OneOf,
    refusal,
    refuse_nul,
)
from app.schemas.fields import Flag, Moment, Name, Short, StoredMetadata, Uuid
from app.schemas.paging import CursorQuery
from app.validation import emails

DEFAULT_MAX_CONTACTS = 10_000


class CampaignContact(Resource):
    """A contact as it is sent. Unknown fields are kept as metadata under their own name.

    A missing or empty value keeps what is stored, null clears it. A phone or an email is needed.
    """

    first_name: Annotated[str | None, Field(max_length=100)] = None
    last_name: Annotated[str | None, Field(max_length=100)] = None
    email: Annotated[str | None, Field(max_length=254)] = None
    phone: Annotated[str | None, Field(max_length=64)] = None
    contact_metadata: Annotated[
        dict[
            Annotated[str, Field(max_length=MAX_METADATA_KEY)],
            Annotated[str, Field(max_length=MAX_METADATA_VALUE)] | int | float | bool | None,
        ]
        | None,
        Field(max_length=MAX_METADATA_KEYS),
    ] = None
    status: Annotated[str | None, Field(max_length=64)] = None
    external_id_key: Annotated[str | None, Field(max_length=100)] = None
    external_id_value: Annotated[str | None, Field(max_length=200)] = None


class BulkContactsInput(Input):
    """The envelope: a problem here refuses the whole request."""

    contacts: Annotated[
        list[Any],
        Field(
            min_length=1,
            json_schema_extra={
                "items": {"$ref": "#/components/schemas/CampaignContact"},
                "maxItems": DEFAULT_MAX_CONTACTS,
            },
        ),
    ]
    action: Annotated[ContactAction, OneOf(*ContactAction)] = ContactAction.UPSERT
    external_id_key: Omittable[Short] = None
    external_id_value: Omittable[Name] = None

    @model_validator(mode="after")
    def _bound_and_pair(self, info: ValidationInfo) -> Self:
        limit = (info.context or {}).get("max_contacts", DEFAULT_MAX_CONTACTS)
        if len(self.contacts) > limit:
            sentence = f"At most {limit:,} contacts fit in one request. Send the rest in another."
            raise refusal("too_many_contacts", sentence, "contacts")
        if bool(self.external_id_key) != bool(self.external_id_value):
            sentence = "Send externalIdKey and externalIdValue together, or neither."
            missing = "externalIdValue" if self.external_id_key else "externalIdKey"
            raise refusal("external_id_pair_incomplete", sentence, missing)
        return self


CONTACT_ERRORS = (
    "missing_identifier",
    "invalid_phone",
    "invalid_email",
    "invalid_type",
    "value_too_long",
    "too_many_metadata_keys",
    "unknown_external_id_key",
    "external_id_pair_incomplete",
    "ambiguous_match",
    "not_found",
    "do_not_contact",
    "internal_error",
)
"""Why a single contact fails (docs/decisions/contacts.md#results)."""


class BulkSuccess(Resource):
    """A contact that was created, updated or deleted; ``phone`` and ``email`` as sent."""

    phone: str | None = None
    email: str | None = None
    action: Annotated[str, Field(json_schema_extra={"enum": ["created", "updated", "deleted"]})]
    id: Annotated[Uuid | None, Field(json_schema_extra=ADDITION)] = None


class BulkError(Resource):
    """A contact that failed; ``index`` is its place in the request, from 0."""

    index: int
    phone: Any = None
    email: Any = None
    code: Annotated[str, Field(json_schema_extra={"x-error-codes": [*CONTACT_ERRORS]})]
    field: str | None = None
    message: str
    retryable: bool = False


class BulkIgnored(Resource):
    """A contact that was ignored on purpose: ``not_in_campaign`` or ``status_ended``."""

    index: int
    phone: Any = None
    email: Any = None
    code: Annotated[str, Field(json_schema_extra={"enum": ["not_in_campaign", "status_ended"]})]


class BulkResult(Resource):
    """created + updated + deleted + ignored + failed = contacts sent, always."""

    message: str
    success: list[BulkSuccess]
    errors: list[BulkError]
    ignored: Annotated[list[BulkIgnored], Field(json_schema_extra=ADDITION)]


class BulkQuery(Query):
    """``dryRun=true`` answers as the real request would and writes nothing."""

    dry_run: Annotated[Flag, Field(json_schema_extra=ADDITION)] = False


class StoredContact(Resource):
    """A contact as it is stored, phone in E.164."""

    id: Uuid
    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    phone: str | None = None
    contact_metadata: StoredMetadata
    status: str | None = None
    external_ids: dict[str, str]
    created_at: Moment
    updated_at: Moment


_EmailFilter = Annotated[
    str,
    StringConstraints(max_length=emails.MAX_LENGTH),
    AfterValidator(refuse_nul),
    BeforeValidator(str.strip),
]


class ContactFilter(CursorQuery):
    """Filters of the contact list; each is compared exactly."""

    phone: Omittable[Name] = None
    email: Omittable[_EmailFilter] = None
    external_id_value: Omittable[Name] = None
    status: Omittable[Short] = None


class AgentInfo(Resource):
    """An assistant that the key may use."""

    id: Uuid
    name: str
    active: bool
    phone: str | None = None
    phone_ready: bool


class CampaignInfo(Resource):
    """A campaign that the key may use."""

    id: Uuid
    name: str
    status: Annotated[CampaignStatus, OneOf(*CampaignStatus)]
    external_id_keys: list[str]
