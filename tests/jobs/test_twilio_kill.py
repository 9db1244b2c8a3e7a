"""``kill -9`` of the worker while a real carrier is asked; the carrier's ledger judges."""

import random
import time
from collections import Counter

import pytest

from tests import matrix
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import outcome

pytestmark = [pytest.mark.alternating, pytest.mark.crash, pytest.mark.xdist_group("twilio")]

KILLS = matrix.kills(4)
CALLS_A_KILL = 5
FAULTS: tuple[list[str], ...] = ([], [], ["500+"], ["reset"], ["429"])


def test_a_killed_worker_neither_loses_nor_repeats_a_call(twilio_worker: TwilioWorker) -> None:
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    called = {}
    for _ in range(KILLS):
        for _ in range(CALLS_A_KILL):
            number = twilio_worker.number(asked=[*chance.choice(FAULTS)])
            called[number] = twilio_worker.dial(number)
            time.sleep(chance.uniform(0, 0.05))
        time.sleep(chance.uniform(0, 0.4))
        twilio_worker.worker.kill()
        twilio_worker.worker.start(wait=chance.random() < 0.7)
    ended = Counter(outcome(twilio_worker.database, call_id, 180.0) for call_id in called.values())
    rung = Counter(len(twilio_worker.carrier.calls_to(number)) for number in called)
    assert rung == {1: len(called)}, f"seed {seed}"
    assert ended == {("completed", "completed", "human"): len(called)}, f"seed {seed}"
