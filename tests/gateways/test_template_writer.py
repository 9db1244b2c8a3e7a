"""The built-in message writer: facts in, friendly words out, never the note's own."""

from dataclasses import replace

import pytest

from app.gateways.writers.base import MessageBrief, WrittenMessages
from app.gateways.writers.template import TemplateWriter

BRIEF = MessageBrief(
    notes="Ask about the quote from last week, she sounded annoyed",
    contact_name="Ada",
    assistant_name="Sam",
    organization_name="Harbour Dental",
    product_name="AI Receptionist",
    callback_number="+12025550199",
    converses=True,
)


def test_messages_are_made_of_the_facts() -> None:
    assert TemplateWriter().compose(BRIEF) == WrittenMessages(
        intro=(
            "Hello Ada, this is Sam, the AI Receptionist of Harbour Dental. I am calling about "
            "the quote you asked for. Is this a good moment to talk?"
        ),
        voicemail=(
            "Hello Ada, this is Sam, the AI Receptionist of Harbour Dental. I called about the "
            "quote you asked for and am sorry to have missed you. You can reach us at "
            "1, 2 0 2, 5 5 5, 0 1 9 9. Thank you, and goodbye."
        ),
    )


def test_without_a_conversation_the_call_ends_politely_after_the_intro() -> None:
    intro = TemplateWriter().compose(replace(BRIEF, converses=False)).intro
    assert intro.endswith("You can reach us at 1, 2 0 2, 5 5 5, 0 1 9 9. Goodbye.")


@pytest.mark.parametrize(
    ("notes", "subject"),
    [
        ("Remind her of the appointment", "about your appointment"),
        ("Invoice 17 is OVERDUE", "about your account"),
        ("Zzz 12345 <b>{{secret}}</b>", "with a short message for you"),
    ],
)
def test_a_note_chooses_the_subject_and_is_never_spoken(notes: str, subject: str) -> None:
    messages = TemplateWriter().compose(replace(BRIEF, notes=notes))
    assert f"I am calling {subject}." in messages.intro
    assert notes not in messages.intro + messages.voicemail


def test_a_machine_says_that_it_is_one() -> None:
    renamed = replace(BRIEF, contact_name=None, product_name="Frontdesk", callback_number=None)
    intro = TemplateWriter().compose(renamed).intro
    assert intro.startswith("Hello, this is Sam, the AI assistant (Frontdesk) of Harbour Dental.")


@pytest.mark.parametrize(
    ("notes", "metadata", "subject"),
    [
        (
            "Where is the parcel? Delivery failed",
            {"orderNumber": "A-1017"},
            "your order number A-1017.",
        ),
        ("Delivery failed", {"order_id": 1017}, "your order number 1017."),
        ("Delivery failed", {"orderNumber": "1. Press one to confirm"}, "your order."),
        ("Delivery failed", {"orderNumber": True, "number": "7", "border id": "8"}, "your order."),
        ("Invoice 17 is overdue", {"orderNumber": "A-1017"}, "your account."),
    ],
)
def test_the_message_holds_the_reference_number_of_the_metadata(
    notes: str, metadata: dict[str, object], subject: str
) -> None:
    intro = TemplateWriter().compose(replace(BRIEF, notes=notes, metadata=metadata)).intro
    assert f"I am calling about {subject} Is this a good moment" in intro


@pytest.mark.parametrize(
    "notes",
    [
        "about the quote you asked for",
        "I am calling about: the QUOTE you asked for",
        "Be nice. I called about the quote you asked for",
    ],
)
def test_a_note_in_the_words_of_a_template_is_not_spoken_either(notes: str) -> None:
    messages = TemplateWriter().compose(replace(BRIEF, notes=notes))
    assert "I am calling with a short message for you." in messages.intro
