"""The guide to errors names every code that the description of the interface declares."""

import re

from flask.testing import FlaskClient

from app.config import ROOT
from app.schemas.contacts import CONTACT_ERRORS

GUIDE = (ROOT / "docs" / "errors.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| (?:([\d, ]+) \|)?", re.MULTILINE)


def declared(client: FlaskClient) -> dict[str, set[int]]:
    """Each declared code with its statuses."""
    found: dict[str, set[int]] = {}
    for operations in client.get("/api/openapi.json").get_json()["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                for code in answer.get("x-error-codes", {}):
                    found.setdefault(code, set()).add(int(status))
    return found


def test_the_guide_has_every_declared_code_with_its_statuses_and_no_other(
    client: FlaskClient,
) -> None:
    listed: dict[str, set[int]] = {}
    for code, statuses in ROW.findall(GUIDE):
        if statuses:
            listed.setdefault(code, set()).update(int(s) for s in statuses.split(","))
    assert listed == declared(client)


def test_the_guide_has_every_code_of_a_contact() -> None:
    listed = {code for code, statuses in ROW.findall(GUIDE) if not statuses}
    pairs = {"external_id_pair_incomplete", "unknown_external_id_key"}
    assert listed == set(CONTACT_ERRORS) - pairs
