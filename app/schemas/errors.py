"""The error bodies (contract, section 2.13; docs/decisions/json-api.md#errors)."""

from typing import Annotated

from pydantic import ConfigDict, Field

from app.schemas.base import Resource
from app.schemas.checks import Omittable


class ErrorProblem(Resource):
    """One thing wrong with one field; ``field`` is empty for the body or query as a whole."""

    field: str
    code: str
    message: str


class ErrorDetails(Resource):
    """``code`` is stable; ``requestId`` finds the request in the log. More may be added."""

    model_config = ConfigDict(extra="allow")

    code: str
    errors: list[ErrorProblem]
    request_id: str


class Error(Resource):
    """The body of every error."""

    status_code: int
    message: str
    details: Omittable[ErrorDetails] = None


class CallError(Error):
    """The body of every error of the call operations."""

    success: Annotated[bool, Field(json_schema_extra={"const": False})]
