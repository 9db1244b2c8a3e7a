"""The branding studio: draft, preview, checks, publish, versions."""

from flask import Blueprint

blueprint = Blueprint("branding", __name__)
