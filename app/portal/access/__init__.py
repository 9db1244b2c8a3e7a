"""The page that explains why a user may do something or not."""

from flask import Blueprint

blueprint = Blueprint("access", __name__)
