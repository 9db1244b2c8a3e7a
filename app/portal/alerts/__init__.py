"""Alerts, and their rules."""
