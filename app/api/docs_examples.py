"""The requests of the docs page as a person would type them: for a shell and for Python."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.api.openapi_operation import CLIENT_SCHEME, SCHEME_OF_AREA
from app.enums import Area

Json = Mapping[str, Any]


def pretty(value: Any) -> str:
    """Indented, with every letter as it is."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Request:
    """A request that an example shows in two languages."""

    document: Json
    path: str
    method: str
    operation: Json
    media: str
    body: Any

    @property
    def _address(self) -> str:
        server = self.document["servers"][0]["url"].rstrip("/")
        names = [p["name"] for p in self.operation["parameters"] if p["in"] == "path"]
        path = self.path
        for name in names:
            path = path.replace("{" + name + "}", _shouted(name))
        sent = [p for p in self.operation["parameters"] if p["in"] == "query" and p["required"]]
        query = "&".join(f"{p['name']}={_QUERY.get(p['name'], 'VALUE')}" for p in sent)
        return f"{server}{path}?{query}" if query else f"{server}{path}"

    @property
    def _headers(self) -> dict[str, str]:
        schemes = {name for scheme in self.operation["security"] for name in scheme}
        headers = {}
        if SCHEME_OF_AREA[Area.PUBLIC] in schemes:
            headers["x-api-key"] = "YOUR_API_KEY"
        elif schemes - {CLIENT_SCHEME}:
            headers["Authorization"] = "Bearer ACCESS_TOKEN"
        return headers

    def as_curl(self) -> str:
        """The request for a shell."""
        lines = [f"curl -X {self.method.upper()} '{self._address}'"]
        lines += [f"-H '{name}: {value}'" for name, value in self._headers.items()]
        if self.media == "application/json":
            lines += [f"-H 'Content-Type: {self.media}'"]
            lines += ["-d '" + pretty(self.body).replace("'", "'\\''") + "'"]
        elif self.body is not None:
            lines += [f"-d {name}={_quoted(value)}" for name, value in self.body.items()]
        return " \\\n  ".join(lines)

    def as_python(self) -> str:
        """The request for Python with the library requests."""
        arguments = [repr(self._address)]
        if self._headers:
            arguments.append(f"headers={self._headers!r}")
        if self.body is not None:
            name = "json" if self.media == "application/json" else "data"
            arguments.append(f"{name}={_python(self.body)}")
        inner = ",\n".join(f"    {argument}" for argument in arguments)
        call = f"requests.{self.method}(\n{inner},\n)"
        return f"import requests\n\nresponse = {call}\nresponse.raise_for_status()"


_QUERY = {"startDate": "2026-05-01", "endDate": "2026-05-31"}


def _shouted(name: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in name).upper()


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


def _python(value: Any, indent: str = "    ") -> str:
    """A literal, laid out as it stands inside the call."""
    inner = indent + "    "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{key!r}: {_python(item, inner)}," for key, item in value.items()]
        return "\n".join(["{", *lines, indent + "}"])
    if isinstance(value, list) and value:
        lines = [f"{inner}{_python(item, inner)}," for item in value]
        return "\n".join(["[", *lines, indent + "]"])
    return repr(value)
