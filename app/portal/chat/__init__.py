"""The chat bubble on the sign-in page and in the portal."""
