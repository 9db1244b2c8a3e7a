"""URLs of databases: of one server, or of several of which one accepts writes."""

import re

from sqlalchemy import URL, make_url

_SEVERAL = re.compile(
    r"(?P<before>postgresql[\w+]*://(?:[^@/]*@)?)(?P<hosts>[^/?@]*,[^/?@]*)(?P<rest>[/?].*|)"
)
_HOSTS = "hosts.invalid"


def parse(url: str | URL) -> URL:
    """Return the parts of a URL. Several servers are written as libpq and SQLAlchemy write them:
    ``postgresql://portal@a:5432,b:5432/portal`` or ``…/portal?host=a:5432&host=b:5432``."""
    several = _SEVERAL.fullmatch(url) if isinstance(url, str) else None
    if several is None:
        return make_url(url)
    parsed = make_url(several["before"] + several["rest"])
    hosts = several["hosts"].split(",")
    return parsed.update_query_pairs([("host", host) for host in hosts], append=True)


def for_libpq(url: str | URL) -> str:
    """Return the URL as libpq and its programs read it."""
    parsed = parse(url).set(drivername="postgresql")
    hosts = parsed.query.get("host")
    if not isinstance(hosts, tuple):
        return parsed.render_as_string(hide_password=False)
    single = parsed.difference_update_query(["host"]).set(host=_HOSTS)
    return single.render_as_string(hide_password=False).replace(_HOSTS, ",".join(hosts), 1)


def servers(url: str | URL) -> list[tuple[str, int]]:
    """Return host and port of each server; empty for SQLite and a socket of this machine."""
    parsed = parse(url)
    if parsed.host:
        return [(parsed.host, parsed.port or 5432)]
    hosts = parsed.query.get("host")
    if not isinstance(hosts, tuple):
        return []
    pairs = (host.partition(":") for host in hosts)
    return [(name, int(port or 5432)) for name, _colon, port in pairs]
