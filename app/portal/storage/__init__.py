"""Screens of used storage and its limits, and deleting the data of uploads."""
