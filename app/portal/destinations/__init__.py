"""Call destinations: the operator's limits, and what a partner opens."""

from flask import Blueprint

blueprint = Blueprint("destinations", __name__)
