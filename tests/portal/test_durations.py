"""How long something took, as people read it."""

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus
from app.models import utcnow
from app.portal.web.formats import duration
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call
from tests.portal.uploader import words


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, "–"),
        (0, "0 s"),
        (59, "59 s"),
        (72, "1 min 12 s"),
        (120, "2 min"),
        (393, "6 min 33 s"),
        (3599, "59 min 59 s"),
        (7540, "2 h 5 min"),
    ],
)
def test_a_long_duration_is_written_in_minutes(seconds: int | None, shown: str) -> None:
    assert duration(seconds).replace("\u00a0", " ") == shown


def test_lists_show_minutes_and_their_files_seconds(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    ended = {"status": CallStatus.COMPLETED, "seconds": 393}
    make_call(session, tenant.plus, "+12025550105", utcnow(), ended_at=utcnow(), **ended)
    session.commit()
    assert "6 min 33 s" in words(admin.get("/calls"))
    assert ",393," in admin.get("/lists/calls/export.csv").text
