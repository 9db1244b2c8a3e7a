"""The output of `make run` once everything is ready."""

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def summary(base_url: str, demo_file: Path) -> str:
    """Return the URL, and with demo data the sign-in details and three commands to paste."""
    lines = ["", f"Ready: {base_url}"]
    if demo_file.exists():
        demo = json.loads(demo_file.read_text())
        lines += ["", f"Sign in at {base_url}/sign-in as", *_sign_in_lines(demo)]
        if not os.environ.get("PORTAL_SMTP_URL"):
            lines += ["", f"Mails are kept, not sent: the first two find them at {base_url}/outbox"]
        for title, command in commands(base_url, demo):
            lines += ["", f"# {title}", command]
    lines += ["", "Ctrl-C stops it.", ""]
    return "\n".join(lines)


def _sign_in_lines(demo: dict[str, Any]) -> Iterator[str]:
    partner = demo["partners"][0]
    organization = partner["organizations"][0]
    people = [demo["operator"] | {"userType": "operator"}, *partner["users"]]
    member, *owners = organization["users"]
    people += [*(owner | {"userType": "owner"} for owner in owners), member]
    widths = [max(len(person[key]) for person in people) for key in ("userType", "email")]
    for person in people:
        role, email = person["userType"].ljust(widths[0]), person["email"].ljust(widths[1])
        yield f"  {role}  {email}  {person['password']}"


def commands(base_url: str, demo: dict[str, Any]) -> list[tuple[str, str]]:
    """Return three requests of a script as (title, shell command), with the demo's credentials."""
    partner = demo["partners"][0]
    organization = partner["organizations"][0]
    assistant = next(
        candidate
        for candidate in organization["agents"]
        if candidate["active"] and candidate["phoneReady"]
    )
    campaign = organization["campaigns"][0]
    contacts = {
        "contacts": [
            {"firstName": "Ada", "lastName": "Byron", "email": "ada@example.com"},
            {"firstName": "Max", "phone": organization["simulator"]["human"]},
        ]
    }
    call = {
        "agentId": assistant["id"],
        "contact": {"phoneNumber": organization["simulator"]["human"], "firstName": "Max"},
        "introMessage": "Hello, this is a call to show you how it works.",
        "voicemailMessage": "Hello, we called to show you how it works.",
    }
    client = partner["client"]
    return [
        (
            "A token for the partner administration API",
            _curl(
                f"{base_url}/oauth2/token",
                *("-d", "grant_type=client_credentials"),
                *("--data-urlencode", f"client_id={client['clientId']}"),
                *("--data-urlencode", f"client_secret={client['clientSecret']}"),
            ),
        ),
        (
            "Contacts into a campaign",
            _curl(
                f"{base_url}/api/v1/campaigns/{campaign['id']}/contacts",
                *_json_with_key(organization["apiKey"], contacts),
            ),
        ),
        (
            "A call with the simulated carrier",
            _curl(
                f"{base_url}/api/v1/outbound/call",
                *_json_with_key(_simulator_key(organization), call),
            ),
        ),
    ]


def _simulator_key(organization: dict[str, Any]) -> str:
    """Return a test key: a live key would call through the real carrier, if there is one."""
    live = os.environ.get("PORTAL_CARRIER", "simulator") == "simulator"
    return str(organization["apiKey" if live else "testApiKey"])


def _json_with_key(key: str, body: dict[str, Any]) -> list[str]:
    headers = ["-H", f"x-api-key: {key}", "-H", "Content-Type: application/json"]
    return [*headers, "-d", json.dumps(body)]


def _curl(*arguments: str) -> str:
    return shlex.join(["curl", "-sS", *arguments])
