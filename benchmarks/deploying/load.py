"""People and scripts at work during the deployment, and the errors that they and the database
see."""

import itertools
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Self

import psycopg
import requests

from benchmarks.neighbour.partners import PASSWORD

PAUSE_SECONDS = 0.02
"""Seconds between two requests of a thread, on an otherwise idle machine."""
WATCH_SECONDS = 0.01
SHEET = re.compile(r'href="(/static/dist/css/app\.\w+\.css)"')
_WAITS = """
    SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart)), 0)::float
    FROM pg_locks JOIN pg_class ON pg_class.oid = relation
    WHERE NOT granted AND relname = 'contacts' AND mode <> 'ShareUpdateExclusiveLock'
"""


class Load:
    """Threads that send requests until the end of the block. ``failed`` holds a line for each
    request that wasn't answered with 200, ``sheets`` the style sheets that pages named."""

    def __init__(self, base_url: str, email: str, key: str, campaign: str, pause: float):
        self._base_url = base_url
        self._pause = pause
        self._email = email
        self._key = {"x-api-key": key}
        self._campaign = campaign
        self._ended = threading.Event()
        self._numbers = itertools.count()
        self.seconds: list[float] = []
        self.failed: list[str] = []
        self.sheets: set[str] = set()

    def __enter__(self) -> Self:
        self._cookies = self._signed_in()
        work = (self._read_pages, self._read_pages, self._read_api, self._write_api)
        self._threads = [threading.Thread(target=self._repeat, args=(each,)) for each in work]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, requests_more: int) -> None:
        """Return after this many more responses."""
        enough = len(self.seconds) + requests_more
        while len(self.seconds) < enough:
            time.sleep(0.05)

    def _repeat(self, once: Callable[[requests.Session], None]) -> None:
        with requests.Session() as session:
            session.cookies.update(self._cookies)
            while not self._ended.wait(self._pause):
                once(session)

    def _signed_in(self) -> requests.cookies.RequestsCookieJar:
        """Return the cookies of a browser that has signed in; a busy machine may need another
        attempt."""
        address = f"{self._base_url}/sign-in"
        for _attempt in range(10):
            with requests.Session() as session:
                token = re.search(r'name="csrf_token" value="([^"]+)"', session.get(address).text)
                assert token
                form = {"csrf_token": token[1], "email": self._email, "password": PASSWORD}
                origin = {"Sec-Fetch-Site": "same-origin"}
                if "sign-in" not in session.post(address, data=form, headers=origin).url:
                    return session.cookies
            time.sleep(1)
        message = "nobody can sign in"
        raise RuntimeError(message)

    def _read_pages(self, session: requests.Session) -> None:
        for path in ("/", f"/campaigns/{self._campaign}", "/uploads"):
            page = self._ask(session, "GET", path)
            for sheet in SHEET.findall(page):
                self.sheets.add(sheet)
                self._ask(session, "GET", sheet)

    def _read_api(self, session: requests.Session) -> None:
        path = f"/api/v1/campaigns/{self._campaign}/contacts?perPage=20"
        self._ask(session, "GET", path, headers=self._key)

    def _write_api(self, session: requests.Session) -> None:
        path = f"/api/v1/campaigns/{self._campaign}/contacts"
        numbers = itertools.islice(self._numbers, 3)
        contacts = [{"firstName": "Ada", "email": f"a{each}@load.example"} for each in numbers]
        self._ask(session, "POST", path, headers=self._key, json={"contacts": contacts})

    def _ask(self, session: requests.Session, method: str, path: str, **options: object) -> str:
        began = time.perf_counter()
        try:
            answer = session.request(method, self._base_url + path, timeout=60, **options)  # type: ignore[arg-type]  # handed on
        except requests.RequestException as error:
            self.failed.append(f"{method} {path}: {type(error).__name__}")
            return ""
        self.seconds.append(time.perf_counter() - began)
        if answer.status_code != 200 or answer.url.endswith("/sign-in"):
            self.failed.append(f"{method} {path}: {answer.status_code}")
        return answer.text


class LockWatch:
    """The longest that a statement has waited for a lock of the table, in seconds. A wait behind
    which neither readers nor writers wait doesn't count, such as that of a concurrent index."""

    def __init__(self, address: str):
        self._address = address
        self._ended = threading.Event()
        self.longest = 0.0

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        with psycopg.connect(self._address, autocommit=True) as connection, suppress(TypeError):
            while not self._ended.wait(WATCH_SECONDS):
                (longest,) = connection.execute(_WAITS).fetchone() or (0.0,)
                self.longest = max(self.longest, longest)
