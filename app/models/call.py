"""Calls with their attempts and events, the conversations that they become, and the ledger of the
simulated carrier."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    Numeric,
    String,
    Text,
    UniqueConstraint,
    false,
)
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import AnsweredBy, CallSource, CallStatus, CarrierKind, EndedReason
from app.models.base import (
    Base,
    Created,
    Id,
    Json,
    Line,
    Name,
    Phone,
    Short,
    Time,
    Updated,
    Url,
    UtcDateTime,
    enum_column,
    partial_index,
    tenant_key,
)
from app.models.erasure import is_erased


def _index_of_ended(column: str, *tenant: str) -> Index:
    """Return an index of the calls with a value in this column: calls get it at their end, so that
    their steps don't update the index."""
    name = "_".join(("ix_calls", *(each.removesuffix("_id") for each in tenant), column))
    columns = (*tenant, column, "id")
    return partial_index(name, *columns, where=f"{column} IS NOT NULL")


class Call(Base):
    """An accepted call. Its status only moves forward within an attempt.

    ``seconds`` is its duration from the answer, known at its end. ``cost_micros`` is the reported
    carrier cost of all attempts, in millionths of its currency.
    """

    __tablename__ = "calls"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        tenant_key("agents", "organization_id", "agent_id"),
        tenant_key("campaigns", "organization_id", "campaign_id"),
        UniqueConstraint("organization_id", "id"),
        Index("ix_calls_organization_live", "organization_id", "live", "id"),
        Index("ix_calls_partner", "partner_id", "id"),
        Index("ix_calls_status", "status", "organization_id"),
        Index("ix_calls_contact", "contact_id"),
        partial_index("ix_calls_campaign", "campaign_id", "id", where="campaign_id IS NOT NULL"),
        Index("ix_calls_phone", "organization_id", "phone_number"),
        Index("ix_calls_partner_phone", "partner_id", "phone_number"),
        Index("ix_calls_partner_status", "partner_id", "status", "id"),
        *(
            _index_of_ended(column, *tenant)
            for column in ("seconds", "cost_micros")
            for tenant in (("partner_id",), ("organization_id",), ())
        ),
        *(_index_of_ended("ended_reason", tenant) for tenant in ("partner_id", "organization_id")),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    assistant_id: Mapped[UUID] = mapped_column("agent_id")
    campaign_id: Mapped[UUID | None]
    contact_id: Mapped[UUID | None] = mapped_column(ForeignKey("contacts.id", ondelete="SET NULL"))
    source: Mapped[CallSource] = mapped_column(enum_column(CallSource))
    live: Mapped[bool] = mapped_column(default=True)
    carrier: Mapped[CarrierKind] = mapped_column(enum_column(CarrierKind))
    account_id: Mapped[UUID | None]
    """The carrier account that places the call; None for the installation's."""
    credential_id: Mapped[UUID | None]
    requested_by: Mapped[Name]
    after_call_id: Mapped[UUID | None]
    """The earlier call of the organization to the same number that a user called again."""
    phone_number: Mapped[Phone]
    contact: Mapped[dict[str, Any]] = mapped_column(Json)
    call_metadata: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    intro_message: Mapped[str | None] = mapped_column(Text)
    voicemail_message: Mapped[str | None] = mapped_column(Text)
    call_instructions: Mapped[str | None] = mapped_column(Text)
    status: Mapped[CallStatus] = mapped_column(enum_column(CallStatus))
    answered_by: Mapped[AnsweredBy | None] = mapped_column(enum_column(AnsweredBy))
    ended_reason: Mapped[EndedReason | None] = mapped_column(enum_column(EndedReason))
    status_detail: Mapped[Line | None]
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]
    scheduled_for: Mapped[Time | None]
    next_attempt_at: Mapped[Time | None]
    expires_at: Mapped[Time]
    started_at: Mapped[Time | None]
    answered_at: Mapped[Time | None]
    ended_at: Mapped[Time | None]
    seconds: Mapped[int | None]
    cost_micros: Mapped[int | None] = mapped_column(BigInteger)
    cancel_requested_at: Mapped[Time | None]
    slot_released_at: Mapped[Time | None] = mapped_column("line_released_at")
    """Since when the call doesn't count as one of the calls at once, because its carrier is
    silent."""

    @property
    def is_erased(self) -> bool:
        """Whether an erasure has replaced the number by its pseudonym."""
        return is_erased(self.phone_number)

    @property
    def name(self) -> str:
        """The name of the person called."""
        return " ".join(filter(None, map(self.contact.get, ("firstName", "lastName"))))

    @property
    def is_usage(self) -> bool:
        """Whether it counts in usage and figures."""
        return self.live and not (self.verifies_a_number or self.is_simulated_test)

    @property
    def is_charged(self) -> bool:
        """Whether it counts as spending."""
        return self.live and not self.is_simulated_test

    @property
    def verifies_a_number(self) -> bool:
        """Whether it only speaks a code: it is neither handed over, tried again nor counted as a
        conversation."""
        return self.source is CallSource.VERIFICATION

    @hybrid_property
    def is_simulated_test(self) -> bool:
        """Whether it is a test call of the portal on the simulated carrier: no conversation."""
        return self.source is CallSource.TEST and self.carrier is CarrierKind.SIMULATOR

    @is_simulated_test.inplace.expression
    @classmethod
    def _is_simulated_test(cls) -> ColumnElement[bool]:
        return (cls.source == CallSource.TEST) & (cls.carrier == CarrierKind.SIMULATOR)


