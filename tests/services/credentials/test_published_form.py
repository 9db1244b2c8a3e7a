"""Leaked secrets are found by the published expression, and distinguished from other texts by the
checksum."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.config import ROOT
from app.enums import Role
from app.services import oauth_clients
from app.services.credentials import api_keys, scim_tokens, secrets
from tests.fixtures.tenants import make_tenant

PAGE = (ROOT / "docs" / "security.md").read_text()


@pytest.fixture
def new_secrets(session: Session) -> list[str]:
    """A secret of each kind."""
    tenant = make_tenant(session)
    admin, organization_id = tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id
    keys = [
        api_keys.create(session, admin, organization_id=organization_id, name="CRM", live=live)
        for live in (True, False)
    ]
    client = oauth_clients.create(session, admin, name="Sync", role=Role.ADMIN)
    token = scim_tokens.create(session, admin, name="Entra")
    rotated = oauth_clients.rotate(session, admin, client.client.id)
    return [*(key.secret for key in keys), client.secret, rotated.secret, token.secret]


@pytest.fixture(scope="module")
def has_right_checksum() -> Callable[[str], bool]:
    """The function as it is on the page."""
    [source] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    known: dict[str, Any] = {}
    exec(source, known)  # noqa: S102 - the page's own lines
    return known["has_right_checksum"]  # type: ignore[no-any-return]  # it is the page's function


def test_the_regular_expression_of_the_page_finds_only_secrets(new_secrets: list[str]) -> None:
    [pattern] = re.findall(r"```regex\n(.*?)\n```", PAGE)
    assert pattern == secrets.PATTERN
    log = " ".join(f'x="{secret}",' for secret in new_secrets) + (
        f" a{new_secrets[0]} {new_secrets[0]}b {new_secrets[1][:-1]}"
    )
    assert re.findall(pattern, log) == new_secrets


def test_the_checksum_of_the_page_verifies_each_secret(
    new_secrets: list[str], has_right_checksum: Callable[[str], bool]
) -> None:
    wrong = [
        secret[:-7] + ("a" if secret[-7] != "a" else "b") + secret[-6:] for secret in new_secrets
    ]
    assert [
        secret for secret in (*new_secrets, *wrong) if has_right_checksum(secret)
    ] == new_secrets
