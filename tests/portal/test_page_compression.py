"""Pages are compressed for our own pages and for people, never where another site asked."""

import gzip
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from app.enums import Role
from app.models import User
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_pages_are_compressed_for_visits_and_for_requests_of_the_portal(
    tenant: Tenant, signed_in: Callable[[User], Browser], site: str
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    headers = {"Accept-Encoding": "br, gzip", "Sec-Fetch-Site": site}
    answer = browser.get("/account", headers=headers)
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Content-Length"] == str(len(answer.data))
    assert {"Accept-Encoding", "Sec-Fetch-Site", "Cookie"} <= set(answer.vary)
    assert b"<h1>Your account</h1>" in gzip.decompress(answer.data)
    assert len(answer.data) < 16_000


@pytest.mark.parametrize(
    "headers",
    [
        {"Accept-Encoding": "gzip", "Sec-Fetch-Site": "cross-site"},
        {"Accept-Encoding": "gzip", "Sec-Fetch-Site": "same-site"},
        {"Accept-Encoding": "gzip"},
        {"Accept-Encoding": "br, gzip;q=0", "Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_pages_are_not_compressed_for_other_sites_and_old_browsers(
    tenant: Tenant, signed_in: Callable[[User], Browser], headers: dict[str, str]
) -> None:
    answer = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/account", headers=headers)
    assert "Content-Encoding" not in answer.headers
    assert "<h1>Your account</h1>" in answer.text


def test_json_is_never_compressed(client: FlaskClient) -> None:
    headers = {"Accept-Encoding": "gzip", "Sec-Fetch-Site": "none"}
    answer = client.get("/api/v1/openapi.json", headers=headers)
    assert answer.mimetype == "application/json"
    assert "Content-Encoding" not in answer.headers
