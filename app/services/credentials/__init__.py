"""API keys, access tokens, signing keys, and the secrets of scripts."""
