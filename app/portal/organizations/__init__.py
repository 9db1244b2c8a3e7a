"""Organizations: their list, page, settings, and being suspended or archived."""
