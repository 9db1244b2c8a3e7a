"""GET /api/v1/campaigns."""

from app import extensions
from app.api.operation import operation
from app.api.public.blueprint import blueprint
from app.schemas.contacts import CampaignInfo
from app.services import campaigns


@blueprint.get("/campaigns")
@operation(
    summary="List the campaigns that the key may use",
    output=list[CampaignInfo],
    added=True,
)
def list_campaigns() -> list[CampaignInfo]:
    """``externalIdKeys`` are the keys that the campaign's assistants define."""
    with extensions.transaction(read_only=True) as session:
        stored = campaigns.list_all(session, extensions.caller())
        keys = campaigns.external_id_keys_of(session, stored)
        return [
            CampaignInfo(
                id=campaign.id,
                name=campaign.name,
                status=campaign.status,
                external_id_keys=list(keys[campaign.id]),
            )
            for campaign in stored
        ]
