"""Exporting and erasing the data about a user or a contact."""

from flask import Blueprint

blueprint = Blueprint("personal_data", __name__)
