"""``flask partner …`` and ``flask user …``: actions that only the operator may take."""

from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.transactions import changing
from app.enums import Tier
from app.services import partners, users
from app.services.plans.limits import PlanLimits, set_allowances
from app.services.users import email_changes, factor_reset

partner_commands = AppGroup("partner", help="Partners.")


@partner_commands.command("verify-domain")
@click.argument("partner_id", metavar="ID", type=click.UUID)
def verify_domain(partner_id: UUID) -> None:
    """Mark the partner's domain as verified: from now on it shows the partner's sign-in page."""
    with changing() as (session, caller):
        domain = partners.verify_domain(session, caller, partner_id).domain
    click.echo(f"{domain} is verified.")


@partner_commands.command("suspend")
@click.argument("partner_id", metavar="ID", type=click.UUID)
def suspend(partner_id: UUID) -> None:
    """End all access of the partner at once: sessions, tokens, API keys, API clients."""
    with changing() as (session, caller):
        name = partners.suspend(session, caller, partner_id).name
    click.echo(f"{name} is suspended.")


@partner_commands.command("resume")
@click.argument("partner_id", metavar="ID", type=click.UUID)
def resume(partner_id: UUID) -> None:
    """End the suspension of a partner. Its users sign in again; its credentials work again."""
    with changing() as (session, caller):
        name = partners.reactivate(session, caller, partner_id).name
    click.echo(f"{name} is active.")


@partner_commands.command("end-trial")
@click.argument("partner_id", metavar="ID", type=click.UUID)
def end_trial(partner_id: UUID) -> None:
    """End trial mode of a partner. Its organizations in trial mode stay in it until the partner
    ends it for them."""
    with changing() as (session, caller):
        name = partners.end_trial(session, caller, partner_id).name
    click.echo(f"The trial mode of {name} has ended.")


@partner_commands.command("start-trial")
@click.argument("partner_id", metavar="ID", type=click.UUID)
def start_trial(partner_id: UUID) -> None:
    """Put a partner into trial mode: its organizations can call only verified numbers."""
    with changing() as (session, caller):
        name = partners.start_trial(session, caller, partner_id).name
    click.echo(f"{name} is in trial mode.")


@partner_commands.command("plan-limits")
@click.argument("partner_id", metavar="ID", type=click.UUID)
@click.argument("tier", metavar="PLAN", type=click.Choice([tier.value for tier in Tier]))
@click.option("--at-once", type=int, help="Concurrent calls of each organization.")
@click.option("--a-day", type=int, help="Calls a day (UTC) of each organization.")
def plan_limits(partner_id: UUID, tier: str, at_once: int | None, a_day: int | None) -> None:
    """Set the limits of a plan for each organization on it; omitted ones have no limit.

    An organization may set lower limits.
    """
    with changing() as (session, caller):
        set_allowances(session, caller, partner_id, {Tier(tier): PlanLimits(at_once, a_day)})
    limits = [
        f"{number:,} {unit}" if number is not None else f"any number {unit}"
        for number, unit in ((at_once, "at once"), (a_day, "a day"))
    ]
    click.echo(f"Calls on {tier}: {' and '.join(limits)}.")


user_commands = AppGroup("user", help="Users.")


@user_commands.command("external-id")
@click.argument("user_id", metavar="ID", type=click.UUID)
@click.argument("external_id")
def external_id(user_id: UUID, external_id: str) -> None:
    """Set the id under which the partner's scripts know the user."""
    with changing() as (session, caller):
        users.set_external_id(session, caller, user_id, external_id)
    click.echo(f"{user_id} is known as {external_id}.")


@user_commands.command("reset-factors")
@click.argument("user_id", metavar="ID", type=click.UUID)
def reset_factors(user_id: UUID) -> None:
    """Remove the second factors of a user who lost them: the password alone signs in again.

    Check the identity first. Sessions end, and the user gets a mail.
    """
    with changing() as (session, caller):
        email = factor_reset.reset_by_operator(session, caller, user_id).email
    click.echo(f"{email} has no second factor any more. All sessions have ended.")


@user_commands.command("reset-email")
@click.argument("user_id", metavar="ID", type=click.UUID)
@click.argument("email")
def reset_email(user_id: UUID, email: str) -> None:
    """Give a user whose mailbox is lost a new address.

    Check the identity first. Sessions and links end, and both addresses get a mail.
    """
    with changing() as (session, caller):
        email_changes.reset(session, caller, user_id, email)
    click.echo(f"{user_id} now signs in as {email}. Sessions and links have ended.")
