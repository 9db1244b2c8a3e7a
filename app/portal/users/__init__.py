"""Users: their list, page, invitations, roles and status."""

from flask import Blueprint

blueprint = Blueprint("users", __name__)
