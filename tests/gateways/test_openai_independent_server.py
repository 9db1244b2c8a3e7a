"""Writing, transcribing and summing up against aimock, an OpenAI-compatible server that we didn't
write; it answers what its fixtures say, and faults on request."""

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.config import ROOT
from app.gateways.conversation_model import (
    ConversationModel,
    ModelUnusable,
    SpeechSegment,
    summarise,
    transcribe,
)
from app.gateways.writers.base import MessageBrief
from app.gateways.writers.openai import OpenAiWriter
from app.gateways.writers.template import TemplateWriter
from tests.fixtures.ports import free_port
from tests.fixtures.waiting import wait_for

PROGRAM = ROOT / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
NODE_WANTED = (20, 15)
BRIEF = MessageBrief(
    notes="Ask whether she wants the roof quote of last week.",
    contact_name="Ada",
    assistant_name="Sam",
    organization_name="Harbour Roofing",
    product_name="AI Receptionist",
    callback_number="+12025550199",
    converses=True,
    metadata={},
)
WORDS = {"purpose": "It is about the roof we priced for you", "missed": "I wanted to talk."}
SPOKEN = [{"id": 0, "start": 1.5, "end": 3.0, "text": " Good morning."}]
FIXTURES = [
    {"match": {"userMessage": "roof quote"}, "response": {"content": json.dumps(WORDS)}},
    {"match": {"userMessage": "Good morning"}, "response": {"content": "They greeted."}},
    {
        "match": {"endpoint": "transcription"},
        "response": {
            "transcription": {
                "text": "Good morning.",
                "language": "en",
                "duration": 3.0,
                "segments": SPOKEN,
            }
        },
    },
]


def node_version() -> tuple[int, ...]:
    reported = subprocess.run(
        ["node", "--version"], capture_output=True, text=True, check=True
    ).stdout
    return tuple(map(int, re.findall(r"\d+", reported)[:2]))


pytestmark = pytest.mark.skipif(
    node_version() < NODE_WANTED, reason="aimock needs Node.js 20.15 or newer"
)


@dataclass
class Aimock:
    url: str

    def requests(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.url}/__aimock/journal", timeout=5) as answer:
            found: list[dict[str, Any]] = json.load(answer)
        return found

    def model(self, name: str = "small-1") -> ConversationModel:
        return ConversationModel(f"{self.url}/v1", name, seconds=10.0, key="sk-test")

    def writer(self) -> OpenAiWriter:
        return OpenAiWriter(
            url=f"{self.url}/v1",
            key="sk-test",
            model="small-1",
            seconds=10.0,
            max_characters=200,
            otherwise=TemplateWriter(),
        )


@contextmanager
def aimock(folder: Path, *options: str) -> Iterator[Aimock]:
    (folder / "answers.json").write_text(json.dumps({"fixtures": FIXTURES}))
    port = free_port()
    process = subprocess.Popen(
        ["node", PROGRAM, "--port", str(port), "--fixtures", folder, "--strict", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Aimock(f"http://127.0.0.1:{port}")
    try:
        wait_for(lambda: _answers(server))
        yield server
    finally:
        process.kill()
        process.wait()


def _answers(server: Aimock) -> bool:
    try:
        server.requests()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    with aimock(tmp_path_factory.mktemp("aimock")) as running:
        yield running


def test_messages_of_an_independent_server_are_spoken(server: Aimock) -> None:
    assert server.writer().compose(BRIEF).intro == (
        "Hello Ada, this is Sam, the AI Receptionist of Harbour Roofing. It is about the roof we "
        "priced for you. Is this a good moment to talk?"
    )


def test_a_recording_is_transcribed_with_the_time_of_each_line(server: Aimock) -> None:
    reported = transcribe(server.model("whisper-1"), b"RIFF", "call.wav", "audio/wav")
    assert reported == [SpeechSegment("Good morning.", at=1.5)]


def test_a_transcript_is_summed_up(server: Aimock) -> None:
    assert summarise(server.model(), ["1: Good morning."]) == "They greeted."


def test_a_request_that_the_server_refuses_is_no_answer(server: Aimock) -> None:
    with pytest.raises(ModelUnusable):
        summarise(server.model(), ["1: Not in its fixtures."])


@pytest.mark.parametrize("fault", ["drop", "malformed", "disconnect", "ratelimit"])
def test_where_the_server_fails_the_built_in_messages_are_spoken(
    tmp_path: Path, fault: str
) -> None:
    with aimock(tmp_path, f"--chaos-{fault}", "1") as failing:
        assert failing.writer().compose(BRIEF) == TemplateWriter().compose(BRIEF)
        assert [entry["path"] for entry in failing.requests()] == ["/v1/chat/completions"]
