"""Whether a certificate may be issued for a domain, for web servers that get them on demand."""

from ipaddress import ip_address
from typing import cast

from flask import Blueprint, Flask, Response, current_app, request

from app.errors import RateLimited
from app.extensions import settings, transaction
from app.http.rate_limit import TokenBuckets
from app.services.auth import sign_in
from app.services.partners.domains import HOST

RATE, BURST = 10.0, 50
"""Requests per second, and at once, to each web process."""
BUCKETS = "on_demand_tls"

blueprint = Blueprint("domains", __name__)


def register(app: Flask) -> None:
    app.extensions[BUCKETS] = TokenBuckets(RATE, BURST)
    app.register_blueprint(blueprint)


@blueprint.get("/internal/domains/ask")
def ask() -> Response:
    """Answer 200 for the verified domain of a partner, else 404; never whose it is. Requests from
    outside the internal networks get 404 for every domain."""
    domain = request.args.get("domain", "").lower()
    if not _is_internal() or not HOST.fullmatch(domain):
        return _answer(404)
    try:
        cast(TokenBuckets, current_app.extensions[BUCKETS]).take(request.remote_addr)
    except RateLimited as error:
        return _answer(429, {"Retry-After": str(error.retry_after)})
    with transaction(read_only=True) as session:
        partner = sign_in.partner_by_host(session, domain)
    return _answer(200 if partner else 404)


def _is_internal() -> bool:
    """Return whether the web server itself sent the request: it forwards none to this route."""
    if "X-Forwarded-For" in request.headers or "Forwarded" in request.headers:
        return False
    address = ip_address(request.remote_addr or "::")
    return any(address in network for network in settings().internal_network_list)


def _answer(status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(status=status, headers={"Cache-Control": "no-store", **(headers or {})})