class CallAttempt(Base):
    """One attempt to place a call; its id is the reference that the carrier gets.

    It is committed before the request to the carrier, so that after a restart a request that may
    have been sent is known. If ``carrier_retry_at`` is set, the carrier did not place the call, and
    the request can be sent again then, by this attempt or the next; ``asked_at`` is the time of the
    request, once it is certain. A ``carrier_reference`` that ``is_guessed`` belongs to a matching
    call, between the same numbers at that time. ``from_number`` and ``hand_over_to`` are the
    assistant's number and voice address, as they were checked before the call was placed.
    ``attestation`` is the STIR/SHAKEN level with which the carrier signed the call: A, B or C, None
    if it doesn't say. What is reserved and charged is in the spending totals
    (`app.services.spending`), what is billed and estimated in the billing days.
    """

    __tablename__ = "call_attempts"
    __table_args__ = (
        tenant_key("calls", "organization_id", "call_id"),
        UniqueConstraint("call_id", "number"),
        Index("ix_call_attempts_reference", "carrier", "carrier_reference"),
        Index("ix_call_attempts_organization", "organization_id", "started_at"),
    )

    id: Mapped[Id]
    organization_id: Mapped[UUID]
    call_id: Mapped[UUID] = mapped_column(index=True)
    number: Mapped[int]
    carrier: Mapped[CarrierKind] = mapped_column(enum_column(CarrierKind))
    account_id: Mapped[UUID | None]
    carrier_reference: Mapped[Name | None]
    is_guessed: Mapped[bool] = mapped_column(default=False, server_default=false())
    from_number: Mapped[Phone | None]
    attestation: Mapped[str | None] = mapped_column(String(1))
    hand_over_to: Mapped[Url | None]
    asked_at: Mapped[Time | None]
    carrier_retry_at: Mapped[datetime | None] = mapped_column("put_off_until", UtcDateTime)
    hang_up_asked_at: Mapped[Time | None]
    status: Mapped[CallStatus] = mapped_column(enum_column(CallStatus))
    answered_by: Mapped[AnsweredBy | None] = mapped_column(enum_column(AnsweredBy))
    ended_reason: Mapped[EndedReason | None] = mapped_column(enum_column(EndedReason))
    detail: Mapped[Line | None]
    spoken: Mapped[str | None] = mapped_column(Text)
    started_at: Mapped[Created]
    ringing_at: Mapped[Time | None]
    answered_at: Mapped[Time | None]
    ended_at: Mapped[Time | None]
    cost: Mapped[Decimal | None] = mapped_column(Numeric(12, 6))
    cost_currency: Mapped[Short | None]
    reserved_micros: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    reserved_seconds: Mapped[int] = mapped_column(default=0, server_default="0")
    charged_micros: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    charged_seconds: Mapped[int] = mapped_column(default=0, server_default="0")
    billed_minutes: Mapped[int] = mapped_column(default=0, server_default="0")
    estimated_micros: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")


class CallEvent(Base):
    """An event of a call's timeline; ``key`` makes repeated reports harmless."""

    __tablename__ = "call_events"
    __table_args__ = (UniqueConstraint("call_id", "key"),)

    id: Mapped[Id]
    call_id: Mapped[UUID] = mapped_column(ForeignKey("calls.id", ondelete="CASCADE"))
    attempt_id: Mapped[UUID | None]
    key: Mapped[Name]
    at: Mapped[Created]
    status: Mapped[CallStatus] = mapped_column(enum_column(CallStatus))
    detail: Mapped[str | None] = mapped_column(Text)


class Conversation(Base):
    """A completed conversation: a call that was answered, by a person or by voicemail."""

    __tablename__ = "conversations"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_conversations_organization", "organization_id", "started_at"),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    assistant_id: Mapped[UUID | None] = mapped_column("agent_id")
    call_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("calls.id", ondelete="SET NULL"), unique=True
    )
    answered_by: Mapped[AnsweredBy] = mapped_column(enum_column(AnsweredBy))
    started_at: Mapped[Time]
    ended_at: Mapped[Time]
    seconds: Mapped[int]


class ConversationDay(Base):
    """The daily totals (UTC days) that report, usage and charts read."""

    __tablename__ = "conversation_days"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_conversation_days_partner", "partner_id", "day"),
    )

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    conversations: Mapped[int] = mapped_column(default=0)
    by_human: Mapped[int] = mapped_column("by_person", Integer, default=0)
    by_voicemail: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[Updated]


class SimulatedCall(Base):
    """One placed call. Nothing is unique here, so that a call placed twice shows as two rows."""

    __tablename__ = "simulated_calls"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    reference: Mapped[Short] = mapped_column(index=True)
    from_number: Mapped[Phone]
    to_number: Mapped[Phone] = mapped_column(index=True)
    placed_at: Mapped[Time]
    hung_up_at: Mapped[Time | None]
