"""Costs and margin of customers, and their statements."""
