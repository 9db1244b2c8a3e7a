"""Calls: their list and page, and the test call."""

from flask import Blueprint

blueprint = Blueprint("calls", __name__)
