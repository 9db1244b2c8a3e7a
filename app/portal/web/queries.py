"""The queries of URLs, as the portal's pages read and show them."""

from flask import Blueprint, request
from werkzeug.datastructures import ImmutableMultiDict


def clean(blueprint: Blueprint) -> None:
    blueprint.before_request(_drop_nul)


def _drop_nul() -> None:
    """Drop NUL characters, which neither databases nor HTML allow."""
    if b"%00" in request.query_string:
        pairs = request.args.items(multi=True)
        request.args = ImmutableMultiDict((name, value.replace("\0", "")) for name, value in pairs)
