"""The contacts of a campaign: list, page, form, export."""

from flask import Blueprint

blueprint = Blueprint("contacts", __name__)
