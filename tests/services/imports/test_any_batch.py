"""Whatever a file holds: its rows are all counted, and applying does what the check has said."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.enums import ContactAction
from app.models import Campaign, ContactImport
from app.services.imports import apply, preview, uploads
from tests import matrix
from tests.fixtures.uploads import Importer, counts, number, table

EXAMPLES = 5_000 if matrix.is_full() else 25
"""Of two batches each."""
HEADER = "First name,Phone,E-mail,Status,crmId,account,Note"

_PEOPLE = st.integers(0, 6)
_ROWS = st.lists(
    st.tuples(
        st.sampled_from(["Ann", "Bob", ""]),
        _PEOPLE.map(number) | st.sampled_from(["", "", "12", "N/A"]),
        _PEOPLE.map("P{}@mail.example".format) | st.sampled_from(["", "", "p1@MAIL.example", "x"]),
        st.sampled_from(["", "", "new", "Completed"]),
        st.sampled_from(["", "", "A1", "A2"]),
        st.sampled_from(["", "", "B1"]),
        st.sampled_from(["", "vip", "x" * 1001]),
    ).filter(any),
    min_size=1,
    max_size=12,
)


@pytest.fixture
def importer(importer: Importer, monkeypatch: pytest.MonkeyPatch) -> Importer:
    """Rows are tried out three at a time and applied in batches of five; ``crmId`` identifies."""
    monkeypatch.setattr(preview, "CHUNK", 3)
    monkeypatch.setattr(apply, "BATCH_SIZE", 5)
    importer.define(crmId=True, account=False)
    return importer


@pytest.mark.parametrize(
    "backend", matrix.rotating("any batch", ["sqlite", "postgresql"]), indirect=True
)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(before=_ROWS, rows=_ROWS, action=st.sampled_from(ContactAction))
def test_every_batch_is_counted_and_its_result_equals_the_check(
    importer: Importer,
    before: list[tuple[str, ...]],
    rows: list[tuple[str, ...]],
    action: ContactAction,
) -> None:
    other_importer = _another_campaign(importer)
    _check_and_apply(other_importer, before, ContactAction.UPSERT)
    _check_and_apply(other_importer, rows, action)


def _another_campaign(importer: Importer) -> Importer:
    with importer.database.transaction() as session:
        campaign = session.get_one(Campaign, importer.campaign_id)
        new = Campaign(
            partner_id=campaign.partner_id,
            organization_id=campaign.organization_id,
            name="Spring check-ups",
            all_assistants=True,
        )
        session.add(new)
        session.flush()
        return replace(importer, campaign_id=new.id)


def _check_and_apply(
    importer: Importer, rows: list[tuple[str, ...]], action: ContactAction
) -> None:
    upload = importer.checked(table(HEADER, rows), action)
    expected, outcomes = counts(upload), importer.rows(upload.id)
    assert sum(expected) == upload.rows_total == len(rows)
    if _applies_something(upload):
        applied = importer.apply(upload.id)
        assert (counts(applied), importer.rows(upload.id)) == (expected, outcomes)
        assert uploads.figures_of(applied) == uploads.figures_of(upload)
        assert applied.expected == dict(
            zip(("created", "updated", "deleted", "ignored", "failed"), expected, strict=True)
        )


def _applies_something(upload: ContactImport) -> bool:
    return bool(upload.created + upload.updated + upload.deleted)
