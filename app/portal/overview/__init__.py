"""The first page after signing in."""

from flask import Blueprint

blueprint = Blueprint("overview", __name__)
