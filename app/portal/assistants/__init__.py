"""Assistants: their list, settings and external ID keys."""

from flask import Blueprint

blueprint = Blueprint("assistants", __name__)
