"""Search over everything."""

from flask import Blueprint

blueprint = Blueprint("search", __name__)
