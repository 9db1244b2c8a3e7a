"""Servers that the gateways speak to."""

from collections.abc import Iterator

import pytest

from tests.fixtures.sip_trunk import Trunk, sip_trunk


@pytest.fixture(scope="module")
def trunk() -> Iterator[Trunk]:
    with sip_trunk() as running:
        yield running
