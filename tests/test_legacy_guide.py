"""The guide for leaving the legacy API and the command on its page: both run unchanged."""

import json
import re
import subprocess
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, build_opener

import pytest

from app.config import ROOT
from app.portal.legacy_migration.labels import FIELDS
from app.schemas.calls import CallContact, OutboundCallInput
from app.schemas.legacy import LegacyCallInput
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.stack import Stack
from tests.matrix import rotating
from tests.test_ready_lines import Admin, lines_of, run

GUIDE = (ROOT / "docs" / "migrate-from-legacy.md").read_text()
COMMANDS = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
ask = build_opener().open
STRICTLY = 'set -euo pipefail\ncurl() { command curl --fail-with-body "$@"; }\n'


backend = runs_on(rotating("database of the journeys", BACKENDS))
"""That of the journeys, so that they share a stack."""


@pytest.mark.alternating
def test_every_command_of_the_guide_runs_unchanged(shared_stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "instance").mkdir()
    (tmp_path / "instance" / "demo.json").write_text(json.dumps(shared_stack.demo))
    done = subprocess.run(
        ["bash", "-c", STRICTLY + "".join(f"{block}\necho\n" for block in COMMANDS)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    printed = done.stdout.split()
    assert '{"success":true,"message":"The' in printed
    assert printed[-1] in {"queued", "dialing", "ringing", "in-progress", "completed"}


def test_the_line_of_a_clients_page_asks_the_new_api_for_the_same_call(shared_stack: Stack) -> None:
    organization = shared_stack.demo["partners"][0]["organizations"][0]
    legacy = organization["legacyClient"]
    form = {
        "grant_type": "client_credentials",
        "client_id": legacy["clientId"],
        "client_secret": legacy["clientSecret"],
        "scope": "phone/call.out",
    }
    with ask(f"{shared_stack.base_url}/oauth2/token", urlencode(form).encode()) as answer:
        token = json.load(answer)["access_token"]
    asked = {
        "name": "Zoë O'Neil",
        "toPhoneNumber": organization["simulator"]["voicemail"],
        "fromPhoneNumber": organization["agents"][0]["phoneNumber"],
        "introMessage": "Hello, it's \"Robin\" $HOME `id` \\ 'here'.\nBye.",
        "introVoicemail": "It’s Robin.",
        "formInfo": [{"key": "it's", "value": "Łódź"}],
    }
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = json.dumps(asked).encode()
    sent = Request(f"{shared_stack.base_url}/phone/outbound", body, headers)
    with ask(sent) as answer:
        first = json.load(answer)["callId"]

    admin = Admin(shared_stack)
    listed = admin.page(f"/api-access/migration?{urlencode({'q': organization['name']})}")
    [path] = set(re.findall(r'href="(/api-access/migration/[0-9a-f-]{36})"', listed))
    curl = lines_of(admin.page(path))["successor curl"]
    second = json.loads(run("curl", curl, API_KEY=organization["testApiKey"]))["callId"]

    def read(call_id: str, key: str) -> dict[str, object]:
        url = f"{shared_stack.base_url}/api/v1/outbound/calls/{call_id}"
        asked = Request(url, headers={"x-api-key": key})
        with ask(asked) as answer:
            call = json.load(answer)
        return {name: call[name] for name in ("agentId", "phoneNumber", "contact", "metadata")}

    again = read(second, organization["testApiKey"])
    assert again == read(first, organization["apiKey"])
    assert again["contact"]["firstName"] == "Zoë"  # type: ignore[index]  # an object of the wire


def test_the_tables_of_guide_and_page_name_the_existing_fields() -> None:
    rows = [line for line in GUIDE.splitlines() if line.startswith("| ")]
    named = set(re.findall(r"`([\w.]+)`", " ".join(rows)))
    before = set(LegacyCallInput.wire_fields())
    after = set(OutboundCallInput.wire_fields()) - {"contact"}
    after |= {f"contact.{name}" for name in CallContact.wire_fields()} - {"contact.email"}
    assert before | after <= named
    assert (set(FIELDS), set(FIELDS.values()) | {"contact.lastName"}) == (before, after)
