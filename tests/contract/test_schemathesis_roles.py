"""schemathesis as each kind of caller: no server error, no status that isn't published, and no
success beyond the scope of the credential. That good requests are accepted is tested as a partner's
scripts, in test_schemathesis.py."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from app.enums import Role
from app.policy import API_KEY_SCOPES, ROLE_PERMISSIONS, Permission
from tests import matrix
from tests.contract.exceptions import POSITIVE, is_excused
from tests.contract.fuzzing import Depth, Run, ask, token_of
from tests.fixtures.databases import BACKENDS
from tests.fixtures.stack import ROOT, Stack, Stacks

P = Permission
CLIENT_ROLES = (Role.OPERATOR, Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN)
ENDED = ("revoked token", "suspended client", "suspended organization", "suspended partner")
CALLERS = (
    "anonymous",
    *CLIENT_ROLES,
    *(f"scope {scope}" for scope in sorted(ROLE_PERMISSIONS[Role.PARTNER_ADMIN])),
    *(f"key {scope}" for scope in sorted(API_KEY_SCOPES)),
    "legacy client",
    *ENDED,
)
LARGE = {"updatePartner": P.BRANDING_WRITE, "createPartner": P.PARTNER_CREATE}
"""Their bodies take as long to make as all the others together. Without the permission a body isn't
read (tests/api/test_refusals.py), so they are asked by callers who have it."""
SHALLOW = Depth(seed=1, examples=2, bounds=False, chains=False)

pytestmark = [
    pytest.mark.alternating,
    pytest.mark.crawl,
    pytest.mark.filterwarnings("default"),  # what it warns itself about is none of ours
]


@dataclass(frozen=True)
class GrantedCredentials:
    """Credentials by the security scheme, and the permissions that they carry."""

    credentials: Mapping[str, Any]
    granted: frozenset[Permission] = frozenset()
    lists_own: bool = False
    """Whether it may read what any API key may."""


@pytest.fixture(scope="module", params=matrix.rotating("schemathesis roles database", BACKENDS))
def stack(request: pytest.FixtureRequest, stacks: Stacks) -> Iterator[Stack]:
    running = stacks.start(request.param, {"PORTAL_FAILED_SIGN_INS": "1000000"})
    yield running
    running.stop()


def command(stack: Stack, *words: str) -> str:
    """An operator's command on the stack's database; its output."""
    own = {"DATABASE_URL": stack.database_url, "PORTAL_INSTANCE_DIR": str(stack.instance)}
    asked = [sys.executable, "-m", "flask", "--app", "wsgi", *words]
    ended = subprocess.run(
        asked, cwd=ROOT, env={**os.environ, **own}, capture_output=True, text=True, check=True
    )
    return ended.stdout


def bearer(stack: Stack, client: Mapping[str, str], scope: str | None = None) -> dict[str, Any]:
    return {"bearerToken": {"bearer": token_of(stack.base_url, client, scope)}}


def key(customer: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiKey": {"api_key": customer["apiKey"]}}


def asking(stack: Stack, name: str) -> GrantedCredentials:
    """The caller of this name; one that has ended held good credentials before."""
    partner = stack.demo["partners"][0]
    customer = partner["organizations"][0]
    if name in CLIENT_ROLES:
        clients = {one["role"]: one for one in partner["clients"]}
        own = clients.get(name, stack.demo["operator"])
        caller = GrantedCredentials(bearer(stack, own), ROLE_PERMISSIONS[Role(name)])
    elif name.startswith("scope "):
        scope = Permission(name.removeprefix("scope "))
        caller = GrantedCredentials(bearer(stack, partner["client"], scope), frozenset({scope}))
    elif name.startswith("key "):
        scope = Permission(name.removeprefix("key "))
        words = ("--organization", customer["id"], "--name", name, "--scope", scope, "--json")
        made = json.loads(command(stack, "key", "create", *words))
        caller = GrantedCredentials(key(made), frozenset({scope}), lists_own=True)
    elif name == "legacy client":
        token = token_of(stack.base_url, customer["legacyClient"])
        caller = GrantedCredentials({"callToken": {"bearer": token}}, frozenset({P.LEGACY_CALL}))
    else:
        caller = GrantedCredentials({} if name == "anonymous" else ended(stack, name))
    return caller


def ended(stack: Stack, name: str) -> dict[str, Any]:
    """Credentials of suspended or revoked clients, each of another partner or customer than those
    of the active callers."""
    first, second = stack.demo["partners"][:2]
    customer = first["organizations"][1]
    if name == "suspended client":
        client = first["clients"][2]
        credentials = bearer(stack, client)
        command(stack, "client", "suspend", client["clientId"])
        return credentials
    if name == "suspended organization":
        command(stack, "organization", "suspend", customer["id"])
        return key(customer)
    if name == "suspended partner":
        credentials = bearer(stack, second["client"]) | key(second["organizations"][0])
        command(stack, "partner", "suspend", second["id"])
        return credentials
    credentials = bearer(stack, first["client"])
    form = {
        "token": credentials["bearerToken"]["bearer"],
        "client_id": first["client"]["clientId"],
        "client_secret": first["client"]["clientSecret"],
    }
    urlopen(f"{stack.base_url}/oauth2/revoke", urlencode(form).encode()).close()
    return credentials


def beyond(run: Run, schema: Mapping[str, Any], caller: GrantedCredentials) -> dict[str, set[int]]:
    """Operations that succeeded although the caller may not use them, with the statuses."""
    found = {}
    for label, statuses in run.answered.items():
        method, path = label.split(" ")
        operation = schema["paths"][path][method.lower()]
        needed = operation.get("x-permission")
        allowed = needed in caller.granted if needed else may_ask(operation, caller)
        good = {status for status in statuses if status < 400}
        if good and not allowed:
            found[label] = good
    return found


def may_ask(operation: Mapping[str, Any], caller: GrantedCredentials) -> bool:
    """Operations without a permission: the public ones, and those of every API key."""
    return {"apiKey": []} not in operation["security"] or caller.lists_own


@pytest.mark.parametrize("name", matrix.rotating("schemathesis role", CALLERS))
def test_schemathesis_finds_no_fault_as_any_role(stack: Stack, name: str) -> None:
    caller = asking(stack, name)
    refused = [operation for operation, needed in LARGE.items() if needed not in caller.granted]
    run = ask(stack.base_url, stack.demo, SHALLOW, without=refused, as_caller=caller.credentials)
    findings = [
        str(finding)
        for finding in run.findings
        if finding.check != POSITIVE and not is_excused(finding)
    ]
    assert (findings, run.errors, beyond(run, run.schema, caller)) == ([], [], {})
