"""schemathesis against the running product and its own description, with every check on."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from schemathesis.config import ChecksConfig

from tests import matrix
from tests.contract.exceptions import is_excused
from tests.contract.fuzzing import Depth, Run, ask
from tests.fixtures.databases import BACKENDS
from tests.fixtures.stack import Stack, Stacks

LARGE_BODIES = {
    "updatePartner": "PUT /api/partners/{partnerId}",
    "createPartner": "POST /api/partners",
}
"""They take as long as all the others together."""
ALL_OTHERS = "all others"
MAY_STAY_UNREACHED = {
    "GET /api/v1/outbound/calls/{callId}",
    "POST /api/v1/outbound/calls/{callId}/cancel",
    "GET /api/v1/campaigns/{campaignId}/contacts/{contactId}",
}
"""Operations on what only an earlier random request can have made."""
EVERY_CHECK = {name for name in ChecksConfig.__annotations__ if not name.startswith("_")}
NOT_ASKED = {"max_response_time"}
"""How long an answer takes is measured elsewhere."""

pytestmark = [
    pytest.mark.alternating,
    pytest.mark.crawl,
    pytest.mark.filterwarnings("default"),  # what it warns itself about is none of ours
]


@pytest.fixture(scope="module", params=matrix.rotating("schemathesis database", BACKENDS))
def stack(request: pytest.FixtureRequest, stacks: Stacks) -> Iterator[Stack]:
    running = stacks.start(request.param, {"PORTAL_FAILED_SIGN_INS": "1000000"})
    yield running
    running.stop()


@pytest.fixture(scope="module")
def depth() -> Depth:
    """The same requests in every `make check`; more in the full run, others with each commit."""
    if matrix.is_full():
        chosen = Depth(seed=matrix.number("schemathesis seed"), examples=50)
    else:
        chosen = Depth(seed=1, examples=3)
    matrix.chosen["schemathesis seed"] = str(chosen.seed)
    return chosen


def verdict(run: Run) -> tuple[list[str], list[str]]:
    """The findings without an exemption, and the errors of the run itself."""
    return [str(finding) for finding in run.findings if not is_excused(finding)], run.errors


def never_good(run: Run) -> set[str]:
    return {operation for operation, statuses in run.answered.items() if 200 not in statuses}


@pytest.mark.parametrize("part", matrix.rotating("schemathesis", [ALL_OTHERS, *LARGE_BODIES]))
def test_schemathesis_finds_no_fault_in_the_operations_of_a_partner(
    stack: Stack, depth: Depth, part: str
) -> None:
    if part == ALL_OTHERS:
        run = ask(stack.base_url, stack.demo, depth, without=list(LARGE_BODIES))
        assert run.checks == EVERY_CHECK - NOT_ASKED
    else:
        depth = replace(depth, bounds=matrix.is_full())
        run = ask(stack.base_url, stack.demo, depth, only=part)
        assert set(run.answered) == {LARGE_BODIES[part]}
    assert verdict(run) == ([], []), f"seed {depth.seed}"
    assert never_good(run) <= MAY_STAY_UNREACHED
