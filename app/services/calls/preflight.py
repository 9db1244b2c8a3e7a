"""Pre-call checks: what prevents or delays a call, and where to fix it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.config.trial import TrialLimits
from app.enums import CarrierKind
from app.errors import translate_stored
from app.languages import gettext
from app.models import Assistant, CarrierAccount, CarrierAccountTest, Organization, utcnow
from app.phone import DestinationLayer, PhoneError, check_dialable, region_of
from app.policy.caller import Caller
from app.services import carrier_accounts, pauses, spending, workers
from app.services.calls import carrier_pace, limits, rules, trial
from app.services.calls.request import CallRequest, CallTexts, messaging_problems
from app.services.calls.rules import CallBlocker
from app.services.pauses import carrier_health
from app.services.phone_numbers import NumberRoute


class CheckStatus(StrEnum):
    PASSED = "passed"
    WARNING = "warning"
    FAILED = "failed"


OPENED_AT = {
    DestinationLayer.OPERATOR: "operator-regions",
    DestinationLayer.PARTNER: "portal-regions",
    DestinationLayer.ORGANIZATION: "regions",
}


@dataclass(frozen=True, slots=True)
class PreflightCheck:
    """One check. ``fix_at`` names the page that fixes it: organization, regions, portal-regions,
    operator-regions, assistant, number, trial, do-not-call, consent, messages, calling-hours,
    spending, limits, calling or worker. ``until`` is when a call that waits is placed, as the
    sentence says."""

    code: str
    status: CheckStatus
    message: str
    fix_at: str
    until: datetime | None = None


def preflight(
    session: Session,
    caller: Caller,  # noqa: ARG001 - every service takes it; the assistant came through its loader
    assistant: Assistant,
    phone_number: str,
    texts: CallTexts,
    *,
    installation: CallSettings,
) -> list[PreflightCheck]:
    """Return every check that `schedule` and the worker make of a live call, in their order: what
    refuses it, and what it would wait for. The checks of a number are left out for an invalid
    one."""
    parties = rules.parties_of(session, assistant.id, phone_number)
    organization = parties.organization
    account = carrier_accounts.of_call(session, assistant, live=True)
    carrier = account.carrier if account else installation.carrier
    route = NumberRoute(carrier, account.id if account else None)
    number = _check_number(phone_number, parties)
    is_number = number.status is CheckStatus.PASSED or number.fix_at != "number"
    return [
        _from_rule(
            "organization_active",
            rules.organization_blocker(parties),
            gettext("%(organization)s may place calls.", organization=organization.name),
            "organization",
        ),
        _from_rule(
            "assistant_active",
            rules.inactive_assistant_blocker(assistant),
            gettext("The assistant %(assistant)s is switched on.", assistant=assistant.name),
            "assistant",
        ),
        _from_rule(
            "phone_ready",
            rules.unready_phone_blocker(assistant) or rules.caller_id_blocker(parties, route),
            gettext("Its phone is ready and calls from %(number)s.", number=assistant.phone_number),
            "assistant",
        ),
        *_check_hand_over(parties),
        number,
        *(_check_trial(session, parties, installation.trial_limits) if is_number else []),
        *([_check_do_not_call(parties), *_check_consent(parties)] if is_number else []),
        _check_messages(assistant, phone_number, texts),
        *([_check_hours(session, phone_number, organization)] if is_number else []),
        *(
            _check_spending(session, phone_number, organization, installation)
            if is_number and carrier is not CarrierKind.SIMULATOR
            else []
        ),
        *_check_carrier(session, organization, installation, account),
        _check_worker(session, installation.worker_silent_after),
    ]


def _from_rule(
    code: str, blocker: CallBlocker | None, passed_message: str, fix_at: str
) -> PreflightCheck:
    if blocker is None:
        return PreflightCheck(code, CheckStatus.PASSED, passed_message, fix_at)
    return PreflightCheck(code, CheckStatus.FAILED, blocker.message, fix_at)


def _check_trial(
    session: Session, parties: rules.CallParties, trial_limits: TrialLimits
) -> list[PreflightCheck]:
    """Check the trial limits if the organization is in trial mode."""
    if not parties.in_trial:
        return []
    blocker = rules.unverified_number_blocker(parties) or trial.day_used_up(
        session, parties.assistant, trial_limits
    )
    passed_message = gettext("The number is verified, so it can be called in trial mode.")
    return [_from_rule("trial_mode", blocker, passed_message, "trial")]


def _check_do_not_call(parties: rules.CallParties) -> PreflightCheck:
    return _from_rule(
        "not_on_do_not_call_list",
        rules.do_not_call_blocker(parties),
        gettext("The number is not on the do-not-call list."),
        "do-not-call",
    )


def _check_consent(parties: rules.CallParties) -> list[PreflightCheck]:
    """Check the consent if the organization requires it, or if a contact with the number
    refused."""
    if not (parties.organization.consent_required or parties.consent == rules.REFUSED):
        return []
    blocker = rules.refusal_blocker(parties) or rules.consent_blocker(parties)
    passed_message = gettext("The person has given consent to be called.")
    return [_from_rule("consent_given", blocker, passed_message, "consent")]


def _check_hand_over(parties: rules.CallParties) -> list[PreflightCheck]:
    """Check the voice URL if the assistant hands its calls over."""
    if parties.assistant.voice_address is None:
        return []
    blocker = rules.hand_over_blocker(parties)
    passed_message = gettext("Calls may be handed over to the assistant's voice address.")
    return [_from_rule("hand_over_allowed", blocker, passed_message, "agent")]


def _check_number(phone_number: str, parties: rules.CallParties) -> PreflightCheck:
    code = "number_allowed"
    if not phone_number:
        return PreflightCheck(
            code, CheckStatus.FAILED, gettext("Enter the number to call."), "number"
        )
    try:
        check_dialable(phone_number, parties.destinations.regions)
    except PhoneError as error:
        is_closed = error.code == "region_not_allowed"
        layer = parties.destinations.regions.closed_by(region_of(phone_number) or "")
        fix_at = OPENED_AT[layer or DestinationLayer.OPERATOR] if is_closed else "number"
        return PreflightCheck(code, CheckStatus.FAILED, error.message, fix_at)
    return PreflightCheck(code, CheckStatus.PASSED, gettext("Its region may be called."), "number")


def _check_messages(assistant: Assistant, phone_number: str, texts: CallTexts) -> PreflightCheck:
    request = CallRequest(
        assistant_id=assistant.id,
        phone_number=phone_number,
        intro_message=texts.intro,
        voicemail_message=texts.voicemail,
        call_instructions=texts.instructions,
    )
    problems = messaging_problems(request, assistant)
    code = "messages_complete"
    if problems:
        return PreflightCheck(code, CheckStatus.FAILED, problems[0].message, "messages")
    return PreflightCheck(
        code, CheckStatus.PASSED, gettext("There is an intro and a voicemail message."), "messages"
    )


def _check_hours(session: Session, phone_number: str, organization: Organization) -> PreflightCheck:
    code = "within_calling_hours"
    blocker = rules.calling_hours_blocker(phone_number, organization)
    if blocker is not None:
        return PreflightCheck(code, CheckStatus.FAILED, blocker.message, "calling-hours")
    wait = limits.find_wait(session, phone_number, organization, utcnow(), live=True)
    if wait is None:
        return PreflightCheck(
            code, CheckStatus.PASSED, gettext("The call is allowed at this hour."), "calling-hours"
        )
    moment = in_utc(wait.until)
    message = gettext(
        "The call will wait until %(moment)s, when it is next allowed. %(reason)s",
        moment=moment,
        reason=wait.reason,
    )
    return PreflightCheck(code, CheckStatus.WARNING, message, "calling-hours", wait.until)


def _check_spending(
    session: Session, phone_number: str, organization: Organization, installation: CallSettings
) -> list[PreflightCheck]:
    """Return checks if a spending limit stops or delays the call."""
    spender = spending.Spender(organization.partner_id, organization.id)
    longest = installation.max_call_minutes
    stop = spending.check(session, spender, phone_number, utcnow(), max_call_minutes=longest)
    if stop is None:
        return []
    code = "spending_allowed"
    if not stop.waits:
        return [PreflightCheck(code, CheckStatus.FAILED, stop.reason, "spending")]
    until = None if stop.frees_up else stop.until
    if until is None:
        message = gettext(
            "%(reason)s The call will wait until other calls have ended.", reason=stop.reason
        )
    else:
        moment = in_utc(until)
        message = gettext(
            "%(reason)s The call will wait until %(moment)s.", reason=stop.reason, moment=moment
        )
    return [PreflightCheck(code, CheckStatus.WARNING, message, "spending", until)]


def _check_carrier(
    session: Session,
    organization: Organization,
    installation: CallSettings,
    account: CarrierAccount | None,
) -> list[PreflightCheck]:
    """Return what the call would wait for without a known end."""
    carrier = account.carrier if account else installation.carrier
    checks = []
    if pause := pauses.of_carrier(session, organization.partner_id, organization.id, carrier):
        message = gettext(
            "%(reason)s The call will wait until calling resumes.",
            reason=pauses.pause_message(pause),
        )
        checks.append(_warning("calling_goes_on", message, "calling"))
    limit = limits.calls_at_once(organization, installation.calls_at_once)
    if limits.count_under_way(session, organization.id) >= limit:
        reason = limits.all_slots_taken(limit)
        message = gettext("%(reason)s The call will wait for its turn.", reason=reason)
        checks.append(_warning("slot_free", message, "limits"))
    paced = installation.calls_per_second > 0
    if paced and carrier_pace.is_taken(session, carrier, utcnow()):
        checks.append(
            _warning("carrier_has_a_turn", translate_stored(limits.CARRIER_PACE), "calling")
        )
    tests = carrier_accounts.last_checks(session, CarrierAccountTest, [account] if account else [])
    if any(test.works is False for test in tests.values()):
        message = gettext("The last test of the carrier account failed. The call may fail.")
        checks.append(_warning("carrier_account_works", message, "calling"))
    state = carrier_health.status_of(session, carrier)
    is_watched = account is None or account.trunk is None
    if is_watched and state.holds_calls:  # a partner's own trunk isn't monitored
        if state is carrier_health.CarrierStatus.OUTAGE:
            message = gettext(
                "The carrier does not answer. The call will be retried until it is accepted."
            )
        else:
            message = gettext(
                "The carrier isn't accepting calls. The call will be retried until it is accepted."
            )
        checks.append(_warning("carrier_takes_calls", message, "calling"))
    passed_message = gettext("The carrier is ready, and nothing holds calls back.")
    return checks or [PreflightCheck("slot_free", CheckStatus.PASSED, passed_message, "limits")]


def in_utc(moment: datetime) -> str:
    """Return the moment as the sentences of checks show it."""
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def _warning(code: str, message: str, fix_at: str) -> PreflightCheck:
    return PreflightCheck(code, CheckStatus.WARNING, message, fix_at)


def _check_worker(session: Session, silent_after: float) -> PreflightCheck:
    if workers.any_alive(session, silent_after):
        message = gettext("Calling service is online.")
        return PreflightCheck("worker_running", CheckStatus.PASSED, message, "worker")
    message = gettext("Calling service is offline. The call will wait for it.")
    return PreflightCheck("worker_running", CheckStatus.WARNING, message, "worker")
