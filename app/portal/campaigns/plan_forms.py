"""The form of a campaign's plan."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar
from uuid import UUID

from wtforms import (
    RadioField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
    TextAreaField,
)
from wtforms.widgets import CheckboxInput, ListWidget

from app.models import Assistant
from app.portal.web.fields import ClockField, VersionField, WholeNumber
from app.portal.web.forms import PortalForm
from app.services.outreach import Plan
from app.services.outreach.plans import MOST_WORDS

EXACT, INSTRUCTIONS, DEFAULT = "exact", "instructions", "default"
MESSAGE_HINTS = {
    EXACT: (
        "Both are needed. {firstName|there} becomes the first name, or “there” if it is "
        "unknown. Metadata names work the same way."
    ),
    INSTRUCTIONS: "The assistant writes the message.",
    DEFAULT: "The messages in the assistant’s settings.",
}
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBER = {"inputmode": "numeric", "autocomplete": "off"}


class PlanForm(PortalForm):
    wire_fields: ClassVar = {
        "agentId": "assistant",
        "introMessage": "intro",
        "voicemailMessage": "voicemail",
    }

    version = VersionField()
    assistant = SelectField("Assistant", choices=[], validate_choice=False)
    weekdays = SelectMultipleField(
        "Days",
        choices=[SelectChoice(str(number), name) for number, name in enumerate(DAYS, 1)],
        validate_choice=False,
        widget=ListWidget(),
        option_widget=CheckboxInput(),
    )
    hours_start = ClockField("From")
    hours_end = ClockField("To")
    calls_per_hour = WholeNumber("Calls an hour", render_kw=_NUMBER)
    calls_at_once = WholeNumber("Calls at once", render_kw=_NUMBER)
    message_kind = RadioField(
        "Message",
        choices=[
            SelectChoice(EXACT, "Exact intro and voicemail"),
            SelectChoice(INSTRUCTIONS, "Instructions"),
            SelectChoice(DEFAULT, "Default messages"),
        ],
        default=DEFAULT,
    )
    intro = TextAreaField("Intro", render_kw={"maxlength": MOST_WORDS})
    voicemail = TextAreaField("Voicemail", render_kw={"maxlength": MOST_WORDS})
    instructions = TextAreaField("Instructions", render_kw={"maxlength": MOST_WORDS})

    @classmethod
    def showing(cls, plan: Plan, version: int) -> "PlanForm":
        exact = bool(plan.intro_message)
        return cls.from_object(
            data={
                "assistant": str(plan.assistant_id) if plan.assistant_id else None,
                "weekdays": [str(day) for day in sorted(plan.weekdays)],
                "hours_start": plan.hours_start,
                "hours_end": plan.hours_end,
                "calls_per_hour": plan.calls_per_hour,
                "calls_at_once": plan.calls_at_once,
                "message_kind": INSTRUCTIONS
                if plan.call_instructions
                else EXACT
                if exact
                else DEFAULT,
                "intro": plan.intro_message,
                "voicemail": plan.voicemail_message,
                "instructions": plan.call_instructions,
                "version": version,
            }
        )

    def offer(self, assistants: Sequence[Assistant]) -> None:
        self.assistant.choices = [
            SelectChoice(str(assistant.id), assistant.name) for assistant in assistants
        ]

    def fields_by_wire(self) -> dict[str, str]:
        """Words that are missing are asked for where the user chose how to give them."""
        missing = {EXACT: "intro", DEFAULT: "message_kind"}.get(
            self.message_kind.data or "", "instructions"
        )
        return super().fields_by_wire() | {"callInstructions": missing}

    def to_plan(self) -> Plan:
        """The plan as typed, with the words of the chosen way alone; for a form that was
        validated."""
        words: dict[str, Any] = {}
        if self.message_kind.data == EXACT:
            words["intro_message"] = (self.intro.data or "").strip() or None
            words["voicemail_message"] = (self.voicemail.data or "").strip() or None
        elif self.message_kind.data == INSTRUCTIONS:
            words["call_instructions"] = (self.instructions.data or "").strip() or None
        speaker = None
        with suppress(ValueError, TypeError):
            speaker = UUID(self.assistant.data)
        return Plan(
            assistant_id=speaker,
            weekdays=frozenset(
                int(day) if day.isdecimal() else 0 for day in self.weekdays.data or ()
            ),
            hours_start=self.hours_start.data,
            hours_end=self.hours_end.data,
            calls_per_hour=self.calls_per_hour.data,
            calls_at_once=self.calls_at_once.data,
            **words,
        )
