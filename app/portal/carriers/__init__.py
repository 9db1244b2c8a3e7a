"""Carriers: their status, accounts and trunks."""

from flask import Blueprint

blueprint = Blueprint("carriers", __name__)
