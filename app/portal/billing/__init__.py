"""Costs and margin of customers, and their statements."""

from flask import Blueprint

blueprint = Blueprint("billing", __name__)
