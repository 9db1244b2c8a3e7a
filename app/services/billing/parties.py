"""The seller and the buyer of a statement."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.models import Organization, Partner
from app.services.billing_address import BillingAddress


@dataclass(frozen=True, slots=True)
class Party:
    name: str
    address: BillingAddress
    email: str | None = None


@dataclass(frozen=True, slots=True)
class Parties:
    """``seller`` is the partner with its support address, ``buyer`` the organization."""

    seller: Party
    buyer: Party

    def to_json(self) -> dict[str, Any]:
        sides = {"seller": self.seller, "buyer": self.buyer}
        return {
            side: {"name": each.name, "email": each.email, "address": each.address.to_json()}
            for side, each in sides.items()
        }

    @classmethod
    def stored(cls, values: Mapping[str, Any]) -> "Parties":
        seller, buyer = (
            Party(side["name"], BillingAddress.of(side["address"]), side["email"])
            for side in (values["seller"], values["buyer"])
        )
        return cls(seller, buyer)


def parties_of(
    partner: Partner, organization: Organization, *, with_addresses: bool = True
) -> Parties:
    """Return them as they are now."""
    sold, bought = (
        _below(row.name, BillingAddress.of(row.billing_address if with_addresses else None))
        for row in (partner, organization)
    )
    return Parties(
        Party(partner.name, sold, partner.support_email), Party(organization.name, bought)
    )


def _below(name: str, address: BillingAddress) -> BillingAddress:
    """Return the address without a first line that repeats the name."""
    if address.lines and address.lines[0].casefold() == name.casefold():
        return replace(address, lines=address.lines[1:])
    return address
