"""``flask calls reconcile``: after a restore, compare the database with the carriers' lists."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import click
from flask.cli import with_appcontext

from app import extensions
from app.commands.calls import carrier_of
from app.commands.transactions import as_json, changing, print_result, reading
from app.enums import CarrierKind
from app.gateways.carriers.base import ListedCall, ListsCalls, NoCarrierAnswer
from app.schemas.fields import write_moment
from app.services import pauses
from app.services.calls import reconcile as waiting_calls
from app.services.calls.reconcile import Account
from app.services.outreach import reconcile as campaign_calls
from app.services.pauses import restore_detection

EARLIER = timedelta(minutes=5)
"""How far before the last heartbeat in the database the list begins: the carrier's clock may
differ."""
COUNTS = ("listed", "waitingCalls", "campaignContacts", "unclear", "others")


@click.command("reconcile")
@click.option("--since", type=click.DateTime(), help="UTC; without it, the time of the backup.")
@click.option("--resume", "is_forced", is_flag=True, help="Resume, whatever could be compared.")
@as_json
@with_appcontext
def reconcile(since: datetime | None, is_forced: bool, as_json: bool) -> None:
    """After a restore, ask each carrier for the calls that it placed since the backup, and write
    them down, so that they aren't placed again. Then calling resumes.

    It stays paused if a carrier can't list its calls, or a call of its list can't be assigned.
    Check these yourself, cancel what was placed, and use --resume.
    """
    start = _start_time(since)
    with reading() as (session, _caller):
        accounts = waiting_calls.accounts_of_waiting(session)
        default_carrier = CarrierKind(extensions.settings().carrier)
        accounts |= campaign_calls.accounts_of_running(session, default_carrier)
    ordered = sorted(accounts, key=lambda each: (each[0].value, str(each[1] or "")))
    compared = [_compare(account, start) for account in ordered]
    is_complete = not any(each["problem"] or each["unclear"] for each in compared)
    is_resumed = is_complete or is_forced
    if is_resumed:
        with changing() as (session, caller):
            pauses.resume(session, caller, pauses.PauseScope())
    described = {"since": write_moment(start), "carriers": compared, "resumed": is_resumed}
    print_result(described, as_json, *_summary_lines(described))


def _start_time(since: datetime | None) -> datetime:
    with reading() as (session, _caller):
        missing_since = restore_detection.missing_since(session)
        is_paused = any(pause.scope == pauses.PauseScope().key for pause in pauses.listing(session))
    if not is_paused:
        message = "Calling isn't paused. Run `calls pause` first, so that nothing is placed."
        raise click.ClickException(message)
    if since is None and missing_since is None:
        message = "No restore was noticed. Give the time of the backup with --since."
        raise click.ClickException(message)
    return since.replace(tzinfo=UTC) if since else (missing_since or datetime.now(UTC)) - EARLIER


def _compare(account: Account, since: datetime) -> dict[str, Any]:
    """Record the calls that one carrier lists; ``problem`` is what it couldn't say."""
    described: dict[str, Any] = dict.fromkeys(COUNTS, 0)
    described |= {"carrier": account[0].value, "accountId": account[1] and str(account[1])}
    described["problem"] = None
    try:
        carrier = carrier_of(*account)
        if not isinstance(carrier, ListsCalls):
            message = "it keeps none"
            raise NoCarrierAnswer(message)
        listed = list(carrier.placed_since(since))
    except click.ClickException as error:
        return described | {"problem": error.message}
    except NoCarrierAnswer as silence:
        return described | {"problem": f"No list of calls: {silence}."}
    with reading() as (session, _caller):
        missing = waiting_calls.unrecorded_calls(session, listed)
    recorded = Counter(_record(each, account[0]) for each in missing)
    return described | {"listed": len(listed), **recorded}


def _record(listed: ListedCall, carrier: CarrierKind) -> str:
    """Record one call in a separate transaction; return its kind."""
    with changing() as (session, caller):
        if waiting_calls.record_placed(session, caller, listed):
            return "waitingCalls"
        if campaign_calls.record_placed(session, caller, listed, carrier):
            return "campaignContacts"
        return "unclear" if waiting_calls.waits_for(session, listed.to_number) else "others"


def _summary_lines(described: dict[str, Any]) -> list[str]:
    lines = [f"Calls placed since {described['since']}:"]
    for each in described["carriers"]:
        name = each["carrier"] + (f", account {each['accountId']}" if each["accountId"] else "")
        if each["problem"]:
            lines.append(f"{name}: {each['problem']} Check its calls yourself.")
            continue
        lines.append(
            f"{name}: listed: {each['listed']}; written down for waiting calls: "
            f"{each['waitingCalls']}, for campaign contacts: {each['campaignContacts']}; "
            f"without a record here: {each['others']}"
        )
        if each["unclear"]:
            lines.append(
                f"{name}: {each['unclear']} calls went to the number of a waiting call, but from "
                "another number. Cancel the waiting calls that were placed."
            )
    if not described["carriers"]:
        lines.append("No call waits and no campaign runs: there is nothing to compare.")
    if described["resumed"]:
        return [*lines, "Calling resumed."]
    return [
        *lines,
        "Calling stays paused. After your check: flask --app wsgi calls reconcile --resume",
    ]
