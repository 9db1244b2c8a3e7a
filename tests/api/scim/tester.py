"""A tester for SCIM servers, and a client of the same family.

Importing them takes two seconds, so the test of conformity imports this module only when it runs.
"""

from typing import Annotated, Any
from uuid import uuid4

from flask import Flask
from pydantic import Field
from scim2_client.engines.wsgi import WSGISCIMClient
from scim2_models import Required, ScimProvider, Uniqueness
from scim2_tester import CheckResult, check_server

from app.schemas import scim as wire


class Addresses(list[str]):
    """Returns another address each time that the tester needs one."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, _index: Any) -> str:  # type: ignore[override]
        return f"{uuid4().hex}@northwind.example"


class Email(wire.Email):
    """Declares to the tester that a user has one address, for work."""

    value: str | None = Field(None, examples=Addresses(["ada@northwind.example"]))
    type: str | None = Field(None, examples=["work"])
    primary: bool | None = Field(None, examples=[True])


class User(wire.User):
    """Declares to the tester that user names are addresses."""

    __schema__ = wire.User.__schema__
    user_name: Annotated[str | None, Uniqueness.server, Required.true] = Field(
        None, examples=Addresses(["ada@northwind.example"])
    )
    emails: list[Email] | None = None  # type: ignore[assignment]  # narrower


def checked(app: Flask, secret: str) -> list[CheckResult]:
    """Return the tester's findings about the directory of the secret."""
    scim = WSGISCIMClient(
        app,
        base_url="http://localhost/scim/v2",
        headers={"Authorization": f"Bearer {secret}"},
        provider=ScimProvider(models=[User, wire.Group]),
    )
    scim.discover(resource_types=True, schemas=False, service_provider_config=True)
    return check_server(scim)
