"""The blueprint of the portal, in which the blueprints of its packages are registered."""

from flask import Blueprint, request
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.wrappers import Response

Page = str | tuple[str, int] | Response
"""The return value of a view."""

portal = Blueprint("portal", __name__)


@portal.before_request
def _drop_nul() -> None:
    """Drop NUL characters from queries of URLs; neither databases nor HTML allow them."""
    if b"%00" in request.query_string:
        pairs = request.args.items(multi=True)
        request.args = ImmutableMultiDict((name, value.replace("\0", "")) for name, value in pairs)
