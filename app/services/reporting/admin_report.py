"""The report of a partner: its standard users over all time, each with the conversations of their
organization. It reads the daily totals, so its cost doesn't grow with conversations."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, String, func, select, type_coerce
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.models import PLAN, ConversationDay, Organization, User
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.fields import write_moment
from app.services import partners
from app.services.tenancy import in_groups

BATCH_SIZE = 200
"""Rows of a batch: few enough that they are freed before the garbage collector examines all
objects."""


@dataclass
class AdminReport:
    """The report while it is read: the two counts are complete after all ``batches``."""

    rows: Iterable[Sequence[Any]]
    write: Callable[[Any, Any], tuple[Any, str]]
    user_count: int = 0
    user_count_by_tier: dict[str, int] = field(
        default_factory=lambda: {tier.value: 0 for tier in Tier}
    )

    def batches(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the users, oldest first, in the contract's names and values that orjson can
        write."""
        by_tier = self.user_count_by_tier
        write = self.write
        for rows in self.rows:
            batch = []
            for identifier, email, created_at, name, tier, conversations in rows:
                by_tier[tier] += 1
                wire_id, sign_up_date = write(identifier, created_at)
                batch.append(
                    {
                        "id": wire_id,
                        "email": email,
                        "signUpDate": sign_up_date,
                        "businessName": [name],
                        "paymentTier": tier,
                        "conversations": conversations,
                    }
                )
            self.user_count += len(batch)
            yield batch


def report(session: Session, caller: Caller, partner_id: UUID) -> AdminReport:
    """Return the report, read in batches within the caller's transaction: one query.

    Raises `NotFound` for another partner.
    """
    caller.require(Permission.REPORT_READ)
    partners.check(session, caller, partner_id)
    conversations = (
        select(
            ConversationDay.organization_id.label("organization_id"),
            func.sum(ConversationDay.conversations).label("conversations"),
        )
        .where(ConversationDay.partner_id == partner_id)
        .group_by(ConversationDay.organization_id)
        .subquery()
    )
    # Plain columns avoid a conversion of each value, half of the time of a long report.
    rows = (
        select(
            type_coerce(User.id, String),
            User.email,
            type_coerce(User.created_at, String),
            Organization.name,
            type_coerce(PLAN, String),
            type_coerce(func.coalesce(conversations.c.conversations, 0), Integer),
        )
        .join(Organization, Organization.id == User.organization_id)
        .outerjoin(conversations, conversations.c.organization_id == Organization.id)
        .where(User.partner_id == partner_id, User.user_type == Role.STANDARD)
        .where(in_groups(caller, Organization.id))
        .order_by(User.created_at, User.id)
    )
    # Not with a server-side cursor: PostgreSQL would plan for the first rows, not for all.
    batches = session.connection().execute(rows).partitions(BATCH_SIZE)
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    return AdminReport(batches, _write_sqlite if is_sqlite else _write_postgresql)


def _write_sqlite(identifier: str, created_at: str) -> tuple[str, str]:
    """Convert ids and times from SQLite's form to that of the API."""
    h = identifier
    moment = f"{created_at[:10]}T{created_at[11:23]}Z"
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}", moment


def _write_postgresql(identifier: UUID, created_at: datetime) -> tuple[UUID, str]:
    return identifier, write_moment(created_at)
