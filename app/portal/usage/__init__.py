"""Usage: conversations and their cost over a range of days."""

from flask import Blueprint

blueprint = Blueprint("usage", __name__)
