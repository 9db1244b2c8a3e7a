"""Charges for usage beyond the plan, added to the next invoice of the customer's subscription.

The subscription itself pays for the plan. Without one, the statement is the invoice.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.gateways.processors.currencies import decimals
from app.models import Statement
from app.services.pricing import subscriptions

TRIED_FOR = timedelta(days=30)
"""How long an amount that the processor refuses is sent again."""
BATCH_SIZE = 50
ENDED = "The subscription has ended. Send the customer an invoice for this amount."
"""Final: the partner may have sent that invoice."""


@dataclass(frozen=True, slots=True)
class DueCharge:
    """An amount in currency units to add to the next invoice of a subscription; without a
    ``subscription`` there is none that lasts. ``number`` is that of the statement. ``customers``
    are all customers of the organization at the processor, any of which an earlier attempt may have
    charged."""

    statement_id: UUID
    partner_id: UUID
    month: date
    number: int | None
    amount: Decimal
    currency: str
    closed_at: datetime
    customers: Collection[str]
    customer: str = ""
    subscription: str = ""

    @property
    def name(self) -> str:
        """The name of the charge at the processor."""
        return f"statement:{self.statement_id}"


def due(session: Session, now: datetime, after: UUID | None = None) -> Sequence[DueCharge]:
    """For the worker: return some of the amounts to charge, starting after that of a statement."""
    query = select(Statement).where(
        Statement.extra != 0,
        Statement.invoice_item == "",
        Statement.charge_problem != ENDED,
        Statement.closed_at > now - TRIED_FOR,
    )
    if after is not None:
        query = query.where(Statement.id > after)
    return [
        _build_charge(session, statement)
        for statement in session.scalars(query.order_by(Statement.id).limit(BATCH_SIZE))
    ]


def end(session: Session, statement_id: UUID, item: str, problem: str = "") -> None:
    """For the worker: store the item at the processor, or why there is none."""
    statement = session.get(Statement, statement_id, with_for_update=True)
    if statement is not None and not statement.invoice_item:
        statement.invoice_item, statement.charge_problem = item, problem


def _build_charge(session: Session, statement: Statement) -> DueCharge:
    paid_by = subscriptions.unended_subscription(session, statement.organization_id)
    amount = Decimal(statement.extra or 0).scaleb(-decimals(statement.currency))
    return DueCharge(
        statement.id,
        statement.partner_id,
        statement.month,
        statement.number,
        amount,
        statement.currency,
        statement.closed_at,
        subscriptions.customers_of(session, statement.organization_id),
        paid_by.customer if paid_by else "",
        paid_by.reference if paid_by else "",
    )
