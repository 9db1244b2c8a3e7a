"""Runs schemathesis against the running product, as one of its callers.

Every check it has is on; a slow answer isn't a finding here, so `max_response_time` stays unset.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.core.transport import Response
from schemathesis.engine import events, from_schema

from tests.contract.exceptions import Finding

FOR_OPERATORS = {"createPartner"}
KNOWN = 0.7
"""How often a generated request names an existing record."""


@dataclass(frozen=True)
class Depth:
    """``examples`` is how many requests each operation gets in each of the random phases; without
    ``bounds`` the phase is left out that tries every limit of every property, without ``chains``
    the one that uses an answer in the next request."""

    seed: int
    examples: int
    bounds: bool = True
    chains: bool = True


@dataclass
class Run:
    """The result. ``answered`` has the statuses by operation."""

    findings: list[Finding] = field(default_factory=list)
    answered: dict[str, set[int]] = field(default_factory=dict)
    checks: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    requests: int = 0
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The description that requests were generated from."""


def ask(
    base_url: str,
    demo: Mapping[str, Any],
    depth: Depth,
    *,
    only: str | None = None,
    without: Sequence[str] = (),
    as_caller: Mapping[str, Any] | None = None,
) -> Run:
    """All operations as a partner's scripts, ``without`` some of them or ``only`` one.

    ``as_caller`` has other credentials, by security scheme, which ask only the operations of their
    schemes; without any credential all operations are asked.
    """
    own = everything_of(base_url, demo, operator=only in FOR_OPERATORS)
    credentials = own if as_caller is None else as_caller
    config = SchemathesisConfig.from_dict(_configuration(base_url, demo, depth, credentials))
    schema = schemathesis.openapi.from_url(f"{base_url}/api/openapi.json", config=config)
    if only is not None:
        chosen = schema.include(operation_id=only)
    elif as_caller:
        asked = set(_operations_of(schema.raw_schema, as_caller)) - set(without)
        chosen = schema.include(operation_id=sorted(asked))
    else:
        chosen = schema.exclude(operation_id=list(without))
    run = Run(schema=schema.raw_schema)
    for event in from_schema(chosen).execute():
        if isinstance(event, events.ScenarioFinished):
            _note(event, schema.raw_schema["paths"], run)
        elif isinstance(event, events.NonFatalError):
            run.errors.append(f"{event.label}: {event.value!r}")
        elif isinstance(event, events.FatalError):
            raise event.exception
    return run


def _operations_of(description: Mapping[str, Any], schemes: Iterable[str]) -> Iterator[str]:
    """The ids of the operations that take a credential of these schemes."""
    for methods in description["paths"].values():
        for operation in methods.values():
            if any(scheme in one for one in operation["security"] for scheme in schemes):
                yield operation["operationId"]


def _note(event: events.ScenarioFinished, paths: Mapping[str, Any], run: Run) -> None:
    recorder = event.recorder
    for case_id, interaction in recorder.interactions.items():
        run.requests += 1
        operation = recorder.cases[case_id].value.operation.label
        if interaction.response is not None:
            run.answered.setdefault(operation, set()).add(interaction.response.status_code)
    for case_id, checks in recorder.checks.items():
        operation = recorder.cases[case_id].value.operation.label
        found = recorder.interactions.get(case_id)
        for check in checks:
            run.checks.add(check.name)
            if check.failure_info is not None:
                response = found.response if found else None
                run.findings.append(
                    Finding(
                        operation,
                        check.name,
                        f"{check.failure_info.failure.title}. {check.failure_info.failure.message}",
                        response.status_code if response else 0,
                        _json(response),
                        frozenset(_published(paths, operation, response)),
                        check.failure_info.code_sample,
                    )
                )


def _json(response: Response | None) -> Any:
    try:
        return json.loads(response.content) if response else None
    except ValueError:
        return str(response.content) if response else None


def _published(
    paths: Mapping[str, Any], operation: str, response: Response | None
) -> Iterator[str]:
    method, path = operation.split(" ")
    if response is not None:
        described = paths[path][method.lower()]["responses"].get(str(response.status_code), {})
        yield from described.get("x-error-codes", ())


def _configuration(
    base_url: str, demo: Mapping[str, Any], depth: Depth, credentials: Mapping[str, Any]
) -> dict[str, Any]:
    partner = demo["partners"][0]
    customer = partner["organizations"][0]
    assistant = next(one for one in customer["agents"] if one["active"] and one["phoneReady"])
    known = {
        "path.partnerId": partner["id"],
        "path.organizationId": customer["id"],
        "path.externalUserId": customer["users"][0]["externalUserId"],
        "path.campaignId": customer["campaigns"][0]["id"],
        "body.orgId": customer["id"],
        "body.agentId": assistant["id"],
        "body.contact.phoneNumber": customer["simulator"]["human"],
        "body.toPhoneNumber": customer["simulator"]["human"],
        "body.fromPhoneNumber": assistant["phoneNumber"],
        "query.organizationId": customer["id"],
        "query.userEmail": customer["users"][0]["email"],
    }
    names = {place: place.replace(".", "-") for place in known}
    return {
        "seed": depth.seed,
        "base-url": base_url,
        "continue-on-failure": True,
        "cache": {"enabled": False},
        "dictionaries": {names[place]: {"values": [value]} for place, value in known.items()},
        "parameters": {
            place: {"dictionary": name, "probability": KNOWN} for place, name in names.items()
        },
        "phases": {
            "coverage": {"enabled": depth.bounds},
            "stateful": {"enabled": depth.chains},
        },
        "generation": {"max-examples": depth.examples, "database": "none", "no-shrink": True},
        **({"auth": {"openapi": dict(credentials)}} if credentials else {}),
    }


def everything_of(
    base_url: str, demo: Mapping[str, Any], *, operator: bool = False
) -> dict[str, Any]:
    """A partner's credentials for every area, or with the operator's token for Area A."""
    partner = demo["partners"][0]
    customer = partner["organizations"][0]
    legacy = customer["legacyClient"]
    return {
        "bearerToken": {
            "bearer": token_of(base_url, demo["operator"] if operator else partner["client"])
        },
        "callToken": {"bearer": token_of(base_url, legacy)},
        "apiKey": {"api_key": customer["apiKey"]},
        "clientCredentials": {"username": legacy["clientId"], "password": legacy["clientSecret"]},
    }


def token_of(base_url: str, client: Mapping[str, str], scope: str | None = None) -> str:
    """An access token, with the ``scope`` alone if one is given."""
    form = {
        "grant_type": "client_credentials",
        "client_id": client["clientId"],
        "client_secret": client["clientSecret"],
        **({"scope": scope} if scope else {}),
    }
    address = f"{base_url}/oauth2/token"
    with urlopen(address, urlencode(form).encode()) as answer:
        return str(json.load(answer)["access_token"])
