"""Spending: limits of organizations, API keys and partners, and the call rates."""

from flask import Blueprint

blueprint = Blueprint("spending", __name__)
