"""The mixed load: pages, reads, bulk upserts, calls, uploads and exports, each at its own pace.

Both hosts get it as behind a proxy, which tries the other one if a connection is refused.
"""

import itertools
import random
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import requests

from scripts.soak.world import PASSWORD, World

TIMEOUT_SECONDS = 30
CALL_TRIES = 8
PAGES = ("/", "/organizations", "/campaigns", "/calls", "/audit", "/report", "/usage")


class Figures:
    """Counts and times, by kind of request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.milliseconds: dict[str, list[float]] = defaultdict(list)
        self.errors: dict[str, Counter[str]] = defaultdict(Counter)
        self.accepted: dict[str, str] = {}
        """The numbers of accepted calls, with the ids of the calls."""
        self.unanswered: set[str] = set()
        """Numbers whose requests were not answered: the call may have been accepted or not."""

    def add(self, kind: str, began: float, error: str | None) -> None:
        with self._lock:
            if error is None:
                self.milliseconds[kind].append(1000 * (time.perf_counter() - began))
            else:
                self.errors[kind][error] += 1


class Client:
    """One client with its own session. ``ports`` are those of the hosts."""

    def __init__(self, world: World, ports: list[int], figures: Figures):
        self._world = world
        self._ports = itertools.cycle(ports)
        self._tries = len(ports)
        self._figures = figures
        self._session = requests.Session()

    def send(self, kind: str, method: str, path: str, **options: Any) -> requests.Response | None:
        """Return the response, None without one. Every 5xx counts as an error."""
        began, answer, error = time.perf_counter(), None, "no host listens"
        for _ in range(self._tries):
            url = f"http://127.0.0.1:{next(self._ports)}{path}"
            try:
                answer = self._session.request(method, url, timeout=TIMEOUT_SECONDS, **options)
            except requests.exceptions.ReadTimeout:
                error = "no answer in time"
            except requests.exceptions.ConnectionError as failed:
                if "refused" in str(failed):
                    continue
                error = "the connection broke"
            except requests.exceptions.ChunkedEncodingError:
                error = "the answer was cut off"
            break
        if answer is not None:
            error = str(answer.status_code) if answer.status_code >= 400 else ""
        self._figures.add(kind, began, error or None)
        return answer

    def sign_in(self) -> None:
        form = {"email": self._world.email, "password": PASSWORD}
        self.send_form("sign-in", "/sign-in", "/sign-in", data=form)

    def open(self, page: str) -> requests.Response | None:
        """Return a page; None if it redirected to the sign-in page, and after signing in there."""
        response = self.send("page", "GET", page)
        if response is not None and "/sign-in" in response.url and page != "/sign-in":
            self.sign_in()
            return None
        return response

    def send_form(
        self, kind: str, page: str, path: str, **options: Any
    ) -> requests.Response | None:
        """Send the form of a page."""
        form_page = self.open(page)
        token = re.search(r'name="csrf_token" value="([^"]+)"', form_page.text if form_page else "")
        if token is None:
            return None
        data = {"csrf_token": token[1], **options.pop("data", {})}
        headers = {"Sec-Fetch-Site": "same-origin"}
        return self.send(kind, "POST", path, data=data, headers=headers, **options)


class Load:
    """Runs until `stop`, all in threads."""

    def __init__(self, world: World, ports: list[int], figures: Figures):
        self._world, self._ports, self._figures = world, ports, figures
        self._ended = threading.Event()
        self._numbers = (f"+1212{number:07d}" for number in itertools.count(2_000_000))
        self._numbers_lock = threading.Lock()
        works = [
            (self._page, 0.4),
            (self._page, 0.4),
            (self._read, 0.2),
            (self._read, 0.2),
            (self._upsert, 1.5),
            *[(self._call, 0.8)] * 3,
            (self._upload, 12.0),
            (self._export, 30.0),
        ]
        self._threads = [threading.Thread(target=self._repeat, args=each) for each in works]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, work: Callable[[Client], None], pause: float) -> None:
        client = Client(self._world, self._ports, self._figures)
        chance = random.Random()
        while not self._ended.wait(pause * chance.uniform(0.5, 1.5)):
            work(client)

    def _page(self, client: Client) -> None:
        client.open(random.choice(PAGES))

    def _key(self) -> tuple[Any, dict[str, str]]:
        customer = random.choice(self._world.customers)
        return customer, {"x-api-key": customer.key}

    def _read(self, client: Client) -> None:
        customer, key = self._key()
        paths = (
            "/api/v1/campaigns",
            "/api/v1/outbound/calls",
            f"/api/v1/campaigns/{customer.campaign_id}/contacts",
        )
        client.send("read", "GET", random.choice(paths), headers=key)

    def _upsert(self, client: Client) -> None:
        customer, key = self._key()
        first = random.randrange(5_000)
        contacts = [
            {"firstName": "Ada", "email": f"person{number}@example.com"}
            for number in range(first, first + 100)
        ]
        path = f"/api/v1/campaigns/{customer.campaign_id}/contacts"
        client.send("bulk upsert", "POST", path, json={"contacts": contacts}, headers=key)

    def _call(self, client: Client) -> None:
        """Place one call, requested again under its key until an answer comes, as the guide
        recommends."""
        with self._numbers_lock:
            number = next(self._numbers)
        customer, key = self._key()
        body = {
            "agentId": str(customer.assistant_id),
            "contact": {"phoneNumber": number},
            "introMessage": "Hello.",
            "voicemailMessage": "Bye.",
        }
        key["Idempotency-Key"] = str(uuid4())
        for _ in range(CALL_TRIES):
            answer = client.send("call", "POST", "/api/v1/outbound/call", json=body, headers=key)
            if answer is not None and answer.status_code == 200:
                self._figures.accepted[number] = answer.json()["callId"]
                return
            if self._ended.wait(2):
                break
        self._figures.unanswered.add(number)

    def _upload(self, client: Client) -> None:
        path = f"/campaigns/{self._world.campaign_id}/upload"
        rows = "".join(f"Ada,upload{number}@example.com\n" for number in range(500))
        file = {"file": ("people.csv", f"first name,email\n{rows}".encode())}
        client.send_form("upload", path, path, data={"action": "upsert"}, files=file)

    def _export(self, _client: Client) -> None:
        """Sign in first: exports need a fresh proof of the user's identity."""
        client = Client(self._world, self._ports, self._figures)
        client.sign_in()
        path = "/lists/organizations/exports?format=csv"
        client.send_form("export", path, path)
