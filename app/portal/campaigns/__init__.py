"""Campaigns: their list, page and call plan."""
