"""Campaigns: their list, page and call plan."""

from flask import Blueprint

blueprint = Blueprint("campaigns", __name__)
