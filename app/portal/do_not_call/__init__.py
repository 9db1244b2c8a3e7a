"""The do-not-call lists of organizations."""
