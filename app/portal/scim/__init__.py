"""The directory of the partner: its tokens, its groups and their roles."""

from flask import Blueprint

blueprint = Blueprint("scim", __name__)
