"""The form of a campaign's plan."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import time
from typing import cast
from uuid import UUID

from babel.dates import get_day_names
from babel.support import LazyProxy
from wtforms import SelectChoice, SelectField

from app.languages import gettext, lazy_gettext, locale
from app.models import Assistant
from app.portal.calls.forms import DEFAULT, EXACT, INSTRUCTIONS, MessageForm
from app.portal.web.fields import CheckboxesField, ClockField, DayField, VersionField, WholeNumber
from app.services.outreach import CampaignPlan
from app.validation.texts import whole_number

_MIDNIGHT = time(0)
MESSAGE_HINTS = {
    EXACT: (
        lazy_gettext(
            "Both are needed. {firstName|there} becomes the first name, or “there” if it is "
            "unknown. {city|your city} does the same with “city” of the "
            "contact’s “More details”."
        )
    ),
    INSTRUCTIONS: lazy_gettext("The assistant writes the message."),
    DEFAULT: lazy_gettext("The messages in the assistant’s settings."),
}
DAYS = (
    lazy_gettext("Monday"),
    lazy_gettext("Tuesday"),
    lazy_gettext("Wednesday"),
    lazy_gettext("Thursday"),
    lazy_gettext("Friday"),
    lazy_gettext("Saturday"),
    lazy_gettext("Sunday"),
)


def _short_day_name(weekday: int) -> str:
    """Return the ISO weekday as Mon."""
    name: str = get_day_names("abbreviated", locale=locale())[weekday - 1]
    return name


class CampaignPlanForm(MessageForm):
    version = VersionField()
    assistant = SelectField(lazy_gettext("Assistant"), choices=[], validate_choice=False)
    weekdays = CheckboxesField(
        lazy_gettext("Days"),
        choices=[
            SelectChoice(
                str(number), cast("str", LazyProxy(_short_day_name, number, enable_cache=False))
            )
            for number in range(1, 8)
        ],
    )
    hours_start = ClockField(lazy_gettext("From"))
    hours_end = ClockField(lazy_gettext("To"))
    starts_on: DayField | None = DayField(lazy_gettext("First day"))
    ends_on: DayField | None = DayField(lazy_gettext("Last day"))
    calls_per_hour = WholeNumber(lazy_gettext("Calls an hour"))
    calls_at_once = WholeNumber(lazy_gettext("Concurrent calls"))

    @classmethod
    def showing(cls, plan: CampaignPlan, version: int) -> "CampaignPlanForm":
        return cls.from_object(
            assistant=str(plan.assistant_id) if plan.assistant_id else None,
            weekdays=[str(day) for day in sorted(plan.weekdays)],
            hours_start=plan.hours_start,
            hours_end=plan.hours_end,
            starts_on=plan.starts_on,
            ends_on=plan.ends_on,
            calls_per_hour=plan.calls_per_hour,
            calls_at_once=plan.calls_at_once,
            **cls.message_of(plan),
            version=version,
        )

    def set_choices(self, assistants: Sequence[Assistant]) -> None:
        self.assistant.choices = [
            SelectChoice(str(assistant.id), _assistant_label(assistant)) for assistant in assistants
        ]

    @property
    def readable(self) -> CampaignPlan:
        """Return the plan from the input, with valid hours for unreadable ones."""
        # From midnight to midnight: neither end contradicts the other one.
        return replace(
            self.to_plan(),
            hours_start=self.hours_start.data or _MIDNIGHT,
            hours_end=self.hours_end.data or _MIDNIGHT,
        )

    def to_plan(self) -> CampaignPlan:
        """Return the plan from the input, with only the texts of the chosen kind; for a validated
        form."""
        texts = self.texts
        speaker = None
        with suppress(ValueError, TypeError):
            speaker = UUID(self.assistant.data)
        return CampaignPlan(
            assistant_id=speaker,
            weekdays=frozenset(whole_number(day, 1) or 0 for day in self.weekdays.data or ()),
            hours_start=self.hours_start.data,
            hours_end=self.hours_end.data,
            starts_on=self.starts_on.data if self.starts_on else None,
            ends_on=self.ends_on.data if self.ends_on else None,
            calls_per_hour=self.calls_per_hour.data,
            calls_at_once=self.calls_at_once.data,
            intro_message=texts.intro,
            voicemail_message=texts.voicemail,
            call_instructions=texts.instructions,
        )


def _assistant_label(assistant: Assistant) -> str:
    """Return the name, with what prevents the assistant from calling."""
    if not assistant.active:
        return gettext("%(assistant)s (switched off)", assistant=assistant.name)
    if assistant.phone_number is None:
        return gettext("%(assistant)s (no phone number)", assistant=assistant.name)
    if not assistant.phone_ready:
        return gettext("%(assistant)s (phone not ready)", assistant=assistant.name)
    return assistant.name
