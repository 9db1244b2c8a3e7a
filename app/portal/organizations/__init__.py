"""Organizations: their list, page, settings, and being suspended or archived."""

from flask import Blueprint

blueprint = Blueprint("organizations", __name__)
