"""The do-not-call lists of organizations."""

from flask import Blueprint

blueprint = Blueprint("do_not_call", __name__)
