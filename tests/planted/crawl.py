"""Requests of one partner's users and scripts for data of the other.

`Crawl.requests` never ends: first every page that links lead to, for the partner's admin and one of
the other roles, then every route with ids of the other partner in each place and, in turn with
these, random mixtures of ids, texts, filters and forms.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import chain
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException
from werkzeug.routing import AnyConverter, Rule
from werkzeug.test import TestResponse

from app.api.operation import ATTRIBUTE, Operation
from app.policy import ROUTES, OpenAccess
from app.portal.web.current_user import SESSION_COOKIE
from app.schemas.base import wire_name
from tests.contract.test_tenancy import BODIES, DAYS, Ids
from tests.planted.planting import UUIDS, PlantedPartner

TABLE_OF = {
    "account_id": "carrier_accounts",
    "assistant_id": "agents",
    "call_id": "calls",
    "campaign_id": "campaigns",
    "client_id": "oauth_clients",
    "contact_id": "contacts",
    "delivery_id": "webhook_deliveries",
    "external_user_id": "users",
    "key_id": "api_keys",
    "mail_id": "mails",
    "organization_id": "organizations",
    "partner_id": "partners",
    "upload_id": "contact_imports",
    "user_id": "users",
    "webhook_id": "webhook_endpoints",
}
"""The table whose ids a parameter of a path takes."""
COLUMN_OF = {"assistant_id": "agent_id", "webhook_id": "endpoint_id", "account_id": "account_id"}
"""The column, if it isn't named like the parameter."""
ORDINARY = {"role": "admin", "reason": "phone_invalid", "index": "0", "number": "1"}
LEAVE_OUT = re.compile(r"^/static/|^/api/docs|^/healthz|^/readyz")
QUERIES = (
    *("q", "organization", "organization_id", "partner", "user", "campaign", "contact", "agent"),
    *("assistant", "call", "id", "state", "status", "kind", "role", "sort", "trail", "cursor"),
    *("after", "before", "page", "note", "key", "number", "next", "target", "actor", "rows"),
)
"""Names of parameters that screens read, besides those in their links and forms."""
LINK = re.compile(r'\shref="([^"]+)"')
FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL)
FIELD = re.compile(r"<(?:input|textarea|select|button)\b[^>]*?\bname=\"([^\"]+)\"[^>]*>")
VALUE = re.compile(r'\bvalue="([^"]*)"')
TOKEN = re.compile(r'name="csrf_token"[^>]*value="([^"]+)"')
MAX_REDIRECTS = 3


@dataclass(frozen=True)
class CrawlRequest:
    """One request; ``form`` and ``json`` exclude each other. A file is its bytes."""

    method: str
    path: str
    form: Mapping[str, Any] | None = None
    json: Any = None

    @property
    def text(self) -> str:
        """Return all texts of the request itself."""
        query = " ".join(chain.from_iterable(parse_qsl(urlsplit(self.path).query)))
        return f"{self.path} {query} {self.form} {self.json}"


@dataclass
class Visitor:
    """A caller of the requesting partner: a user in a browser, or a script."""

    name: str
    app: Flask
    headers: Mapping[str, str] = field(default_factory=dict)
    cookie: str | None = None
    csrf_token: str = ""
    blueprints: Sequence[str] = ("portal",)

    def ask(self, asked: CrawlRequest) -> list[TestResponse]:
        """Return the response, preceded by the redirects that led to it. Cookies that it sets are
        dropped."""
        client = self.app.test_client()
        if self.cookie is not None:
            client.set_cookie(SESSION_COOKIE, self.cookie)
        answers = [self._send(client, asked)]
        while len(answers) <= MAX_REDIRECTS and answers[-1].status_code in {301, 302, 303, 308}:
            target = urlsplit(answers[-1].location)
            if target.netloc not in {"", "localhost"}:
                break
            answers.append(self._send(client, CrawlRequest("GET", f"{target.path}?{target.query}")))
        return answers

    def _send(self, client: FlaskClient, asked: CrawlRequest) -> TestResponse:
        form: dict[str, Any] | None = None
        if asked.form is not None:
            form = {**asked.form, "csrf_token": self.csrf_token}
            if isinstance(form.get("file"), bytes):
                form["file"] = (io.BytesIO(form["file"]), "people.csv")
        return client.open(
            asked.path,
            method=asked.method,
            data=form,
            json=asked.json,
            headers=self.headers,
            buffered=True,  # what is left unread keeps its request's context
        )


