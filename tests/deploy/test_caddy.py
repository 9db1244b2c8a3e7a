"""Caddy accepts both files of ``deploy/caddy``, and serves HTTP/2 over TLS before the portal.

The files are for Caddy 2.8; Debian's 2.6 runs them with the older names of two directives.
"""

import json
import os
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from tests.deploy.conftest import DEPLOY
from tests.deploy.test_nginx import HOST, Upstream
from tests.fixtures.certificate import write_certificate
from tests.fixtures.ports import free_port

pytestmark = pytest.mark.debian
OLDER_NAMES = {
    "log_skip @links": "skip_log @links",
    "request_buffers 1MiB": "buffer_requests\n\t\tmax_buffer_size 1MiB",
}


def configuration(name: str, changes: dict[str, str]) -> str:
    """The text of a file with these changes, each once, in the words of Debian's Caddy."""
    text = (DEPLOY / "caddy" / name).read_text().partition("\n{\n")
    written = "".join(text[1:])
    for old, new in (OLDER_NAMES | changes).items():
        assert written.count(old) == 1, old
        written = written.replace(old, new)
    return written


def caddy(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    own = {"PORTAL_HOST": HOST, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    return subprocess.Popen(
        ["caddy", *words, "--adapter", "caddyfile"],
        env=os.environ | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("name", ["Caddyfile", "Caddyfile.compose"])
def test_caddy_accepts_the_file(name: str, tmp_path: Path) -> None:
    logs = {"/var/log/caddy/": f"{tmp_path}/"} if name == "Caddyfile" else {}
    ours = tmp_path / "Caddyfile"
    ours.write_text(configuration(name, logs))
    assert caddy(tmp_path, "validate", "--config", str(ours)).wait(timeout=60) == 0


@pytest.fixture
def caddy_server(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The port of Caddy before one of the two web processes, and its certificate."""
    upstream, port = Upstream(), free_port()
    pem = write_certificate(tmp_path)
    changes = {
        "{\n\tservers": "{\n\tadmin off\n\tauto_https off\n\tservers",
        f"\n{HOST} {{": f"\nhttps://{HOST}:{port} {{\n\tbind 127.0.0.1\n\ttls {pem} {pem}\n",
        "127.0.0.1:8000": f"127.0.0.1:{upstream.port}",
        "127.0.0.1:8001": f"127.0.0.1:{free_port()}",
        "/var/log/caddy/": f"{tmp_path}/",
    }
    file = tmp_path / "Caddyfile"
    file.write_text(configuration("Caddyfile", changes))
    running = caddy(tmp_path, "run", "--config", str(file))
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and running.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield port, pem
    running.terminate()
    running.wait(timeout=30)
    upstream.stop()


def tls(pem: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(pem))
    context.check_hostname = False  # the certificate of the tests is for localhost
    return context


def test_http2_is_offered(caddy_server: tuple[int, Path]) -> None:
    port, pem = caddy_server
    modern = tls(pem)
    modern.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", port), 10) as plain,
        modern.wrap_socket(plain, server_hostname=HOST) as encrypted,
    ):
        assert (encrypted.selected_alpn_protocol(), encrypted.version()) == ("h2", "TLSv1.3")


def test_one_web_process_is_enough_and_addresses_come_from_the_proxy(
    caddy_server: tuple[int, Path],
) -> None:
    port, pem = caddy_server
    forged = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}
    answers = []
    for _ in range(6):
        with socket.create_connection(("127.0.0.1", port), 30) as plain:
            connection = HTTPSConnection(HOST, port)
            connection.sock = tls(pem).wrap_socket(plain, server_hostname=HOST)
            connection.request("GET", "/calls?page=1%2F2", headers={"Host": HOST, **forged})
            answer = connection.getresponse()
            got = json.loads(answer.read())
        reported = {name: got["headers"][name] for name in ("Host", *forged)}
        answers.append((answer.status, got["path"], reported))
    own = {"Host": HOST, "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https"}
    assert answers == [(200, "/calls?page=1%2F2", own)] * 6
