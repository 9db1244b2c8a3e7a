"""``flask demo``: two partners with sample data, created by the same services as real data.

Running it again changes nothing and prints the same object; see docs/decisions/demo.md.
"""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import click
from sqlalchemy import select
from sqlalchemy.orm import Session

from app import extensions
from app.calendar_months import end_of, month_of, next_month
from app.commands.demo_story import HISTORY_DAYS, PARTNERS
from app.commands.demo_world import DemoWorld, new_password
from app.models import Partner, User, utcnow
from app.policy.caller import Caller, system_caller
from app.services import figure_check, oauth_clients, users
from app.services.auth import passwords
from app.services.billing import closing
from app.services.billing.months import CLOSING
from app.services.credentials import api_keys


class DemoRotation:
    """Changes the demo's object in place."""

    def __init__(self, session: Session, caller: Caller):
        self.session = session
        self.caller = caller

    def rotate(self, world: dict[str, Any]) -> dict[str, Any]:
        """Create new passwords, client secrets and keys for the same ids."""
        operator = world["operator"]
        operator["clientSecret"] = self._rotate(self.caller, operator["clientId"])
        for partner in world["partners"]:
            actor = system_caller("demo", UUID(partner["id"]))
            for client in partner["clients"]:
                client["clientSecret"] = self._rotate(actor, client["clientId"])
            partner["client"]["clientSecret"] = partner["clients"][0]["clientSecret"]
            for organization in partner["organizations"]:
                self._organization(actor, organization)
            for entry in partner["users"]:
                self._renew_password(actor, entry)
        return world

    def _organization(self, actor: Caller, organization: dict[str, Any]) -> None:
        organization_id = UUID(organization["id"])
        keys = api_keys.list_all(self.session, actor, organization_id=organization_id)
        for key in keys:
            if key.revoked_at is None and key.replaced_by is None:
                name = "apiKey" if key.live else "testApiKey"
                organization[name] = api_keys.rotate(self.session, actor, key.id).secret
        if "legacyClient" in organization:
            legacy = organization["legacyClient"]
            legacy["clientSecret"] = self._rotate(self.caller, legacy["clientId"])
        for entry in organization["users"]:
            self._renew_password(actor, entry)

    def _renew_password(self, actor: Caller, entry: dict[str, Any]) -> None:
        user = users.get(self.session, actor, entry["id"])
        entry["password"] = new_password()
        users.set_password(self.session, actor, user, passwords.hash_password(entry["password"]))

    def _rotate(self, actor: Caller, client_id: str) -> str:
        return oauth_clients.rotate(self.session, actor, client_id).secret


FILE = "demo.json"


@click.command("demo")
@click.option("--json", "as_json", is_flag=True, help="Print the ids and credentials as JSON.")
@click.option("--rotate", is_flag=True, help="Make new passwords, keys and client secrets.")
def demo(as_json: bool, rotate: bool) -> None:
    """Fill an empty database with demo data, and print the sign-in details."""
    settings = extensions.settings()
    if settings.env == "production":
        message = "Demo data is refused in production (PORTAL_ENV=production)."
        raise click.ClickException(message)
    file = settings.instance_dir / FILE
    world = _load_or_create_world(file, rotate)
    click.echo(json.dumps(world, indent=2) if as_json else _sentences(world))


def _load_or_create_world(file: Path, rotate: bool) -> dict[str, Any]:
    settings = extensions.settings()
    with extensions.transaction(read_only=True) as session:
        empty = session.scalar(select(Partner.id).limit(1)) is None
        operator_id = session.scalar(
            select(User.id).where(User.email_key == "operator@demo.example")
        )
    if empty:
        with extensions.transaction() as session:
            demo_world = DemoWorld(
                session, system_caller("demo"), settings.public_url, settings.legacy_retirement
            )
            world = demo_world.build(PARTNERS, HISTORY_DAYS)
            _check_figures(session)
            _close_months(session)
        _write_file(file, world)
        return world
    if operator_id is None or not file.exists():
        message = (
            "The database holds other data, so no demo data was added. "
            "Start with an empty database (DATABASE_URL)."
        )
        raise click.ClickException(message)
    world = json.loads(file.read_text())
    if rotate:
        with extensions.transaction() as session:
            world = DemoRotation(session, system_caller("demo")).rotate(world)
        _write_file(file, world)
    return {**world, "baseUrl": settings.public_url}


def _check_figures(session: Session) -> None:
    """Run the figure checks of the past days, as if each had run in its night."""
    today = utcnow().date()
    for age in range(1, figure_check.SHOWN + 1):
        checked = figure_check.compare_day(session, today - timedelta(days=age))
        figure_check.store_checks(session, checked)


def _close_months(session: Session) -> None:
    """Close the past months, each as if on the first day after it."""
    now = utcnow()
    month = month_of(now.date() - timedelta(days=HISTORY_DAYS))
    while (closed_at := end_of(month) + CLOSING) <= now:
        while closing.close_due(session, closed_at):
            pass
        month = next_month(month)


def _write_file(file: Path, world: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        json.dump(world, out, indent=2)
    fresh.replace(file)


def _sentences(world: dict[str, Any]) -> str:
    lines = [f"Operator: {world['operator']['email']} / {world['operator']['password']}"]
    for partner in world["partners"]:
        lines.append(partner["partnerName"])
        member, *owners = partner["organizations"][0]["users"]
        accounts = [*partner["users"], *(owner | {"userType": "owner"} for owner in owners), member]
        lines += [
            f"  {user['userType']}: {user['email']} / {user['password']}" for user in accounts
        ]
    return "\n".join(lines)
