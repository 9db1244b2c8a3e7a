"""Access for scripts: API keys, API clients and their requests."""
