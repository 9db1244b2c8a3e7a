"""The chat bubble on the sign-in page and in the portal."""

from flask import Blueprint

blueprint = Blueprint("chat", __name__)
