"""AREA A: partners, their organizations and users, pricing, subscription, usage, report."""

from app.api.partner_admin import figures, organizations, partners, users
from app.api.partner_admin.blueprint import blueprint
