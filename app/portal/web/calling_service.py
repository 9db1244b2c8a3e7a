"""Whether the calling service, which places calls and does all queued work, is online."""

from sqlalchemy.orm import Session

from app.extensions import settings
from app.services import workers


def is_offline(session: Session) -> bool:
    return not workers.any_alive(session, settings().worker_silent_seconds)
