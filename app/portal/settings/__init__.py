"""The settings of the partner's portal."""

from flask import Blueprint

blueprint = Blueprint("settings", __name__)
