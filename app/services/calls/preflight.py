"""The list before a test call: what stands in the way, and where to mend it."""

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from app.caller import Caller
from app.models import Agent, Organization, utcnow
from app.phone import PhoneError, check_dialable
from app.services import workers
from app.services.calls import limits, rules
from app.services.calls.request import CallRequest, Texts, messaging_problems
from app.services.calls.rules import Blocker


class CheckState(StrEnum):
    PASSED = "passed"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the list. ``mend`` names the place to mend it: organization, agent, number,
    do-not-call, consent, messages, calling-hours or worker."""

    code: str
    state: CheckState
    sentence: str
    mend: str


def preflight(
    session: Session,
    caller: Caller,  # noqa: ARG001 - every service takes it; the agent came through its loader
    agent: Agent,
    phone_number: str,
    texts: Texts,
    *,
    worker_silent_after: float = 15.0,
) -> list[Check]:
    """Every check that `schedule` and the worker make, all of them, in the order they are made."""
    parties = rules.parties_of(session, agent.id, phone_number)
    organization = parties.organization
    return [
        _from_rule(
            "organization_active",
            rules.organization_may_call(parties),
            f"{organization.name} may place calls.",
            "organization",
        ),
        _from_rule(
            "agent_active",
            rules.agent_is_active(agent),
            f"The assistant {agent.name} is switched on.",
            "agent",
        ),
        _from_rule(
            "phone_ready",
            rules.phone_is_ready(agent),
            f"Its phone is ready and calls from {agent.phone_number}.",
            "agent",
        ),
        _number(phone_number, organization),
        _from_rule(
            "not_on_do_not_call_list",
            rules.may_be_contacted(parties),
            "The number is not on the do-not-call list.",
            "do-not-call",
        ),
        *_consent(parties),
        _messages(agent, phone_number, texts),
        _hours(session, phone_number, organization),
        _worker(session, worker_silent_after),
    ]


def _from_rule(code: str, blocker: Blocker | None, passed: str, mend: str) -> Check:
    if blocker is None:
        return Check(code, CheckState.PASSED, passed, mend)
    return Check(code, CheckState.FAILED, blocker.message, mend)


def _consent(parties: rules.Parties) -> list[Check]:
    """Looked at where the organization demands it alone."""
    if not parties.organization.consent_required:
        return []
    blocker = rules.consent_is_given(parties)
    passed = "The person has given consent to be called."
    return [_from_rule("consent_given", blocker, passed, "consent")]


def _number(phone_number: str, organization: Organization) -> Check:
    code = "number_allowed"
    if not phone_number:
        return Check(code, CheckState.FAILED, "Enter the number to call.", "number")
    try:
        check_dialable(phone_number, organization.allowed_regions)
    except PhoneError as error:
        mend = "organization" if error.code == "region_not_allowed" else "number"
        return Check(code, CheckState.FAILED, error.message, mend)
    return Check(code, CheckState.PASSED, "The number may be called.", "number")


def _messages(agent: Agent, phone_number: str, texts: Texts) -> Check:
    request = CallRequest(
        agent_id=agent.id,
        phone_number=phone_number,
        intro_message=texts.intro,
        voicemail_message=texts.voicemail,
        call_instructions=texts.instructions,
    )
    problems = messaging_problems(request, agent)
    code = "messages_complete"
    if problems:
        return Check(code, CheckState.FAILED, problems[0].message, "messages")
    return Check(code, CheckState.PASSED, "There is an intro and a voicemail message.", "messages")


def _hours(session: Session, phone_number: str, organization: Organization) -> Check:
    code = "within_calling_hours"
    blocker = rules.an_hour_suits(phone_number, organization)
    if blocker is not None:
        return Check(code, CheckState.FAILED, blocker.message, "calling-hours")
    wait = limits.next_moment(session, phone_number, organization, utcnow(), live=True)
    if wait is None:
        return Check(code, CheckState.PASSED, "The call is allowed at this hour.", "calling-hours")
    moment = wait.until.strftime("%Y-%m-%d %H:%M UTC")
    sentence = f"The call will wait until {moment}, when it is next allowed. {wait.why}"
    return Check(code, CheckState.WARNING, sentence, "calling-hours")


def _worker(session: Session, silent_after: float) -> Check:
    if workers.any_alive(session, silent_after):
        sentence = "The worker that places calls is running."
        return Check("worker_running", CheckState.PASSED, sentence, "worker")
    sentence = "The worker that places calls is not running: the call will wait for it."
    return Check("worker_running", CheckState.WARNING, sentence, "worker")
