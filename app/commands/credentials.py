"""``flask client …``, ``key …``, ``keys …`` and ``operator …``: credentials from the command line.

A secret is printed once, by the command that makes it.
"""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from app import extensions
from app.commands.transactions import as_json, changing, print_result, reading
from app.enums import Area, Role
from app.models import ApiKey, OAuthClient
from app.policy import API_KEY_SCOPES
from app.schemas.fields import write_moment
from app.services import oauth_clients
from app.services.auth import passwords
from app.services.credentials import api_keys, lifetimes, signing_keys
from app.services.users import operators

EXPIRES = "A date, a number of days such as 90d, or never. By default after 365 days."


class MomentParameter(click.ParamType[datetime]):
    """``2026-12-31`` (midnight UTC) or a full ISO 8601 moment; without a zone it is UTC."""

    name = "DATE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value} is not a date. Use a date like 2026-12-31.", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class EndParameter(MomentParameter):
    """A `MomentParameter`, a number of days such as ``90d``, or ``never``."""

    name = "END"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, timedelta):
            return value
        if value == "never":
            return NEVER
        days = value.removesuffix("d")
        if value != days and days.isascii() and days.isdigit() and len(days) < 6:
            return timedelta(days=int(days))
        return super().convert(value, param, ctx)


NEVER = object()
"""The value of ``never``: None already means a missing option."""


def _to_end(choice: Any) -> lifetimes.End:
    return None if choice is NEVER else choice


client_commands = AppGroup(
    "client",
    help="Clients of the Partner API (by role) and of the Legacy API (by organization).",
)


@client_commands.command("create")
@click.option("--partner", "partner_id", type=click.UUID, help="Partner API: the partner's id.")
@click.option("--role", type=click.Choice([role.value for role in oauth_clients.CLIENT_ROLES]))
@click.option("--organization", "organization_id", type=click.UUID, help="Legacy API: its id.")
@click.option("--operator", is_flag=True, help="Partner API: the platform operator's own client.")
@click.option("--name", required=True)
@click.option("--expires", type=EndParameter(), default=lifetimes.DEFAULT, help=EXPIRES)
@click.option(
    "--until", type=MomentParameter(), help="Legacy API: served until then although retired."
)
@as_json
def create_client(
    *,
    partner_id: UUID | None,
    role: str | None,
    organization_id: UUID | None,
    operator: bool,
    name: str,
    expires: Any,
    until: datetime | None,
    as_json: bool,
) -> None:
    """Create a client and print its secret, which can't be shown again."""
    if sum((partner_id is not None, organization_id is not None, operator)) != 1:
        message = "Name one of --partner, --organization and --operator."
        raise click.UsageError(message)
    if (partner_id is None) != (role is None):
        message = "--role goes with --partner."
        raise click.UsageError(message)
    with changing(partner_id) as (session, caller):
        if organization_id is not None:
            created = oauth_clients.create_legacy(
                session,
                caller,
                organization_id=organization_id,
                name=name,
                served_until=until,
                expires_at=_to_end(expires),
            )
        else:
            client_role = Role(role) if role else Role.OPERATOR
            created = oauth_clients.create(
                session, caller, name=name, role=client_role, expires_at=_to_end(expires)
            )
    _print_new(_describe_client(created.client), created.secret, "clientSecret", as_json)


@client_commands.command("list")
@click.option("--partner", "partner_id", type=click.UUID, help="Only this partner's.")
@click.option("--area", type=click.Choice([Area.PARTNER_ADMIN.value, Area.LEGACY_CALLS.value]))
@as_json
def list_clients(partner_id: UUID | None, area: str | None, as_json: bool) -> None:
    """List every client with its state."""
    with reading(partner_id) as (session, caller):
        clients = oauth_clients.list_all(session, caller, area=Area(area) if area else None)
        described = [_describe_client(client) for client in clients]
    lines = [
        f"{client['clientId']}  {client['state']:<9}  area {client['area']}  "
        f"{client['role'] or 'organization ' + client['organizationId']}  {client['name']}"
        for client in described
    ]
    print_result(described, as_json, *(lines or ["No client yet."]))


@client_commands.command("suspend")
@click.argument("client_id")
@as_json
def suspend_client(client_id: str, as_json: bool) -> None:
    """Suspend a client and its tokens until it is resumed."""
    with changing() as (session, caller):
        client = oauth_clients.suspend(session, caller, client_id)
    print_client(client, as_json)


@client_commands.command("resume")
@click.argument("client_id")
@as_json
def resume_client(client_id: str, as_json: bool) -> None:
    """Resume a suspended client."""
    with changing() as (session, caller):
        client = oauth_clients.resume(session, caller, client_id)
    print_client(client, as_json)


@client_commands.command("revoke")
@click.argument("client_id")
@as_json
def revoke_client(client_id: str, as_json: bool) -> None:
    """Revoke a client and its tokens for good."""
    with changing() as (session, caller):
        client = oauth_clients.revoke(session, caller, client_id)
    print_client(client, as_json)


key_commands = AppGroup("key", help="API keys of the Campaigns API.")


