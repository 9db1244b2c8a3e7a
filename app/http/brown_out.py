"""Under overload previews are refused first, then exports; pages, forms and the APIs never.

The web server reports how long a request waited for a thread. Exports, and requests that call an
identity provider, also have limits of their own, so that they never occupy all threads. Previews
are quick, and a page of the studio requests several at once.
"""

import math
from enum import Enum, auto
from threading import BoundedSemaphore, Semaphore

from flask import Flask, Response, g, request

from app.errors import Unavailable
from app.languages import gettext

WAITED = "X-Portal-Waited"
"""Seconds that the request waited for a thread; set by `supervisor.web_worker` alone."""
RETRY_SECONDS = 15
TURN_SECONDS = 2.0
"""Seconds that an export waits for its turn. Half as many wait as are answered at once, which
leaves threads to pages."""
EXPORTS = (
    "portal.contacts.download_contacts",
    "portal.billing.download_costs",
    "portal.record_lists.download_export",
    "portal.record_lists.export_list",
    "portal.spending.download_rates",
    "portal.report.download_month",
    "portal.billing.download_statement",
    "portal.billing.download_statement_pdf",
    "portal.uploads.download_failed_rows",
    "portal.uploads.download_file",
    "portal.usage.download_usage",
)
PREVIEWS = ("portal.branding.show_preview",)
PROVIDERS = (
    "identity_providers.end_sessions",
    "portal.account.link_company_account",
    "portal.auth.complete_company_sign_in",
    "portal.auth.start_company_sign_in",
    "portal.identity_providers.create_provider",
    "portal.identity_providers.save_provider",
)
"""Endpoints that call a provider, which takes some seconds if it or the DNS doesn't answer."""


class LimitedKind(Enum):
    """A kind of requests that are refused under overload."""

    EXPORT = auto()
    PREVIEW = auto()
    PROVIDER = auto()


PATIENCE_SECONDS = {
    LimitedKind.EXPORT: 4.0,
    LimitedKind.PREVIEW: 2.0,
    LimitedKind.PROVIDER: math.inf,
}
"""Seconds that a request may have waited for a thread before it is refused."""
LIMITED = {
    **dict.fromkeys(EXPORTS, LimitedKind.EXPORT),
    **dict.fromkeys(PREVIEWS, LimitedKind.PREVIEW),
    **dict.fromkeys(PROVIDERS, LimitedKind.PROVIDER),
}
"""The endpoints of these kinds."""

DOWNLOADS_BUSY, BUSY = "downloads_busy", "busy"
"""The codes of refused exports and of other refused requests."""


class RequestTurns:
    """Limits how many requests are answered at once; some more wait a moment for their turn."""

    def __init__(self, max_concurrent: int, *, waiting: int = 0):
        self._turns, self._waiting = BoundedSemaphore(max_concurrent), Semaphore(waiting)

    def take(self) -> bool:
        if self._turns.acquire(blocking=False):
            return True
        if not self._waiting.acquire(blocking=False):
            return False
        try:
            return self._turns.acquire(timeout=TURN_SECONDS)
        finally:
            self._waiting.release()

    def release(self) -> None:
        self._turns.release()


def shed_load(app: Flask, max_concurrent: int) -> None:
    """Answer 503 to what can wait while others have to. At most ``max_concurrent`` exports, and as
    many requests that call a provider, are answered at once."""
    turns_of = {
        LimitedKind.EXPORT: RequestTurns(max_concurrent, waiting=max_concurrent // 2),
        LimitedKind.PROVIDER: RequestTurns(max_concurrent),
    }

    @app.before_request
    def _refuse() -> None:
        kind = LIMITED.get(request.endpoint or "")
        if kind is None:
            return
        waited = request.headers.get(WAITED, 0.0, type=float)
        turns = turns_of.get(kind)
        if waited > PATIENCE_SECONDS[kind] or (turns and not turns.take()):
            raise _busy_error(kind)
        if turns:
            g.turns = turns

    @app.after_request
    def _keep_until_sent(response: Response) -> Response:
        if "turns" in g:
            # A file passed through unchanged would be sent without `Response.close`.
            response.direct_passthrough = False
            response.call_on_close(g.pop("turns").release)
        return response

    @app.teardown_request
    def _give_back(_error: BaseException | None) -> None:
        if "turns" in g:  # no response was made
            g.pop("turns").release()


def _busy_error(kind: LimitedKind) -> Unavailable:
    if kind is LimitedKind.EXPORT:
        message = gettext("Many downloads are running. Try again in a moment.")
        return Unavailable(message, DOWNLOADS_BUSY, RETRY_SECONDS)
    return Unavailable(gettext("Try again in a moment. Nothing was changed."), BUSY, RETRY_SECONDS)
