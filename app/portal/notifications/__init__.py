"""Notifications: the bell of every page, and its list."""

from flask import Blueprint

blueprint = Blueprint("notifications", __name__)
