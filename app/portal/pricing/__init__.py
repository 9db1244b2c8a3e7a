"""Plans: their prices and their limits."""

from flask import Blueprint

blueprint = Blueprint("pricing", __name__)
