"""The admin report."""

from flask import Blueprint

blueprint = Blueprint("report", __name__)
