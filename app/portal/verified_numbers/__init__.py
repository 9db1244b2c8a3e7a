"""Numbers that an organization verifies by a call with a code."""

from flask import Blueprint

blueprint = Blueprint("verified_numbers", __name__)
