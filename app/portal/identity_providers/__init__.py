"""Settings → Sign-in with a company account."""
