"""Webhooks and their deliveries."""

from flask import Blueprint

blueprint = Blueprint("webhooks", __name__)
