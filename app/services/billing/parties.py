"""The seller and the buyer of a statement, and how it is paid."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.models import Organization, Partner
from app.services.billing_address import BillingAddress
from app.services.payment_terms import PaymentTerms


@dataclass(frozen=True, slots=True)
class StatementParty:
    name: str
    address: BillingAddress
    email: str | None = None


@dataclass(frozen=True, slots=True)
class StatementParties:
    """``seller`` is the partner with its support address, ``buyer`` the organization. ``payment``
    are the seller's terms; None if there is nothing to pay to the seller."""

    seller: StatementParty
    buyer: StatementParty
    payment: PaymentTerms | None = None

    def to_json(self) -> dict[str, Any]:
        sides = {"seller": self.seller, "buyer": self.buyer}
        stored = {
            side: {"name": each.name, "email": each.email, "address": each.address.to_json()}
            for side, each in sides.items()
        }
        return {**stored, "payment": self.payment and self.payment.to_json()}

    @classmethod
    def stored(cls, values: Mapping[str, Any]) -> "StatementParties":
        seller, buyer = (
            StatementParty(side["name"], BillingAddress.of(side["address"]), side["email"])
            for side in (values["seller"], values["buyer"])
        )
        return cls(seller, buyer, PaymentTerms.stored(values.get("payment")))


def parties_of(
    partner: Partner, organization: Organization, *, with_addresses: bool = True
) -> StatementParties:
    """Return the current parties."""
    sold, bought = (
        _without_name(row.name, BillingAddress.of(row.billing_address if with_addresses else None))
        for row in (partner, organization)
    )
    return StatementParties(
        StatementParty(partner.name, sold, partner.support_email),
        StatementParty(organization.name, bought),
        PaymentTerms.of(partner) if with_addresses else PaymentTerms(),
    )


def _without_name(name: str, address: BillingAddress) -> BillingAddress:
    """Return the address without a first line that repeats the name."""
    if address.lines and address.lines[0].casefold() == name.casefold():
        return replace(address, lines=address.lines[1:])
    return address
