"""Ids made in bulk: as unique, as ordered and of the same kind as those made one by one."""

from concurrent.futures import ThreadPoolExecutor
from uuid import RFC_4122, UUID

from app.models import new_id
from app.models.base import new_ids


def test_ids_in_bulk_and_one_by_one_ascend_together() -> None:
    made = [str(new_id()), *new_ids(10_000), *new_ids(0), str(new_id()), *new_ids(1)]
    assert len(set(made)) == 10_003
    assert made == sorted(made)
    assert {(len(each), UUID(each).version, UUID(each).variant) for each in made} == {
        (36, 7, RFC_4122)
    }


def test_ids_made_at_once_differ() -> None:
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(new_ids, [500] * 40))
    assert len({each for batch in batches for each in batch}) == 20_000
