"""``kill -9`` of the worker while a real carrier is asked; the carrier's ledger judges."""

import random
import time
from collections import Counter

import pytest

from tests import matrix
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import outcome

pytestmark = [pytest.mark.alternating, pytest.mark.crash, pytest.mark.xdist_group("house")]

KILLS = matrix.kills(4)
CALLS_A_KILL = 5
FAULTS: tuple[list[str], ...] = ([], [], ["500+"], ["reset"], ["429"])


def test_a_killed_worker_neither_loses_nor_repeats_a_call(house: TwilioWorker) -> None:
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    dialled = {}
    for _ in range(KILLS):
        for _ in range(CALLS_A_KILL):
            number = house.number(asked=[*chance.choice(FAULTS)])
            dialled[number] = house.dial(number)
            time.sleep(chance.uniform(0, 0.05))
        time.sleep(chance.uniform(0, 0.4))
        house.worker.kill()
        house.worker.start(wait=chance.random() < 0.7)
    ended = Counter(outcome(house.database, call_id, 180.0) for call_id in dialled.values())
    rung = Counter(len(house.carrier.calls_to(number)) for number in dialled)
    assert rung == {1: len(dialled)}, f"seed {seed}"
    assert ended == {("completed", "completed", "human"): len(dialled)}, f"seed {seed}"
