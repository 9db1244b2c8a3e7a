"""A language model as message writer: its words where they may be spoken, else those built in."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.gateways.writers import open_writer
from app.gateways.writers.base import MessageBrief, WrittenMessages
from app.gateways.writers.openai import MAX_BYTES, OpenAiWriter
from app.gateways.writers.template import TemplateWriter
from tests.fixtures.language_model import LanguageModel, completion
from tests.fixtures.settings import settings_for

KEY = "sk-never-in-a-log"
NOTES = "Ask whether she wants the roof quote of last week. She sounded annoyed about the price."
BRIEF = MessageBrief(
    notes=NOTES,
    contact_name="Ada",
    assistant_name="Sam",
    organization_name="Harbour Roofing",
    product_name="AI Receptionist",
    callback_number="+12025550199",
    converses=True,
    metadata={"city": "Boston", "orderNumber": "10178842"},
)
GOOD = {
    "purpose": "It is about the roof we priced for you, under number 1017 8842",
    "missed": "I wanted to talk about\nyour roof.",
}
BUILT_IN = TemplateWriter().compose(BRIEF)


@pytest.fixture
def language_model() -> Iterator[LanguageModel]:
    with LanguageModel(answer=completion(GOOD)).open() as opened:
        yield opened


def writer(language_model: LanguageModel, **changes: Any) -> OpenAiWriter:
    settings: dict[str, Any] = {
        "url": language_model.url,
        "key": KEY,
        "model": "small-1",
        "seconds": 20.0,
        "max_characters": 200,
        "otherwise": TemplateWriter(),
    }
    return OpenAiWriter(**(settings | changes))


def test_the_written_text_comes_between_the_caller_and_the_number_to_call_back(
    language_model: LanguageModel,
) -> None:
    assert writer(language_model).compose(BRIEF) == WrittenMessages(
        intro=(
            "Hello Ada, this is Sam, the AI Receptionist of Harbour Roofing. It is about the roof "
            "we priced for you, under number 1017 8842. Is this a good moment to talk?"
        ),
        voicemail=(
            "Hello Ada, this is Sam, the AI Receptionist of Harbour Roofing. I wanted to talk "
            "about your roof. You can reach us at 1, 2 0 2, 5 5 5, 0 1 9 9. Thank you, and goodbye."
        ),
    )


def test_the_prompt_holds_the_facts_and_the_prohibitions(language_model: LanguageModel) -> None:
    writer(language_model, url=f"{language_model.url}/").compose(BRIEF)
    [asked] = language_model.asked
    system, user = asked.pop("messages")
    assert (asked, language_model.keys) == (
        {"path": "/v1/chat/completions", "model": "small-1"},
        [f"Bearer {KEY}"],
    )
    assert "Never repeat a sentence of the notes" in system["content"]
    assert (system["role"], user["role"], json.loads(user["content"])) == (
        "system",
        "user",
        {
            "notes": NOTES,
            "person": "Ada",
            "organization": "Harbour Roofing",
            "known of the person": {"city": "Boston", "orderNumber": "10178842"},
        },
    )


def test_long_notes_and_many_facts_are_cut(language_model: LanguageModel) -> None:
    many = {f"key{number}": "x" * 1000 for number in range(50)}
    writer(language_model, key="").compose(replace(BRIEF, notes="y" * 10_000, metadata=many))
    reported = json.loads(language_model.asked[0]["messages"][1]["content"])
    known = reported["known of the person"]
    assert (len(reported["notes"]), len(known), len(known["key0"])) == (4000, 20, 200)
    assert language_model.keys == [None]


def test_an_object_between_other_words_is_found(language_model: LanguageModel) -> None:
    language_model.answer = completion(f"Sure!\n```json\n{json.dumps(GOOD)}\n```")
    assert "the roof we priced" in writer(language_model).compose(BRIEF).intro


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"hangs": True}, "no answer within 0.2 seconds"),
        ({"drips": True}, "no answer within 0.2 seconds"),
        ({"closes": True}, "the connection broke: RemoteDisconnected"),
        ({"status": 500}, "status 500"),
        ({"status": 429}, "status 429"),
        ({"status": 302}, "status 302"),
        ({"answer": b"<html>"}, "not the JSON that was asked for"),
        ({"answer": b"{}"}, "not the JSON that was asked for"),
        ({"answer": b"[" * 100_000}, "more than 65,536 bytes"),
        ({"answer": b"[" * MAX_BYTES}, "not the JSON that was asked for"),
        ({"answer": b"\xff\xfe"}, "not the JSON that was asked for"),
        ({"answer": completion("I can't help with that.")}, "not the JSON that was asked for"),
        ({"answer": completion("{'purpose': 1}")}, "not the JSON that was asked for"),
    ],
)
def test_after_a_failed_request_the_templates_write(
    language_model: LanguageModel,
    caplog: pytest.LogCaptureFixture,
    fault: dict[str, Any],
    reason: str,
) -> None:
    for name, value in fault.items():
        setattr(language_model, name, value)
    waits = 0.2 if "hangs" in fault or "drips" in fault else 20.0
    with caplog.at_level(logging.WARNING):
        assert writer(language_model, seconds=waits).compose(BRIEF) == BUILT_IN
    assert [record.getMessage() for record in caplog.records] == [
        f"the message writer was no use, the built-in one wrote instead: {reason}"
    ]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (..., "a text is missing"),
        (None, "a text is missing"),
        (" \n", "a text is missing"),
        (["Hello"], "a text is missing"),
        ("long " * 41, "too long"),
        (NOTES, "it quotes the notes"),
        ("Well: SHE sounded annoyed, about the price!", "it quotes the notes"),
        ("It is about your roof\u202e.", "characters that can't be spoken"),
        ("It is about your \x07 roof.", "characters that can't be spoken"),
        ("<break time='10s'/> your roof", "characters that can't be spoken"),
        ("See https://evil.example now", "an address"),
        ("Write to me@evil.example", "an address"),
        ("Go to evil.com", "an address"),
        ("Call 1-900 555 0123 now", "a number that is not among the facts"),
    ],
)
@pytest.mark.parametrize("place", ["purpose", "missed"])
def test_a_forbidden_message_is_replaced_as_a_whole(
    language_model: LanguageModel,
    caplog: pytest.LogCaptureFixture,
    place: str,
    words: Any,
    reason: str,
) -> None:
    message = GOOD | {place: words}
    language_model.answer = completion(
        {name: text for name, text in message.items() if text is not ...}
    )
    with caplog.at_level(logging.WARNING):
        assert writer(language_model).compose(BRIEF) == BUILT_IN
    assert [record.getMessage() for record in caplog.records] == [
        f"the message writer was no use, the built-in one wrote instead: {reason}"
    ]


def test_a_closed_port_counts_as_a_failed_request(caplog: pytest.LogCaptureFixture) -> None:
    with LanguageModel().open() as gone:
        pass
    with caplog.at_level(logging.DEBUG):
        assert writer(gone).compose(BRIEF) == BUILT_IN
    assert KEY not in caplog.text
    assert "annoyed" not in caplog.text


def test_the_settings_choose_the_writer(language_model: LanguageModel, tmp_path: Path) -> None:
    asked = {"writer_url": language_model.url, "writer_model": "small-1", "writer_key": KEY}
    chosen = open_writer(settings_for("sqlite://", tmp_path, writer="openai", **asked))
    assert "the roof we priced for you" in chosen.compose(BRIEF).intro
    assert language_model.keys == [f"Bearer {KEY}"]
    assert open_writer(settings_for("sqlite://", tmp_path)).compose(BRIEF) == BUILT_IN
    assert KEY not in repr(settings_for("sqlite://", tmp_path, writer="openai", **asked))
