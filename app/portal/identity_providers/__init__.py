"""Settings → Company accounts."""