@key_commands.command("create")
@click.option("--organization", "organization_id", type=click.UUID, required=True)
@click.option("--name", required=True)
@click.option("--test", is_flag=True, help="A test key: its calls use the simulated carrier.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(sorted(scope.value for scope in API_KEY_SCOPES)),
    help="May be repeated; all scopes without it.",
)
@click.option("--expires", type=EndParameter(), default=lifetimes.DEFAULT, help=EXPIRES)
@as_json
def create_key(
    *,
    organization_id: UUID,
    name: str,
    test: bool,
    scopes: tuple[str, ...],
    expires: Any,
    as_json: bool,
) -> None:
    """Create a key and print it; it can't be shown again."""
    with changing() as (session, caller):
        created = api_keys.create(
            session,
            caller,
            organization_id=organization_id,
            name=name,
            scopes=scopes or sorted(API_KEY_SCOPES),
            live=not test,
            expires_at=_to_end(expires),
        )
    _print_new(_describe_key(created.key), created.secret, "apiKey", as_json)


signing_key_commands = AppGroup("keys", help="Keys that sign access tokens.")


@signing_key_commands.command("rotate")
@click.option("--end-tokens", is_flag=True, help="End every token issued before, at once.")
@as_json
def rotate_keys(*, end_tokens: bool, as_json: bool) -> None:
    """Sign access tokens with a new key from now on.

    Tokens issued before stay valid for their hour. Use --end-tokens if a key became known: scripts
    then ask for a new token.
    """
    keys = extensions.settings().secret_keys
    with changing() as (session, caller):
        kid = signing_keys.rotate(session, caller, keys, end_tokens=end_tokens)
    before = "have ended" if end_tokens else "stay valid until they expire"
    print_result(
        {"keyId": kid, "tokensEnded": end_tokens},
        as_json,
        f"Tokens are signed with the key {kid}. Tokens issued before {before}.",
    )


operator_commands = AppGroup(
    "operator", help="Operators of the platform; they exist through the command line only."
)


@operator_commands.command("create")
@click.argument("email")
@click.option("--name")
@as_json
def create_operator(email: str, name: str | None, as_json: bool) -> None:
    """Create an operator, who signs in at the neutral /sign-in, and print the password."""
    password = secrets.token_urlsafe(15)
    password_hash = passwords.hash_password(password)
    with changing() as (session, caller):
        user = operators.create(
            session, caller, email=email, name=name, password_hash=password_hash
        )
    described = {"id": str(user.id), "email": user.email}
    _print_new(described, password, "password", as_json)


@operator_commands.command("reset-email")
@click.argument("email")
@click.argument("new_email")
def reset_operator_email(email: str, new_email: str) -> None:
    """Give an operator whose mailbox is lost a new address.

    Check the identity first. Sessions and links end, and both addresses get a mail.
    """
    with changing() as (session, caller):
        operators.reset_email(session, caller, email, new_email)
    click.echo(f"{email} now signs in as {new_email}. Sessions and links have ended.")


@operator_commands.command("reset-factors")
@click.argument("email")
def reset_operator_factors(email: str) -> None:
    """Remove the second factors of an operator who lost them: the password alone signs in again.

    Check the identity first. Sessions end, and the operator gets a mail.
    """
    with changing() as (session, caller):
        operators.reset_factors(session, caller, email)
    click.echo(f"{email} has no second factor any more. All sessions have ended.")


def _describe_client(client: OAuthClient) -> dict[str, Any]:
    return {
        "clientId": client.client_id,
        "name": client.name,
        "area": client.area.value,
        "role": client.role.value if client.role else None,
        "partnerId": str(client.partner_id) if client.partner_id else None,
        "organizationId": str(client.organization_id) if client.organization_id else None,
        "state": _client_status(client),
        "expiresAt": _format_moment(client.expires_at),
        "servedUntil": _format_moment(client.served_until),
        "lastUsedAt": _format_moment(client.last_used_at),
    }


def _client_status(client: OAuthClient) -> str:
    if client.revoked_at is not None:
        return "revoked"
    if client.is_over:
        return "expired"
    return "suspended" if client.suspended_at is not None else "active"


def _describe_key(key: ApiKey) -> dict[str, Any]:
    return {
        "id": str(key.id),
        "publicId": key.public_id,
        "name": key.name,
        "organizationId": str(key.organization_id),
        "live": key.live,
        "scopes": key.scopes,
        "expiresAt": _format_moment(key.expires_at),
    }


def _format_moment(value: datetime | None) -> str | None:
    return write_moment(value) if value else None


def print_client(client: OAuthClient, as_json: bool) -> None:
    _print(_describe_client(client), as_json)


def _print_new(described: dict[str, Any], secret: str, name: str, as_json: bool) -> None:
    _print(described | {name: secret}, as_json)
    if not as_json:
        click.echo(f"Keep the {name} now: it can't be shown again.")


def _print(described: dict[str, Any], as_json: bool) -> None:
    lines = (f"{name}: {value}" for name, value in described.items() if value is not None)
    print_result(described, as_json, *lines)
