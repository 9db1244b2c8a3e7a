"""Migration from the legacy API to the current one, client by client."""
