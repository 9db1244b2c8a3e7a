"""Alerts: what the rules have found, and the rules themselves."""
