"""The first steps of the user's role on the overview: shown, hidden, shown again."""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import redirect, url_for
from flask_login import current_user
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import Role
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext, lazy_pgettext, ngettext
from app.portal.overview import blueprint
from app.portal.web.formats import number
from app.portal.web.messages import redirect_with
from app.portal.web.navigation import may_open
from app.services import organizations, overview
from app.services.overview import SetupStep

TITLES: dict[Role, str] = {
    Role.PARTNER_ADMIN: lazy_gettext("Set up your portal"),
    Role.PARTNER_EDITOR: lazy_gettext("Set up your portal"),
    Role.ADMIN: lazy_gettext("Set up your customers"),
    Role.OWNER: lazy_gettext("Set up your organization"),
    Role.STANDARD: lazy_gettext("First steps"),
}
STEP_LABELS: dict[SetupStep, tuple[str, str, str]] = {
    SetupStep.BRAND: (
        lazy_gettext("Publish your brand"),
        lazy_gettext("Logo, colours and name on every page."),
        "portal.branding.show_branding",
    ),
    SetupStep.DOMAIN: (
        lazy_gettext("Use your own domain"),
        lazy_gettext("Your customers sign in there once it is verified."),
        "portal.settings.edit_settings",
    ),
    SetupStep.ORGANIZATION: (
        lazy_gettext("Add your first organization"),
        lazy_gettext("One of your customers, with its users and assistants."),
        "portal.organizations.list_organizations",
    ),
    SetupStep.MEMBER: (
        lazy_gettext("Invite a customer’s first user"),
        lazy_gettext("They get an email with a link to their organization."),
        "portal.users.new_user",
    ),
    SetupStep.COLLEAGUE: (
        lazy_gettext("Invite a colleague"),
        lazy_gettext("They work with your campaigns and calls."),
        "portal.users.new_user",
    ),
    SetupStep.ASSISTANT: (
        lazy_gettext("Get an assistant ready"),
        lazy_gettext("It needs a number that is set up with the carrier."),
        "portal.assistants.list_assistants",
    ),
    SetupStep.UPLOAD: (
        lazy_pgettext("first step", "Upload contacts"),
        lazy_gettext("Into a campaign. Files are checked before they are applied."),
        "portal.uploads.list_uploads",
    ),
    SetupStep.CAMPAIGN: (
        lazy_gettext("Start a campaign"),
        lazy_gettext("Choose an assistant, days and hours. Calls begin when you start it."),
        "portal.campaigns.list_campaigns",
    ),
    SetupStep.CALL: (
        lazy_gettext("Place a first call"),
        lazy_gettext("To your own phone, as a test."),
        "portal.calls.show_test_call",
    ),
    SetupStep.TIME_ZONE: (
        lazy_gettext("Choose your time zone"),
        lazy_gettext("Times on every page are shown in it."),
        "portal.account.show_account",
    ),
}
"""Title, second line and page of each step."""


@dataclass(frozen=True, slots=True)
class StepEntry:
    """A step as the page shows it; ``url`` is None if the user may not open its page."""

    title: str
    text: str
    url: str | None
    done: bool


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """The steps of the user's role, of which at least one is left."""

    title: str
    entries: tuple[StepEntry, ...]
    is_hidden: bool

    @property
    def done(self) -> int:
        return sum(entry.done for entry in self.entries)

    @property
    def whole(self) -> int:
        return len(self.entries)

    @property
    def progress_label(self) -> str:
        return ngettext(
            "%(num)s of %(all)s steps done",
            "%(num)s of %(all)s steps done",
            self.done,
            all=number(self.whole),
        )


def first_steps(session: Session, steps: Mapping[SetupStep, bool]) -> FirstSteps | None:
    """Return the steps of the current user in words; None if nothing is left to do."""
    if not steps:
        return None
    has_assistant = (
        steps[SetupStep.ASSISTANT]
        if SetupStep.ASSISTANT in steps
        else overview.can_call(session, caller())
    )
    waiting_messages: dict[SetupStep, str | None] = {
        SetupStep.CALL: None if has_assistant else gettext("Once an assistant is ready."),
        SetupStep.COLLEAGUE: None if steps.get(SetupStep.COLLEAGUE, True) else _no_seat(session),
    }
    entries = tuple(
        _step_entry(step, is_done=is_done, waits_for=waiting_messages.get(step))
        for step, is_done in steps.items()
    )
    is_hidden = current_user.first_steps_hidden_at is not None
    return FirstSteps(TITLES[current_user.role], entries, is_hidden)


@blueprint.post("/first-steps/hide")
def hide_first_steps() -> Response:
    with transaction() as session:
        overview.hide_first_steps(session, caller(), is_hidden=True)
    message = gettext("Hidden. You can show the steps again below.")
    return redirect_with(message, url_for("portal.overview.show_overview"))


@blueprint.post("/first-steps/show")
def show_first_steps() -> Response:
    with transaction() as session:
        overview.hide_first_steps(session, caller(), is_hidden=False)
    return redirect(url_for("portal.overview.show_overview"), 303)


def _no_seat(session: Session) -> str | None:
    """Return who to contact if no colleague fits into the user's organization."""
    organization = organizations.get(session, caller(), current_user.organization_id)
    if organizations.no_seat(session, caller(), organization) is None:
        return None
    partner = current_user.partner
    return gettext(
        "All seats are taken. Write to %(contact)s to raise the limit.",
        contact=partner.support_email or partner.name,
    )


def _step_entry(step: SetupStep, *, is_done: bool, waits_for: str | None) -> StepEntry:
    """Return a step. ``waits_for``: the sentence on what comes first."""
    title, text, endpoint = STEP_LABELS[step]
    if is_done:
        return StepEntry(title, _done_label(step), None, is_done)
    if waits_for:
        return StepEntry(title, waits_for, None, is_done)
    url = url_for(endpoint) if may_open(caller(), endpoint) else None
    return StepEntry(title, text, url, is_done)


def _done_label(step: SetupStep) -> str:
    """Return the words of a finished step. Partners invite colleagues too: the owner may see that
    step done on the first visit."""
    if step is SetupStep.COLLEAGUE:
        return gettext("Done: your organization has other users.")
    return gettext("Done")
