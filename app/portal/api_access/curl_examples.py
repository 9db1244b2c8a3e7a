"""Commands that run unchanged: with the partner's own addresses, campaigns and assistants.

The secret comes from the environment, so that it is in no shell history and in no file.
"""

import json
from dataclasses import dataclass
from typing import Any

from app.config import BaseAddresses
from app.languages import gettext, lazy_gettext
from app.models import ApiKey, Assistant, Campaign, OAuthClient
from app.policy import Permission

KEY_VARIABLE = "API_KEY"
SECRET_VARIABLE = "CLIENT_SECRET"  # noqa: S105 - the name of a variable
_REMINDERS = {
    KEY_VARIABLE: lazy_gettext("paste the key, then Enter"),
    SECRET_VARIABLE: lazy_gettext("paste the secret, then Enter"),
}
FICTIONAL_NUMBER = "+12025550123"
"""From the range that the numbering plan reserves for fiction; never assigned."""


@dataclass(frozen=True, slots=True)
class CurlExample:
    """One request in two languages; ``id`` is its anchor on the page."""

    id: str
    title: str
    curl: str
    python: str


def for_key(
    key: ApiKey, addresses: BaseAddresses, campaign: Campaign | None, assistant: Assistant | None
) -> list[CurlExample]:
    """Return one example for each permission of the key, the harmless ones first."""
    base = f"{addresses.public_api}/api/v1"
    examples = [_key_lines("list-assistants", gettext("List its assistants"), f"{base}/agents")]
    contacts = f"{base}/campaigns/{campaign.id}/contacts" if campaign else None
    if contacts and Permission.CONTACTS_READ in key.scopes:
        name = campaign.name if campaign else ""
        title = gettext("Read the newest contacts of “%(campaign)s”", campaign=name)
        examples.append(_key_lines("read-contacts", title, f"{contacts}?perPage=5"))
    if contacts and Permission.CONTACTS_WRITE in key.scopes:
        body = {"contacts": [{"phone": FICTIONAL_NUMBER, "firstName": "Dana"}]}
        title = gettext("A dry run that writes nothing")
        examples.append(_key_lines("write-contacts", title, f"{contacts}?dryRun=true", body))
    if Permission.CALLS_READ in key.scopes:
        url = f"{base}/outbound/calls?perPage=5"
        examples.append(_key_lines("read-calls", gettext("Read the newest calls"), url))
    if assistant and Permission.CALLS_CREATE in key.scopes:
        call = {
            "agentId": str(assistant.id),
            "contact": {"phoneNumber": FICTIONAL_NUMBER, "firstName": "Dana"},
            "introMessage": "Hello, this is a test call.",
            "voicemailMessage": "Hello, this was a test call.",
        }
        title = gettext("Have “%(assistant)s” call a test number", assistant=assistant.name)
        examples.append(_key_lines("create-call", title, f"{base}/outbound/call", call))
    return examples


def in_shell(example: CurlExample | None, variable: str) -> str:
    """Return the command of an example, after one that reads the secret into the environment."""
    if example is None:
        return ""
    reading = f"read -rs {variable} && export {variable}   # {_REMINDERS[variable]}"
    return f"{reading}\n{example.curl}"


def for_client(client: OAuthClient, addresses: BaseAddresses) -> CurlExample:
    """Return the examples of getting a token and of a first request with it."""
    tokens, partners = f"{addresses.auth}/oauth2/token", f"{addresses.base}/api/partners"
    curl = f"""TOKEN=$(curl -sS '{tokens}' \\
  -d grant_type=client_credentials \\
  -d client_id={client.client_id} \\
  --data-urlencode "client_secret=${SECRET_VARIABLE}" \\
  | python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')
curl -sS '{partners}' -H "Authorization: Bearer $TOKEN\""""
    python = f'''import json, os, urllib.parse, urllib.request

form = urllib.parse.urlencode({{
    "grant_type": "client_credentials",
    "client_id": "{client.client_id}",
    "client_secret": os.environ["{SECRET_VARIABLE}"],
}})
with urllib.request.urlopen("{tokens}", form.encode()) as answer:
    token = json.load(answer)["access_token"]

request = urllib.request.Request(
    "{partners}", headers={{"Authorization": f"Bearer {{token}}"}}
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer))'''
    title = gettext("A token, and the partner as the client sees it")
    return CurlExample("first-request", title, curl, python)


def _key_lines(name: str, title: str, url: str, body: Any = None) -> CurlExample:
    curl = [f"curl -sS '{url}'", f'-H "x-api-key: ${KEY_VARIABLE}"']
    arguments = [f'"{url}"']
    headers = [f'"x-api-key": os.environ["{KEY_VARIABLE}"]']
    imports = ["json", "os", "urllib.request"]
    if body is not None:
        curl += ["-H 'Content-Type: application/json'", f"-d '{json.dumps(body)}'"]
        arguments.append(f"data=json.dumps({json.dumps(body)}).encode()")
        headers.append('"Content-Type": "application/json"')
    arguments.append(f"headers={{{', '.join(headers)}}}")
    inner = "".join(f"    {argument},\n" for argument in arguments)
    python = (
        f"import {', '.join(imports)}\n\n"
        f"request = urllib.request.Request(\n{inner})\n"
        "with urllib.request.urlopen(request) as answer:\n    print(json.load(answer))"
    )
    return CurlExample(name, title, " \\\n  ".join(curl), python)
