"""One baresip for one call: started, controlled over its socket, stopped.

Events come from the socket and from baresip's trace of SIP messages.
"""

import ctypes
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import tty
from array import array
from collections import deque
from pathlib import Path
from typing import Any

from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.next_hop import Hop
from app.gateways.carriers.sip.trace import SipMessage, SipTrace

START_SECONDS = 8.0
END_SECONDS = 3.0
REGISTRATION_SECONDS = 120
PR_SET_PDEATHSIG = 1
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
MODULE_FOLDERS = ("lib/baresip/modules", "lib64/baresip/modules", "local/lib/baresip/modules")
_WAV_HEAD = 44
_NETSTRING = re.compile(rb"(\d{1,7}):")
_set_process_option: Any = (
    ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: None
)  # looked up here: after a fork nothing should be loaded


class NotStarted(Exception):
    """baresip did not start; the message says why."""


class SipPhone:
    """Each `wait` appends to ``events`` and ``messages``, oldest first; the caller removes them."""

    def __init__(self, account: SipAccount, own_user: str, folder: Path):
        self._account = account
        self._own_user = own_user
        self._folder = folder
        self.events: deque[dict[str, Any]] = deque()
        self.messages: deque[SipMessage] = deque()
        self._trace = SipTrace()
        self._buffer = bytearray()
        self._printed = ""
        self._is_ready = False
        self._heard = 0
        self._terminal = -1
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, silence: Path, hop: Hop | None = None) -> None:
        """Return once baresip accepts commands. It sends the file ``silence`` until `play`; every
        message goes to ``hop``, overriding the account. Sound files are in the phone's folder.
        """
        port = _free_port()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / "config").write_text(self._config(port, silence))
        secret = self._folder / "accounts"
        secret.touch(mode=0o600)
        secret.write_text(self._own_line(hop))
        self._run()
        self._await_words(f"listening on 127.0.0.1:{port}", "baresip is ready")
        secret.unlink()
        self._control = socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS)

    def dial(self, number: str) -> None:
        # The transport comes from our own address: baresip copies its parameters.
        self._order("dial", f"sip:{number}@{self._account.trunk}")

    def play(self, sound: Path) -> None:
        """Send this file from now on, replacing the previous one."""
        self._order("ausrc", f"aufile,{sound.name}")

    def hand_over(self, address: str) -> None:
        """Ask the trunk by REFER to connect the caller to another address."""
        self._order("transfer", address)

    def hang_up(self) -> None:
        self._order("hangup")

    def wait(self, seconds: float) -> None:
        """Handle events for at most this many seconds; return early after any."""
        sources: list[Any] = [self._terminal, *([self._control] if self._control else [])]
        ready, _, _ = select.select(sources, [], [], seconds)
        while self._terminal in ready:  # first, and completely: its messages explain the events
            self._read_terminal()
            ready += select.select([self._terminal], [], [], 0)[0] if self.is_running else []
            ready.remove(self._terminal)
        if self._control in ready:
            self._read_control()

    def read_received(self) -> "array[int]":
        """Return the sound received since the last call, at 8 kHz."""
        samples: array[int] = array("h")
        for dump in sorted(self._folder.glob("dump-*-dec.wav"))[:1]:
            with dump.open("rb") as sound:
                sound.seek(_WAV_HEAD + self._heard)
                read = sound.read()
            whole = len(read) // 2 * 2
            self._heard += whole
            samples.frombytes(read[:whole])
        if sys.byteorder == "big":
            samples.byteswap()
        return samples

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """Stop baresip, which ends the call at the trunk; kill it if that takes too long."""
        if self._process is not None:
            self._process.terminate()
            deadline = time.monotonic() + END_SECONDS
            while self.is_running and time.monotonic() < deadline:
                self.wait(0.05)
            self._process.kill()
            self._process.wait()
        if self._control is not None:
            self._control.close()
        if self._terminal >= 0:
            os.close(self._terminal)
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _transport(self) -> str:
        return self._account.transport

    def _run(self) -> None:
        # On a terminal it prints each line at once; on a pipe it would buffer them.
        self._terminal, its_end = os.openpty()
        tty.setraw(its_end)
        parent = os.getpid()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the operator names the program
                [self._account.baresip, "-4", "-v", "-s", "-f", str(self._folder)],
                cwd=self._folder,  # it truncates long names of sounds
                stdin=subprocess.DEVNULL,
                stdout=its_end,
                stderr=its_end,
                start_new_session=True,
                preexec_fn=lambda: _end_with(parent),  # noqa: PLW1509 - a single thread
            )
        except OSError as error:
            message = f"baresip could not be started ({error.strerror})."
            raise NotStarted(message) from error
        finally:
            os.close(its_end)

    def _await_words(self, *texts: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not all(text in self._printed for text in texts):
            if not self.is_running or time.monotonic() > deadline:
                message = "baresip did not start."
                raise NotStarted(message)
            self.wait(0.1)
        self._is_ready = True

    def _read_terminal(self) -> None:
        try:
            text = os.read(self._terminal, 65536).decode("utf-8", "replace")
        except OSError:  # its end was closed: it is gone
            time.sleep(0.02)
            return
        if not self._is_ready:
            self._printed += text
        self.messages.extend(self._trace.read(text))

    def _read_control(self) -> None:
        assert self._control is not None  # noqa: S101 - only a connection can be ready
        news = self._control.recv(65536)
        if not news:
            self._control.close()
            self._control = None
        self._buffer += news
        while length := _NETSTRING.match(self._buffer):
            end = length.end() + int(length[1])
            if len(self._buffer) <= end:
                return
            event = json.loads(self._buffer[length.end() : end])
            del self._buffer[: end + 1]
            if event.get("event"):
                self.events.append(event)

    def _order(self, command: str, params: str = "") -> None:
        if self._control is None:
            return
        order = json.dumps({"command": command, "params": params}).encode()
        try:
            self._control.sendall(b"%d:%s," % (len(order), order))
        except OSError:  # it is ending, which `is_running` reports
            return

    def _own_line(self, hop: Hop | None) -> str:
        account = self._account
        host = account.domain or account.trunk
        fields = [f"<sip:{self._own_user}@{host};transport={self._transport}>"]
        fields += ["audio_codecs=pcmu,pcma", "answermode=manual"]
        if account.user:
            fields += [f"auth_user={account.user}", f"auth_pass={account.password}"]
        first = account.proxy or (account.trunk if account.domain else "")
        if hop is not None:
            first = "{}:{}".format(*hop)
        if first:
            fields.append(f'outbound="sip:{first};transport={self._transport}"')  # loose by itself
        fields.append(f"regint={REGISTRATION_SECONDS if account.registers else 0}")
        return ";".join(fields) + "\n"

    def _config(self, port: int, silence: Path) -> str:
        lines = [
            "poll_method epoll",
            "sip_listen 0.0.0.0:0",
            "call_max_calls 1",
            f"audio_source aufile,{silence.name}",
            "audio_player aubridge,nowhere",
            "audio_channels 1",
            "ausrc_srate 8000",
            "auplay_srate 8000",
            f"rtp_ports {self._account.rtp_ports}",
            "snd_path .",
            f"module_path {_module_folder(self._account.baresip)}",
            *(f"module {name}.so" for name in ("g711", "aufile", "aubridge", "sndfile")),
            "module_tmp account.so",
            "module_app menu.so",
            "module_app ctrl_tcp.so",
            f"ctrl_tcp_listen 127.0.0.1:{port}",
            "menu_bell no",
        ]
        if self._transport == "tls":
            lines += [f"sip_cafile {CERTIFICATES}", "sip_verify_server yes"]
        return "\n".join(lines) + "\n"


def _end_with(parent: int) -> None:
    """Let the kernel stop this process when its parent dies."""
    _set_process_option(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _module_folder(baresip: str) -> Path:
    """Return the folder of this baresip's modules: in the library folder next to its own."""
    program = Path(shutil.which(baresip) or baresip).resolve()
    roots = program.parents[1], Path("/usr")
    folders = [root / folder for root in roots for folder in MODULE_FOLDERS]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
