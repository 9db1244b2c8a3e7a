"""/api/partners"""

from uuid import UUID

from flask import Response

from app.api.operation import operation
from app.api.paging import NumberedPage, listing, short_listing
from app.api.partner_admin.blueprint import blueprint
from app.extensions import caller, processor, settings, transaction
from app.schemas.figures import PricingOption
from app.schemas.paging import PageQuery
from app.schemas.partners import CreatePartnerInput, Partner, PartnerFilter, UpdatePartnerInput
from app.services import partners, pricing, spending

NO_PARTNER = {"partner_not_found": "There is no such partner, or it is another's."}


@blueprint.get("/partners")
@operation(
    summary="List partners",
    output=list[Partner],
    query=PartnerFilter,
    errors={404: {"not_found": "Never answered: no match is an empty list."}},
)
def list_partners(query: PartnerFilter) -> Response:
    """An operator sees every partner, other callers their own. `domain` is compared exactly,
    `name` anywhere in the name, both without regard to case. No match is an empty list."""
    return listing(partners.listing(caller(), query), NumberedPage.of(query))


@blueprint.post("/partners")
@operation(
    summary="Create a partner",
    output=Partner,
    body=CreatePartnerInput,
    errors={
        400: {
            "unknown_id": "An entry of a list has an id; leave it out.",
            "duplicate_id": "An id is in a list twice.",
        }
    },
)
def create_partner(body: CreatePartnerInput) -> Partner:
    """For operators. Entries of lists get ids of their own."""
    with transaction() as session:
        partner = partners.create(session, caller(), body)
        spending.limit_new_partner(session, caller(), partner, settings().new_partner_micros_a_day)
        return partners.to_resource(partner, caller())


@blueprint.get("/partners/<partner_id>")
@operation(summary="Read a partner", output=Partner, errors={404: NO_PARTNER})
def get_partner(partner_id: UUID) -> Partner:
    """Fields that the role may not see are null."""
    with transaction(read_only=True) as session:
        return partners.to_resource(partners.get(session, caller(), partner_id), caller())


@blueprint.put("/partners/<partner_id>")
@operation(
    summary="Change a partner",
    output=Partner,
    body=UpdatePartnerInput,
    errors={
        400: {
            "unknown_id": "An id sent for an entry is not in the list.",
            "duplicate_id": "An id is in a list twice.",
        },
        403: {"field_not_allowed": "The role may not change the fields that are named."},
        404: NO_PARTNER,
    },
)
def update_partner(partner_id: UUID, body: UpdatePartnerInput) -> Partner:
    """A partial merge: an absent field keeps its value, null clears it, a list replaces the whole
    list and keeps the ids that are sent. Read-only fields are ignored, so what was read can be
    sent back. A field that the role may not change is refused, unless its value is the one seen."""
    with transaction() as session:
        return partners.to_resource(partners.update(session, caller(), partner_id, body), caller())


@blueprint.get("/partners/<partner_id>/pricing")
@operation(
    summary="List what the plans cost",
    output=list[PricingOption],
    query=PageQuery,
    errors={404: NO_PARTNER},
)
def list_pricing(partner_id: UUID, query: PageQuery) -> Response:
    """One option for each entry of the partner's pricing. `cost` is in currency units, not cents:
    the last known price of the payment processor or, without one, of the built-in price list."""
    with transaction(read_only=True) as session:
        options = pricing.options(session, caller(), partner_id, processor())
    return short_listing(options, NumberedPage.of(query))
