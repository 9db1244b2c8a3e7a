"""`GET /api/v1/agents`."""

from app import extensions
from app.api.operation import operation
from app.api.public.blueprint import blueprint
from app.enums import CarrierKind
from app.schemas.contacts import AgentInfo
from app.services import assistants, phone_numbers


@blueprint.get("/agents")
@operation(
    summary="List the assistants that the key may use",
    output=list[AgentInfo],
    added=True,
)
def list_agents() -> list[AgentInfo]:
    """A call needs an assistant that is active and whose phone is ready."""
    carrier = CarrierKind(extensions.settings().carrier)
    with extensions.transaction(read_only=True) as session:
        usable = assistants.list_all(session, extensions.caller())
        refused = phone_numbers.refusals(session, usable, carrier)
        return [
            AgentInfo(
                id=assistant.id,
                name=assistant.name,
                active=assistant.active,
                phone=assistant.phone_number,
                phone_ready=assistant.phone_ready and assistant.id not in refused,
            )
            for assistant in usable
        ]
