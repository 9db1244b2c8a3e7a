"""New secrets for the users and scripts of an existing demo."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.commands.demo_world import new_password
from app.policy.caller import Caller, system_caller
from app.services import oauth_clients, users
from app.services.auth import passwords
from app.services.credentials import api_keys


class DemoRotation:
    """Changes the demo's object in place."""

    def __init__(self, session: Session, caller: Caller):
        self.session = session
        self.caller = caller

    def rotate(self, world: dict[str, Any]) -> dict[str, Any]:
        """Create new passwords, client secrets and keys for the same ids."""
        operator = world["operator"]
        operator["clientSecret"] = self._roll(self.caller, operator["clientId"])
        for partner in world["partners"]:
            own = system_caller("demo", UUID(partner["id"]))
            for client in partner["clients"]:
                client["clientSecret"] = self._roll(own, client["clientId"])
            partner["client"]["clientSecret"] = partner["clients"][0]["clientSecret"]
            for organization in partner["organizations"]:
                self._organization(own, organization)
            for entry in partner["users"]:
                self._renew_password(own, entry)
        return world

    def _organization(self, own: Caller, organization: dict[str, Any]) -> None:
        organization_id = UUID(organization["id"])
        keys = api_keys.list_all(self.session, own, organization_id=organization_id)
        for key in keys:
            if key.revoked_at is None and key.replaced_by is None:
                name = "apiKey" if key.live else "testApiKey"
                organization[name] = api_keys.roll(self.session, own, key.id).secret
        if "legacyClient" in organization:
            legacy = organization["legacyClient"]
            legacy["clientSecret"] = self._roll(self.caller, legacy["clientId"])
        for entry in organization["users"]:
            self._renew_password(own, entry)

    def _renew_password(self, own: Caller, entry: dict[str, Any]) -> None:
        user = users.get(self.session, own, entry["id"])
        entry["password"] = new_password()
        users.set_password(self.session, own, user, passwords.hash_password(entry["password"]))

    def _roll(self, own: Caller, client_id: str) -> str:
        return oauth_clients.roll(self.session, own, client_id).secret
