"""The history: who changed what, in words."""

from flask import Blueprint

blueprint = Blueprint("audit", __name__)