@dataclass
class Crawl:
    """``visitors`` are of ``own``; they request data of ``other``."""

    app: Flask
    visitors: Sequence[Visitor]
    own: PlantedPartner
    other: PlantedPartner
    random: Random
    forms: dict[str, dict[str, str]] = field(default_factory=dict)
    """Fields and values of the form that is sent to an endpoint."""
    queries: set[str] = field(default_factory=lambda: set(QUERIES))

    def requests(self) -> Iterator[tuple[Visitor, CrawlRequest]]:
        """Yield the requests. The walk needs their responses: pass each of them to `learn`."""
        admin, *others = (each for each in self.visitors if "portal" in each.blueprints)
        for visitor in (admin, self.random.choice(others)):
            yield from self._walk(visitor)
        every_route = list(self._every_route())
        self.random.shuffle(every_route)
        for route in every_route:
            yield route
            yield self._mixture()
        while True:
            yield self._mixture()

    # The walk

    def _walk(self, visitor: Visitor) -> Iterator[tuple[Visitor, CrawlRequest]]:
        self._waiting, self._seen = ["/"], {("portal.overview.show_overview", "")}
        while self._waiting:
            yield visitor, CrawlRequest("GET", self._waiting.pop(0))

    def learn(self, asked: CrawlRequest, answer: TestResponse) -> None:
        """Store the links and forms of a page."""
        if answer.mimetype != "text/html":
            return
        page = answer.text
        for link in LINK.findall(page):
            self._note(unescape(link).partition("#")[0])
        for attributes, content in FORM.findall(page):
            self._note_form(attributes, content, asked.path)

    def _note(self, link: str) -> None:
        if not link.startswith("/") or LEAVE_OUT.search(link):
            return
        endpoint = self._endpoint_of(urlsplit(link).path, "GET")
        names = sorted({name for name, _value in parse_qsl(urlsplit(link).query)})
        self.queries.update(names)
        kind = (endpoint, "&".join(names))
        if endpoint.startswith("portal.") and kind not in self._seen:
            self._seen.add(kind)
            self._waiting.append(link)

    def _note_form(self, attributes: str, content: str, page: str) -> None:
        action = re.search(r'\baction="([^"]*)"', attributes)
        path = urlsplit(unescape(action[1]) if action and action[1] else page).path
        fields = {}
        for found in FIELD.finditer(content):
            value = VALUE.search(found[0])
            fields[found[1]] = unescape(value[1]) if value else ""
        if 'method="post"' in attributes.lower():
            self.forms.setdefault(self._endpoint_of(path, "POST"), fields)
        else:
            self.queries.update(fields)

    def _endpoint_of(self, path: str, method: str) -> str:
        try:
            endpoint, _values = self.app.url_map.bind("localhost").match(path, method=method)
        except HTTPException:
            return ""
        return str(endpoint)

    # Every route

    def _every_route(self) -> Iterator[tuple[Visitor, CrawlRequest]]:
        for visitor in self.visitors:
            for rule in self._rules(visitor):
                names = sorted(rule.arguments)
                yield visitor, self._asked(rule, self._values(rule, set()))
                if names:
                    yield visitor, self._asked(rule, self._values(rule, set(names)))
                for name in names if len(names) > 1 else ():
                    yield visitor, self._asked(rule, self._values(rule, {name}))

    def _rules(self, visitor: Visitor) -> list[Rule]:
        return [
            rule
            for rule in self.app.url_map.iter_rules()
            if rule.endpoint.partition(".")[0] in visitor.blueprints
        ]

    def _values(self, rule: Rule, foreign: set[str]) -> dict[str, str]:
        """Return values for the path: ids of one chain of rows, ``foreign`` ones of the other
        partner."""
        values: dict[str, str] = {}
        known: dict[bool, dict[str, Any]] = {True: {}, False: {}}
        order = [name for is_dynamic, name in rule._trace if is_dynamic]
        for name in reversed(order):
            theirs = name in foreign
            side = self.other if theirs else self.own
            found = known[theirs].get(COLUMN_OF.get(name, name))
            if found is None and name in TABLE_OF:
                row = self.random.choice(side.rows[TABLE_OF[name]])
                known[theirs] |= row
                found = row["id"]
            values[name] = str(found) if found is not None else self._other_value(rule, name, side)
        return values

    def _other_value(self, rule: Rule, name: str, side: PlantedPartner) -> str:
        converter = rule._converters[name]
        if isinstance(converter, AnyConverter):
            return str(self.random.choice(sorted(converter.items)))
        if name == "slug":
            return str(side.rows["partners"][0]["slug"])
        if name == "sha256":
            return str(side.rows["brand_images"][0]["sha256"])
        if name in ORDINARY:
            return ORDINARY[name]
        return self.random.choice(sorted(side.ids))

    def _asked(self, rule: Rule, values: Mapping[str, str], query: str = "") -> CrawlRequest:
        path = re.sub(r"<(?:[^<>:]+:)?(\w+)>", lambda match: values[match[1]], rule.rule)
        method = next(m for m in ("POST", "PUT", "DELETE", "GET") if m in (rule.methods or ()))
        path += f"?{query}" if query else ""
        if method == "GET":
            return CrawlRequest(method, path)
        if rule.endpoint.startswith("portal."):
            return CrawlRequest(method, path, form=self.forms.get(rule.endpoint, {}))
        if rule.endpoint.startswith("oauth."):
            return CrawlRequest(
                method, path, form={"client_id": self._foreign_text(), "token": "x"}
            )
        return CrawlRequest(method, path, json=self._body(rule, self.other))

    # Mixtures

    def _mixture(self) -> tuple[Visitor, CrawlRequest]:
        visitor = self.random.choice(self.visitors)
        rule = self.random.choice(self._rules(visitor))
        names = sorted(rule.arguments)
        foreign = {name for name in names if self.random.random() < 0.4}
        asked = self._asked(rule, self._values(rule, foreign), self._query(rule))
        if asked.form is not None:
            asked = replace(asked, form=self._mixed_form(asked.form))
        if asked.json is not None:
            asked = replace(asked, json=self._mixed(self._body(rule, self.own)))
        return visitor, asked

    def _query(self, rule: Rule) -> str:
        if "GET" not in (rule.methods or ()):
            return ""
        declared: Operation | None = getattr(
            self.app.view_functions[rule.endpoint], ATTRIBUTE, None
        )
        names = sorted(self.queries)
        if declared is not None:
            names = (
                [wire_name(name) for name in declared.query.model_fields] if declared.query else []
            )
        chosen = self.random.sample(names, min(len(names), self.random.choice((0, 1, 1, 2))))
        asked = urlencode({name: self._foreign_text() for name in chosen})
        return f"{asked}&{DAYS}" if rule.endpoint.endswith("find_usage") else asked

    def _mixed_form(self, form: Mapping[str, Any]) -> dict[str, Any]:
        """Return the form with some fields replaced."""
        mixed: dict[str, Any] = {"organization": "", "id": "", **form}
        for name in mixed:
            if name not in {"csrf_token", "version", "once"} and self.random.random() < 0.4:
                mixed[name] = self._foreign_text()
        if "file" in mixed:
            mixed["file"] = f"Phone\n{self._foreign_text()}\n".encode()
        return mixed

    def _mixed(self, body: Any) -> Any:
        """The body with some texts replaced, ids more often."""
        if isinstance(body, dict):
            return {name: self._mixed(value) for name, value in body.items()}
        if isinstance(body, list):
            return [self._mixed(value) for value in body]
        if isinstance(body, str) and self.random.random() < (0.6 if UUIDS.search(body) else 0.3):
            return self._foreign_text()
        return body

    def _body(self, rule: Rule, side: PlantedPartner) -> Any:
        if rule.endpoint in BODIES:
            return BODIES[rule.endpoint](self._ids(side))
        return {"email": "n@x.example", "userType": "admin"}

    def _foreign_text(self) -> str:
        """Return an id or a text of the other partner, or the beginning of all its texts."""
        other = self.other
        kind = self.random.randrange(6)
        if kind < 2:
            table = self.random.choice(sorted(set(TABLE_OF.values())))
            return str(self.random.choice(other.rows[table])["id"])
        if kind == 2:
            return other.marks.prefix
        if kind == 3:
            return str(self.random.choice(other.rows["users"])["email"])
        if kind == 4:
            return str(self.random.choice(other.rows["contacts"])["phone"])
        return str(self.random.choice(other.rows["organizations"])["name"])

    def _ids(self, side: PlantedPartner) -> Ids:
        def one(table: str) -> Any:
            return self.random.choice(side.rows[table])

        user = one("users")
        return Ids(
            side.partner_id,
            one("organizations")["id"],
            str(user["id"]),
            user["email"],
            one("partner_brand_colors")["id"],
            one("agents")["id"],
            one("calls")["id"],
            one("campaigns")["id"],
            one("contacts")["id"],
        )


def is_public(app: Flask, asked: CrawlRequest) -> bool:
    """Whether the request is for a page that anyone may open."""
    try:
        endpoint, _values = app.url_map.bind("localhost").match(
            urlsplit(asked.path).path, method=asked.method
        )
    except HTTPException:
        return False
    return ROUTES.get(endpoint) is OpenAccess.PUBLIC
