"""The settings of the partner's portal."""
