"""Templates of organizations: their list, their parts, and new organizations from them."""

from flask import Blueprint

blueprint = Blueprint("organization_templates", __name__)
