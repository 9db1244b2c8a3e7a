"""Migration from the legacy API to the current one, client by client."""

from flask import Blueprint

blueprint = Blueprint("legacy_migration", __name__)
