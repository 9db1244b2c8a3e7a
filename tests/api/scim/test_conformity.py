"""The checks of a tester for SCIM servers."""

from collections.abc import Callable

import pytest
from flask import Flask

from tests.api.scim.conftest import Directory

NEVER_WITHOUT = {
    "PATCH modify() did not remove attribute 'active'",
    "PATCH modify() did not remove attribute 'emails'",
}
"""What the tester expects and the portal doesn't do: a user is always active or not, and always has
an address."""


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    """The tester sends hundreds of requests, as quickly as it can."""
    return make_app(rate_burst=10_000)


@pytest.mark.alternating
@pytest.mark.usefixtures("with_default_role")
def test_every_check_of_the_scim_tester_passes(app: Flask, directory: Directory) -> None:
    from tests.api.scim.tester import checked  # noqa: PLC0415 - takes two seconds in each process

    results = checked(app, directory.secret)
    passed = [result for result in results if result.status.name == "SUCCESS"]
    wrong = {result.reason for result in results if result.status.name in ("ERROR", "CRITICAL")}
    assert wrong == NEVER_WITHOUT
    assert len(passed) >= 60
