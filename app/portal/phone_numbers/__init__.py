"""The numbers that calls come from: the operator's, and those of a partner's organizations."""

from flask import Blueprint

blueprint = Blueprint("phone_numbers", __name__)
