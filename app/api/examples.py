"""One example of each published class, for the description and the docs page.

Examples of request bodies are accepted and examples of responses are complete: a test reads every
one.
"""

import json
from pathlib import Path
from typing import Any

from app.api.error_codes import FIELDS
from app.schemas.base import Wire
from app.schemas.errors import CallError
from app.schemas.oauth import TokenError

EXAMPLES: dict[str, Any] = {
    name: example
    for file in Path(__file__).parent.rglob("examples.json")
    for name, example in json.loads(file.read_text("utf-8")).items()
}
"""Name of the class -> its example."""


def error_example(
    shape: type[Wire], status: int, code: tuple[str, str], field: str = "email"
) -> dict[str, Any]:
    """Return an error as it is sent; ``field`` is the one with the wrong value."""
    word, message = code
    if shape is TokenError:
        return {"error": word, "error_description": message}
    errors = [{"field": field, "code": word, "message": message}] if word in FIELDS else []
    details = {"code": word, "errors": errors, "requestId": "req_lk2Zp0Qx8vS7mN4tB1cYhA"}
    body: dict[str, Any] = {"statusCode": status, "message": message, "details": details}
    return body | {"success": False} if shape is CallError else body
