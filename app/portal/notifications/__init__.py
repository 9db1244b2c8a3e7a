"""Notifications: the bell of every page, and its list."""
