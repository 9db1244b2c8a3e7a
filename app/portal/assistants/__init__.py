"""Assistants: their list, settings and external ID keys."""
