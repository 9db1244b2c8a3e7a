"""The conversation of a call is read, heard and downloaded on its page, and the call repeated."""

import io
import re
import wave
from typing import Any
from uuid import UUID

from playwright.sync_api import expect

from app.enums import RecordingStatus
from app.models import Call, CallRecording, utcnow
from app.schemas.voice import TranscriptTurn, VoiceReport
from app.services.recordings import reports
from tests.e2e.conftest import Open
from tests.e2e.polling import follow_until
from tests.e2e.scripts import ask
from tests.e2e.tasks import beside
from tests.fixtures.stack import Stack
from tests.fixtures.worker import outcome

TURNS = [
    TranscriptTurn(speaker="assistant", text="Hello, this is Robin.", at=0),
    TranscriptTurn(speaker="person", text="Please call <b>tomorrow</b>.", at=62),
]
HEARD = """
(player) => new Promise((heard) => {
  player.addEventListener("loadedmetadata", () => heard(player.duration));
  player.addEventListener("error", () => heard(player.error.message));
  player.load();
  player.preload = "metadata";
})
"""
"""Has the recording loaded, as a click on the player does; gives its length in seconds."""


def silence() -> bytes:
    """A recording of one second."""
    with io.BytesIO() as made:
        with wave.open(made, "wb") as file:
            file.setparams((1, 1, 8000, 8000, "NONE", ""))
            file.writeframes(b"\x80" * 8000)
        return made.getvalue()


WAV = silence()


def recorded_call(stack: Stack, organization: dict[str, Any]) -> UUID:
    """A call that has ended, with the recording and the transcript of its voice engine."""
    number = organization["simulator"]["human"]
    contact = {"phoneNumber": number, "firstName": "Ada", "lastName": "Byron"}
    body = {"agentId": organization["agents"][0]["id"], "contact": contact}
    made = ask(stack, "POST", "/api/v1/outbound/call", body=body, key=organization["apiKey"])
    call_id = UUID(made["callId"])
    with beside(stack) as worker:
        outcome(worker.database, call_id)
        kept = worker.files.save(io.BytesIO(WAV), max_bytes=len(WAV))
        with worker.database.transaction() as session:
            report = VoiceReport(transcript=TURNS, summary="Wants a call tomorrow.")
            assert reports.accept_report(session, call_id, report, "r1", utcnow())
            recording = CallRecording(
                status=RecordingStatus.STORED,
                file_key=kept.key,
                size=kept.size,
                content_type="audio/wav",
            )
            reports.add_for(session, recording, session.get_one(Call, call_id))
    return call_id


def test_a_recorded_call_is_read_and_downloaded_and_the_person_called_again(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    organization = partner["organizations"][0]
    call_id = recorded_call(shared_stack, organization)
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(organization["users"][0], then="/calls")
    page.locator(f"main a[href='/calls/{call_id}']").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Call to +1 202 555 0101")
    words = " ".join(page.locator("#conversation").inner_text().split())
    assert words == (
        "Conversation Summary Wants a call tomorrow. Recording Download recording Transcript "
        "Assistant 00:00 Hello, this is Robin. Person 01:02 Please call <b>tomorrow</b>."
    )
    player = page.get_by_label("Recording of the call")
    expect(player).to_have_attribute("src", f"/calls/{call_id}/recording")
    if script:
        assert player.evaluate(HEARD) == 1
    assert visit.faults(script) == []
    with page.expect_download() as file:
        page.get_by_role("link", name="Download recording").click()
    assert file.value.path().read_bytes() == WAV
    assert file.value.suggested_filename.endswith(".wav")

    page.get_by_role("link", name="Call again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Call again")
    expect(page.get_by_text("Again, after the call to +1 202 555 0101")).to_be_visible()
    expect(page.get_by_label("Number to call")).to_have_value("+1 202 555 0101")
    expect(page.get_by_label("Name (optional)")).to_have_value("Ada Byron")
    page.get_by_label("Number to call").fill("+1 202")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Number to call:")
    assert visit.faults(script) == []
    page.get_by_label("Number to call").fill("+12025550101")
    page.get_by_role("button", name="Call", exact=True).click()
    follow_until(page, page.get_by_role("heading", name="Call ended"))
    expect(page.locator("#live-call")).to_contain_text("Finished after a conversation")
    page.goto("/calls")
    newest = page.locator("main tbody tr").first
    expect(newest).to_contain_text("Completed")
    expect(newest.get_by_role("link").first).not_to_have_attribute("href", re.compile(str(call_id)))
