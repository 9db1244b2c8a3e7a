"""``flask destinations …``: the operator's limits of call destinations, and the
partners' choices."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.transactions import changing, reading
from app.phone import USUAL_REGIONS
from app.services import destinations

destination_commands = AppGroup("destinations", help="Where calls may go, and be handed over to.")
PARTNER = click.option("--partner", "partner_id", type=click.UUID, help="Only for this partner.")
REGIONS = click.argument("regions", metavar="REGION…", nargs=-1)
HOSTS = click.argument("hosts", metavar="HOST…", nargs=-1)


@destination_commands.command("show")
@PARTNER
def show(partner_id: UUID | None) -> None:
    """Print the operator's limits, and what the partner has opened."""
    with reading() as (session, caller):
        limits = destinations.limits_of(session, caller, partner_id)
        choice = destinations.choice_of(session, caller, partner_id) if partner_id else None
    click.echo(f"Countries allowed: {_join_regions(limits.regions, 'those of the installation')}")
    click.echo(f"Voice hosts allowed: {_join_regions(limits.hosts, 'any public host')}")
    if choice is not None:
        click.echo(f"Countries opened by the partner: {_join_regions(choice.regions)}")
        click.echo(f"Voice hosts opened by the partner: {_join_regions(choice.hosts)}")


@destination_commands.command("limit-regions")
@REGIONS
@PARTNER
@click.option("--reset", is_flag=True, help="The default; for a partner, no limit of its own.")
def limit_regions(regions: tuple[str, ...], partner_id: UUID | None, reset: bool) -> None:
    """Replace the countries that partners may open (US CA …)."""
    _require_either(regions, reset)
    region_codes = frozenset(region.upper() for region in regions)
    default = None if partner_id else USUAL_REGIONS
    with changing() as (session, caller):
        limits = destinations.limits_of(session, caller, partner_id)
        limits = replace(limits, regions=default if reset else region_codes)
        destinations.change_limits(session, caller, limits, partner_id)
    click.echo(f"Countries allowed: {_join_regions(limits.regions, 'those of the installation')}")


@destination_commands.command("limit-hosts")
@HOSTS
@PARTNER
@click.option("--any", "any_host", is_flag=True, help="Allow any public host.")
def limit_hosts(hosts: tuple[str, ...], partner_id: UUID | None, any_host: bool) -> None:
    """Replace the hosts that calls may be handed over to (voice.example.com, *.example.com)."""
    _require_either(hosts, any_host)
    with changing() as (session, caller):
        limits = destinations.limits_of(session, caller, partner_id)
        limits = replace(limits, hosts=None if any_host else hosts)
        destinations.change_limits(session, caller, limits, partner_id)
    click.echo(f"Voice hosts allowed: {_join_regions(limits.hosts, 'any public host')}")


@destination_commands.command("open-regions")
@click.argument("partner_id", metavar="ID", type=click.UUID)
@REGIONS
def open_regions(partner_id: UUID, regions: tuple[str, ...]) -> None:
    """Replace the countries that a partner has opened; an organization's own is always open."""
    region_codes = frozenset(region.upper() for region in regions)
    with changing() as (session, caller):
        choice = destinations.choice_of(session, caller, partner_id)
        destinations.change_choice(
            session, caller, partner_id, replace(choice, regions=region_codes)
        )
    click.echo(f"Countries opened by the partner: {_join_regions(region_codes)}")


@destination_commands.command("open-hosts")
@click.argument("partner_id", metavar="ID", type=click.UUID)
@HOSTS
def open_hosts(partner_id: UUID, hosts: tuple[str, ...]) -> None:
    """Replace the hosts that a partner's calls may be handed over to."""
    with changing() as (session, caller):
        choice = destinations.choice_of(session, caller, partner_id)
        destinations.change_choice(session, caller, partner_id, replace(choice, hosts=hosts))
    click.echo(f"Voice hosts opened by the partner: {_join_regions(hosts)}")


def _require_either(values: Sequence[str], flag: bool) -> None:
    if bool(values) == flag:
        message = "Give either a list or the option."
        raise click.UsageError(message)


def _join_regions(values: Iterable[str] | None, without: str = "none") -> str:
    if values is None:
        return without
    return " ".join(sorted(values)) or "none"
