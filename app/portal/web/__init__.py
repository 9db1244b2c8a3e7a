"""Shared by all screens: lists, editing, downloads, errors, navigation, page context."""
