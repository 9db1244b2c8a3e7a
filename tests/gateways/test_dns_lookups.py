"""Lookups in the DNS, at a server in this process."""

from collections.abc import Iterator

import pytest

from app.config import Settings
from app.gateways.dns_lookups import DnsResolver, NoDnsAnswer
from tests.fixtures.dns_server import DnsServer
from tests.fixtures.ports import free_port


@pytest.fixture
def server() -> Iterator[DnsServer]:
    with DnsServer().open() as opened:
        yield opened


@pytest.fixture
def resolver(server: DnsServer) -> DnsResolver:
    return DnsResolver([("127.0.0.1", server.port)], lifetime_seconds=2)


def test_the_strings_of_a_text_record_are_one_text(
    server: DnsServer, resolver: DnsResolver
) -> None:
    server.serve("a.example", "TXT", "x" * 300, "second — Ünal")
    assert sorted(resolver.texts("a.example")) == ["second — Ünal", "x" * 300]


def test_a_name_without_records_has_none(server: DnsServer, resolver: DnsResolver) -> None:
    server.serve("a.example", "A", "192.0.2.1")
    found = [resolver.texts("a.example"), resolver.texts("b.example"), resolver.alias("a.example")]
    assert found == [[], [], None]


def test_aliases_are_followed_to_addresses(server: DnsServer, resolver: DnsResolver) -> None:
    server.serve("portal.example", "CNAME", "Host.example.")
    server.serve("host.example", "A", "192.0.2.1")
    server.serve("host.example", "AAAA", "2001:db8::1")
    assert resolver.alias("portal.example") == "host.example"
    assert resolver.addresses("portal.example") == ["192.0.2.1", "2001:db8::1"]
    assert resolver.addresses("192.0.2.7") == ["192.0.2.7"]


def test_a_failed_lookup_is_no_answer(server: DnsServer, resolver: DnsResolver) -> None:
    server.fails.add("a.example")
    with pytest.raises(NoDnsAnswer, match=r"^a\.example: NoNameservers$"):
        resolver.texts("a.example")


def test_silence_is_no_answer(server: DnsServer) -> None:
    server.silent.add("a.example")
    impatient = DnsResolver([("127.0.0.1", server.port)], lifetime_seconds=0.3)
    with pytest.raises(NoDnsAnswer, match=r"^a\.example: LifetimeTimeout$"):
        impatient.addresses("a.example")


def test_a_name_that_is_too_long_is_no_answer(resolver: DnsResolver) -> None:
    with pytest.raises(NoDnsAnswer):
        resolver.texts(f"_portal-challenge.{'a' * 64}.example")


def test_a_server_that_is_not_there_is_no_answer() -> None:
    absent = DnsResolver([("127.0.0.1", free_port())], lifetime_seconds=0.3)
    with pytest.raises(NoDnsAnswer):
        absent.texts("a.example")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", []),
        ("10.0.0.2, 10.0.0.3:5353", [("10.0.0.2", 53), ("10.0.0.3", 5353)]),
        ("2001:db8::1, [2001:db8::2]:5353", [("2001:db8::1", 53), ("2001:db8::2", 5353)]),
    ],
)
def test_servers_are_addresses_with_or_without_a_port(
    setting: str, expected: list[tuple[str, int]]
) -> None:
    assert Settings(env="test", dns_servers=setting).dns_server_addresses == expected


@pytest.mark.parametrize("setting", ["dns.example", "10.0.0.2:x", "10.0.0.2 10.0.0.3"])
def test_other_servers_are_refused(setting: str) -> None:
    with pytest.raises(ValueError, match="PORTAL_DNS_SERVERS is a list of IP addresses"):
        Settings(env="test", dns_servers=setting)
