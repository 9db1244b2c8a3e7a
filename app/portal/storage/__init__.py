"""Screens of used storage and its limits, and deleting the data of uploads."""

from flask import Blueprint

blueprint = Blueprint("storage", __name__)
