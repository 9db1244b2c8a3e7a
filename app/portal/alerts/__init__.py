"""Alerts, and their rules."""

from flask import Blueprint

blueprint = Blueprint("alerts", __name__)
