"""Groups of organizations, and the admins and API clients that are limited to them."""

from flask import Blueprint

blueprint = Blueprint("organization_groups", __name__)
