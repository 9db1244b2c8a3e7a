"""Screens of the platform's operator: suspending partners, their trials, and stored mails."""

from flask import Blueprint

blueprint = Blueprint("operator", __name__)
