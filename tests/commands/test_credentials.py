import json
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import event, select
from sqlalchemy.orm import ORMExecuteState, Session

from app.database import READ_ONLY
from app.enums import Role
from app.models import OAuthClient, User, utcnow
from app.services import oauth_clients
from app.services.auth import passwords
from app.services.credentials import api_keys
from tests.commands.conftest import run_command
from tests.fixtures.tenants import Tenant


def printed(app: Flask, *words: object) -> Any:
    """What a command that must succeed prints with --json."""
    result = run_command(app, *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_client_of_a_partner_is_created(app: Flask, session: Session, tenant: Tenant) -> None:
    words = ("--partner", tenant.partner.id, "--role", "partnerEditor", "--name", "Sync")
    made = printed(app, "client", "create", *words)
    secret, client_id = made.pop("clientSecret"), made["clientId"]
    ends = datetime.fromisoformat(made.pop("expiresAt"))
    assert timedelta(days=364) < ends - utcnow() <= timedelta(days=365)
    assert made == {
        "clientId": client_id,
        "name": "Sync",
        "area": "A",
        "role": "partnerEditor",
        "partnerId": str(tenant.partner.id),
        "organizationId": None,
        "state": "active",
        "servedUntil": None,
        "lastUsedAt": None,
    }
    client = oauth_clients.authenticate(session, client_id, secret)
    assert client is not None
    assert client.created_by == "command line"


def test_the_end_of_a_client_can_be_chosen(app: Flask, tenant: Tenant) -> None:
    words = ("--partner", tenant.partner.id, "--role", "admin", "--name", "Sync", "--expires")
    ends = [
        printed(app, "client", "create", *words, end)["expiresAt"]
        for end in ("never", "2999-03-01")
    ]
    assert ends == [None, "2999-03-01T00:00:00.000Z"]
    in_days = datetime.fromisoformat(printed(app, "client", "create", *words, "30d")["expiresAt"])
    assert timedelta(days=29) < in_days - utcnow() <= timedelta(days=30)


def test_the_operators_client_belongs_to_no_partner(
    app: Flask, session: Session, tenant: Tenant
) -> None:
    made = printed(app, "client", "create", "--operator", "--name", "Platform")
    client = session.scalars(
        select(OAuthClient).where(OAuthClient.client_id == made["clientId"])
    ).one()
    assert (client.partner_id, client.role) == (None, Role.OPERATOR)


def test_a_legacy_client_is_created_extended_and_listed(app: Flask, tenant: Tenant) -> None:
    words = ("--organization", tenant.plus.id, "--name", "Dialler")
    made = printed(app, "client", "create", *words)
    assert (made["area"], made["organizationId"], made["servedUntil"]) == (
        "B",
        str(tenant.plus.id),
        None,
    )
    client_id = made["clientId"]
    extended = printed(app, "client", "extend", client_id, "--until", "2099-12-31")
    assert extended["servedUntil"] == "2099-12-31T00:00:00.000Z"
    assert printed(app, "client", "list", "--area", "B") == [extended]
    assert printed(app, "client", "list", "--area", "A") == []
    assert run_command(app, "client", "list", "--area", "A").stdout == "No client yet.\n"
    assert printed(app, "client", "extend", client_id, "--end")["servedUntil"] is None


def test_the_list_of_clients_waits_for_no_writer(app: Flask) -> None:
    writes: set[bool] = set()

    def note(execution: ORMExecuteState) -> None:
        writes.add(not execution.session.info[READ_ONLY])

    event.listen(Session, "do_orm_execute", note)
    try:
        assert printed(app, "client", "list") == []
    finally:
        event.remove(Session, "do_orm_execute", note)
    assert writes == {False}


def test_a_client_is_suspended_resumed_and_revoked(app: Flask, tenant: Tenant) -> None:
    words = ("--organization", tenant.plus.id, "--name", "Dialler")
    client_id = printed(app, "client", "create", *words)["clientId"]
    states = [
        printed(app, "client", verb, client_id)["state"] for verb in ("suspend", "resume", "revoke")
    ]
    assert states == ["suspended", "active", "revoked"]
    assert client_id in run_command(app, "client", "list").stdout


def test_a_key_is_created_and_works(app: Flask, session: Session, tenant: Tenant) -> None:
    words = ("--organization", tenant.plus.id, "--name", "CRM", "--test", "--scope", "calls:read")
    made = printed(app, "key", "create", *words)
    caller = api_keys.caller_from_key(session, made["apiKey"])
    assert (caller.organization_id, caller.live, sorted(caller.permissions)) == (
        tenant.plus.id,
        False,
        ["calls:read"],
    )


def test_an_operator_is_created_with_a_password_that_works(app: Flask, session: Session) -> None:
    made = printed(app, "operator", "create", "Root@Platform.example", "--name", "Root")
    user = session.scalars(select(User)).one()
    assert (str(user.id), user.email, user.email_key, user.name, user.user_type) == (
        made["id"], "Root@Platform.example", "root@platform.example", "Root", Role.OPERATOR,
    )  # fmt: skip
    assert passwords.verify(user.password_hash, made["password"])


def test_secrets_are_printed_once_with_a_warning(app: Flask, tenant: Tenant) -> None:
    result = run_command(app, "key", "create", "--organization", tenant.plus.id, "--name", "CRM")
    assert result.stdout.count("ppk_live_") == 2  # the public id, and the key itself
    assert result.stdout.endswith("Keep the apiKey now: it can't be shown again.\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("client", "extend", "ppc_unknown", "--until", "2099-12-31"), "There is no such client."),
        (
            ("client", "create", "--organization", uuid4(), "--name", "x"),
            "There is no such organization.",
        ),
        (("key", "create", "--organization", uuid4(), "--name", "x"),
         "There is no such organization."),
        (("operator", "create", "nobody"), "Enter an email like"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_sentence(app: Flask, words: tuple[object, ...], sentence: str) -> None:
    result = run_command(app, *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: {sentence}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("client", "create", "--name", "x"),
        ("client", "create", "--name", "x", "--operator", "--partner", uuid4()),
        ("client", "create", "--name", "x", "--partner", uuid4()),
        ("client", "create", "--name", "x", "--operator", "--role", "admin"),
        ("client", "extend", "ppc_x"),
        ("client", "extend", "ppc_x", "--end", "--until", "2099-12-31"),
        ("client", "extend", "ppc_x", "--until", "soon"),
        ("key", "create", "--organization", "x", "--name", "x"),
    ],
)
def test_wrong_arguments_show_the_usage(app: Flask, words: tuple[object, ...]) -> None:
    result = run_command(app, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: ")
