"""Spending: limits of organizations, API keys and partners, and the call rates."""
