"""Token buckets: a steady rate with bursts, each key alone, bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import RateLimited
from app.http.rate_limit import TokenBuckets


def accepted(buckets: TokenBuckets, key: str) -> bool:
    try:
        buckets.take(key)
    except RateLimited:
        return False
    return True


@given(st.lists(st.floats(0, 0.5), max_size=200))
def test_never_more_than_the_burst_and_the_rate(pauses: list[float]) -> None:
    now = [0.0]
    buckets = TokenBuckets(10, 5, clock=lambda: now[0])
    taken = 0
    for pause in pauses:
        now[0] += pause
        taken += accepted(buckets, "key")
        assert taken <= 5 + 10 * now[0] + 1e-6


def test_a_client_within_the_rate_is_never_refused() -> None:
    now = [0.0]
    buckets = TokenBuckets(10, 1, clock=lambda: now[0])
    taken = []
    for _ in range(100):
        taken.append(accepted(buckets, "key"))
        now[0] += 0.1001
    assert taken == [True] * 100


def test_the_wait_is_in_whole_seconds() -> None:
    buckets = TokenBuckets(0.5, 1, clock=lambda: 0.0)
    buckets.take("key")
    with pytest.raises(RateLimited) as refused:
        buckets.take("key")
    assert refused.value.retry_after == 2


def test_keys_that_were_idle_for_long_are_forgotten() -> None:
    buckets = TokenBuckets(1, 1, clock=lambda: 0.0, max_keys=3)
    for key in "abcd":
        buckets.take(key)
    assert [accepted(buckets, key) for key in "bcda"] == [False, False, False, True]
