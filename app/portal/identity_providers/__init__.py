"""Settings → Company accounts."""

from flask import Blueprint

blueprint = Blueprint("identity_providers", __name__)
