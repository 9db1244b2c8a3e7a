"""GET /api/v1/agents."""

from app import extensions
from app.api.operation import operation
from app.api.public.blueprint import blueprint
from app.schemas.contacts import AgentInfo
from app.services import assistants


@blueprint.get("/agents")
@operation(
    summary="List the assistants that the key may use",
    output=list[AgentInfo],
    added=True,
)
def list_agents() -> list[AgentInfo]:
    """A call needs an assistant that is active and whose phone is ready."""
    with extensions.transaction(read_only=True) as session:
        return [
            AgentInfo(
                id=assistant.id,
                name=assistant.name,
                active=assistant.active,
                phone=assistant.phone_number,
                phone_ready=assistant.phone_ready,
            )
            for assistant in assistants.list_all(session, extensions.caller())
        ]
