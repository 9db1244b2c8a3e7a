"""Calls: their list and page, and the test call."""
