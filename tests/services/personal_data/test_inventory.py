"""The inventory of personal data names every column that can hold text or bytes."""

from collections import Counter

import pytest
from sqlalchemy import JSON, Column, Enum, LargeBinary, String
from sqlalchemy.dialects.postgresql import JSONB

from app.models import Base
from app.services.personal_data.inventory import HOLDINGS, NOT_PERSONAL, OnErasure


def holds_text(column: Column[object]) -> bool:
    kind = column.type
    return isinstance(kind, String | JSON | JSONB | LargeBinary) and not isinstance(kind, Enum)


def test_every_column_that_holds_text_is_declared_once() -> None:
    stored = {
        (table.name, column.name)
        for table in Base.metadata.tables.values()
        for column in table.columns
        if holds_text(column)
    }
    declared = Counter(
        [(each.table, column) for each in HOLDINGS for column in each.columns]
        + [(table, column) for table, named in NOT_PERSONAL.items() for column in named.split()]
    )
    twice = {place for place, times in declared.items() if times > 1}
    assert (stored - set(declared), set(declared) - stored, twice) == (set(), set(), set())


@pytest.mark.parametrize("holding", HOLDINGS, ids=lambda each: each.table)
def test_only_columns_that_are_kept_need_a_reason(holding: object) -> None:
    assert bool(holding.reason) is (holding.on_erasure is OnErasure.KEPT)  # type: ignore[attr-defined]  # pytest's ids
