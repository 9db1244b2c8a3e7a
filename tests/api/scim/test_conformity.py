"""The checks of a tester for SCIM servers, and a client of the same family."""

from typing import Annotated, Any
from uuid import uuid4

import pytest
from flask import Flask
from pydantic import Field
from scim2_client.engines.wsgi import WSGISCIMClient
from scim2_models import Required, ScimProvider, Uniqueness
from scim2_tester import Status, check_server

from app.schemas import scim as wire
from tests.api.scim.conftest import Directory


class Addresses(list[str]):
    """Another address each time that the tester takes one."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, _index: Any) -> str:  # type: ignore[override]
        return f"{uuid4().hex}@northwind.example"


class Email(wire.Email):
    """Tells the tester that a user has one address, for work."""

    value: str | None = Field(None, examples=Addresses(["ada@northwind.example"]))
    type: str | None = Field(None, examples=["work"])
    primary: bool | None = Field(None, examples=[True])


class User(wire.User):
    """Tells the tester that user names are addresses."""

    __schema__ = wire.User.__schema__
    user_name: Annotated[str | None, Uniqueness.server, Required.true] = Field(
        None, examples=Addresses(["ada@northwind.example"])
    )
    emails: list[Email] | None = None  # type: ignore[assignment]  # narrower


@pytest.fixture
def scim(app: Flask, directory: Directory) -> WSGISCIMClient:
    return WSGISCIMClient(
        app,
        base_url="http://localhost/scim/v2",
        headers={"Authorization": f"Bearer {directory.secret}"},
        provider=ScimProvider(models=[User, wire.Group]),
    )


NEVER_WITHOUT = {
    "PATCH modify() did not remove attribute 'active'",
    "PATCH modify() did not remove attribute 'emails'",
}
"""What the tester expects and the portal doesn't do: a user is always active or not, and always has
an address."""


@pytest.mark.usefixtures("with_default_role")
def test_every_check_of_the_tester_passes(scim: WSGISCIMClient) -> None:
    scim.discover(resource_types=True, schemas=False, service_provider_config=True)
    results = check_server(scim)
    passed = [result for result in results if result.status is Status.SUCCESS]
    wrong = {
        result.reason for result in results if result.status in (Status.ERROR, Status.CRITICAL)
    }
    assert (wrong, len(passed) >= 60) == (NEVER_WITHOUT, True), len(passed)
