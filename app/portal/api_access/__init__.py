"""Access for scripts: API keys, API clients and their requests."""

from flask import Blueprint

blueprint = Blueprint("api_access", __name__)
