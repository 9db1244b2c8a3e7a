"""nginx with ``deploy/nginx/portal.conf``: TLS, HTTP/2, buffering, limits and two web processes."""

import json
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.deploy.conftest import DEPLOY
from tests.fixtures.certificate import write_certificate
from tests.fixtures.ports import free_port

pytestmark = pytest.mark.debian
HOST = "portal.example.com"
MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 2048; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/portal.conf;
}}
"""


class Upstream:
    """A web process that answers each request with what it got, and counts them."""

    def __init__(self, port: int = 0) -> None:
        self.requests = 0
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                upstream.requests += 1
                length = len(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                got = {"port": upstream.port, "path": self.path, "length": length}
                body = json.dumps(got | {"headers": dict(self.headers)}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_words: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port: int = self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever)
        self._thread.start()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


@dataclass
class Proxy:
    """nginx on two ports before two upstreams."""

    folder: Path
    http: int
    https: int
    upstreams: list[Upstream] = field(default_factory=list)

    @property
    def tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.folder / "server.pem"))
        context.check_hostname = False  # the certificate of the tests is for localhost
        return context

    def ask(self, method: str, path: str, **request: Any) -> tuple[int, Any]:
        """Status and JSON, or text, of the answer."""
        connection = HTTPSConnection("127.0.0.1", self.https, context=self.tls, timeout=30)
        headers = {"Host": HOST, **request.pop("headers", {})}
        connection.request(method, path, headers=headers, **request)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, json.loads(body) if answer.status == 200 else body.decode()


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    with ExitStack() as stack:
        upstreams = [Upstream(), Upstream()]
        for upstream in upstreams:
            stack.callback(upstream.stop)
        running = Proxy(tmp_path, free_port(), free_port(), upstreams)
        pem = write_certificate(tmp_path)
        text = (DEPLOY / "nginx" / "portal.conf").read_text()
        for written, here in {
            "listen 80;": f"listen 127.0.0.1:{running.http};",
            "listen 443 ssl http2;": f"listen 127.0.0.1:{running.https} ssl http2;",
            "127.0.0.1:8000": f"127.0.0.1:{upstreams[0].port}",
            "127.0.0.1:8001": f"127.0.0.1:{upstreams[1].port}",
            "/etc/letsencrypt/live/portal.example.com/fullchain.pem": str(pem),
            "/etc/letsencrypt/live/portal.example.com/privkey.pem": str(pem),
            "/var/log/nginx/portal.log": f"{tmp_path}/access.log",
        }.items():
            assert text.count(written) == 1, written
            text = text.replace(written, here)
        (tmp_path / "portal.conf").write_text(text)
        (tmp_path / "nginx.conf").write_text(MAIN.format(folder=tmp_path))
        command = ["/usr/sbin/nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
        nginx = subprocess.Popen([*command, "-e", str(tmp_path / "error.log")])
        stack.callback(nginx.wait, timeout=30)
        stack.callback(nginx.terminate)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and nginx.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", running.https)) == 0:
                    break
            time.sleep(0.05)
        yield running


def test_http_leads_to_https(proxy: Proxy) -> None:
    connection = HTTPConnection("127.0.0.1", proxy.http, timeout=10)
    connection.request("GET", "/sign-in?next=%2Fcalls", headers={"Host": HOST})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (
        301,
        f"https://{HOST}/sign-in?next=%2Fcalls",
    )
    connection.close()


def test_http2_is_offered_and_old_tls_is_not(proxy: Proxy) -> None:
    modern = proxy.tls
    modern.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", proxy.https), 10) as plain,
        modern.wrap_socket(plain, server_hostname=HOST) as encrypted,
    ):
        assert (encrypted.selected_alpn_protocol(), encrypted.version()) == ("h2", "TLSv1.3")
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{proxy.https}", "-tls1_1"]
    old = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert "Cipher is (NONE)" in old.stdout + old.stderr


def test_addresses_and_scheme_come_from_the_proxy_and_not_from_the_client(proxy: Proxy) -> None:
    forged = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}
    status, got = proxy.ask("GET", "/carrier/twilio/status?attempt=1%2F2", headers=forged)
    reported = {name: got["headers"][name] for name in ("Host", *forged)}
    assert (status, got["path"], reported) == (
        200,
        "/carrier/twilio/status?attempt=1%2F2",
        {"Host": HOST, "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https"},
    )


def test_both_web_processes_serve_and_one_is_enough(proxy: Proxy) -> None:
    first, second = proxy.upstreams
    ports = {proxy.ask("GET", "/")[1]["port"] for _ in range(10)}
    assert ports == {first.port, second.port}
    first.stop()
    answers = [proxy.ask("GET", "/") for _ in range(20)]
    assert {(status, got["port"]) for status, got in answers} == {(200, second.port)}


def test_web_processes_are_replaced_one_by_one_without_a_gap(proxy: Proxy) -> None:
    first, second = proxy.upstreams
    first.stop()
    assert {proxy.ask("GET", "/")[1]["port"] for _ in range(10)} == {second.port}
    replaced = Upstream(first.port)
    second.stop()
    assert {proxy.ask("POST", "/", body=b"{}")[0] for _ in range(10)} == {200}
    replaced.stop()


def test_a_body_that_is_too_large_is_refused_before_it_is_read(proxy: Proxy) -> None:
    headers = {"Content-Length": str(258 * 2**20)}
    status, _page = proxy.ask("POST", "/uploads", headers=headers)
    assert (status, sum(upstream.requests for upstream in proxy.upstreams)) == (413, 0)


def test_slow_requests_never_reach_the_portal(proxy: Proxy) -> None:
    head = f"POST /echo HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 10\r\n\r\nhalf".encode()
    with ExitStack() as stack:
        for _ in range(80):
            plain = stack.enter_context(socket.create_connection(("127.0.0.1", proxy.https), 10))
            slow = stack.enter_context(proxy.tls.wrap_socket(plain, server_hostname=HOST))
            slow.sendall(head)
        status, got = proxy.ask("POST", "/echo", body=b"whole")
        assert (status, got["length"]) == (200, 5)
        assert sum(upstream.requests for upstream in proxy.upstreams) == 1


def test_an_ip_address_may_send_a_hundred_requests_at_once(proxy: Proxy) -> None:
    head = f"POST /echo HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 10\r\n\r\nhalf".encode()
    with ExitStack() as stack:
        for _ in range(100):
            plain = stack.enter_context(socket.create_connection(("127.0.0.1", proxy.https), 10))
            slow = stack.enter_context(proxy.tls.wrap_socket(plain, server_hostname=HOST))
            slow.sendall(head)
        time.sleep(0.5)
        assert proxy.ask("GET", "/")[0] == 429
    time.sleep(0.5)
    assert proxy.ask("GET", "/")[0] == 200


def test_links_with_a_token_are_not_logged(proxy: Proxy) -> None:
    paths = ["/p/acme/password/t0ken", "/p/acme/invitation/t0ken", "/p/acme/email/t0ken", "/calls"]
    with ThreadPoolExecutor(4) as threads:
        assert {status for status, _ in threads.map(lambda p: proxy.ask("GET", p), paths)} == {200}
    log = proxy.folder / "access.log"
    deadline = time.monotonic() + 10
    while "/calls" not in log.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = log.read_text().splitlines()
    assert len(lines) == 1
    assert '"GET /calls HTTP/1.1" 200' in lines[0]
