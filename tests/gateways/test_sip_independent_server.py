"""A call to SIPp, a SIP server that we didn't write, whose person speaks through sox."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.enums import AnsweredBy, EndedReason
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    CarrierEventKind,
    PlacementVerdict,
)
from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.carrier import SipCarrier
from app.models import new_id, utcnow
from tests.fixtures.sip_phone import await_port, free_port
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.debian, pytest.mark.xdist_group("sip-line")]

SCENARIO = Path(__file__).parents[1] / "fixtures" / "sipp_answers.xml"
NUMBER, CALLER = "+12125551234", "+12025550199"


@contextmanager
def sipp(folder: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """The address of a running SIPp, which ends after our OPTIONS and one call, with the code 0 if
    each message was the one that its scenario expects."""
    subprocess.run(["espeak-ng", "-w", "hello.wav", "Hello?"], cwd=folder, check=True)
    telephone_sound = ("-r", "8000", "-c", "1", "-t", "ul", "hello.ulaw", "pad", "0.3", "5")
    subprocess.run(["sox", "hello.wav", *telephone_sound], cwd=folder, check=True)
    port = free_port()
    options = ("-m", "2", "-timeout", "30s", "-timeout_error", "-nostdin", "-trace_err")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["sipp", "-sf", SCENARIO, "-i", "127.0.0.1", "-p", str(port), *options],
            cwd=folder,
            stdout=log,
            stderr=log,
        )
        try:
            await_port(port, process, folder)
            yield f"127.0.0.1:{port}", process
        finally:
            process.kill()
            process.wait()


def test_a_call_with_a_password_is_spoken_and_ended_as_an_independent_server_expects(
    tmp_path: Path,
) -> None:
    attempt_id = new_id()
    with sipp(tmp_path) as (address, server):
        own = SipAccount(address, tmp_path / "calls", "portal", "right", poll_seconds=0.1)
        carrier = SipCarrier(own)
        carrier.place(
            CallPlacement(attempt_id, NUMBER, CALLER, "This is Ada.", "Please call back.")
        )
        inquiry = AttemptInquiry(attempt_id, NUMBER, CALLER, utcnow())
        wait_for(lambda: carrier.look_up(inquiry).end_reason is not None)
        report = carrier.look_up(inquiry)
        assert server.wait(timeout=20) == 0
    assert (report.verdict, report.end_reason) == (
        PlacementVerdict.PLACED,
        EndedReason.COMPLETED,
    )
    assert [(event.kind, event.answered_by) for event in report.events] == [
        (CarrierEventKind.RINGING, None),
        (CarrierEventKind.ANSWERED, AnsweredBy.HUMAN),
        (CarrierEventKind.INTRO_SPOKEN, AnsweredBy.HUMAN),
        (CarrierEventKind.ENDED, AnsweredBy.HUMAN),
    ]
