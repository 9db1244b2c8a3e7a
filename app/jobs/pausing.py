"""The worker's part in pauses of dialling: it takes up what they held."""

from app.database import Database
from app.services.dialler import held, pauses


def take_up(database: Database) -> None:
    """Hands in the held calls that no pause covers any more, in their order."""
    with database.transaction(read_only=True) as session:
        is_anything = pauses.any_to_release(session)
    while is_anything:
        with database.transaction() as session:
            is_anything = pauses.release(session) == pauses.AT_ONCE


def look_at_held(database: Database) -> None:
    """Ends held calls that no rule allows any more; each is looked at about once a minute."""
    with database.transaction(read_only=True) as session:
        ids = held.due(session)
    for call_id in ids:
        with database.transaction() as session:
            held.look_at(session, call_id)
