"""Personal data in error messages is scrubbed before these are logged or reported."""

import pytest

from app.telemetry.scrubbing import scrub


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("to dana@example.com failed", "to [email] failed"),
        ("to dana%40example.com failed", "to [email] failed"),
        ("+12025550101 is busy", "[number] is busy"),
        ("tel:+44 20 7946 0958.", "tel:[number]."),
        ("called 12025550101 twice", "called [number] twice"),
        ("key ppk_live_abc-DEF_12345", "key [secret]"),
        ("Authorization: Bearer abc.DEF-123_456", "Authorization: Bearer [token]"),
        ("token eyJhbGciOiJFUzI1NiJ9.eyJzdWIi.c2ln", "token [token]"),
        ("postgresql://portal:s3cret@db/portal", "postgresql://[secret]@db/portal"),
        ("GET /search?q=Dana HTTP/1.1", "GET /search?… HTTP/1.1"),
        ("/p/larkfield/password/Zm9vYmFyYmF6cXV4", "/p/larkfield/password/…"),
        (
            "DETAIL:  Key (partner_id, email)=(1, dana) already exists.",
            "DETAIL:  Key (partner_id, email)=(…) already exists.",
        ),
        ("DETAIL:  Failing row contains (1, Dana, x).", "DETAIL:  Failing row contains (…)."),
        ("[type=x, input_value='Dana', input_type=str]", "[type=x, input_value=…, input_type=str]"),
    ],
)
def test_personal_data_and_secrets_are_removed(text: str, left: str) -> None:
    assert scrub(text) == left


@pytest.mark.parametrize(
    "text",
    [
        'File "/srv/app/jobs/worker.py", line 1234, in run',
        "0190b2a4-6f5e-7c31-9d7a-2b8f0c1d3e4f",
        "2026-11-23 22:07:44,810 INFO app: ready",
        "executor 8624-0190b2a46f5e7c319d7a2b8f0c1d3e4f",
        "password_checks waits for 30000 ms",
        "req_EJculyaFceJ_oF4e5gsJlQ",
    ],
)
def test_details_that_help_to_find_an_error_stay(text: str) -> None:
    assert scrub(text) == text
