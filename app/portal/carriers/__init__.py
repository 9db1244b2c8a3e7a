"""Carriers: their status, accounts and trunks."""

from app.portal.carriers import account_views, trunk_views, views

__all__ = ["account_views", "trunk_views", "views"]
